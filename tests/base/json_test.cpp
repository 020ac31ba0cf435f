// SPDX-License-Identifier: BSD-3-Clause
#include "base/json.hpp"

#include <gtest/gtest.h>

namespace tutti::base {
namespace {

TEST(Json, QuotesWhatMustBe) {
  namespace json = base::json;
  EXPECT_EQ(json::quote("a \"b\" \\ \n\x01"), "\"a \\\"b\\\" \\\\ \\u000a\\u0001\"");
  EXPECT_EQ(json::Object().add("a", 1).add("b", true).maybe("c", false, 5).raw("d", "[]").text(),
            R"({"a": 1, "b": true, "c": null, "d": []})");
}

/// No byte of a path or a name makes a reader refuse all the rest.
TEST(Json, ReplacesWhatIsNoUtf8) {
  const std::string good = "\xc3\xa9\xe2\x82\xac\xf0\x9f\x8e\xb5";
  EXPECT_EQ(json::quote(good), "\"" + good + "\"");
  const std::string replaced = "\xef\xbf\xbd";
  for (const char* byte : {"\xff", "\x80", "\xc3", "\xf5"})
    EXPECT_EQ(json::quote("a" + std::string(byte) + "b"), "\"a" + replaced + "b\"");
  // Too long, a surrogate, beyond the last, cut off.
  EXPECT_EQ(json::quote("\xc0\xaf"), "\"" + replaced + replaced + "\"");
  EXPECT_EQ(json::quote("\xed\xa0\x80"), "\"" + replaced + replaced + replaced + "\"");
  EXPECT_EQ(json::quote("\xf4\x90\x80\x80"), "\"" + replaced + replaced + replaced + replaced + "\"");
  EXPECT_EQ(json::quote("\xe2\x82"), "\"" + replaced + replaced + "\"");
}

}  // namespace
}  // namespace tutti::base
