// SPDX-License-Identifier: BSD-3-Clause
// The probe of the progress thread: what it asks of a world, and what it concludes from the answers.
#include "job/progress.hpp"

#include <gtest/gtest.h>

#include <chrono>
#include <string>
#include <thread>
#include <vector>

namespace tutti::job {
namespace {

using std::chrono::milliseconds;

Probe found(double without, double with, std::size_t lost = 0) {
  Probe probe{1e-3, std::vector<double>(rounds, without), std::vector<double>(rounds, with)};
  for (std::size_t i = 0; i < lost; ++i) probe.with[i] = without * 2;
  return probe;
}

TEST(Progress, AThreadHasToGainTime) {
  EXPECT_TRUE(gains(found(2e-3, 1e-3)));
  EXPECT_FALSE(gains(found(1e-3, 2e-3)));
  EXPECT_FALSE(gains(found(1e-3, 1e-3)));
}

TEST(Progress, ALittleIsNotEnough) {
  EXPECT_FALSE(gains(found(2e-3, 1.92e-3)));
  EXPECT_TRUE(gains(found(2e-3, 1.88e-3)));
}

TEST(Progress, ItHasToWinNearlyEveryRound) {
  EXPECT_TRUE(gains(found(2e-3, 1e-3, 1)));
  EXPECT_FALSE(gains(found(2e-3, 1e-3, 2)));
}

TEST(Progress, SaysTheNumbers) {
  const std::string text = describe(found(2e-3, 1e-3, 1));
  EXPECT_NE(text.find("1000 us of work"), std::string::npos) << text;
  EXPECT_NE(text.find("1000 us with one, 2000 us without"), std::string::npos) << text;
  EXPECT_NE(text.find("won 8 of 9"), std::string::npos) << text;
}

/// A world that answers as the test wants: waiting takes so long without a thread and with one.
struct World {
  milliseconds without, with;
  bool threaded = false;
  int starts = 0, waits = 0, agreed = 0;

  Probed probed() {
    return {.start = [this] { ++starts; },
            .wait =
                [this] {
                  ++waits;
                  std::this_thread::sleep_for(threaded ? with : without);
                },
            .thread = [this](bool on) { threaded = on; },
            .slowest =
                [this](double mine) {
                  ++agreed;
                  return mine;
                }};
  }
};

TEST(Progress, AThreadThatDoesTheWaitingStays) {
  World world{milliseconds(30), milliseconds(0)};
  const Probe probe = job::probe(world.probed());
  EXPECT_TRUE(gains(probe)) << describe(probe);
  EXPECT_EQ(world.starts, world.waits);
  EXPECT_EQ(probe.with.size(), rounds);
  EXPECT_EQ(probe.without.size(), rounds);
  EXPECT_FALSE(world.threaded);  // whoever decides starts it again
}

TEST(Progress, AThreadThatCostsTimeDoesNotStay) {
  World world{milliseconds(0), milliseconds(30)};
  const Probe probe = job::probe(world.probed());
  EXPECT_FALSE(gains(probe)) << describe(probe);
}

TEST(Progress, WhatRanksAskOfEachOtherDoesNotDependOnTheirTimes) {
  World fast{milliseconds(0), milliseconds(0)}, slow{milliseconds(3), milliseconds(7)};
  job::probe(fast.probed());
  job::probe(slow.probed());
  EXPECT_EQ(fast.starts, slow.starts);
  EXPECT_EQ(fast.agreed, slow.agreed);
}

}  // namespace
}  // namespace tutti::job
