// SPDX-License-Identifier: BSD-3-Clause
#include "plan/svg.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "plan/text.hpp"
#include "tutti/error.hpp"

namespace tutti::plan {
namespace {

std::vector<Plan> plans(std::initializer_list<std::string> ranks) {
  std::vector<Plan> all;
  for (const std::string& steps : ranks)
    all.push_back(parse("rank " + std::to_string(all.size()) + " of " + std::to_string(ranks.size()) +
                        " scratch 8 ring small cells 1\n" + steps));
  return all;
}

/// True when every element is closed in order, attributes are quoted and text has no bare special characters.
bool well_formed(std::string_view text) {
  std::vector<std::string> open;
  while (!text.empty()) {
    const std::size_t tag = text.find('<');
    if (text.substr(0, tag).find_first_of("&>") != std::string_view::npos) return false;
    if (tag == std::string_view::npos) break;
    const std::size_t end = text.find('>', tag);
    if (end == std::string_view::npos) return false;
    std::string_view inside = text.substr(tag + 1, end - tag - 1);
    text.remove_prefix(end + 1);
    if (inside.starts_with('/')) {
      if (open.empty() || open.back() != inside.substr(1)) return false;
      open.pop_back();
      continue;
    }
    if (std::ranges::count(inside, '"') % 2 != 0 || inside.find('<') != std::string_view::npos) return false;
    const std::string name(inside.substr(0, inside.find_first_of(" /")));
    if (!inside.ends_with('/')) open.push_back(name);
  }
  return open.empty();
}

std::size_t occurrences(const std::string& text, std::string_view part) {
  std::size_t found = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1)) ++found;
  return found;
}

TEST(Svg, ShowsRanksStepsAndMessages) {
  const std::string picture = draw(plans({"a: copy input[0..4) -> output[0..4)\nb: send input[0..4) to 1 #0\n",
                                          "a: recv 4 from 0 #0 -> output[0..4)\nb: send output[0..4) to 2 #0 after a\n",
                                          "a: recv 4 from 1 #0 -> output[0..4)\n"}));
  EXPECT_TRUE(well_formed(picture)) << picture;
  EXPECT_TRUE(picture.starts_with("<svg xmlns=\"http://www.w3.org/2000/svg\""));
  EXPECT_EQ(occurrences(picture, ">rank "), 3u);
  EXPECT_EQ(occurrences(picture, "url(#message)"), 2u);
  EXPECT_EQ(occurrences(picture, ">send to 1</text>"), 1u);
  EXPECT_EQ(occurrences(picture, ">input[0..4) → output[0..4)</text>"), 1u);
  EXPECT_EQ(occurrences(picture, "stroke=\"#94a3b8\""), 1u) << "one edge inside a rank";
}

TEST(Svg, ShowsCells) {
  const std::string rank = "a: publish 0 input[0..4)\nb: await all 0 expects 4\nc: release 0 after a b\n";
  const std::string picture = draw(plans({rank, rank, rank}));
  EXPECT_TRUE(well_formed(picture)) << picture;
  EXPECT_EQ(occurrences(picture, "url(#cell)"), 6u);
}

TEST(Svg, RefusesPlansThatDoNotFitTogether) {
  try {
    draw(plans({"a: send input[0..4) to 1 #0\n", ""}));
    FAIL() << "was drawn";
  } catch (const Error& error) {
    EXPECT_EQ(error.cause(), Cause::usage);
    EXPECT_NE(std::string(error.what()).find("rank 1 receives no such message"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tutti::plan
