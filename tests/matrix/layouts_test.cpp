// SPDX-License-Identifier: BSD-3-Clause
// The matrix on buffers whose elements lie apart, each rank's in its own way: every collective, algorithm and form. A
// byte that changes in a gap is a failure like any other.
#include <gtest/gtest.h>

#include "arrangement.hpp"
#include "job/inproc.hpp"
#include "matrix.hpp"
#include "processes.hpp"

namespace {

using tutti::Call;
using tutti::Count;
using tutti::Group;
using tutti::Kind;
using tutti::Rank;
using tutti::matrix::Case;

constexpr Rank largest = 8;

/// Of the largest group, which takes as long as all others together, each arrangement has a third of the cases, mixed:
/// another third than the one before it.
std::vector<Case> cases(Rank size, const std::vector<Count>& counts, int layouts, bool board, bool single_copy) {
  std::vector<Case> all = tutti::matrix::cases(size, counts, 2, board && size > 1, single_copy);
  if (size == largest) {
    std::uint32_t number = 0;
    std::erase_if(all, [&](const Case&) {
      return (number++ * 0x9e3779b1u >> 16) % 3 != static_cast<std::uint32_t>(layouts % 3);
    });
  }
  return tutti::matrix::laid_out(std::move(all), layouts);
}

class Layouts : public ::testing::TestWithParam<Rank> {};

TEST_P(Layouts, Fibers) {
  const Rank size = GetParam();
  for (int layouts = 1; layouts <= tutti::matrix::arrangements; ++layouts)
    for (const bool board : {true, false}) {
      const auto all = cases(size, {1, size + 1, 300}, layouts, board, board);
      tutti::job::run_inproc(size, {.fibers = true, .seed = 5, .single_copy = board, .board = board},
                             [&](const Group& world) {
                               for (const Case& one : all) tutti::matrix::run(world, one);
                             });
    }
}

TEST_P(Layouts, Processes) {
  const auto said = tutti::matrix::run_processes(GetParam(), {}, 200, [&](const Group& world) {
    for (const int layouts : {1, 3, 5})
      for (const Case& one : cases(world.size(), {0, 3, 5000}, layouts, true, true)) tutti::matrix::run(world, one);
  });
  for (std::size_t rank = 0; rank < said.size(); ++rank) EXPECT_EQ(said[rank], "") << "rank " << rank;
}

INSTANTIATE_TEST_SUITE_P(Sizes, Layouts, ::testing::Values(1, 2, 3, 5, largest));

// ---- Wrong collectives are seen. ----

using Wrong = void (*)(const Group&, const Call&);

void does_nothing(const Group& group, const Call& call) {
  Call barrier;
  barrier.kind = Kind::barrier;
  group.run(barrier);
  static_cast<void>(call);
}

/// Rank 0 takes its elements, and puts them, where they do not lie.
template <bool output>
void is_one_byte_off(const Group& group, const Call& call) {
  Call wrong = call;
  const tutti::Layout* const right = output ? call.output_layout : call.input_layout;
  const tutti::Layout moved = right == nullptr ? tutti::Layout() : right->moved(1);
  if (group.rank() == 0 && right != nullptr) (output ? wrong.output_layout : wrong.input_layout) = &moved;
  group.run(wrong);
}

void changes_a_gap(const Group& group, const Call& call) {
  group.run(call);
  if (group.rank() != 0 || call.output_layout == nullptr) return;
  const Count end = call.output_layout->end();
  std::vector<bool> names(static_cast<std::size_t>(end));
  for (Count i = 0; i < call.output_layout->size(); ++i)
    names[static_cast<std::size_t>(call.output_layout->place(i))] = true;
  const auto gap = std::ranges::find(names, false) - names.begin();
  static_cast<std::byte*>(call.output)[gap] ^= std::byte{1};
}

/// How many cases of each collective a wrong one fails in; only those in which rank 0 receives, by a layout.
void expect_seen(Wrong wrong, const char* name, bool needs_input) {
  constexpr Rank size = 3;
  for (const tutti::collectives::Collective& collective : tutti::collectives::all()) {
    if (collective.kind == Kind::barrier) continue;
    std::size_t failed = 0, tried = 0;
    for (const Case& one : cases(size, {7}, 2, true, true)) {
      const auto& problem = one.problem;
      if (problem.kind != collective.kind || problem.in_place || one.form != tutti::matrix::Form::blocking) continue;
      if (problem.kind == Kind::exscan) continue;  // rank 0 receives nothing
      if ((problem.kind == Kind::bcast) != (problem.root == 1) && collective.rooted && !needs_input) continue;
      if (needs_input && (problem.kind == Kind::bcast || problem.root == 1)) continue;
      ++tried;
      bool seen = false;
      tutti::matrix::Hooks hooks;
      hooks.instead = wrong;
      try {
        tutti::job::run_inproc(size, {.fibers = true},
                               [&](const Group& world) { tutti::matrix::run(world, one, hooks); });
      } catch (const std::runtime_error&) {
        seen = true;
      }
      failed += seen ? 1 : 0;
    }
    EXPECT_EQ(failed, tried) << name << " in " << name_of(collective.kind);
    const bool can_show_it = collective.kind != Kind::exscan && (collective.kind != Kind::bcast || !needs_input);
    EXPECT_EQ(tried > 0, can_show_it) << name_of(collective.kind);
  }
}

TEST(LayoutMutants, ACallThatDoesNothing) { expect_seen(does_nothing, "nothing", false); }
TEST(LayoutMutants, AnInputThatLiesElsewhere) { expect_seen(is_one_byte_off<false>, "input", true); }
TEST(LayoutMutants, AnOutputThatLiesElsewhere) { expect_seen(is_one_byte_off<true>, "output", false); }
TEST(LayoutMutants, AByteInAGap) { expect_seen(changes_a_gap, "gap", false); }

}  // namespace
