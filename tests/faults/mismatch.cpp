// SPDX-License-Identifier: BSD-3-Clause
#include "mismatch.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <stdexcept>
#include <string>
#include <vector>

#include "../graphs.hpp"
#include "../matrix/matrix.hpp"
#include "base/names.hpp"
#include "engine/cells.hpp"
#include "job/inproc.hpp"
#include "transport/inproc/scheduler.hpp"

namespace tutti::faults {

using collectives::Algorithm;
using collectives::Problem;

namespace {

constexpr std::size_t guard = 64;
constexpr std::byte mark{0xa5};

/// One rank's call of a problem, with buffers between guards.
class Prepared {
 public:
  Prepared(const Problem& problem, const Algorithm& algorithm, Rank rank)
      : shapes_(problem),
        name_(algorithm.name),
        input_(collectives::get(problem.kind).contract(problem).ranks[index(rank)].input),
        output_(collectives::get(problem.kind).contract(problem).ranks[index(rank)].output) {
    const auto& shape = shapes_[rank];
    call.kind = problem.kind;
    call.input = input_.bytes.data() + guard;
    call.output = output_.bytes.data() + guard;
    call.type = Type::int64;
    call.element = element;
    call.count = shape.count;
    call.root = shape.root;
    if (collectives::get(problem.kind).reduces) call.reduction.op = Op::sum;
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

  collectives::Shapes shapes_;
  std::string name_;
  Guarded input_, output_;
};

/// The wrong call, then barriers until it shows; returns what it says. A rank whose own call completed at once (a root
/// that only sends) finds out in one of its next calls.
std::string provoke(const Group& group, const Play& play) {
  Prepared mine(play.problem, *play.algorithm, group.rank());
  if (play.change) play.change(mine.call);
  matrix::give_neighbors(group, play.problem);
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
    job::run_inproc(right.problem.size, {.fibers = true, .seed = seed}, [&](const Group& world) {
      std::string& mine = said[static_cast<std::size_t>(world.rank())];
      try {
        mine = provoke(world, world.rank() == odd ? wrong : right);
      } catch (const std::exception& error) {
        mine = std::string("wrong: ") + error.what();
      }
    });
  } catch (const transport::inproc::Deadlock& hang) {
    ADD_FAILURE() << hang.what();
  }
  return said;
}

std::string text_of(const Play& play) {
  return std::string(name_of(play.problem.kind)) + "/" + std::string(play.algorithm->name);
}

}  // namespace

Problem problem_of(const Algorithm& algorithm, Rank size, Count count) {
  Problem problem;
  problem.kind = algorithm.kind;
  problem.size = size;
  problem.count = algorithm.kind == Kind::barrier ? 0 : count;
  problem.cell = engine::cells_of(element);
  if (collectives::has_neighbors(algorithm.kind)) collectives::give_edges(problem, 1);  // a ring
  if (!collectives::get(algorithm.kind).varying) return problem;
  problem.count = 0;
  problem.counts.assign(static_cast<std::size_t>(collectives::is_matrix(algorithm.kind) ? size * size : size), count);
  return problem;
}

bool usable(const Play& play) {
  return collectives::applies(*play.algorithm, collectives::Shapes(play.problem)[0], true);
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

}  // namespace tutti::faults
