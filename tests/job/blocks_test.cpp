// SPDX-License-Identifier: BSD-3-Clause
// Blocks that do not fit are refused on the rank that names them, before anything is sent; the group goes on.
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <vector>

#include "../refusal.hpp"
#include "job/inproc.hpp"
#include "tutti/group.hpp"

namespace tutti {
namespace {

constexpr Rank ranks = 3;
constexpr Count most = std::numeric_limits<Count>::max();
using Counts = std::vector<Count>;

class Blocks : public testing::Test {
 protected:
  /// Runs on all ranks, then makes sure that the group works.
  template <class Body>
  static void run(Body body) {
    job::run_inproc(ranks, {}, [&](Group world) {
      body(world);
      const std::array mine{world.rank()};
      std::array<Rank, 1> total{};
      world.allreduce(mine, total, sum);
      EXPECT_EQ(total[0], 3);
    });
  }
};

TEST_F(Blocks, BeyondTheEndOfTheBuffer) {
  run([](const Group& world) {
    const std::vector<int> in(2);
    std::vector<int> out(6), own(2);
    const auto gather = [&](const Counts& counts, const Counts& offsets = {}) {
      world.allgatherv(in, out, counts, offsets);
    };
    const std::string text = "does not lie in `out`, which has 6 elements; correct its count or offset";
    expect_refused("the block of rank 2, 3 elements at 4, " + text, [&] { gather({2, 2, 3}); });
    expect_refused("the block of rank 1, 2 elements at 5, " + text, [&] { gather({2, 2, 2}, {0, 5, 2}); });
    expect_refused("the block of rank 0, 2 elements at -1, " + text, [&] { gather({2, 2, 2}, {-1, 2, 4}); });
    expect_refused("the block of rank 1, -2 elements at 2, " + text, [&] { gather({2, -2, 6}); });
    expect_refused(text, [&] { gather({2, most, 2}, {0, most, 4}); });
    expect_refused(text, [&] { gather({most, most, most}); });
    expect_refused(text, [&] { world.gatherv(in, out, Counts{2, 2, 3}, {}, world.rank()); });
    expect_refused("does not lie in `in`, which has 2 elements", [&] {
      world.scatterv(in, own, Counts{1, 1, 1}, {}, world.rank());
    });
    const Counts ones{1, 1, 1}, twos{2, 2, 2};
    expect_refused("does not lie in `in`", [&] { world.alltoallv(in, ones, {}, out, ones, {}); });
    expect_refused("does not lie in `out`", [&] { world.alltoallv(out, ones, {}, own, ones, {}); });
    expect_refused("`out` has 6 elements and must have 3; pass a buffer of that length",
                   [&] { world.allgather(std::span(in).first(1), out); });
    expect_refused("this rank gives 1 elements, but its count is 2; make them equal",
                   [&] { world.allgatherv(std::span(in).first(1), out, twos); });
    gather(twos);
  });
}

/// Calls as other languages make them, of whose buffers nobody knows the length.
TEST_F(Blocks, OfNumbersThatAreNone) {
  run([](const Group& world) {
    std::vector<int> in(2), out(6);
    const Counts twos{2, 2, 2}, wrong{2, -4, 2}, far{0, 2, most};
    Call call;
    call.kind = Kind::gatherv;
    call.root = world.rank();
    call.element = sizeof(int);
    call.input = in.data();
    call.output = out.data();
    call.send_counts = std::span(twos).first(1);
    call.recv_counts = wrong;
    const std::string range = ", and not between 0 and " + std::to_string(most / 4 / ranks / 2) + "; pass numbers of";
    expect_refused("receive count 1 is -4" + range, [&] { world.run(call); });
    call.recv_counts = twos;
    call.recv_offsets = far;
    expect_refused("receive offset 2 is " + std::to_string(most) + range, [&] { world.run(call); });
    Call plain = call;
    plain.kind = Kind::bcast;
    plain.count = -3;
    expect_refused("count -3 is not between 0 and " + std::to_string(most / 4 / ranks) + "; pass how many elements",
                   [&] { world.run(plain); });
  });
}

/// A vector that is kept for larger groups: its other entries would say nothing, and say different things to ranks that
/// plan by all of them.
TEST_F(Blocks, MoreOrFewerThanRanks) {
  run([](const Group& world) {
    std::vector<int> in(1), out(3);
    const Counts ones{1, 1, 1}, more{1, 1, 1, world.rank() == 0 ? 0 : 1000000}, fewer{1, 1};
    const auto gather = [&](const Counts& counts, const Counts& offsets = {}) {
      world.allgatherv(in, out, counts, offsets);
    };
    expect_refused("receive counts: 4 given, 3 needed; pass one for each rank", [&] { gather(more); });
    expect_refused("receive counts: 2 given, 3 needed", [&] { gather(fewer); });
    expect_refused("receive offsets: 4 given, 3 needed", [&] { gather(ones, {0, 1, 2, 3}); });
    expect_refused("receive offsets: 2 given, 3 needed", [&] { gather(ones, {0, 1}); });
    expect_refused("send counts: 4 given", [&] { world.alltoallv(std::vector<int>(3), more, {}, out, ones, {}); });
    world.gatherv(in, out, world.rank() == 0 ? ones : more);  // they matter at the root alone
  });
}

TEST_F(Blocks, Overlapping) {
  run([](const Group& world) {
    const std::vector<int> in(6, world.rank());
    std::vector<int> out(6);
    const Counts twos{2, 2, 2};
    const auto two = std::span(in).first(2);
    expect_refused("the 2 elements of rank 0 at 0 overlap the 2 elements of rank 1 at 1", [&] {
      world.allgatherv(two, out, twos, Counts{0, 1, 4});
    });
    expect_refused("overlap", [&] { world.allgatherv(two, out, twos, Counts{4, 0, 3}); });
    expect_refused("overlap", [&] { world.gatherv(two, out, twos, Counts{0, 0, 0}, world.rank()); });
    expect_refused("overlap", [&] { world.alltoallv(in, twos, {}, out, twos, Counts{3, 4, 0}); });
    // Neither the order of the blocks nor empty ones among them matter.
    world.allgatherv(two, out, twos, Counts{4, 2, 0});
    EXPECT_EQ(out, (std::vector{2, 2, 1, 1, 0, 0}));
    const Counts counts{3, 0, 3};
    world.allgatherv(std::span(in).first(static_cast<std::size_t>(counts[static_cast<std::size_t>(world.rank())])), out,
                     counts, Counts{0, 1, 3});
    EXPECT_EQ(out, (std::vector{0, 0, 0, 2, 2, 2}));
    // What is only read may be read twice.
    std::vector<int> own(2);
    world.scatterv(in, own, twos, Counts{1, 1, 1}, 0);
    EXPECT_EQ(own, std::vector({0, 0}));
  });
}

/// A call would write what it has yet to read; only this rank's own block, or the whole, is in place.
TEST_F(Blocks, OfInAndOutInTheSameMemory) {
  run([](const Group& world) {
    std::vector<int> all(6, world.rank()), out(6);
    const Counts twos{2, 2, 2};
    const Rank me = world.rank();
    const auto part = [&](Count begin, std::size_t length) { return std::span(all).subspan(begin, length); };
    const auto other = part(me == 0 ? 2 : 0, 2), across = part(2 * me == 4 ? 3 : 2 * me + 1, 2);
    const std::string text = "in and out overlap; pass separate buffers, or to work in place";
    for (const auto& two : {other, across}) {
      expect_refused("allgather: " + text, [&] { world.allgather(two, all); });
      expect_refused(text, [&] { world.gather(two, all, me); });
      expect_refused(text, [&] { world.scatter(all, two, me); });
      expect_refused(text, [&] { world.allgatherv(two, all, twos); });
      expect_refused(text, [&] { world.gatherv(two, all, twos, {}, me); });
      expect_refused(text, [&] { world.scatterv(all, two, twos, {}, me); });
    }
    expect_refused(text, [&] { world.allreduce(part(0, 4), part(2, 4), sum); });
    expect_refused(text, [&] { world.scan(part(1, 4), part(0, 4), sum); });
    expect_refused(text, [&] { world.reduce_scatter_block(all, part(4, 2), sum); });
    expect_refused(text, [&] { world.reduce_scatter(all, part(4, 2), twos, sum); });
    expect_refused(text, [&] { world.alltoall(part(0, 3), part(1, 3)); });
    const Counts ones{1, 1, 1};
    expect_refused(text, [&] { world.alltoallv(part(0, 3), ones, {}, part(2, 3), ones, {}); });
    // Blocks that lie between each other's are apart, as are buffers side by side, or without elements.
    const Counts comb{0, 2, 4};
    world.alltoallv(part(1, 5), ones, comb, all, ones, comb);
    for (Rank rank = 0; rank < world.size(); ++rank) EXPECT_EQ(all[static_cast<std::size_t>(2 * rank)], rank);
    // Buffers that merely begin at the same place, too.
    const Counts second{3, 4, 5};
    for (Rank rank = 0; rank < world.size(); ++rank) all[static_cast<std::size_t>(rank)] = 10 * me + rank;
    world.alltoallv(part(0, 3), ones, {}, all, ones, second);
    world.alltoallv(all, ones, {}, all, ones, second);
    for (Rank rank = 0; rank < world.size(); ++rank) EXPECT_EQ(all[static_cast<std::size_t>(3 + rank)], 10 * rank + me);
    expect_refused(text, [&] { world.alltoallv(all, ones, {}, all, ones, Counts{2, 3, 4}); });
    world.allreduce(part(0, 3), part(3, 3), sum);
    world.allgatherv(part(1, 0), all, Counts{0, 0, 0});
    world.allgather(part(2 * me, 2), all);
  });
}

TEST_F(Blocks, WhatARankGivesItself) {
  run([](const Group& world) {
    const std::vector<int> in(6);
    std::vector<int> out(6), own(1);
    const Counts ones{1, 1, 1}, twos{2, 2, 2};
    expect_refused("gives itself 6 elements and takes 2 from itself",
                   [&] { world.gatherv(in, out, twos, {}, world.rank()); });
    expect_refused("gives itself 2 elements and takes 1 from itself",
                   [&] { world.scatterv(in, own, twos, {}, world.rank()); });
    expect_refused("gives itself 2 elements and takes 1 from itself",
                   [&] { world.alltoallv(in, twos, {}, out, ones, {}); });
  });
}

TEST_F(Blocks, InPlaceExchangeGoesByWhatIsReceived) {
  run([](const Group& world) {
    std::vector<int> both(3);
    for (int r = 0; r < ranks; ++r) both[static_cast<std::size_t>(r)] = 10 * world.rank() + r;
    const Counts ones{1, 1, 1};
    world.alltoallv(both, ones, {}, both, ones, {});
    for (int r = 0; r < ranks; ++r) EXPECT_EQ(both[static_cast<std::size_t>(r)], 10 * r + world.rank());
  });
}

}  // namespace
}  // namespace tutti
