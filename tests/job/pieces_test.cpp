// SPDX-License-Identifier: BSD-3-Clause
// Long steps are done piece by piece, so that other operations get their turn. Between its pieces a rank waits for
// nobody: it must not go to sleep there, also when foreign load makes it sleep wherever it does wait.
#include <gtest/gtest.h>

#include <limits>
#include <vector>

#include "base/clock.hpp"
#include "faults/job.hpp"

namespace {

using tutti::Group;
using namespace tutti::faults;

TEST(Pieces, ARankThatHasWorkDoesNotSleep) {
  constexpr std::size_t block = 6 << 20;  // six pieces
  constexpr int calls = 40;
  constexpr std::uint64_t most = 2'000'000'000;  // sleeping between the pieces takes 20 ms each: 4 s
  Job job(2, {}, [&](Seat& seat) {
    const Group world = seat.world();
    const std::vector<char> blocks(2 * block, 'x');
    std::vector<char> mine(block);
    world.barrier();
    const std::uint64_t start = tutti::base::now();
    for (int i = 0; i < calls; ++i) {
      seat.segment().header().foreign_until.store(std::numeric_limits<std::uint64_t>::max() / 2);
      world.scatter(blocks, mine, 0, {.algorithm = "single_copy"});
    }
    const std::uint64_t took = tutti::base::now() - start;
    if (mine.back() != 'x') return seat.say("wrong");
    seat.say(took < most ? "in time" : "slept: " + std::to_string(took / 1'000'000) + " ms");
  });
  for (const tutti::Rank rank : {0, 1}) {
    ASSERT_TRUE(job.await_end(rank, 60, true));
    EXPECT_EQ(job.said(rank), "in time\n");
  }
}

}  // namespace
