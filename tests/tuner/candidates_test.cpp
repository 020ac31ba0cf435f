// SPDX-License-Identifier: BSD-3-Clause
// What is measured: all that can be used, with parameters where they matter, nothing twice.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "collectives/collective.hpp"
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
  EXPECT_TRUE(has(large, "chain:segment=4096"));
  EXPECT_TRUE(has(large, "binomial:radix=4"));
  EXPECT_FALSE(has(large, "binomial:segment=4096"));  // it has none
  EXPECT_FALSE(has(large, "linear:radix=4"));
  const Point small = candidates_at(Kind::bcast, 2, 8, true);
  for (const Candidate& candidate : small.candidates) EXPECT_EQ(candidate.algorithm.find(':'), std::string::npos);
  EXPECT_TRUE(has(candidates_at(Kind::barrier, 8, 0, true), "dissemination:radix=4"));
  const Point sum = candidates_at(Kind::allreduce, 9, 1 << 20, true);
  for (const char* name : {"recursive_multiplying", "recursive_multiplying:radix=3", "recursive_multiplying:radix=8",
                           "segmented_ring", "segmented_ring:segment=512", "segmented_ring:segment=4096"})
    EXPECT_TRUE(has(sum, name)) << name;
  EXPECT_FALSE(has(sum, "recursive_doubling:radix=3"));
  EXPECT_FALSE(has(sum, "ring:segment=4096"));
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
