// SPDX-License-Identifier: BSD-3-Clause
// Who is dropped, and a real measurement inside one process.
#include <gtest/gtest.h>

#include "job/inproc.hpp"
#include "synthetic.hpp"
#include "tuner/rounds.hpp"

namespace tutti::tuner {
namespace {

bool dropped(const Point& point, std::string_view name) { return point.find(name)->dropped; }

TEST(Rounds, ClearLosersAreDropped) {
  Point point{Kind::allreduce, 4, 65536, {}};
  point.candidates = {steady("single_copy", 100),  steady("board_pipeline", 120), steady("ring", 130),
                      steady("rabenseifner", 140), steady("reduce_bcast", 1000),  steady("single_copy_whole", 101)};
  drop_losers(point);
  EXPECT_FALSE(dropped(point, "single_copy"));
  EXPECT_FALSE(dropped(point, "single_copy_whole"));  // the second
  EXPECT_FALSE(dropped(point, "board_pipeline"));     // the fastest without single copy
  EXPECT_TRUE(dropped(point, "ring"));
  EXPECT_TRUE(dropped(point, "rabenseifner"));
  EXPECT_TRUE(dropped(point, "reduce_bcast"));
}

TEST(Rounds, WhoMayStillWinIsNot) {
  Point point{Kind::allreduce, 4, 65536, {}};
  for (const char* name : {"ring", "rabenseifner", "reduce_bcast", "recursive_doubling"})
    point.candidates.push_back({name, {}, {}, false});
  point.candidates[0].times = {100, 110, 120};
  point.candidates[1].times = {110, 115, 125};
  point.candidates[2].times = {119, 125, 135};  // overlaps the first
  point.candidates[3].times = {250, 260};       // far, but measured twice only
  drop_losers(point);
  for (const Candidate& candidate : point.candidates) EXPECT_FALSE(candidate.dropped) << candidate.algorithm;
}

TEST(Rounds, MeasureEveryCandidate) {
  Plan plan;
  plan.kinds = {Kind::barrier, Kind::allreduce, Kind::alltoallv, Kind::reduce_scatter, Kind::gatherv, Kind::scatterv};
  plan.sizes = {8, 1024};
  plan.rounds = 3;
  plan.batch = 1e-5;
  Measurements found;
  std::vector<int> reports;
  job::run_inproc(3, {}, [&](Group world) {
    Measurements mine = measure(world, plan, imaginary, [&](int rounds, std::size_t) { reports.push_back(rounds); });
    if (world.rank() == 0) found = std::move(mine);
  });
  EXPECT_EQ(found.points.size(), 11u);
  for (const Point& point : found.points) {
    EXPECT_TRUE(point.settled());
    for (const Candidate& candidate : point.candidates) {
      EXPECT_FALSE(candidate.times.empty()) << candidate.algorithm;
      EXPECT_TRUE(candidate.dropped || candidate.times.size() == 3) << candidate.algorithm;
    }
  }
  EXPECT_EQ(reports, (std::vector<int>{1, 2, 3}));
}

TEST(Rounds, EndInTime) {
  Plan plan;
  plan.kinds = {Kind::bcast};
  plan.sizes = {8};
  plan.seconds = 0;
  job::run_inproc(2, {}, [&](Group world) {
    const Measurements found = measure(world, plan, imaginary, [](int, std::size_t) {});
    EXPECT_TRUE(found.points.at(0).best() == nullptr || !found.points.at(0).settled());
  });
}

}  // namespace
}  // namespace tutti::tuner
