// SPDX-License-Identifier: BSD-3-Clause
// Which way what a call brings is written: the one whose copies took less time in the last trial; all bytes either way.
#include "engine/output_writer.hpp"

#include <gtest/gtest.h>

#include <vector>

#include "base/random.hpp"

namespace tutti::engine {
namespace {

constexpr std::size_t bytes = 64 << 10;

/// A machine on which a copy takes so many nanoseconds, by its way.
struct Machine {
  std::uint64_t through, past;
  std::uint64_t interrupted = 0;  ///< One copy in 64 takes so much longer.
  std::uint64_t far = 0;          ///< So does every other one of four: what comes from another core.
};

/// Copies until the next trial is over; returns how many it took.
int try_once(OutputWriter& writer, const Machine& machine) {
  int copies = 0, changes = 0;
  for (bool now = writer.past(), timed = false; changes < 2; ++copies) {
    std::uint64_t took = now ? machine.past : machine.through;
    if (copies % 64 == 63) took += machine.interrupted;
    if (copies / 4 % 2 == 1) took += machine.far;
    timed = writer.times();
    writer.note(bytes, took);
    // A trial that changes the way for good is over when the next copy is not to be timed.
    if (writer.past() != now || (changes == 1 && timed && !writer.times())) ++changes;
    now = writer.past();
  }
  return copies;
}

TEST(OutputWriter, BeginsThroughTheCaches) { EXPECT_FALSE(OutputWriter().past()); }

TEST(OutputWriter, GoesPastTheCachesWhereThatSavesAFifth) {
  OutputWriter writer;
  for (const Machine& machine : {Machine{9000, 4000},
                                 {2000, 4000},
                                 {9000, 7100},
                                 {9000, 7300},
                                 {3000, 2900},
                                 {3000, 2000},
                                 {3000, 2100},
                                 {2000, 3000}}) {
    try_once(writer, machine);
    EXPECT_EQ(writer.past(), machine.past * 10 < machine.through * 8) << machine.through << " to " << machine.past;
  }
}

TEST(OutputWriter, IsNotMisledByInterruptions) {
  OutputWriter writer;
  for (const Machine& machine : {Machine{3000, 4000, 5'000'000}, {4000, 2500, 5'000'000}, {3000, 4000, 5'000'000}}) {
    try_once(writer, machine);
    EXPECT_EQ(writer.past(), machine.past < machine.through) << machine.through << " to " << machine.past;
  }
}

TEST(OutputWriter, CountsWhatIsNearAndWhatIsFarAlike) {
  OutputWriter writer;
  for (int i = 0; i < 4; ++i) {
    try_once(writer, {2000, 2000, 0, 6000});
    EXPECT_FALSE(writer.past()) << i;
  }
  try_once(writer, {4000, 2000, 0, 1000});
  EXPECT_TRUE(writer.past());
}

TEST(OutputWriter, TriesMoreAndMoreSeldomWhileTheAnswerStays) {
  OutputWriter writer;
  const int trial = static_cast<int>(2 * OutputWriter::window() / bytes);
  int stretch = static_cast<int>(OutputWriter::first_stretch() / bytes);
  for (int i = 0; i < 4; ++i, stretch *= 2) EXPECT_EQ(try_once(writer, {2000, 4000}), stretch + trial) << i;
  const int longest = stretch / 2;
  EXPECT_EQ(try_once(writer, {9000, 4000}), longest + trial);
  EXPECT_EQ(try_once(writer, {9000, 4000}), static_cast<int>(OutputWriter::first_stretch() / bytes) + trial);
}

TEST(OutputWriter, TimesTheEndOfEachStretchAndOfEachTrial) {
  OutputWriter writer;
  const std::size_t stretch = OutputWriter::first_stretch(), window = OutputWriter::window();
  std::size_t timed = 0;
  for (std::size_t done = 0; done < stretch + 2 * window; done += bytes) {
    timed += writer.times() ? bytes : 0;
    EXPECT_TRUE(timed == 0 || done >= stretch - window);
    writer.note(bytes, 2000);
  }
  EXPECT_EQ(timed, 2 * window);
}

/// The number of the first copy, of so many bytes, after which the target is not the source, or -1. They are enough for
/// both ways to be taken.
template <class Copy>
int first_wrong(std::size_t size, Copy copy) {
  base::Random random(size);
  std::vector<std::byte> source(size), target(size + 64);
  const int copies = static_cast<int>((OutputWriter::first_stretch() + OutputWriter::window()) / size) + 200;
  for (int i = 0; i < copies; ++i) {
    source[random.below(size)] = source.back() = static_cast<std::byte>(i);
    std::byte* const to = target.data() + i % 64;
    copy(to, source.data(), size);
    if (!std::equal(source.begin(), source.end(), to)) return i;
  }
  return -1;
}

TEST(OutputWriter, CopiesAllBytes) {
  for (const std::size_t size : {std::size_t{4096}, 3 * std::size_t{4096} + 17, bytes}) {
    OutputWriter writer;
    bool through = false, past = false;
    const auto copy = [&](auto... arguments) {
      (writer.past() ? past : through) = true;
      writer.copy(arguments...);
    };
    EXPECT_EQ(first_wrong(size, copy), -1) << size << " bytes";
    EXPECT_TRUE(through && past);
  }
}

TEST(OutputWriterMutants, AreSeen) {
  // Leaves out the last byte of the copies past the caches.
  OutputWriter writer;
  bool was_past = false;
  const auto mutant = [&](std::byte* to, const std::byte* from, std::size_t size) {
    was_past = writer.past();
    writer.note(size, 1000);
    base::copy(to, from, size - (was_past ? 1 : 0));
  };
  EXPECT_GT(first_wrong(bytes, mutant), 0);
  EXPECT_TRUE(was_past);
}

}  // namespace
}  // namespace tutti::engine
