// SPDX-License-Identifier: BSD-3-Clause
// One rank calls something else than the others: every rank gets a Mismatch that names both sides, nobody hangs, and no
// byte outside the buffers is touched. On every algorithm, and every algorithm against every other.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <stdexcept>

#include "../graphs.hpp"
#include "../matrix/matrix.hpp"
#include "base/names.hpp"
#include "base/random.hpp"
#include "host/board.hpp"
#include "job/inproc.hpp"
#include "matrix/matrix.hpp"
#include "transport/inproc/scheduler.hpp"

namespace {

using tutti::Call;
using tutti::Count;
using tutti::Error;
using tutti::Group;
using tutti::Kind;
using tutti::Mismatch;
using tutti::Op;
using tutti::Rank;
using tutti::Type;
using tutti::collectives::Algorithm;
using tutti::collectives::Problem;
using tutti::job::InprocOptions;

constexpr std::size_t guard = 64, element = 8;
constexpr std::byte mark{0xa5};

/// One rank's call of a problem, with buffers between guards.
class Prepared {
 public:
  Prepared(const Problem& problem, const Algorithm& algorithm, Rank rank)
      : shapes_(problem),
        name_(algorithm.name),
        input_(tutti::collectives::get(problem.kind).contract(problem).ranks[index(rank)].input),
        output_(tutti::collectives::get(problem.kind).contract(problem).ranks[index(rank)].output) {
    const auto& shape = shapes_[rank];
    call.kind = problem.kind;
    call.input = input_.bytes.data() + guard;
    call.output = output_.bytes.data() + guard;
    call.type = Type::int64;
    call.element = element;
    call.count = shape.count;
    call.root = shape.root;
    if (tutti::collectives::get(problem.kind).reduces) call.reduction.op = Op::sum;
    call.send_counts = shape.send_counts;
    call.send_offsets = shape.send_offsets;
    call.recv_counts = shape.recv_counts;
    call.recv_offsets = shape.recv_offsets;
    const Count segment = problem.parameters.segment * static_cast<Count>(element);
    if (segment > 0) name_ += ":segment=" + std::to_string(segment);
    call.algorithm = name_;
  }
  bool intact() const { return input_.intact() && output_.intact(); }

  Call call;

 private:
  struct Guarded {
    explicit Guarded(Count count) : bytes(2 * guard + static_cast<std::size_t>(count) * element, std::byte{0}) {
      std::fill_n(bytes.begin(), guard, mark);
      std::fill_n(bytes.end() - guard, guard, mark);
    }
    bool intact() const {
      const auto marked = [](std::byte b) { return b == mark; };
      return std::all_of(bytes.begin(), bytes.begin() + guard, marked) &&
             std::all_of(bytes.end() - guard, bytes.end(), marked);
    }
    std::vector<std::byte> bytes;
  };
  static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank); }

  tutti::collectives::Shapes shapes_;
  std::string name_;
  Guarded input_, output_;
};

/// What one rank of a job calls.
struct Play {
  Problem problem;
  const Algorithm* algorithm;
  std::function<void(Call&)> change = {};
};

Problem problem_of(const Algorithm& algorithm, Rank size, Count count) {
  Problem problem;
  problem.kind = algorithm.kind;
  problem.size = size;
  problem.count = algorithm.kind == Kind::barrier ? 0 : count;
  problem.small_cell = tutti::host::small_payload / element;
  problem.large_cell = tutti::host::large_payload / element;
  if (tutti::collectives::has_neighbors(algorithm.kind)) tutti::collectives::give_edges(problem, 1);  // a ring
  if (!tutti::collectives::get(algorithm.kind).varying) return problem;
  problem.count = 0;
  problem.counts.assign(static_cast<std::size_t>(tutti::collectives::is_matrix(algorithm.kind) ? size * size : size),
                        count);
  return problem;
}

bool usable(const Play& play) {
  return tutti::collectives::applies(*play.algorithm, tutti::collectives::Shapes(play.problem)[0], true);
}

/// The wrong call, then barriers until it shows; returns what it says. A rank whose own call completed at once (a root
/// that only sends) finds out in one of its next calls.
std::string provoke(const Group& group, const Play& play) {
  Prepared mine(play.problem, *play.algorithm, group.rank());
  if (play.change) play.change(mine.call);
  tutti::matrix::give_neighbors(group, play.problem);
  std::string text;
  try {
    group.run(mine.call);
    for (int i = 0; i < 40; ++i) group.barrier();
  } catch (const Mismatch& error) {
    text = error.what();
  }
  if (text.empty()) throw std::runtime_error("the mismatch was not found");
  if (!mine.intact()) throw std::runtime_error("a guard is damaged");
  try {
    group.barrier();
  } catch (const Mismatch&) {
    return text;
  }
  throw std::runtime_error("the group works again");
}

/// Rank `odd` plays `wrong`, the others `right`. Returns what each rank said.
std::vector<std::string> play(const Play& right, const Play& wrong, Rank odd, std::uint64_t seed) {
  std::vector<std::string> said(static_cast<std::size_t>(right.problem.size));
  try {
    tutti::job::run_inproc(right.problem.size, {.fibers = true, .seed = seed}, [&](const Group& world) {
      std::string& mine = said[static_cast<std::size_t>(world.rank())];
      try {
        mine = provoke(world, world.rank() == odd ? wrong : right);
      } catch (const std::exception& error) {
        mine = std::string("wrong: ") + error.what();
      }
    });
  } catch (const tutti::transport::inproc::Deadlock& hang) {
    ADD_FAILURE() << hang.what();
  }
  return said;
}

std::string text_of(const Play& play) {
  return std::string(tutti::name_of(play.problem.kind)) + "/" + std::string(play.algorithm->name);
}

void expect_both_named(const Play& right, const Play& wrong, Rank odd, std::uint64_t seed) {
  SCOPED_TRACE("seed " + std::to_string(seed) + ": rank " + std::to_string(odd) + " of " +
               std::to_string(right.problem.size) + " calls " + text_of(wrong) + ", the others " + text_of(right));
  const auto said = play(right, wrong, odd, seed);
  for (std::size_t rank = 0; rank < said.size(); ++rank) {
    const std::string& text = said[rank];
    EXPECT_NE(text.find("match"), std::string::npos) << "rank " << rank << " said: " << text;
    EXPECT_EQ(text.rfind("wrong:", 0), std::string::npos) << "rank " << rank << " said: " << text;
    EXPECT_NE(text.find("rank " + std::to_string(odd)), std::string::npos) << "rank " << rank << " said: " << text;
  }
}

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

TEST(Mismatch, EveryAlgorithmAgainstEveryOther) {
  tutti::base::Random random(815);
  for (const Algorithm& one : tutti::collectives::algorithms())
    for (const Algorithm& other : tutti::collectives::algorithms()) {
      if (&one == &other || ::testing::Test::HasFailure()) continue;
      const bool four = one.needs.power_of_two || other.needs.power_of_two;
      const auto size = static_cast<Rank>(four ? 4 : 2 + random.below(3));
      const Count count = one.needs.fits_small || other.needs.fits_small || random.once_in(2) ? 3 : 3000;
      const Play right{problem_of(one, size, count), &one}, wrong{problem_of(other, size, count), &other};
      if (!usable(right) || !usable(wrong)) continue;
      expect_both_named(right, wrong, static_cast<Rank>(random.below(static_cast<std::uint64_t>(size))), random.next());
    }
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
