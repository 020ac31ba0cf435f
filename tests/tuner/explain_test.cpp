// SPDX-License-Identifier: BSD-3-Clause
// Explanations, with measurements and without.
#include <gtest/gtest.h>

#include <algorithm>

#include "synthetic.hpp"
#include "tuner/derive.hpp"
#include "tuner/explain.hpp"
#include "tutti/error.hpp"

namespace tutti::tuner {
namespace {

const tune::Source standard{"", "standard", "not measured", ""};

std::string change(const Explanation& explanation, const std::string& when) {
  const auto found = std::ranges::find(explanation.changes, when, &Change::when);
  return found == explanation.changes.end() ? "" : found->algorithm;
}

TEST(Explain, WithoutMeasurements) {
  const Explanation found = explain({Kind::bcast, 1 << 20, 4, true, true}, "", standard, nullptr);
  EXPECT_EQ(found.algorithm, "board_pipeline");
  EXPECT_EQ(found.line, "bcast 1M - board_pipeline");
  EXPECT_EQ(found.origin, "standard");
  EXPECT_EQ(found.measured, nullptr);
  EXPECT_NE(found.text().find("tutti tune bcast -n 4"), std::string::npos);
  EXPECT_EQ(change(found, "from 1048584 bytes"), "single_copy");
  EXPECT_EQ(change(found, "up to 96 bytes"), "board");
}

TEST(Explain, WhatWouldChangeIt) {
  const Explanation large = explain({Kind::bcast, 1 << 21, 4, true, true}, "", standard, nullptr);
  EXPECT_EQ(change(large, "without single copy"), "board_pipeline");
  const tune::Source ring{"allreduce - 6 ring\nallreduce - 6 rabenseifner\n", "own", "TUTTI_TABLE names it", ""};
  const Explanation found = explain({Kind::allreduce, 8, 4, true, true}, "", ring, nullptr);
  EXPECT_EQ(found.origin, "own");
  EXPECT_EQ(found.algorithm, "ring");
  EXPECT_EQ(change(found, "if the operation does not commute"), "rabenseifner");
  EXPECT_EQ(change(found, "from 7 ranks"), "board");
  const Explanation forced = explain({Kind::allreduce, 8, 4, true, true}, "allreduce=ring", standard, nullptr);
  EXPECT_EQ(forced.origin, "TUTTI_ALGORITHMS");
}

/// Each change that is told of is one, and nothing changes before it.
TEST(Explain, LimitsAreExact) {
  const std::vector<Kind> kinds{Kind::bcast, Kind::reduce_scatter_block, Kind::allreduce, Kind::allgatherv};
  for (const Kind kind : kinds)
    for (const Count bytes : {Count{8}, Count{64}, Count{4096}, Count{65536}}) {
      const auto choice = [&](Count size) { return explain({kind, size, 4, true, true}, "", standard, nullptr); };
      const Explanation here = choice(bytes);
      for (const Change& one : here.changes) {
        if (!one.when.starts_with("from ") || !one.when.ends_with(" bytes")) continue;
        const Count limit = std::stoll(one.when.substr(5));
        EXPECT_EQ(choice(limit).algorithm, one.algorithm);
        EXPECT_EQ(choice(limit - element).algorithm, here.algorithm) << here.text();
      }
    }
}

TEST(Explain, WithMeasurements) {
  Measurements all = lawful();
  Point& point = point_of(all, Kind::allreduce, 4, 8192);
  point.candidates = {steady("ring", 100), steady("board_large", 120), steady("rabenseifner", 300)};
  point.candidates[2].dropped = true;
  point.candidates[1].same = {"board_pipeline"};
  const tune::Source tuned{derive(all, imaginary), "/cache/own.table", "measured on this machine", ""};
  const Explanation found = explain({Kind::allreduce, 8000, 4, true, true}, "", tuned, &all);
  EXPECT_EQ(found.algorithm, "ring");
  EXPECT_EQ(found.origin, "/cache/own.table");
  ASSERT_NE(found.runner_up, nullptr);
  EXPECT_EQ(found.runner_up->algorithm, "board_large");
  const std::string text = found.text();
  for (const char* part : {"8192 bytes on 4 ranks", "20 % slower", "then dropped", "the same as board_pipeline",
                           "0.1 us to 0.1 us", "9 rounds, chosen"})
    EXPECT_NE(text.find(part), std::string::npos) << part << "\n" << text;
  const std::string json = found.json();
  for (const char* part : {"\"median_ns\": 120.0", "\"ratio\": 1.2", "\"table\": \"/cache/own.table\""})
    EXPECT_NE(json.find(part), std::string::npos) << part << "\n" << json;
}

TEST(Explain, LinesForTheProcessorAreTheStandardTables) {
  const tune::Source own{"allreduce - - ring\n", "own", "TUTTI_TABLE names it", "", {.processor = "AMD EPYC"}};
  const Explanation found = explain({Kind::alltoall, 1 << 20, 4, true, true}, "", own, nullptr);
  EXPECT_EQ(found.algorithm, "board_pipeline");
  EXPECT_EQ(found.origin, "standard");
  EXPECT_EQ(found.why, "own has no line for this call");
}

TEST(Explain, TroubleIsTold) {
  const Explanation found =
      explain({Kind::bcast, 8, 4, true, true}, "", {"", "standard", "ignored", "x.table is not complete"}, nullptr);
  EXPECT_NE(found.text().find("x.table is not complete"), std::string::npos);
}

TEST(Explain, WrongOverridesAreRefused) {
  EXPECT_THROW(explain({Kind::bcast, 8, 4, true, true}, "bcast=gossip", standard, nullptr), Error);
}

}  // namespace
}  // namespace tutti::tuner
