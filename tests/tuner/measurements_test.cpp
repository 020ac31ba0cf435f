// SPDX-License-Identifier: BSD-3-Clause
// Medians, their intervals, and measurements as text.
#include <gtest/gtest.h>

#include <numeric>

#include "synthetic.hpp"
#include "tutti/error.hpp"

namespace tutti::tuner {
namespace {

TEST(Statistics, MediansAndIntervals) {
  EXPECT_EQ(median({3, 1, 2}), 2);
  EXPECT_EQ(median({4, 1, 2, 3}), 2.5);
  EXPECT_EQ(median({}), 0);
  // Order statistics for 95 %: of 6 the extremes, of 9 the second, of 20 the sixth (binomial distribution).
  for (const auto& [count, low] : {std::pair<int, double>{1, 1}, {5, 1}, {6, 1}, {9, 2}, {20, 6}}) {
    std::vector<double> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), 1);
    EXPECT_EQ(interval(values).low, low) << count;
    EXPECT_EQ(interval(values).high, count + 1 - low) << count;
  }
}

TEST(Measurements, AreTheSameAfterTextAndBack) {
  Measurements all = lawful();
  all.points[0].candidates[0].same = {"another"};
  all.points[1].candidates[0].dropped = true;
  all.points[2].candidates[0].times = {0.125, 1e9};
  all.duels.push_back({2, {{Kind::scan, 8, "board"}}, {{Kind::exscan, 8, "board"}}, {1, 2}, {3}});
  all.remarks = {"\"quoted\" \xff"};
  Measurements back = from_json(to_json(all));
  EXPECT_NE(back.remarks, all.remarks);  // what is no text is replaced
  back.remarks = all.remarks;
  EXPECT_EQ(back, all);
}

TEST(Measurements, WhatIsNoneIsRefused) {
  const std::string whole = to_json(lawful());
  for (std::size_t length = 0; length + 2 < whole.size(); length += 97)
    EXPECT_THROW(from_json(whole.substr(0, length)), Error) << length;
  for (const auto& [from, to] :
       std::vector<std::pair<std::string, std::string>>{{"tutti measurements 2", "tutti measurements 3"},
                                                        {"\"bcast\"", "\"gossip\""},
                                                        {"\"ranks\": 2", "\"ranks\": -2"},
                                                        {"\"ranks\": 2", "\"ranks\": 0"},
                                                        {"\"ranks\": 2", "\"ranks\": \"two\""},
                                                        {"\"ranks\": 2", "\"ranks\": 1e99"},
                                                        {"1020.0", "-1"},
                                                        {"1020.0", "0"},
                                                        {"1020.0", "[]"},
                                                        {"\"bytes\": 8", "\"bytes\": -8"},
                                                        {"\"duels\": []",
                                                         "\"duels\": [{\"ranks\": 2, \"left\": [], \"right\": [], "
                                                         "\"left_ns\": [1], \"right_ns\": [1]}]"},
                                                        {"\"duels\": []",
                                                         "\"duels\": [{\"ranks\": 0, \"left\": [{\"collective\": "
                                                         "\"scan\", \"bytes\": 8, \"algorithm\": \"board\"}], "
                                                         "\"right\": [{\"collective\": \"exscan\", \"bytes\": 8, "
                                                         "\"algorithm\": \"board\"}], "
                                                         "\"left_ns\": [1], \"right_ns\": [1]}]"},
                                                        {"\"points\": [",
                                                         "\"points\": [{\"collective\": \"barrier\", \"ranks\": 2, "
                                                         "\"bytes\": 0, \"candidates\": []}, "},
                                                        {"\"points\": [", "\"points\": 7, \"other\": ["}}) {
    std::string wrong = whole;
    const std::size_t at = wrong.find(from);
    ASSERT_NE(at, std::string::npos) << from;
    EXPECT_THROW(from_json(wrong.replace(at, from.size(), to)), Error) << from << " -> " << to;
  }
}

TEST(Measurements, NewPointsReplaceOldOnes) {
  Measurements all = lawful(), newer = lawful();
  std::erase_if(newer.points, [](const Point& point) { return point.kind != Kind::bcast || point.ranks != 4; });
  newer.points.resize(1);
  newer.points[0].candidates[0].times.assign(9, 7);
  newer.date = "later";
  const Point& changed = newer.points[0];
  const std::size_t before = all.points.size();
  all.add(newer);
  EXPECT_EQ(all.points.size(), before);
  EXPECT_EQ(*all.at(Kind::bcast, 4, changed.bytes), changed);
  EXPECT_EQ(all.row(Kind::bcast, 4).size(), sizes.size());
  EXPECT_EQ(all.row(Kind::bcast, 2).size(), sizes.size());
  EXPECT_EQ(all.date, "later");
}

TEST(Measurements, WhatHasNotSettledReplacesNothing) {
  Measurements all = lawful(), newer = lawful();
  for (Point& point : newer.points)
    for (Candidate& candidate : point.candidates)
      candidate.times.resize(std::min<std::size_t>(2, candidate.times.size()));
  newer.duels.clear();
  const std::vector<Point> before = all.points;
  const std::size_t duels = all.duels.size();
  all.add(newer);
  EXPECT_EQ(all.points, before);
  EXPECT_EQ(all.duels.size(), duels);
}

}  // namespace
}  // namespace tutti::tuner
