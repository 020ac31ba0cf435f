// SPDX-License-Identifier: BSD-3-Clause
// The segment's heap: zeroed, disjoint, recycled, also by several processes at once.
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <algorithm>
#include <cstring>

#include "base/random.hpp"
#include "child.hpp"
#include "host/segment.hpp"
#include "tutti/error.hpp"

namespace tutti::host {
namespace {

using test::Child;

bool all_are(const std::byte* bytes, std::size_t count, std::byte value) {
  return std::all_of(bytes, bytes + count, [=](std::byte found) { return found == value; });
}

TEST(Heap, MemoryIsZeroedWhenRecycled) {
  for (const auto& segment : {Segment::create(2, 1), Segment::local(2, 1)})
    for (const std::size_t bytes : {std::size_t{1}, std::size_t{4096}, std::size_t{5000}, std::size_t{1} << 20}) {
      const Offset first = segment->allocate(bytes);
      ASSERT_TRUE(all_are(segment->at(first, bytes), bytes, std::byte{0}));
      std::memset(segment->at(first, bytes), 0xff, bytes);
      segment->free(first, bytes);
      const Offset second = segment->allocate(bytes);
      EXPECT_EQ(first, second);
      ASSERT_TRUE(all_are(segment->at(second, bytes), bytes, std::byte{0}));
    }
}

TEST(Heap, LargeBlocksGoBackToTheSystem) {
  const auto segment = Segment::create(2, 1);
  constexpr std::size_t bytes = 32 << 20;
  const Offset block = segment->allocate(bytes);
  std::memset(segment->at(block, bytes), 1, bytes);
  struct stat before {
  }, after{};
  fstat(segment->descriptor(), &before);
  segment->free(block, bytes);
  fstat(segment->descriptor(), &after);
  EXPECT_GE((before.st_blocks - after.st_blocks) * 512, static_cast<long>(bytes) - (1 << 20))
      << "all but the heap's own bookkeeping";
}

TEST(Heap, BlocksLargerThanAWindowAreContiguous) {
  const auto segment = Segment::create(2, 1);
  constexpr std::size_t bytes = 3 * window_bytes;
  const Offset block = segment->allocate(bytes);
  std::byte* const memory = segment->at(block, bytes);
  for (std::size_t i = 0; i < bytes; i += window_bytes / 2)
    memory[i] = static_cast<std::byte>(i / (window_bytes / 2) + 1);
  for (std::size_t i = 0; i < bytes; i += window_bytes / 2)
    EXPECT_EQ(*segment->at(block + i, 1), static_cast<std::byte>(i / (window_bytes / 2) + 1));
  segment->free(block, bytes);
  EXPECT_EQ(segment->allocate(bytes), block);
}

TEST(Heap, OnlyWhatIsLargerThanAWindowCrossesOne) {
  const auto segment = Segment::create(2, 1);
  const std::uint64_t seed = 5;
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  base::Random random(seed);
  for (int i = 0; i < 300; ++i) {
    const std::size_t bytes = 1 + random.below(std::size_t{1} << (12 + random.below(15)));
    const Offset block = segment->allocate(bytes);
    EXPECT_EQ(block / window_bytes, (block + bytes - 1) / window_bytes) << bytes;
  }
}

TEST(Heap, FailsClearlyWhenFullAndRecovers) {
  Child child([] {
    const rlimit limit{std::uint64_t{256} << 20, std::uint64_t{256} << 20};
    setrlimit(RLIMIT_FSIZE, &limit);
    const auto segment = Segment::create(2, 1);
    std::vector<Offset> blocks;
    try {
      while (blocks.size() < 1000) blocks.push_back(segment->allocate(8 << 20));
    } catch (const Error& error) {
      if (std::string(error.what()).find("full") == std::string::npos) return false;
    }
    if (blocks.size() < 20 || blocks.size() > 32) return false;
    for (const Offset block : blocks) segment->free(block, 8 << 20);
    // Smaller blocks are made of the larger ones that came back.
    std::vector<Offset> small;
    for (std::size_t i = 0; i < blocks.size() * 8; ++i) small.push_back(segment->allocate(1 << 20));
    std::sort(small.begin(), small.end());
    return std::adjacent_find(small.begin(), small.end(), [](Offset a, Offset b) { return b - a < 1 << 20; }) ==
           small.end();
  });
  EXPECT_TRUE(child.good());
}

TEST(Heap, DamageIsFoundNotFollowed) {
  const auto segment = Segment::create(2, 1);
  const Offset block = segment->allocate(4096);
  segment->free(block, 4096);
  auto& list = segment->header().free_lists[12];
  const std::uint64_t good = list.load();
  for (const std::uint64_t bad : {std::uint64_t{1}, (std::uint64_t{1} << 36) - 1, segment->capacity() / page}) {
    list.store(bad);
    EXPECT_THROW(segment->allocate(4096), Error) << bad;
  }
  list.store(good);
  EXPECT_EQ(segment->allocate(4096), block);
  segment->header().heap_next.store(~Offset{0});
  EXPECT_THROW(segment->allocate(4096), Error);
  EXPECT_THROW(segment->free(0, 4096), Error);
  EXPECT_THROW(segment->free(block + 1, 4096), Error);
  EXPECT_THROW(segment->free(segment->capacity(), 4096), Error);
}

/// Takes and gives back blocks, each filled with a mark of its own that nobody else may overwrite.
bool churn(Segment& segment, std::uint64_t seed, int rounds) {
  struct Block {
    Offset offset;
    std::size_t bytes;
    std::byte mark;
  };
  base::Random random(seed);
  std::vector<Block> held;
  for (int i = 0; i < rounds; ++i) {
    if (held.size() < 8 && random.once_in(2)) {
      const std::size_t bytes = 1 + random.below(random.once_in(8) ? 100000 : 10000);
      const auto mark = static_cast<std::byte>(1 + random.below(255));
      const Offset offset = segment.allocate(bytes);
      if (!all_are(segment.at(offset, bytes), bytes, std::byte{0})) return false;
      std::memset(segment.at(offset, bytes), static_cast<int>(mark), bytes);
      held.push_back({offset, bytes, mark});
    } else if (!held.empty()) {
      const Block block = held[random.below(held.size())];
      std::erase_if(held, [&](const Block& other) { return other.offset == block.offset; });
      if (!all_are(segment.at(block.offset, block.bytes), block.bytes, block.mark)) return false;
      segment.free(block.offset, block.bytes);
    }
  }
  return true;
}

TEST(Heap, SeveralProcessesShareIt) {
  const auto segment = Segment::create(4, 1);
  const std::uint64_t seed = 4711;
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  std::vector<Child> children;
  for (std::uint64_t i = 0; i < 4; ++i) children.emplace_back([&, i] { return churn(*segment, seed + i, 20000); });
  for (Child& child : children) EXPECT_TRUE(child.good());
  EXPECT_LT(segment->header().heap_next.load() - segment->header().heap, std::uint64_t{32} << 20)
      << "blocks are reused";
}

TEST(Heap, AKilledProcessHarmsNobody) {
  const auto segment = Segment::create(4, 1);
  for (std::uint64_t round = 0; round < 20; ++round) {
    Child victim([&] {
      while (churn(*segment, round, 1000)) {
      }
      return false;
    });
    ASSERT_TRUE(churn(*segment, 100 + round, 2000));
    victim.kill();
    victim.wait();
  }
  EXPECT_TRUE(churn(*segment, 999, 2000));
}

}  // namespace
}  // namespace tutti::host
