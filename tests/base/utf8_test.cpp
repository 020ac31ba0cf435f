// SPDX-License-Identifier: BSD-3-Clause
#include "base/utf8.hpp"

#include <gtest/gtest.h>

namespace tutti::base {
namespace {

TEST(Utf8, IsPrintableButForControlCharacters) {
  const std::string good = "a \xc3\xa9\xe2\x82\xac\xf0\x9f\x8e\xb5 b";
  EXPECT_EQ(printable(good), good);
  EXPECT_EQ(printable("a\x1b[31m\r\n\x7f"), "a?[31m???");
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m\xc2\xa0"),
            "?31m\xc2\xa0")
      << "a control character of two bytes";
  EXPECT_EQ(printable("\x9b"
                      "31m\xe2\x82"),
            "?31m??")
      << "no UTF-8";
  EXPECT_EQ(printable(std::string_view("\0b", 2)), "?b");
  EXPECT_EQ(printable(""), "");
}

}  // namespace
}  // namespace tutti::base
