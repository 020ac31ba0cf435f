// SPDX-License-Identifier: BSD-3-Clause
// The fixture of the conformance suite: a test body runs over every harness of the program.
#pragma once

#include <gtest/gtest.h>

#include <memory>
#include <string>

#include "conformance.hpp"

namespace tutti::transport::conformance {

class Suite : public ::testing::TestWithParam<std::shared_ptr<Harness>> {
 protected:
  static void run(int size, const Body& body) {
    try {
      GetParam()->run(size, body);
    } catch (const std::exception& error) {
      FAIL() << error.what();
    }
  }
};

inline std::string harness_name(const ::testing::TestParamInfo<std::shared_ptr<Harness>>& info) {
  return info.param->name();
}

}  // namespace tutti::transport::conformance
