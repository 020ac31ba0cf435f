// SPDX-License-Identifier: BSD-3-Clause
// One rank calls something else than the others: every rank gets a Mismatch that names both sides, nobody hangs, and no
// byte outside the buffers is touched. On every algorithm.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "host/board.hpp"
#include "job/inproc.hpp"
#include "mismatch.hpp"

namespace {

using tutti::Call;
using tutti::Count;
using tutti::Group;
using tutti::Kind;
using tutti::Mismatch;
using tutti::Op;
using tutti::Rank;
using tutti::Type;
using tutti::collectives::Algorithm;
using tutti::collectives::Problem;
using namespace tutti::faults;

/// Every algorithm, with a count that goes through cells or records and one that does not.
template <class Body>
void for_each_algorithm(Body body) {
  tutti::base::Random random(4711);
  for (const Algorithm& algorithm : tutti::collectives::algorithms())
    for (const Count count : {Count{3}, Count{3000}}) {
      const auto size = static_cast<Rank>(algorithm.needs.power_of_two ? 4 : 2 + random.below(3));
      const Play one{problem_of(algorithm, size, count), &algorithm};
      if (!usable(one)) continue;
      const auto odd = static_cast<Rank>(random.below(static_cast<std::uint64_t>(size)));
      body(one, odd, random.next());
      if (::testing::Test::HasFailure()) return;
    }
}

TEST(Mismatch, Count) {
  for_each_algorithm([](const Play& right, Rank odd, std::uint64_t seed) {
    if (right.algorithm->kind == Kind::barrier) return;
    Play wrong = right;
    // Agreed counts (also allgatherv's); own ones of the other v-forms contradict what the others say.
    if (wrong.problem.counts.empty()) wrong.problem.count += 1;
    for (Count& count : wrong.problem.counts) count += 1;
    if (usable(wrong)) expect_both_named(right, wrong, odd, seed);
  });
}

/// Two ranks take very large blocks in as many pieces as each believes there are.
TEST(Mismatch, CountOfAVeryLargeBlock) {
  const Algorithm& board = *tutti::collectives::find(Kind::gatherv, "board");
  constexpr Count large = 150000, one_cell = tutti::host::large_payload / element;
  for (const Count other : {large + 1, large + one_cell, 2 * large, Count{3000}, Count{3}})
    for (const Rank odd : {0, 1}) {
      const Play right{problem_of(board, 2, large), &board}, wrong{problem_of(board, 2, other), &board};
      expect_both_named(right, wrong, odd, 12);
    }
}

/// More ranks do where they take blocks through cells piece by piece; and all pieces of blocks of whole cells are
/// alike.
TEST(Mismatch, CountOfABlockOfSeveralCells) {
  constexpr Count one_cell = tutti::host::large_payload / element;
  const auto problem = [](const Algorithm& algorithm, Count count) {
    Problem made = problem_of(algorithm, 4, count);
    made.parameters.segment = one_cell;
    return made;
  };
  const Algorithm *blocks = tutti::collectives::find(Kind::alltoallv, "board"),
                  *gathered = tutti::collectives::find(Kind::gatherv, "single_copy_shared");
  for (const Algorithm* algorithm : {blocks, gathered})
    for (const Count cells : {0, 1, 2, 4, 20, 70})
      for (const Rank odd : {0, 3}) {
        const Play right{problem(*algorithm, 3 * one_cell), algorithm};
        const Play wrong{problem(*algorithm, std::max(cells * one_cell, Count{1})), algorithm};
        expect_both_named(right, wrong, odd, 13);
      }
}

TEST(Mismatch, Type) {
  for_each_algorithm([](const Play& right, Rank odd, std::uint64_t seed) {
    if (right.algorithm->kind == Kind::barrier) return;
    Play wrong = right;
    wrong.change = [](Call& call) { call.type = Type::float64; };
    expect_both_named(right, wrong, odd, seed);
  });
}

TEST(Mismatch, Operation) {
  for_each_algorithm([](const Play& right, Rank odd, std::uint64_t seed) {
    if (!tutti::collectives::get(right.algorithm->kind).reduces) return;
    Play wrong = right;
    wrong.change = [](Call& call) { call.reduction.op = Op::max; };
    expect_both_named(right, wrong, odd, seed);
  });
}

TEST(Mismatch, Root) {
  for_each_algorithm([](const Play& right, Rank odd, std::uint64_t seed) {
    if (!tutti::collectives::get(right.algorithm->kind).rooted) return;
    Play wrong = right;
    wrong.problem.root = 1;
    expect_both_named(right, wrong, odd, seed);
  });
}

TEST(Mismatch, Order) {
  for (const std::uint64_t seed : {0, 1, 2, 3}) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    std::vector<std::string> said(3);
    tutti::job::run_inproc(3, {.fibers = true, .seed = seed}, [&](const Group& world) {
      std::int64_t in = 1, out = 0;
      try {
        if (world.rank() == 2) world.barrier();
        world.allreduce(std::span(&in, 1), std::span(&out, 1), tutti::sum);
        if (world.rank() != 2) world.barrier();
        world.barrier();
      } catch (const Mismatch& error) {
        said[static_cast<std::size_t>(world.rank())] = error.what();
      }
    });
    for (const std::string& text : said) {
      EXPECT_NE(text.find("barrier("), std::string::npos) << text;
      EXPECT_NE(text.find("allreduce("), std::string::npos) << text;
      EXPECT_NE(text.find("rank 2"), std::string::npos) << text;
    }
  }
}

/// Rank 0 sends `sent` elements, rank 1 receives `wanted` of another type or number; both then meet in a barrier.
template <class Sent, class Wanted>
void cross(Count sent, Count wanted) {
  for (const std::uint64_t seed : {0, 1, 2})
    for (const bool board : {true, false}) {
      SCOPED_TRACE("seed " + std::to_string(seed) + " board " + std::to_string(board));
      std::string said[2];
      tutti::job::run_inproc(2, {.fibers = true, .seed = seed, .board = board}, [&](const Group& world) {
        std::vector<Sent> from(static_cast<std::size_t>(sent), Sent{7});
        std::vector<Wanted> to(static_cast<std::size_t>(wanted) + 2, Wanted{5});
        try {
          if (world.rank() == 0)
            world.send(from, 1, 9);
          else
            world.recv(std::span(to).subspan(1, static_cast<std::size_t>(wanted)), 0, 9);
          if (board || world.rank() == 1) world.barrier();
        } catch (const Mismatch& error) {
          said[world.rank()] = error.what();
        }
        for (const Wanted& value : to) EXPECT_EQ(value, Wanted{5});
      });
      EXPECT_NE(said[1].find("rank 0"), std::string::npos) << said[1];
      EXPECT_NE(said[1].find("rank 1"), std::string::npos) << said[1];
      if (board) {
        EXPECT_NE(said[0].find("match"), std::string::npos) << said[0];
      }
    }
}

TEST(Mismatch, SizesOfSendAndReceive) {
  cross<std::int32_t, std::int32_t>(4, 5);
  cross<std::int32_t, std::int32_t>(5, 4);
  cross<std::int32_t, std::int32_t>(50'000, 40'000);
  cross<std::int32_t, std::int32_t>(40'000, 0);
}

TEST(Mismatch, TypesOfSendAndReceive) {
  cross<std::int32_t, float>(4, 4);
  cross<double, std::int64_t>(30'000, 30'000);
}

}  // namespace
