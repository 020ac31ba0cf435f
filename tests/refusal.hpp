// SPDX-License-Identifier: BSD-3-Clause
// Calls that are refused before anything is sent.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tutti/error.hpp"

namespace tutti {

/// What the call is refused with.
std::string refusal(auto call) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.cause(), Cause::usage) << error.what();
    return error.what();
  }
  return "nothing was refused";
}

/// It is refused with a text that contains `part`.
void expect_refused(const std::string& part, auto call) {
  const std::string text = refusal(call);
  EXPECT_NE(text.find(part), std::string::npos) << text << " (and not: " << part << ")";
}

}  // namespace tutti
