// SPDX-License-Identifier: BSD-3-Clause
// When a connection of tcp is given up, by what the system says of it. The system's own part is tested in test_tcp.py.
#include "transport/tcp/pulse.hpp"

#include <gtest/gtest.h>

namespace tutti::transport::tcp {
namespace {

constexpr std::uint64_t ms = 1'000'000, lost_after = 1000 * ms, start = 50'000 * ms, step = 100 * ms;

/// Milliseconds until it is lost, looking every 100; 0: it is not within ten seconds. `repeated(ms)`: repetitions by
/// then.
template <class Repeated>
std::uint64_t lost_at(double loss, Repeated repeated) {
  Pulse pulse;
  pulse.begin(lost_after, start);
  for (std::uint64_t now = step; now <= 10'000 * ms; now += step) {
    // Nothing was said before, so nothing was acknowledged for long.
    const Delivery delivery{.awaited = true, .silent = 40'000 * ms + now, .repeated = repeated(now / ms), .loss = loss};
    if (pulse.look(delivery, false, false, start + now) == Pulse::Finding::lost) return now / ms;
  }
  return 0;
}
unsigned every_200(std::uint64_t elapsed) { return static_cast<unsigned>(elapsed / 200); }
unsigned doubling(std::uint64_t elapsed) {
  return elapsed < 200 ? 0 : elapsed < 600 ? 1 : elapsed < 1400 ? 2 : elapsed < 2400 ? 3 : elapsed < 3400 ? 4 : 5;
}

TEST(Pulse, IsLostSoonerWhereNothingGetsLost) {
  EXPECT_EQ(lost_at(0, every_200), 800u);
  EXPECT_EQ(lost_at(0, doubling), 800u);
  EXPECT_EQ(lost_at(0.01, every_200), 1000u);
  EXPECT_EQ(lost_at(0.01, doubling), 1400u);
  EXPECT_EQ(lost_at(0.05, every_200), 1000u);
  EXPECT_EQ(lost_at(0.05, doubling), 3400u);
  EXPECT_EQ(lost_at(0.9, every_200), 3800u);
}

TEST(Pulse, IsNotLostWithoutRepetitions) {
  EXPECT_EQ(lost_at(0, [](std::uint64_t) { return 1u; }), 0u);
  EXPECT_EQ(lost_at(0, [](std::uint64_t elapsed) { return elapsed < 5000 ? 0u : 2u; }), 5000u);
}

TEST(Pulse, LearnsNothingOfLossesFromDeath) {
  Pulse pulse;
  pulse.begin(lost_after, start);
  for (std::uint64_t now = 0; now < 700 * ms; now += step)
    ASSERT_NE(pulse.look({.awaited = true, .silent = now, .repeated = every_200(now / ms), .loss = now > 0 ? 0.2 : 0},
                         false, false, start + now),
              Pulse::Finding::lost);
  EXPECT_EQ(
      pulse.look({.awaited = true, .silent = 700 * ms, .repeated = 3, .loss = 0.3}, false, false, start + 700 * ms),
      Pulse::Finding::lost);
}

TEST(Pulse, BeginsAnewWithEveryAnswer) {
  Pulse pulse;
  pulse.begin(lost_after, start);
  // The system has heard something 0.1 s ago, each time.
  for (std::uint64_t now = start; now < start + 20 * lost_after; now += step) {
    const Delivery delivery{.awaited = true, .silent = step, .repeated = 9, .loss = 0};
    EXPECT_NE(pulse.look(delivery, false, true, now), Pulse::Finding::lost);
  }
}

TEST(Pulse, KnowsHowLongNothingWasHeard) {
  Pulse pulse;
  pulse.begin(lost_after, start);
  EXPECT_EQ(pulse.silence(start - step), 0u);
  for (std::uint64_t now = start; now <= start + 3 * lost_after; now += step) pulse.look({}, false, true, now);
  EXPECT_EQ(pulse.silence(start + 3 * lost_after), 3 * lost_after);
  pulse.look({}, true, true, start + 3 * lost_after);
  EXPECT_EQ(pulse.silence(start + 3 * lost_after), 0u);
}

TEST(Pulse, IsQuietWhenNothingIsSaid) {
  Pulse pulse;
  pulse.begin(lost_after, start);
  EXPECT_EQ(pulse.look({}, false, false, start + lost_after / 6 - 1), Pulse::Finding::well);
  EXPECT_EQ(pulse.look({}, false, false, start + lost_after / 6), Pulse::Finding::quiet);
  EXPECT_EQ(pulse.look({}, true, true, start + lost_after / 6), Pulse::Finding::well);
  EXPECT_EQ(pulse.look({.awaited = true}, false, true, start + lost_after / 6), Pulse::Finding::quiet);
}

}  // namespace
}  // namespace tutti::transport::tcp
