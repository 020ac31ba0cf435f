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

}  // namespace
}  // namespace tutti::base
