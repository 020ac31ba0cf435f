// SPDX-License-Identifier: BSD-3-Clause
// What messages call things.
#include "base/names.hpp"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace tutti {
namespace {

/// A call as records have it.
constexpr std::uint64_t call_of(Kind kind, Type type, Op op, Rank root, Exactness exact = Exactness::none) {
  return static_cast<std::uint64_t>(kind) | static_cast<std::uint64_t>(type) << 8 |
         static_cast<std::uint64_t>(op) << 16 | static_cast<std::uint64_t>(exact) << 24 |
         static_cast<std::uint64_t>(static_cast<std::uint32_t>(root)) << 32;
}

TEST(Names, EveryCollectiveIsFoundByItsOwn) {
  for (int kind = 0; kind < kinds; ++kind)
    EXPECT_EQ(kind_named(name_of(static_cast<Kind>(kind))), static_cast<Kind>(kind)) << kind;
  EXPECT_EQ(kind_named("neighbor_reduce"), Kind::neighbor_reduce);
  for (const char* none : {"", "reduc", "reduce ", "Reduce", "plan", "sparse_exchange"})
    EXPECT_EQ(kind_named(none), std::nullopt) << none;
  EXPECT_EQ(name_of(static_cast<Kind>(200)), "unknown");
}

TEST(Names, RanksAreListedInRuns) {
  const auto listed = [](std::vector<Rank> ranks) { return base::list_ranks(ranks); };
  EXPECT_EQ(listed({3}), "rank 3");
  EXPECT_EQ(listed({3, 4}), "ranks 3, 4");
  EXPECT_EQ(listed({0, 1, 2, 5}), "ranks 0-2, 5");
  EXPECT_EQ(listed({0, 2, 3, 4, 9, 10}), "ranks 0, 2-4, 9, 10");
}

TEST(Names, ACallSaysWhatWasAskedFor) {
  const std::uint64_t sum = call_of(Kind::allreduce, Type::float64, Op::sum, 0);
  EXPECT_EQ(base::call_text(sum, 4, "ring"), "allreduce(4 x float64, sum, root 0, by ring)");
  EXPECT_EQ(base::call_text(call_of(Kind::bcast, Type::int8, Op::none, 2), 1, ""), "bcast(1 x int8, root 2)");
  EXPECT_EQ(base::call_text(call_of(Kind::allreduce, Type::float32, Op::sum, 0, Exactness::folded), 1, ""),
            "allreduce(1 x float32, exact sum of whole arrays, root 0)");
  EXPECT_EQ(base::call_text(call_of(Kind::plan, Type::float64, Op::none, 0), 0, "halo"), "plan halo(float64)");
}

TEST(Names, TwoCallsDifferInWhatIsNamed) {
  using Words = std::vector<std::string>;
  const std::uint64_t sum = call_of(Kind::reduce, Type::int32, Op::sum, 0);
  EXPECT_EQ(base::differences(sum, 4, sum, 4), Words());
  EXPECT_EQ(base::differences(sum, 4, sum, 5), Words({"count"}));
  EXPECT_EQ(base::differences(sum, 4, call_of(Kind::reduce, Type::int64, Op::max, 1), 5),
            Words({"type", "operation", "root", "count"}));
  EXPECT_EQ(base::differences(sum, 4, call_of(Kind::scan, Type::int64, Op::max, 1), 5), Words({"collective"}));
  EXPECT_EQ(base::differences(sum, 4, call_of(Kind::reduce, Type::int32, Op::sum, 0, Exactness::each), 4),
            Words({"operation"}));
}

TEST(Names, ALabelKeepsSixteenCharacters) {
  EXPECT_EQ(base::text_of(base::label_of("halo")), "halo");
  EXPECT_EQ(base::text_of(base::label_of("abcdefghijklmnopqrs")), "abcdefghijklmnop");
  EXPECT_EQ(base::text_of(base::label_of("a b\n\x80")), "a?b??");
  EXPECT_EQ(base::name(Kind::plan, base::label_of("halo")), "plan halo");
  EXPECT_EQ(base::name(Kind::bcast, base::label_of("halo")), "bcast");
}

}  // namespace
}  // namespace tutti
