// SPDX-License-Identifier: BSD-3-Clause
// When areas are filled past the caches: once two copies were slow, until fast ones outweigh them; all bytes either
// way.
#include "engine/area_writer.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "base/random.hpp"

namespace tutti::engine {
namespace {

constexpr std::size_t bytes = 4096;
constexpr std::uint64_t fast = 150, slow = 1600;  // nanoseconds for them, as measured

/// 'p' after each copy that leaves it going past the caches, else '-'.
std::string course(AreaWriter writer, std::initializer_list<std::uint64_t> copies) {
  std::string seen;
  for (const std::uint64_t nanoseconds : copies) {
    writer.note(bytes, nanoseconds);
    seen += writer.past() ? 'p' : '-';
  }
  return seen;
}

TEST(AreaWriter, GoesPastTheCachesAfterTwoSlowCopies) {
  EXPECT_EQ(course(AreaWriter(Caches::measured), {slow, slow, slow, slow, slow}), "-pppp");
}

TEST(AreaWriter, IsNotMisledByOneSlowCopy) {
  EXPECT_EQ(course(AreaWriter(Caches::measured), {slow, fast, fast, slow, fast, fast, 90'000'000, fast}), "--------");
}

TEST(AreaWriter, ComesBackWhenFastCopiesOutweighTheSlow) {
  EXPECT_EQ(course(AreaWriter(Caches::measured), {slow, slow, fast, fast, fast, fast}), "-pppp-");
  EXPECT_EQ(course(AreaWriter(Caches::measured), {slow, slow, slow, slow, fast, fast, fast, fast, fast, fast}),
            "-pppppppp-");
}

TEST(AreaWriter, StaysWhereSomeReadersAreNear) {
  EXPECT_EQ(course(AreaWriter(Caches::measured), {slow, slow, fast, fast, slow, fast, fast, slow, fast, fast, slow}),
            "-pppppppppp");
}

TEST(AreaWriter, BelievesWhoKnows) {
  std::vector<std::byte> source(3 * bytes), target(source.size());
  for (const Caches caches : {Caches::shared, Caches::apart}) {
    AreaWriter writer(caches);
    for (int i = 0; i < 1000; ++i) writer.copy(target.data(), source.data(), source.size());
    EXPECT_EQ(writer.past(), caches == Caches::apart);
  }
}

/// The number of the first of so many copies after which the target is not the source, or -1.
template <class Copy>
int first_wrong(std::size_t size, Copy copy) {
  base::Random random(size);
  std::vector<std::byte> source(size), target(size + 64);
  for (int i = 0; i < 100; ++i) {
    for (std::byte& one : source) one = static_cast<std::byte>(random.below(256));
    std::byte* const to = target.data() + i % 64;
    copy(to, source.data(), size);
    if (!std::equal(source.begin(), source.end(), to)) return i;
  }
  return -1;
}

TEST(AreaWriter, CopiesAllBytes) {
  for (const Caches caches : {Caches::measured, Caches::shared, Caches::apart})
    for (const std::size_t size : {std::size_t{1}, bytes - 1, bytes, bytes + 1, 3 * bytes + 17, std::size_t{65536}}) {
      AreaWriter writer(caches);
      const auto copy = [&](auto... arguments) { writer.copy(arguments...); };
      EXPECT_EQ(first_wrong(size, copy), -1) << size << " bytes";
    }
}

TEST(AreaWriterMutants, AreSeen) {
  // Leaves out the last byte of each copy that is timed.
  int copies = 0;
  const auto mutant = [&](std::byte* to, const std::byte* from, std::size_t size) {
    base::copy(to, from, size - (++copies % 32 == 0 ? 1 : 0));
  };
  EXPECT_EQ(first_wrong(8192, mutant), 31);
}

}  // namespace
}  // namespace tutti::engine
