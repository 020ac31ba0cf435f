// SPDX-License-Identifier: BSD-3-Clause
// What all ranks say fits the values of the store, however much each has to say.
#include "job/lines.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "base/random.hpp"
#include "launch/message.hpp"

namespace tutti::job {
namespace {

std::vector<std::string> lines_of(const std::vector<std::string>& values) {
  std::vector<std::string> lines;
  for (const std::string& value : values) add_lines(lines, value);
  return lines;
}

TEST(Lines, FillAValueAndBeginTheNext) {
  const std::vector<std::string> lines{"ab", "c", "def", "g"};
  EXPECT_EQ(in_values(lines, 4), (std::vector<std::string>{"ab\nc", "def", "g"}));
  EXPECT_EQ(in_values(lines, 5), (std::vector<std::string>{"ab\nc", "def\ng"}));
  EXPECT_EQ(in_values(lines, 100), (std::vector<std::string>{"ab\nc\ndef\ng"}));
  EXPECT_EQ(in_values(lines, 1), lines) << "those that are too long stay whole";
  EXPECT_TRUE(in_values({}, 4).empty());
}

/// A thousand ranks with so many addresses that 128 of them are more than a value.
TEST(Lines, OfManyRanksWithManyAddressesComeBack) {
  base::Random random(1);
  std::vector<std::string> lines;
  for (int rank = 0; rank < 1000; ++rank) lines.emplace_back(1 + random.below(2000), 'a' + rank % 26);
  const std::vector<std::string> values = in_values(lines, launch::longest_value);
  EXPECT_GT(values.size(), 8u);
  EXPECT_LT(values.size(), 20u);
  for (const std::string& value : values) EXPECT_LE(value.size(), launch::longest_value);
  EXPECT_EQ(lines_of(values), lines);
}

}  // namespace
}  // namespace tutti::job
