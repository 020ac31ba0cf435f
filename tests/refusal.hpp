// SPDX-License-Identifier: BSD-3-Clause
// Calls that are refused.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "tutti/error.hpp"

namespace tutti {

/// What the call is refused with.
std::string refusal(auto call, Cause cause = Cause::usage) {
  try {
    call();
  } catch (const Error& error) {
    EXPECT_EQ(error.cause(), cause) << error.what();
    return error.what();
  }
  return "nothing was refused";
}

/// It is refused before anything is sent, with a text that contains `part`.
void expect_refused(const std::string& part, auto call) {
  const std::string text = refusal(call);
  EXPECT_NE(text.find(part), std::string::npos) << text << " (and not: " << part << ")";
}

}  // namespace tutti
