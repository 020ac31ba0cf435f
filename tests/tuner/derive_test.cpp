// SPDX-License-Identifier: BSD-3-Clause
// From measurements to a table: it chooses what was fastest, and little else.
#include <gtest/gtest.h>

#include <algorithm>

#include "synthetic.hpp"
#include "tune/table.hpp"
#include "tuner/derive.hpp"

namespace tutti::tuner {
namespace {

using tune::Table;

std::string chosen(const std::string& lines, Kind kind, Rank ranks, Count bytes, bool single_copy = true,
                   bool commutative = true) {
  const CallShape shape(kind, ranks, bytes);
  collectives::Shape one = shape.of(0);
  one.commutative = commutative;
  return tune::text_of(Table::parse(lines + Table::standard({})).choose(one, kind, shape.table_bytes(), single_copy));
}

Measurements of(Kind kind, const std::vector<std::pair<Rank, Count>>& where, const std::vector<Candidate>& candidates) {
  Measurements found;
  for (const auto& [ranks, bytes] : where) found.points.push_back({kind, ranks, bytes, candidates});
  return found;
}

TEST(Derive, ChoosesTheFastestEverywhere) {
  // Another candidate wins at each point: no two neighbours can share a line.
  Measurements all;
  for (const Form& form : forms()) {
    if (collectives::get(form.kind).varying && !collectives::agrees_on_counts(form.kind)) continue;
    for (const Rank ranks : {2, 4, 8})
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        Point point = candidates_at(form.kind, ranks, form.kind == Kind::barrier ? 0 : sizes[i], true);
        for (std::size_t j = 0; j < point.candidates.size(); ++j)
          point.candidates[j].times.assign(
              9, j == (i + static_cast<std::size_t>(ranks)) % point.candidates.size() ? 100 : 200);
        all.points.push_back(point);
        if (form.kind == Kind::barrier) break;
      }
  }
  const std::string lines = derive(all, imaginary);
  for (const Point& point : all.points)
    EXPECT_EQ(chosen(lines, point.kind, point.ranks, point.bytes), point.best()->algorithm)
        << name_of(point.kind) << " " << point.bytes << " on " << point.ranks;
}

TEST(Derive, GoesThroughTheTextOfATable) {
  const std::string lines = derive(lawful(), imaginary);
  std::string again;
  const Table table = Table::parse(lines);
  for (const Table::Line& line : table.lines()) again += tune::text_of(line) + "\n";
  EXPECT_EQ(again, lines);
  EXPECT_EQ(Table::parse("bcast 1023 7 chain:segment=512,radix=3").lines()[0].bytes, 1023);
  EXPECT_EQ(tune::text_of(Table::parse("bcast 1536 - chain:segment=512,radix=3").lines()[0]),
            "bcast 1536 - chain:segment=512,radix=3");
  EXPECT_EQ(tune::text_of(Table::parse("bcast 0 3 chain").lines()[0]), "bcast 0 3 chain");
}

TEST(Derive, NeighboursShareALine) {
  const auto points = of(Kind::bcast, {{2, 8}, {2, 64}, {2, 512}, {4, 8}, {4, 64}, {4, 512}}, {steady("linear", 100)});
  EXPECT_EQ(derive(points, imaginary), "bcast 1K 8 linear\n");
}

TEST(Derive, LimitsLieBetweenMeasurements) {
  Measurements points = of(Kind::bcast, {{2, 64}, {8, 64}}, {steady("linear", 100), steady("binomial", 200)});
  Measurements others = of(Kind::bcast, {{2, 1024}, {8, 1024}}, {steady("linear", 200), steady("binomial", 100)});
  points.points.insert(points.points.end(), others.points.begin(), others.points.end());
  const std::string lines = derive(points, imaginary);
  EXPECT_EQ(chosen(lines, Kind::bcast, 16, 256), "linear");
  EXPECT_EQ(chosen(lines, Kind::bcast, 16, 264), "binomial");
  // Far beyond what was measured the standard table holds, and below it too.
  for (const auto& [ranks, bytes] : {std::pair<Rank, Count>{17, 64}, {8, 4096}, {8, 16}, {2, 8}})
    EXPECT_EQ(chosen(lines, Kind::bcast, ranks, bytes), chosen("", Kind::bcast, ranks, bytes)) << ranks << " " << bytes;
}

TEST(Derive, FewerRanksThanMeasuredAreLeftToTheStandardTable) {
  const std::string lines = derive(of(Kind::allreduce, {{8, 8}}, {steady("ring", 100)}), imaginary);
  EXPECT_EQ(chosen(lines, Kind::allreduce, 8, 8), "ring");
  EXPECT_EQ(chosen(lines, Kind::allreduce, 6, 8), "ring");
  for (const Rank ranks : {2, 3, 5})
    EXPECT_EQ(chosen(lines, Kind::allreduce, ranks, 8), chosen("", Kind::allreduce, ranks, 8));
}

TEST(Derive, WhatMayNotBeUsedHasASpare) {
  const std::string lines = derive(of(Kind::allreduce, {{4, 65536}},
                                      {steady("single_copy", 100), steady("ring", 110), steady("board_pipeline", 150),
                                       steady("recursive_doubling", 130)}),
                                   imaginary);
  EXPECT_EQ(chosen(lines, Kind::allreduce, 4, 65536), "single_copy");
  EXPECT_EQ(chosen(lines, Kind::allreduce, 4, 65536, false), "ring");
  const std::string ring = derive(
      of(Kind::allreduce, {{4, 65536}}, {steady("ring", 100), steady("rabenseifner", 200), steady("single_copy", 150)}),
      imaginary);
  EXPECT_EQ(chosen(ring, Kind::allreduce, 4, 65536, true, false), "single_copy");
}

TEST(Derive, NoiseChangesNothing) {
  // What the standard table has is as fast as anything, as far as the measurements can tell.
  const std::string standard = chosen("", Kind::bcast, 4, 8192);
  Candidate wide{standard, {}, {}, false};
  for (int i = 0; i < 9; ++i) wide.times.push_back(100 + 5 * i);
  EXPECT_EQ(
      chosen(derive(of(Kind::bcast, {{4, 8192}}, {steady("linear", 110), wide}), imaginary), Kind::bcast, 4, 8192),
      standard);
  EXPECT_EQ(chosen(derive(of(Kind::bcast, {{4, 8192}}, {steady("linear", 90), wide}), imaginary), Kind::bcast, 4, 8192),
            "linear");
}

TEST(Derive, AsksTheStandardTableOfItsMachine) {
  tune::Machine amd = imaginary;
  amd.processor = "AMD EPYC";
  const auto tie = of(Kind::alltoall, {{4, 1 << 20}}, {steady("single_copy", 100), steady("board_pipeline", 101)});
  EXPECT_EQ(chosen(derive(tie, imaginary), Kind::alltoall, 4, 1 << 20), "single_copy");
  EXPECT_EQ(chosen(derive(tie, amd), Kind::alltoall, 4, 1 << 20), "board_pipeline");
}

TEST(Derive, AsksTheStandardTableForWhatTheMachineCanDo) {
  tune::Machine closed = imaginary;
  closed.single_copy = false;
  const std::string open = chosen("", Kind::allreduce, 4, 1 << 20),
                    other = chosen("", Kind::allreduce, 4, 1 << 20, false);
  ASSERT_NE(open, other);
  const auto tie = of(Kind::allreduce, {{4, 1 << 20}}, {steady("ring", 100), steady(other, 101)});
  EXPECT_EQ(chosen(derive(tie, closed), Kind::allreduce, 4, 1 << 20, false), other);
}

TEST(Derive, NoiseChangesNothingForAllSizesEither) {
  const std::string standard = chosen("", Kind::gatherv, 4, 8);
  ASSERT_NE(standard, "linear");
  const auto tie = of(Kind::gatherv, {{4, 8}, {4, 4096}}, {steady("linear", 100), steady(standard, 101)});
  EXPECT_EQ(chosen(derive(tie, imaginary), Kind::gatherv, 4, 8), standard);
  const auto clear = of(Kind::gatherv, {{4, 8}, {4, 4096}}, {steady("linear", 100), steady(standard, 120)});
  EXPECT_EQ(chosen(derive(clear, imaginary), Kind::gatherv, 4, 8), "linear");
}

TEST(Derive, TakesWhatIsPinned) {
  for (const auto& [kind, bytes] : {std::pair<Kind, Count>{Kind::barrier, 0}, {Kind::bcast, 64}}) {
    const std::string standard = chosen("", kind, 4, bytes);
    const char* const wish = kind == Kind::barrier ? "dissemination" : "linear";
    ASSERT_NE(standard, wish);
    const auto tie = of(kind, {{4, bytes}}, {steady(wish, 100), steady(standard, 101)});
    EXPECT_EQ(chosen(derive(tie, imaginary), kind, 4, bytes), standard);
    EXPECT_EQ(chosen(derive(tie, imaginary, {{{kind, 4, bytes}, wish}}), kind, 4, bytes), wish);
  }
}

TEST(Derive, OneChoiceForAllSizesWhereRanksKnowTheirOwnCountsAlone) {
  Measurements points = of(Kind::gatherv, {{4, 8}}, {steady("linear", 100), steady("board", 150)});
  Measurements others = of(Kind::gatherv, {{4, 4096}}, {steady("linear", 400), steady("board", 100)});
  points.points.insert(points.points.end(), others.points.begin(), others.points.end());
  EXPECT_EQ(chosen(derive(points, imaginary), Kind::gatherv, 4, 8), "board");
}

TEST(Derive, OnceIsNotEnough) {
  Measurements points = of(Kind::bcast, {{4, 8}}, {{"linear", {}, {100, 100}, false}});
  EXPECT_EQ(derive(points, imaginary), "");
}

}  // namespace
}  // namespace tutti::tuner
