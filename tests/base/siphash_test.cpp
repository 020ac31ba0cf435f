// SPDX-License-Identifier: BSD-3-Clause
#include "base/siphash.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdio>
#include <span>
#include <string>

namespace tutti::base {
namespace {

TEST(KeyedHash, IsTheOneOfThePaper) {
  // vectors_sip128 of the authors' reference implementation.
  Key key;
  std::array<std::byte, 15> text;
  for (std::size_t i = 0; i < key.size(); ++i) key[i] = static_cast<std::byte>(i);
  for (std::size_t i = 0; i < text.size(); ++i) text[i] = static_cast<std::byte>(i);
  const auto hex = [&](std::size_t length) {
    std::string digits;
    for (const std::byte one : keyed_hash(key, std::span(text).first(length))) {
      char two[3];
      std::snprintf(two, sizeof two, "%02x", std::to_integer<unsigned>(one));
      digits += two;
    }
    return digits;
  };
  EXPECT_EQ(hex(0), "a3817f04ba25a8e66df67214c7550293");
  EXPECT_EQ(hex(1), "da87c1d86b99af44347659119b22fc45");
}

}  // namespace
}  // namespace tutti::base
