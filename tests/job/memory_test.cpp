// SPDX-License-Identifier: BSD-3-Clause
// Buffers in memory of the host: they stay where they are and are their owner's again when a call is over, not before.
// What a cell says of them is checked.
#include "tutti/memory.hpp"

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <memory>
#include <numeric>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/clock.hpp"
#include "board.hpp"
#include "host/board.hpp"
#include "job/inproc.hpp"
#include "tutti/group.hpp"

namespace tutti {
namespace {

constexpr std::size_t length = 20'000;
using Numbers = std::vector<std::int64_t, Allocator<std::int64_t>>;

Numbers numbers(const Group& group, std::int64_t first) {
  Numbers made(length, Allocator<std::int64_t>(group));
  std::iota(made.begin(), made.end(), first);
  return made;
}

TEST(Memory, IsOneRanksOwnAndOutlivesItsGroup) {
  job::run_inproc(3, {}, [](const Group& world) {
    Numbers kept(Allocator<std::int64_t>{world});
    {
      const Group part = world.dup();
      kept = numbers(part, 100 * world.rank());
      Numbers moved = std::move(kept), copied = moved;
      EXPECT_EQ(moved, copied);
      kept = std::move(copied);
      moved.swap(copied);
      const Numbers away = std::move(copied);
      copied.resize(1);  // NOLINT(bugprone-use-after-move): that it can be used is what is tested
      EXPECT_EQ(copied.front(), 0);
    }
    world.barrier();
    EXPECT_EQ(kept.front(), 100 * world.rank());
    EXPECT_EQ(kept.back(), 100 * world.rank() + static_cast<std::int64_t>(length) - 1);
  });
}

TEST(Memory, WhatIsNoneIsRefused) {
  job::run_inproc(1, {}, [](const Group& world) {
    int other = 0;
    EXPECT_THROW(allocate(Group(), 8), Error);
    EXPECT_THROW(allocate(world, ~std::size_t{0}), Error);
    EXPECT_THROW(release(&other), Error);
    void* const memory = allocate(world, 8);
    release(memory);
    EXPECT_THROW(release(memory), Error);
    release(nullptr);
    EXPECT_THROW(Allocator<std::int64_t>(world).allocate(~std::size_t{0} / 4), std::bad_array_new_length);
  });
}

/// The root is not done before its data have been read, for they are read where they lie; the others tell that as soon
/// as they can, whatever they wait for next.
TEST(Memory, ARootWaitsForThoseWhoReadItsMemoryAndNoLonger) {
  const job::InprocOptions options{.fibers = true};
  job::run_inproc(3, options, [](const Group& world) {
    constexpr std::string_view algorithm = "board_pipeline";
    if (world.rank() == 0) {
      const std::vector<std::int64_t> own(length, 5);
      Numbers lent = numbers(world, 7);
      std::vector<std::int64_t> ordinary(own);
      Request copied = world.ibcast(ordinary, 0, {.algorithm = algorithm});
      EXPECT_TRUE(copied.test()) << "what has been copied is nobody's business";
      Request request = world.ibcast(lent, 0, {.algorithm = algorithm});
      for (int i = 0; i < 5; ++i) EXPECT_FALSE(request.test()) << "nobody has called it yet";
      world.send(own, 1);
      for (int i = 0; i < 5; ++i) EXPECT_FALSE(request.test()) << "rank 2 has not called it yet";
      world.send(own, 2);
      request.wait();
      std::ranges::fill(lent, -1);
    } else {
      std::vector<std::int64_t> word(length), first(length), second(length);
      world.recv(word, 0);
      world.bcast(first, 0, {.algorithm = algorithm});
      world.bcast(second, 0, {.algorithm = algorithm});
      EXPECT_EQ(first, word);
      EXPECT_EQ(second.front(), 7);
      EXPECT_EQ(second.back(), 7 + static_cast<std::int64_t>(length) - 1);
    }
    world.barrier();
  });
}

TEST(Memory, WhatIsCombinedInPlaceIsNotLent) {
  job::run_inproc(2, {}, [](const Group& world) {
    for (const std::string_view algorithm : {"board_large", "board_pipeline", "single_copy"})
      for (int round = 0; round < 20; ++round) {
        Numbers sums = numbers(world, world.rank() + round);
        world.allreduce(sums, sums, sum, {.algorithm = algorithm});
        for (std::size_t i = 0; i < length; ++i)
          ASSERT_EQ(sums[i], 2 * (static_cast<std::int64_t>(i) + round) + 1) << algorithm << ", round " << round;
      }
  });
}

/// Waits for something outside of the library, as a program does that computes or talks to others; false: in vain.
template <class Value>
bool comes(const std::atomic<Value>& sign, Value wanted = Value{1}) {
  const std::uint64_t end = base::now() + 10'000'000'000;
  while (sign.load(std::memory_order_acquire) < wanted && base::now() < end) std::this_thread::yield();
  return sign.load(std::memory_order_acquire) >= wanted;
}

TEST(Memory, WhoTakesNothingHoldsNobodyUp) {
  job::run_inproc(3, {}, [done = std::make_shared<std::atomic<bool>>(false)](const Group& world) {
    for (const std::string_view algorithm : {"board", "board:segment=65536"}) {
      const std::array<Count, 3> counts{0, 5000, 0}, offsets{0, 0, 5000};
      std::vector<std::int64_t> mine(static_cast<std::size_t>(counts[static_cast<std::size_t>(world.rank())]));
      Numbers all = numbers(world, 3);
      const std::vector<std::int64_t> nothing;
      done->store(false, std::memory_order_release);
      world.barrier();
      if (world.rank() == 0)
        world.scatterv(all, mine, counts, offsets, 0, {.algorithm = algorithm});
      else
        world.scatterv(nothing, mine, counts, offsets, 0, {.algorithm = algorithm});
      if (world.rank() == 0) done->store(true, std::memory_order_release);
      EXPECT_TRUE(world.rank() != 2 || comes(*done)) << algorithm;
      EXPECT_TRUE(world.rank() != 1 || mine.back() == 3 + 4999);
      world.barrier();
    }
  });
}

/// Rank 1 has read what rank 0 lends, and is not done with what it began before, which rank 2 came late to.
TEST(Memory, WhatWasBegunBeforeHoldsNobodyUp) {
  struct Signs {
    std::atomic<bool> read{false}, done{false};
  };
  job::run_inproc(3, {}, [signs = std::make_shared<Signs>()](const Group& world) {
    const std::vector<std::int64_t> one{1};
    std::vector<std::int64_t> total(1);
    Numbers data = numbers(world, world.rank() == 0 ? 9 : 0);
    EXPECT_TRUE(world.rank() != 2 || comes(signs->read));
    Request before = world.iallreduce(one, total, sum);
    world.bcast(data, 0, {.algorithm = "board_pipeline"});
    EXPECT_EQ(data.back(), 9 + static_cast<std::int64_t>(length) - 1);
    if (world.rank() == 1) signs->read.store(true, std::memory_order_release);
    if (world.rank() == 0) signs->done.store(true, std::memory_order_release);
    EXPECT_TRUE(world.rank() != 1 || comes(signs->done));
    before.wait();
    EXPECT_EQ(total.front(), 3);
  });
}

/// Nor what is begun after it, by a rank that stays away from Tutti then.
TEST(Memory, WhatIsBegunBeforeAndAfterHoldsNobodyUp) {
  struct Signs {
    std::atomic<bool> away{false}, done{false};
  };
  job::run_inproc(3, {}, [signs = std::make_shared<Signs>()](const Group& world) {
    const std::vector<std::int64_t> one{1};
    std::vector<std::int64_t> total(1);
    Numbers data = numbers(world, world.rank() == 0 ? 9 : 0);
    EXPECT_TRUE(world.rank() != 2 || comes(signs->away));
    Request before = world.iallreduce(one, total, sum);
    Request between = world.ibcast(data, 0, {.algorithm = "board_pipeline"});
    if (world.rank() == 1) between.wait();
    Request after = world.ibarrier();
    if (world.rank() == 1) signs->away.store(true, std::memory_order_release);
    if (world.rank() != 1) between.wait();
    EXPECT_EQ(data.back(), 9 + static_cast<std::int64_t>(length) - 1);
    if (world.rank() == 0) signs->done.store(true, std::memory_order_release);
    EXPECT_TRUE(world.rank() != 1 || comes(signs->done));
    before.wait();
    after.wait();
    EXPECT_EQ(total.front(), 3);
  });
}

/// What a rank is done with ahead of others it says in the place of what it was done with a ring before, of which it
/// may see the end later than that of the newer one.
TEST(Memory, WhatEndsLaterThanANewerOneHidesNothing) {
  job::run_inproc(3, {}, [turn = std::make_shared<std::atomic<int>>(0)](const Group& world) {
    const auto next = [&] { turn->fetch_add(1, std::memory_order_acq_rel); };
    const Rank rank = world.rank();
    const Options in_pieces{.algorithm = "board_pipeline"};
    Numbers old = numbers(world, rank == 2 ? 5 : 0), newer = numbers(world, rank == 0 ? 9 : 0);
    const std::vector<std::int64_t> one{1};
    std::vector<std::int64_t> word(1), total(1);
    std::vector<Request> pending;
    if (rank == 2) pending.push_back(world.irecv(word, 0));  // to the end: all that follows is ahead of it
    Request first = world.ibcast(old, 2, in_pieces);         // four cells
    if (rank != 2) first.wait();
    EXPECT_TRUE(rank == 1 || comes(*turn, 1));
    pending.push_back(world.iscan(one, total, sum, in_pieces));  // rank 1 begins it first, and comes back at the end
    if (rank == 1) next();
    for (std::uint64_t i = 0; i < host::cells - 5; ++i) pending.push_back(world.ibarrier());
    EXPECT_TRUE(rank == 0 || comes(*turn, rank == 2 ? 2 : 3));
    Request last = world.ibcast(newer, 0, in_pieces);  // where `first` stood in the ring
    EXPECT_TRUE(rank != 2 || first.test());
    next();
    if (rank == 0) {
      last.wait();
      next();
      world.send(one, 2);
    }
    EXPECT_TRUE(comes(*turn, 5));
    last.wait();
    for (Request& request : pending) request.wait();
    EXPECT_EQ(old.front(), 5);
    EXPECT_EQ(newer.front(), 9);
    EXPECT_EQ(total.front(), rank + 1);
  });
}

/// A lent payload, or exposed memory, of which the cell says what cannot be.
TEST(Memory, APlaceThatThereIsNotIsAnErrorOnEveryRank) {
  constexpr Rank size = 2;
  for (const std::string_view algorithm : {"board_pipeline", "single_copy"})
    for (const std::uint64_t wrong :
         {std::uint64_t{4096}, std::uint64_t{1} << 62, ~std::uint64_t{0}, std::uint64_t{64} << 30}) {
      SCOPED_TRACE(std::string(algorithm) + ", offset " + std::to_string(wrong));
      host::Segment* segment = nullptr;
      std::array<std::string, size> said;
      const job::InprocOptions options{.fibers = true, .watch = [&](auto*, host::Segment& made) { segment = &made; }};
      job::run_inproc(size, options, [&](const Group& world) {
        Numbers data = numbers(world, 0);
        try {
          if (world.rank() == 0) {
            Request request = world.ibcast(data, 0, {.algorithm = algorithm});
            const host::Board board = test::find_board(*segment, size);
            ASSERT_TRUE(board);
            for (std::uint64_t cell = 0; cell < host::cells; ++cell) board.cell(0, cell).area = wrong;
            request.wait();
          } else {
            world.bcast(data, 0, {.algorithm = algorithm});
          }
          world.barrier();
        } catch (const Error& error) {
          said[static_cast<std::size_t>(world.rank())] = error.what();
        }
      });
      EXPECT_NE(said[0].find("was broken"), std::string::npos) << said[0];
      EXPECT_NE(said[1].find("rank 0 lends no memory where it says"), std::string::npos) << said[1];
    }
}

}  // namespace
}  // namespace tutti
