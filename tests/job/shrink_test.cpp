// SPDX-License-Identifier: BSD-3-Clause
// A shrink that one of the survivors gives up between its two agreements: what it has promised to the others stays.
#include <gtest/gtest.h>

#include <span>

#include "engine/engine.hpp"
#include "job/inproc.hpp"
#include "tutti/tutti.hpp"

namespace tutti {
namespace {

/// As Ctrl-C does, when the others have not come after a while.
void interrupt_shrink(const Group& group) {
  engine::interruption() = [] { return true; };
  try {
    group.shrink();
    ADD_FAILURE() << "rank 2 has not come to the second agreement";
  } catch (const Error& error) {
    EXPECT_EQ(error.cause(), Cause::interrupted) << error.what();
  }
  engine::interruption() = nullptr;
}

/// Until the second agreement has what this rank says: the first has told who is lost.
void enter_second_agreement(const Group& group) {
  while (group.lost().empty() && !::testing::Test::HasFailure()) interrupt_shrink(group);
}

void tell(const Group& group, Rank to) {
  const int word = 1;
  group.isend(std::span(&word, 1), to).wait();
}

void hear(const Group& group, Rank from) {
  int word = 0;
  group.irecv(std::span(&word, 1), from).wait();  // serves the agreements meanwhile
}

TEST(Shrink, ABoardThatWasPromisedStaysWhereItIs) {
  host::Segment* segment = nullptr;
  job::InprocOptions options;
  options.watch = [&](transport::inproc::Fibers*, host::Segment& made) { segment = &made; };
  job::run_inproc(4, options, [&](const Group& world) {
    const Rank rank = world.rank();
    Group old = world.dup();
    const Group three = world.split(rank == 3 ? -1 : 0);
    if (rank == 3) {
      hear(world, 0);
      return segment->declare_dead(3);
    }
    three.barrier();
    if (rank == 0) tell(world, 3);
    if (rank == 1) hear(three, 2);  // rank 2 gets no further than into the first agreement
    if (rank == 2) {
      interrupt_shrink(old);
      tell(three, 1);
      hear(three, 0);
    } else {
      enter_second_agreement(old);
    }
    if (rank == 0) {
      old = Group();
      tell(three, 2);
    }
    const Group next = three.dup();  // takes the memory for its board that was given back last
    if (rank == 0) {
      hear(three, 1);
    } else {
      EXPECT_EQ(old.shrink().size(), 3);
      if (rank == 1) tell(three, 0);
    }
    next.barrier();
  });
}

}  // namespace
}  // namespace tutti
