// SPDX-License-Identifier: BSD-3-Clause
// Gatherv's large blocks: the root copies them from their senders' memory, or they write most of them into its, and it
// tells each of them when it has done so. The root is late, a sender writes its buffer anew at once, one means another
// count, somebody dies meanwhile.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <vector>

#include "job.hpp"
#include "job/inproc.hpp"

namespace {

using tutti::Count;
using tutti::Error;
using tutti::Group;
using tutti::Mismatch;
using tutti::PeerLost;
using tutti::Rank;
using namespace tutti::faults;

constexpr int patience = 20;  // seconds
constexpr Count large = 200'000, small = 10;

std::uint32_t value(int call, Rank rank) { return static_cast<std::uint32_t>(call * 1000 + rank + 1); }

/// Every third block is small, every fifth empty, the others large.
Count count_of(int call, Rank rank) {
  const int which = call + rank;
  if (which % 5 == 4) return 0;
  return which % 3 == 2 ? small : large + which;
}

/// Whether every element is `value`. By memcmp against itself one element on: where nothing is inlined, element by
/// element takes longer than what is tested.
bool all_are(std::span<const std::uint32_t> block, std::uint32_t value) {
  return block.empty() ||
         (block[0] == value && std::memcmp(block.data(), block.data() + 1, block.size_bytes() - sizeof value) == 0);
}

/// What is wrong, or an empty text. `pause`: of the root, before each call.
template <class Pause>
std::string gather_again_and_again(const Group& world, const char* algorithm, int calls, Pause pause) {
  for (int call = 0; call < calls; ++call) {
    const Rank root = call % world.size();
    std::vector<Count> counts;
    for (Rank rank = 0; rank < world.size(); ++rank) counts.push_back(count_of(call, rank));
    std::vector<std::uint32_t> mine(static_cast<std::size_t>(count_of(call, world.rank())), value(call, world.rank()));
    if (world.rank() != root) {
      world.gatherv(mine, std::vector<std::uint32_t>(), {}, {}, root, {.algorithm = algorithm});
      std::ranges::fill(mine, 0xdeadu);  // and the memory is given back
      continue;
    }
    pause();
    Count total = 0;
    for (const Count count : counts) total += count;
    std::vector<std::uint32_t> all(static_cast<std::size_t>(total));
    world.gatherv(mine, all, counts, {}, root, {.algorithm = algorithm});
    std::span<const std::uint32_t> rest = all;
    for (Rank rank = 0; rank < world.size(); ++rank) {
      const auto count = static_cast<std::size_t>(counts[static_cast<std::size_t>(rank)]);
      if (!all_are(rest.first(count), value(call, rank)))
        return "call " + std::to_string(call) + ": wrong values from rank " + std::to_string(rank);
      rest = rest.subspan(count);
    }
  }
  return "";
}

class Receipts : public testing::TestWithParam<const char*> {};

TEST_P(Receipts, TheRootIsLateAndSendersWriteAtOnce) {
  for (const Rank size : {2, 3, 5}) {
    SCOPED_TRACE(std::to_string(size) + " ranks");
    Job job(size, {}, [algorithm = GetParam()](Seat& seat) {
      const Group world = seat.world();
      const std::string wrong = gather_again_and_again(world, algorithm, 30, [] { usleep(3000); });
      seat.say(wrong.empty() ? "right" : wrong);
    });
    for (Rank rank = 0; rank < size; ++rank) {
      EXPECT_TRUE(job.await_end(rank, patience, true)) << "rank " << rank << " hangs";
      EXPECT_EQ(job.said(rank), "right\n") << "rank " << rank;
    }
  }
}

TEST_P(Receipts, UnderEveryInterleaving) {
  for (const Rank size : {2, 3, 4, 7})
    for (const std::uint64_t seed : {1, 2, 3, 4, 5, 6}) {
      SCOPED_TRACE(std::to_string(size) + " ranks, seed " + std::to_string(seed));
      tutti::job::run_inproc(size, {.fibers = true, .seed = seed}, [algorithm = GetParam()](const Group& world) {
        EXPECT_EQ(gather_again_and_again(world, algorithm, 15, [] {}), "");
      });
    }
}

/// Rank 1 gives `given` elements where the root expects `expected`.
void mistake(const char* algorithm, Rank size, Count given, Count expected, std::uint64_t seed) {
  SCOPED_TRACE(std::to_string(size) + " ranks, " + std::to_string(given) + " for " + std::to_string(expected) +
               ", seed " + std::to_string(seed));
  std::vector<std::string> said(static_cast<std::size_t>(size));
  tutti::job::run_inproc(size, {.fibers = true, .seed = seed}, [&](const Group& world) {
    const Rank rank = world.rank();
    std::vector<Count> counts(static_cast<std::size_t>(size), large);
    counts[1] = expected;
    std::vector<std::uint32_t> mine(static_cast<std::size_t>(rank == 1 ? given : large), value(0, rank));
    std::vector<std::uint32_t> all(rank == 0 ? static_cast<std::size_t>((size - 1) * large + expected) + 1 : 0, 7u);
    try {
      if (rank == 0)
        world.gatherv(mine, std::span(all).first(all.size() - 1), counts, {}, 0, {.algorithm = algorithm});
      else
        world.gatherv(mine, all, {}, {}, 0, {.algorithm = algorithm});
      world.barrier();
    } catch (const Mismatch& error) {
      said[static_cast<std::size_t>(rank)] = error.what();
    }
    if (rank == 0) {
      EXPECT_EQ(all.back(), 7u);
    }
  });
  for (const std::string& text : said) EXPECT_NE(text.find("match"), std::string::npos) << text;
  EXPECT_NE(said[0].find("expects " + std::to_string(expected) + " elements from rank 1"), std::string::npos)
      << said[0];
  EXPECT_NE(said[0].find("gives " + std::to_string(given) + " elements"), std::string::npos) << said[0];
}

TEST_P(Receipts, AWrongCountIsAMismatch) {
  for (const Rank size : {2, 3, 5})
    for (const std::uint64_t seed : {0, 1, 2}) {
      mistake(GetParam(), size, large, large + 1, seed);
      mistake(GetParam(), size, large + 1, large, seed);
      mistake(GetParam(), size, small, large, seed);
      mistake(GetParam(), size, large, small, seed);
    }
}

/// `victim` is killed in its third call, the root when all others wait for its receipts, or a sender before it.
void strike(const char* algorithm, Rank victim) {
  constexpr Rank size = 4, root = 0;
  Job job(size, {}, [=](Seat& seat) {
    const Group world = seat.world();
    const std::vector<std::uint32_t> mine(static_cast<std::size_t>(large), value(1, seat.rank()));
    std::vector<std::uint32_t> all(seat.rank() == root ? static_cast<std::size_t>(size * large) : 0);
    const std::vector<Count> counts(size, large);
    seat.ready();
    try {
      for (int call = 0; call < 3; ++call) {
        if (call == 2 && seat.rank() == root) usleep(50'000);
        if (call == 2 && seat.rank() == victim) {
          // A sender has exposed its block, and is killed while it waits for the receipt.
          tutti::Request request;
          if (victim != root) request = world.igatherv(mine, all, {}, {}, root, {.algorithm = algorithm});
          seat.await_all_ready();
          seat.strike_self(SIGKILL);
        }
        world.gatherv(mine, all, seat.rank() == root ? counts : std::vector<Count>(), {}, root,
                      {.algorithm = algorithm});
      }
      world.barrier();
      seat.say("noticed nothing");
    } catch (const PeerLost& error) {
      seat.say("lost " + std::to_string(error.peer()));
    }
  });
  ASSERT_TRUE(job.await_end(victim, patience, true));
  for (Rank rank = 0; rank < size; ++rank) {
    if (rank == victim) continue;
    EXPECT_TRUE(job.await_end(rank, patience, false)) << "rank " << rank << " hangs";
    EXPECT_EQ(job.said(rank), "lost " + std::to_string(victim) + "\n") << "rank " << rank;
  }
}

TEST_P(Receipts, TheRootIsKilled) { strike(GetParam(), 0); }
TEST_P(Receipts, ASenderIsKilledWhileItWaits) { strike(GetParam(), 2); }

INSTANTIATE_TEST_SUITE_P(Algorithms, Receipts, testing::Values("board", "single_copy_shared"),
                         [](const auto& info) { return std::string(info.param); });

/// How many bytes of a block whose beginning is being written are not 0.
std::size_t written(std::span<const std::uint8_t> block) {
  std::size_t least = 0, most = block.size();
  while (least < most) {
    const std::size_t middle = (least + most) / 2;
    block[middle] != 0 ? least = middle + 1 : most = middle;
  }
  return least;
}

/// Rank 2 breaks the group, later in each round; the others make their call on large data.
template <class Call>
void call_or_break(const Seat& seat, const Group& world, int round, Call call) {
  if (seat.rank() != 2) return call();
  usleep(static_cast<useconds_t>(500 + 300 * round));
  world.barrier();
}

/// Plays some rounds of that. The rank that is judged says "interrupted" at least once, and never `never`.
void expect_interruptions(Rank judged, const std::string& never, void (*play)(Seat& seat, int round)) {
  int interrupted = 0;
  for (int round = 0; round < 8; ++round) {
    Job job(3, {}, [=](Seat& seat) { play(seat, round); });
    for (Rank rank = 0; rank < 3; ++rank) ASSERT_TRUE(job.await_end(rank, patience, false)) << "rank " << rank;
    EXPECT_NE(job.said(judged), never + "\n") << "round " << round;
    interrupted += job.said(judged) == "interrupted\n" ? 1 : 0;
  }
  EXPECT_GT(interrupted, 0) << "rank 1 was never in the middle: the test shows nothing";
}

/// Rank 1 is writing into the root's memory when rank 2 breaks the group: what the root has after its error is its own.
TEST(OpenMemory, IsTheRootsAgainAfterAnError) {
  expect_interruptions(0, "written later", [](Seat& seat, int round) {
    constexpr Count block = 48 << 20;
    const Group world = seat.world();
    const std::vector<std::uint8_t> mine(static_cast<std::size_t>(block), 1);
    std::vector<std::uint8_t> all(seat.rank() == 0 ? static_cast<std::size_t>(3 * block) : 0);
    world.barrier();
    try {
      call_or_break(seat, world, round, [&] { world.gather(mine, all, 0, {.algorithm = "single_copy_shared"}); });
      seat.say("noticed nothing");
    } catch (const Mismatch&) {
      if (seat.rank() != 0) return seat.say("mismatch");
      const auto theirs = std::span<const std::uint8_t>(all).subspan(static_cast<std::size_t>(block),
                                                                     static_cast<std::size_t>(block / 3 * 2));
      const std::size_t before = written(theirs);
      usleep(20'000);
      const bool still = written(theirs) == before;
      seat.say(!still ? "written later" : before > 0 && before < theirs.size() ? "interrupted" : "nothing or all");
    }
  });
}

/// Rank 1 is reading the root's memory when rank 2 breaks the group; the root fills it anew after its error.
TEST(ExposedMemory, CountsWhileTheGroupIsWhole) {
  expect_interruptions(1, "mixed", [](Seat& seat, int round) {
    constexpr std::size_t block = 48 << 20;
    const Group world = seat.world();
    std::vector<std::uint8_t> data(block, seat.rank() == 0 ? 1 : 0);
    world.barrier();
    try {
      call_or_break(seat, world, round, [&] { world.bcast(data, 0, {.algorithm = "single_copy"}); });
      seat.say(std::ranges::count(data, 1) == static_cast<std::ptrdiff_t>(block) ? "whole" : "mixed");
    } catch (const Mismatch&) {
      if (seat.rank() == 0) std::ranges::fill(data, std::uint8_t{2});
      seat.say(std::ranges::count(data, 0) == static_cast<std::ptrdiff_t>(block) ? "nothing" : "interrupted");
    }
  });
}

/// Rank 1 is stopped while it writes into the root's memory, and rank 2 breaks the group: the root's time-out holds,
/// and it gets its memory back when rank 1 goes on.
TEST(OpenMemory, IsWaitedForAsLongAsTheTimeOutSays) {
  constexpr Count block = 48 << 20;
  int timeouts = 0;
  for (int round = 0; round < 5; ++round) {
    Job job(3, {}, [](Seat& seat) {
      const Group world = seat.world();
      const std::vector<std::uint8_t> mine(static_cast<std::size_t>(block), 1);
      std::vector<std::uint8_t> all(seat.rank() == 0 ? static_cast<std::size_t>(3 * block) : 0);
      world.barrier();
      seat.ready();
      try {
        if (seat.rank() == 2) {
          usleep(50'000);
          world.barrier();
        }
        tutti::Request request = world.igather(mine, all, 0, {.algorithm = "single_copy_shared"});
        try {
          request.wait(std::chrono::milliseconds(300));
        } catch (const tutti::Timeout&) {
          seat.say("timeout");
        }
        request.wait();
      } catch (const Mismatch&) {
        seat.say("mismatch");
      }
    });
    ASSERT_TRUE(job.await_ready(patience));
    usleep(static_cast<useconds_t>(1000 + 500 * round));
    job.send(1, SIGSTOP);
    usleep(500'000);
    job.send(1, SIGCONT);
    for (Rank rank = 0; rank < 3; ++rank) ASSERT_TRUE(job.await_end(rank, patience, false)) << "rank " << rank;
    EXPECT_TRUE(job.said(0).ends_with("mismatch\n")) << job.said(0);
    timeouts += job.said(0) == "timeout\nmismatch\n" ? 1 : 0;
  }
  EXPECT_GT(timeouts, 0) << "rank 1 was never stopped in the middle: the test shows nothing";
}

}  // namespace
