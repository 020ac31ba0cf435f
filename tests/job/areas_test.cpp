// SPDX-License-Identifier: BSD-3-Clause
// Payloads that are too large for a cell: each takes as many slots of its owner's areas as it needs, in turn. Here
// there are more of them under way than there are slots, and cells, of all sizes; and a cell names a slot that there is
// not.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "base/random.hpp"
#include "board.hpp"
#include "host/board.hpp"
#include "job/inproc.hpp"
#include "tutti/group.hpp"

namespace tutti {
namespace {

constexpr int operations = 3 * host::cells / 2;
constexpr std::size_t slot = host::slot_stride;
constexpr std::array sizes{std::size_t{1},
                           host::small_payload,
                           host::small_payload + 1,
                           slot - 1,
                           slot,
                           slot + 1,
                           2 * slot,
                           2 * slot + 1,
                           3 * slot,
                           5 * slot,
                           host::large_payload - 1,
                           host::large_payload,
                           3 * host::large_payload,
                           std::size_t{8192}};

/// One operation in which every rank but the last takes its turn at writing, and what is expected of it.
struct Broadcast {
  Rank root;
  std::vector<std::byte> data, expected;
  Request request;
};

std::vector<std::byte> content(std::uint64_t seed, std::size_t size) {
  std::vector<std::byte> made(size);
  base::Random random(seed);
  std::vector<std::uint64_t> words(size / sizeof(std::uint64_t) + 1);
  for (std::uint64_t& word : words) word = random.next();
  if (size != 0) std::memcpy(made.data(), words.data(), size);
  return made;
}

/// By memcmp: where nothing is inlined, comparing byte by byte takes longer than what is tested.
bool same(const std::vector<std::byte>& one, const std::vector<std::byte>& other) {
  return one.size() == other.size() && (one.empty() || std::memcmp(one.data(), other.data(), one.size()) == 0);
}

/// The same on all ranks. `writers`: how many ranks are roots in turn.
std::vector<Broadcast> broadcasts(const Group& world, std::uint64_t seed, Rank writers) {
  std::vector<Broadcast> all;
  base::Random random(seed);
  for (int i = 0; i < operations; ++i) {
    const auto root = static_cast<Rank>(random.below(static_cast<std::uint64_t>(writers)));
    const std::size_t size = sizes[random.below(sizes.size())];
    auto expected = content(seed * operations + static_cast<std::uint64_t>(i), size);
    all.push_back({root, root == world.rank() ? expected : std::vector<std::byte>(size), expected, {}});
  }
  return all;
}

void start(const Group& world, Broadcast& one) {
  // In one piece, so that the areas are of all sizes.
  one.request = world.ibcast(one.data, one.root, {.algorithm = "board_pipeline:segment=65536"});
}

class Areas : public testing::TestWithParam<std::tuple<Rank, bool>> {
 protected:
  void run(Rank writers, const std::function<void(const Group&, std::vector<Broadcast>&)>& body) {
    const auto [size, fibers] = GetParam();
    const auto seed = static_cast<std::uint64_t>(2 * size + (fibers ? 1 : 0));
    job::run_inproc(size, {.fibers = fibers, .seed = seed}, [&](const Group& world) {
      std::vector<Broadcast> all = broadcasts(world, seed, std::min(writers, size));
      body(world, all);
      for (Broadcast& one : all) one.request.wait();
      for (std::size_t i = 0; i < all.size(); ++i)
        ASSERT_TRUE(same(all[i].data, all[i].expected))
            << "operation " << i << " of " << all[i].data.size() << " bytes on rank " << world.rank();
    });
  }
};

TEST_P(Areas, MoreUnderWayThanThereAreSlots) {
  run(1000, [](const Group& world, std::vector<Broadcast>& all) {
    for (Broadcast& one : all) start(world, one);
  });
}

TEST_P(Areas, AReaderComesWhenTheWriterHasStartedEverything) {
  run(1, [](const Group& world, std::vector<Broadcast>& all) {
    std::array word{world.rank()};
    const Rank slow = world.size() - 1;
    if (world.rank() == slow) world.recv(word, 0);
    for (Broadcast& one : all) start(world, one);
    if (world.rank() == 0) world.send(word, slow);
  });
}

TEST_P(Areas, AReaderTakesOneAtATime) {
  run(1, [](const Group& world, std::vector<Broadcast>& all) {
    for (Broadcast& one : all) {
      start(world, one);
      if (world.rank() == world.size() - 1) one.request.wait();
    }
  });
}

TEST_P(Areas, OfTheirOwnCount) {
  // Each rank's areas are of other sizes, as only it and the root know.
  const auto [size, fibers] = GetParam();
  job::run_inproc(size, {.fibers = fibers, .seed = 3}, [&](const Group& world) {
    constexpr int calls = 300;
    const auto count = [](int call, Rank rank) {
      constexpr std::array blocks{0, 1, 96, 97, 8000, 8320, 8321, 16384, 30000, 32768, 32769, 70000};
      return static_cast<Count>(blocks[static_cast<std::size_t>(call * 7 + rank * 5) % blocks.size()]);
    };
    std::vector<std::vector<std::byte>> sent, received;
    std::vector<Request> requests;
    for (int call = 0; call < calls; ++call) {
      const Rank root = call / 50 % world.size();
      std::vector<Count> counts;
      Count total = 0;
      for (Rank rank = 0; rank < world.size(); ++rank) total += counts.emplace_back(count(call, rank));
      const bool collects = world.rank() == root;
      sent.push_back(content(static_cast<std::uint64_t>(call * world.size() + world.rank()),
                             static_cast<std::size_t>(count(call, world.rank()))));
      received.emplace_back(static_cast<std::size_t>(collects ? total : 0));
      requests.push_back(world.igatherv(sent.back(), received.back(), collects ? counts : std::vector<Count>(), {},
                                        root, {.algorithm = "board"}));
    }
    for (Request& request : requests) request.wait();
    for (int call = 0; call < calls; ++call) {
      if (world.rank() != call / 50 % world.size()) continue;
      std::vector<std::byte> expected;
      for (Rank rank = 0; rank < world.size(); ++rank) {
        const auto block = content(static_cast<std::uint64_t>(call * world.size() + rank),
                                   static_cast<std::size_t>(count(call, rank)));
        expected.insert(expected.end(), block.begin(), block.end());
      }
      ASSERT_TRUE(same(received[static_cast<std::size_t>(call)], expected)) << "call " << call;
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Sizes, Areas, testing::Combine(testing::Values(2, 3, 5), testing::Bool()),
                         [](const auto& info) {
                           return std::to_string(std::get<0>(info.param)) +
                                  (std::get<1>(info.param) ? "Fibers" : "Threads");
                         });

TEST(AreasOfOthers, ARankThatHasNothingToGiveMayLeave) {
  // It sees neither their areas nor their counts, and has told them all that they need before it goes.
  constexpr Rank size = 4, root = 0, empty = size - 1;
  constexpr int calls = 4 * host::areas;
  constexpr Count block = host::large_payload / 2;  // of more it would expose its memory
  std::atomic<bool> done{false};
  job::run_inproc(size, {}, [&](const Group& world) {
    const std::vector<std::byte> sent(world.rank() == empty ? 0 : block, std::byte{7});
    const bool collects = world.rank() == root;
    std::vector<std::byte> received(collects ? block * (size - 1) : 0);
    const std::vector<Count> counts{block, block, block, 0};
    // Acquire: pairs with the release below.
    while (world.rank() != empty && !done.load(std::memory_order_acquire)) std::this_thread::yield();
    for (int call = 0; call < calls; ++call) {
      world.gatherv(sent, received, collects ? counts : std::vector<Count>(), {}, root, {.algorithm = "board"});
      ASSERT_TRUE(std::ranges::all_of(received, [](std::byte one) { return one == std::byte{7}; }));
      std::ranges::fill(received, std::byte{0});
    }
    if (world.rank() == empty) done.store(true, std::memory_order_release);  // partner: the load above
  });
}

TEST(AreasOfOthers, ARankWhoseOperationsEndTogetherMayLeave) {
  // Rank 1 finishes both broadcasts when it waits for the first, and after that nothing makes it look again.
  constexpr Rank size = 3, root = 2, early = 1;
  constexpr int calls = 4 * host::areas;
  constexpr Count block = host::large_payload / 2;
  enum : int { beginning, posted, published, left };
  std::atomic<int> stage{beginning};
  // Acquire and release: each stage sees what was done in the one before.
  const auto await = [&](int wanted) {
    while (stage.load(std::memory_order_acquire) < wanted) std::this_thread::yield();
  };
  const auto reach = [&](int reached) { stage.store(reached, std::memory_order_release); };
  job::run_inproc(size, {}, [&](const Group& world) {
    std::array<std::int64_t, 2> words{world.rank() == root ? 5 : 0, world.rank() == root ? 6 : 0};
    const std::vector<std::byte> sent(world.rank() == 0 ? block : 0, std::byte{7});
    std::vector<std::byte> received(world.rank() == root ? block : 0);
    const std::vector<Count> counts{block, 0, 0};
    std::vector<Request> requests;
    const auto broadcast = [&] {
      for (std::int64_t& word : words) requests.push_back(world.ibcast(std::span(&word, 1), root));
    };
    const auto gather = [&] {
      for (int call = 0; call < calls; ++call)
        requests.push_back(world.igatherv(sent, received, world.rank() == root ? counts : std::vector<Count>(), {},
                                          root, {.algorithm = "board"}));
    };
    await(world.rank() == early ? beginning : world.rank() == root ? posted : left);
    broadcast();
    if (world.rank() == root) reach(published), await(left);
    gather();
    if (world.rank() == early) reach(posted), await(published);
    for (Request& request : requests) request.wait();
    EXPECT_EQ(words, (std::array<std::int64_t, 2>{5, 6}));
    EXPECT_TRUE(std::ranges::all_of(received, [](std::byte one) { return one == std::byte{7}; }));
    if (world.rank() == early) reach(left);
  });
}

/// What rank `from` gives rank `to` in a call: nothing, what fits a cell, an area of one slot, and more than that.
std::vector<std::byte> block_of(int call, Rank from, Rank to) {
  constexpr std::array sizes{0, 1, 96, 97, 4000, 8191, 8192, 8193, 20000};
  const auto seed = static_cast<std::uint64_t>((call * 64 + from) * 64 + to);
  return content(seed, static_cast<std::size_t>(sizes[seed * 7 % sizes.size()]));
}

struct Parcel {
  std::vector<std::byte> data;
  std::vector<Count> counts;
};

Parcel parcel(Rank size, const std::function<std::vector<std::byte>(Rank)>& block) {
  Parcel made;
  for (Rank rank = 0; rank < size; ++rank) {
    const std::vector<std::byte> one = block(rank);
    made.counts.push_back(static_cast<Count>(one.size()));
    made.data.insert(made.data.end(), one.begin(), one.end());
  }
  return made;
}

class ManyRanks : public testing::TestWithParam<Rank> {};

/// An area for each other rank's block, of several operations at once, and larger areas among them.
TEST_P(ManyRanks, TakeAnAreaForEachOfTheOthers) {
  const Rank size = GetParam();
  job::run_inproc(size, {.fibers = true, .seed = 7}, [size](const Group& world) {
    constexpr int calls = 12;
    struct Call {
      Parcel exchanged, received, dealt, expected;
      std::vector<std::byte> mine, all;
    };
    std::vector<Call> made;
    std::vector<Request> requests;
    for (int call = 0; call < calls; ++call) {
      const Rank me = world.rank(), root = call % size;
      Call& one = made.emplace_back();
      one.exchanged = parcel(size, [&](Rank to) { return block_of(call, me, to); });
      one.expected = parcel(size, [&](Rank from) { return block_of(call, from, me); });
      one.received = {std::vector<std::byte>(one.expected.data.size()), one.expected.counts};
      if (me == root) one.dealt = parcel(size, [&](Rank to) { return block_of(call + calls, root, to); });
      one.mine.resize(block_of(call + calls, root, me).size());
      one.all = me == root ? content(5, 60000) : std::vector<std::byte>(60000);
    }
    for (int call = 0; call < calls; ++call) {
      Call& one = made[static_cast<std::size_t>(call)];
      const Rank root = call % size;
      requests.push_back(world.ialltoallv(one.exchanged.data, one.exchanged.counts, {}, one.received.data,
                                          one.received.counts, {}, {.algorithm = "board"}));
      requests.push_back(world.ibcast(one.all, root, {.algorithm = "board_pipeline:segment=65536"}));
      requests.push_back(world.iscatterv(one.dealt.data, one.mine, one.dealt.counts, {}, root, {.algorithm = "board"}));
    }
    for (Request& request : requests) request.wait();
    for (int call = 0; call < calls; ++call) {
      const Call& one = made[static_cast<std::size_t>(call)];
      ASSERT_TRUE(same(one.received.data, one.expected.data)) << "alltoallv, call " << call;
      ASSERT_TRUE(same(one.all, content(5, 60000))) << "bcast, call " << call;
      ASSERT_TRUE(same(one.mine, block_of(call + calls, call % size, world.rank()))) << "scatterv, call " << call;
    }
  });
}

// Nine ranks have areas of one slot, and 65 have none for their blocks.
INSTANTIATE_TEST_SUITE_P(Sizes, ManyRanks, testing::Values(9, 16, 40, 65), testing::PrintToStringParamName());

TEST(DamagedAreas, ASlotThatThereIsNotIsAnErrorOnEveryRank) {
  constexpr Rank size = 3;
  for (const std::uint64_t wrong : {std::uint64_t{host::slots(size)}, std::uint64_t{1} << 40, ~std::uint64_t{0}}) {
    SCOPED_TRACE("slot " + std::to_string(wrong));
    host::Segment* segment = nullptr;
    std::array<std::string, size> said;
    const job::InprocOptions options{.fibers = true, .watch = [&](auto*, host::Segment& made) { segment = &made; }};
    job::run_inproc(size, options, [&](const Group& world) {
      std::vector<std::byte> data = content(1, 16384);
      try {
        if (world.rank() == 0) {
          Request request = world.ibcast(data, 0, {.algorithm = "board_pipeline"});
          const host::Board board = test::find_board(*segment, size);
          ASSERT_TRUE(board);
          for (std::uint64_t cell = 0; cell < host::cells; ++cell) board.cell(0, cell).area = wrong;
          request.wait();
        } else {
          world.bcast(data, 0, {.algorithm = "board_pipeline"});
        }
        world.barrier();
      } catch (const Error& error) {
        said[static_cast<std::size_t>(world.rank())] = error.what();
      }
    });
    EXPECT_NE(said[0].find("was broken"), std::string::npos) << said[0];
    EXPECT_NE((said[1] + said[2]).find("rank 0 has no area"), std::string::npos) << said[1] << said[2];
    for (const std::string& text : said) EXPECT_NE(text, "");
  }
}

}  // namespace
}  // namespace tutti
