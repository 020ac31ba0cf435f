// SPDX-License-Identifier: BSD-3-Clause
// What is measured: all that can be used, with parameters where they matter, nothing twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <string>

#include "collectives/collective.hpp"
#include "plan/text.hpp"
#include "tune/table.hpp"
#include "tuner/candidates.hpp"

namespace tutti::tuner {
namespace {

TEST(Candidates, AreAllThatCanBeUsed) {
  for (const Form& form : forms())
    for (const Rank ranks : {2, 3, 4, 8})
      for (const Count bytes : {Count{8}, Count{1} << 16}) {
        const Point point = candidates_at(form.kind, ranks, bytes, true);
        const CallShape shape(form.kind, ranks, bytes);
        std::set<std::string> names;
        for (const Candidate& candidate : point.candidates) {
          EXPECT_TRUE(names.insert(candidate.algorithm).second) << candidate.algorithm;
          for (const std::string& same : candidate.same) EXPECT_TRUE(names.insert(same).second) << same;
          EXPECT_NO_THROW(tune::named(form.kind, candidate.algorithm));
        }
        for (const collectives::Algorithm& algorithm : collectives::algorithms()) {
          if (algorithm.kind != form.kind) continue;
          EXPECT_EQ(names.contains(std::string(algorithm.name)), collectives::applies(algorithm, shape.of(0), true))
              << algorithm.name;
        }
      }
}

TEST(Candidates, HaveParametersWhereTheyMatter) {
  const auto has = [](const Point& point, std::string_view name) {
    return std::ranges::find(point.candidates, name, &Candidate::algorithm) != point.candidates.end();
  };
  const Point large = candidates_at(Kind::bcast, 8, 1 << 20, true);
  EXPECT_TRUE(has(large, "chain:segment=32768"));
  EXPECT_TRUE(has(large, "binomial:radix=4"));
  EXPECT_FALSE(has(large, "binomial:segment=32768"));  // it has none
  EXPECT_FALSE(has(large, "linear:radix=4"));
  const Point small = candidates_at(Kind::bcast, 2, 8, true);
  for (const Candidate& candidate : small.candidates) EXPECT_EQ(candidate.algorithm.find(':'), std::string::npos);
  EXPECT_TRUE(has(candidates_at(Kind::barrier, 8, 0, true), "dissemination:radix=4"));
  const Point sum = candidates_at(Kind::allreduce, 9, 1 << 20, true);
  for (const char* name : {"recursive_multiplying", "recursive_multiplying:radix=3", "recursive_multiplying:radix=8",
                           "segmented_ring", "segmented_ring:segment=4096", "segmented_ring:segment=32768"})
    EXPECT_TRUE(has(sum, name)) << name;
  EXPECT_FALSE(has(sum, "recursive_doubling:radix=3"));
  EXPECT_FALSE(has(sum, "ring:segment=32768"));
}

/// Whether the line's segment changes a plan that it is made for.
bool has_segments(const tune::Table::Line& line) {
  const collectives::Algorithm& algorithm = collectives::algorithms()[static_cast<std::size_t>(line.choice.algorithm)];
  for (const Rank ranks : {2, 4, 8})
    for (Count bytes = 4096; bytes <= 4 << 20 && ranks <= line.ranks; bytes *= 8) {
      const CallShape call(line.kind, ranks, bytes);
      collectives::Shape shape = call.of(ranks - 1);
      if (!collectives::applies(algorithm, shape, true)) continue;
      shape.parameters = line.choice.parameters.of_elements(element);
      const std::string with = plan::print(algorithm.build(shape));
      shape.parameters.segment = 0;
      if (plan::print(algorithm.build(shape)) != with) return true;
    }
  return false;
}

TEST(Candidates, OfTheStandardTableHaveTheSegmentsThatItGivesThem) {
  std::set<std::string> seen;
  for (const char* processor : {"", "AMD Ryzen"})
    for (const int ranks_per_core : {1, 2, 8})
      for (const std::uint64_t link_rate : {100'000'000ull, 10'000'000'000ull}) {
        const tune::Table table = tune::Table::parse(
            tune::Table::standard({.processor = processor, .ranks_per_core = ranks_per_core, .link_rate = link_rate}));
        for (const tune::Table::Line& line : table.lines())
          if (line.choice.parameters.segment != 0 && seen.insert(tune::text_of(line)).second) {
            EXPECT_TRUE(has_segments(line)) << tune::text_of(line);
          }
      }
  EXPECT_GT(seen.size(), 5u);
}

TEST(Candidates, DoWithoutSingleCopy) {
  for (const Form& form : forms())
    for (const Candidate& candidate : candidates_at(form.kind, 4, 4096, false).candidates)
      EXPECT_FALSE(
          collectives::algorithms()[static_cast<std::size_t>(tune::named(form.kind, candidate.algorithm).algorithm)]
              .needs.single_copy);
}

}  // namespace
}  // namespace tutti::tuner
