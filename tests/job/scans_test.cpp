// SPDX-License-Identifier: BSD-3-Clause
// scan, exscan and reduce_scatter(_block) as C++ programs call them: all forms, in place, and what is refused.
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "../refusal.hpp"
#include "job/inproc.hpp"
#include "tutti/group.hpp"

namespace tutti {
namespace {

constexpr Rank ranks = 4;
using Counts = std::vector<Count>;

/// Keeps the first of two letters that is not a blank: does not commute.
constexpr auto first_letter = [](char lower, char higher) { return lower == ' ' ? higher : lower; };

template <class Body>
void run(Body body) {
  job::run_inproc(ranks, {}, body);
}

TEST(Scan, CombinesUpToThisRank) {
  run([](const Group& world) {
    const std::vector<int> mine{world.rank(), 1};
    const int below = world.rank() * (world.rank() - 1) / 2;
    std::vector<int> out(2), before{-1, -1};
    world.scan(mine, out, sum);
    EXPECT_EQ(out, (std::vector{below + world.rank(), world.rank() + 1}));
    world.exscan(mine, before, sum);
    EXPECT_EQ(before, world.rank() == 0 ? (std::vector{-1, -1}) : (std::vector{below, world.rank()}));
    out = mine;
    world.iscan(out, out, max).wait();
    EXPECT_EQ(out, mine);
    world.iexscan(out, out, max).wait();
    EXPECT_EQ(out, world.rank() == 0 ? mine : (std::vector{world.rank() - 1, 1}));
    world.scan(std::vector<int>(), std::vector<int>(), sum);
  });
}

TEST(Scan, KeepsTheOrderOfFunctions) {
  run([](const Group& world) {
    const std::vector<char> mine{world.rank() == 0 ? ' ' : static_cast<char>('a' + world.rank())};
    std::vector<char> out{'?'};
    const auto op = tutti::op(first_letter, false);
    world.scan(mine, out, op);
    EXPECT_EQ(out[0], world.rank() == 0 ? ' ' : 'b');
    world.exscan(mine, out, op);
    EXPECT_EQ(out[0], world.rank() < 2 ? ' ' : 'b');
  });
}

TEST(Scan, StartsAgainAndAgain) {
  run([](const Group& world) {
    std::vector<int> in(1), out(1), before(1);
    auto scan = world.scan_init(in, out, sum);
    auto exscan = world.exscan_init(in, before, sum);
    for (int round = 1; round < 5; ++round) {
      in[0] = round;
      scan.start();
      exscan.start();
      scan.wait();
      exscan.wait();
      EXPECT_EQ(out[0], round * (world.rank() + 1));
      EXPECT_EQ(before[0], round * world.rank());
    }
  });
}

TEST(ReduceScatter, GivesEverybodyItsBlock) {
  run([](const Group& world) {
    std::vector<int> in(2 * ranks);
    std::iota(in.begin(), in.end(), world.rank());
    const int first = 2 * world.rank() * ranks + ranks * (ranks - 1) / 2;
    const std::vector<int> expected{first, first + ranks};
    std::vector<int> out(2);
    world.reduce_scatter_block(in, out, sum);
    EXPECT_EQ(out, expected);
    out.assign(2, 0);
    world.ireduce_scatter_block(in, out, sum).wait();
    EXPECT_EQ(out, expected);
    auto again = world.reduce_scatter_block_init(in, out, sum);
    out.assign(2, 0);
    again.start();
    again.wait();
    EXPECT_EQ(out, expected);
    auto both = in;
    world.reduce_scatter_block(both, std::span(both).first(2), sum);
    std::ranges::copy(expected, in.begin());
    EXPECT_EQ(both, in) << "what lies behind the result stays as it is";
  });
}

TEST(ReduceScatter, TakesCounts) {
  run([](const Group& world) {
    const Counts counts{2, 0, 3, 1};
    const auto own = static_cast<std::size_t>(counts[static_cast<std::size_t>(world.rank())]);
    std::vector<int> in(6), expected(6);
    std::iota(in.begin(), in.end(), 0);
    for (std::size_t i = 0; i < in.size(); ++i) expected[i] = ranks * in[i];
    const auto offset = std::accumulate(counts.begin(), counts.begin() + world.rank(), Count{0});
    expected = std::vector(expected.begin() + offset, expected.begin() + offset + static_cast<Count>(own));
    std::vector<int> out(own);
    world.reduce_scatter(in, out, counts, sum);
    EXPECT_EQ(out, expected);
    world.ireduce_scatter(in, std::span(in).first(own), counts, sum).wait();
    EXPECT_EQ(std::vector(in.begin(), in.begin() + static_cast<Count>(own)), expected);
    in.assign(6, 1);
    auto again = world.reduce_scatter_init(in, out, counts, sum);
    again.start();
    again.wait();
    EXPECT_EQ(out, std::vector<int>(own, ranks));
  });
}

TEST(ReduceScatter, RefusesLengthsThatDoNotFit) {
  run([](const Group& world) {
    const std::vector<int> in(6);
    std::vector<int> out(2);
    expect_refused("`in` has 6 elements and must have 8", [&] { world.reduce_scatter_block(in, out, sum); });
    expect_refused("does not lie in `in`, which has 6", [&] { world.reduce_scatter(in, out, Counts(4, 2), sum); });
    expect_refused("`out` has 2 elements and must have 1", [&] { world.reduce_scatter(in, out, Counts(4, 1), sum); });
    expect_refused("receive counts: 3 given, 4 needed", [&] { world.reduce_scatter(in, out, Counts(3, 2), sum); });
    expect_refused("receive count 2 is -1, and not between 0 and", [&] {
      Call call;
      call.kind = Kind::reduce_scatter;
      const Counts counts{2, 2, -1, 2};
      call.recv_counts = counts;
      call.reduction = {Op::sum, true, nullptr, nullptr};
      call.type = Type::int32;
      call.element = sizeof(int);
      world.run(call);
    });
    expect_refused("pass no offsets", [&] {
      Call call;
      call.kind = Kind::reduce_scatter;
      const Counts counts{1, 1, 1, 1}, offsets{0, 2, 4, 6};
      call.recv_counts = counts;
      call.recv_offsets = offsets;
      call.reduction = {Op::sum, true, nullptr, nullptr};
      call.type = Type::int32;
      call.element = sizeof(int);
      world.run(call);
    });
    expect_refused("`out` has 2 elements and must have 6", [&] { world.exscan(in, out, sum); });
    world.barrier();
  });
}

}  // namespace
}  // namespace tutti
