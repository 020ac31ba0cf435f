// SPDX-License-Identifier: BSD-3-Clause
// Every guideline finds what breaks it, and nothing else is found.
#include <gtest/gtest.h>

#include <algorithm>

#include "synthetic.hpp"
#include "tuner/derive.hpp"
#include "tuner/guidelines.hpp"

namespace tutti::tuner {
namespace {

bool reports(const std::vector<Violation>& found, std::string_view rule, Kind kind, Rank ranks, Count bytes) {
  return std::ranges::any_of(found, [&](const Violation& one) {
    return one.rule == rule && one.ranks == ranks && one.left.kind == kind && one.left.bytes == bytes;
  });
}

std::string text_of(const std::vector<Violation>& found) {
  std::string text;
  for (const Violation& one : found) text += one.text() + "\n";
  return text;
}

TEST(Guidelines, LawfulMeasurementsBreakNone) {
  const Measurements all = lawful();
  const std::vector<Violation> found = check(all, imaginary, derive(all, imaginary));
  EXPECT_TRUE(found.empty()) << text_of(found);
}

/// One time is changed for each guideline, so that it alone, or it among others, is broken.
TEST(Guidelines, EachFindsAMutant) {
  for (const Guideline& guideline : guidelines()) {
    Measurements mutant = lawful();
    const Count bytes = guideline.left == Kind::barrier ? 0 : 128;
    point_of(mutant, guideline.left, 4, bytes).candidates[0].times.assign(9, 1e6);
    const std::vector<Violation> found = check(mutant, imaginary, derive(mutant, imaginary));
    EXPECT_TRUE(reports(found, guideline.text(), guideline.left, 4, bytes)) << guideline.text() << "\n"
                                                                            << text_of(found);
    for (const Violation& one : found) {
      EXPECT_EQ(one.left.kind, guideline.left) << one.text();
      EXPECT_EQ(one.left_time, 1e6);
    }
  }
}

/// A right side that is too fast by a little more than the noise: each part counts.
TEST(Guidelines, EveryPartOfASumCounts) {
  for (const Guideline& guideline : guidelines()) {
    if (guideline.right.size() < 2) continue;
    Measurements mutant = lawful();
    for (Point& point : mutant.points) point.candidates[0].times.assign(9, 1000);
    Point& left = point_of(mutant, guideline.left, 4, 128);
    left.candidates[0].times.assign(9, 1900);
    EXPECT_FALSE(reports(check(mutant, imaginary, derive(mutant, imaginary)), guideline.text(), guideline.left, 4, 128))
        << guideline.text();
    left.candidates[0].times.assign(9, 2200);
    EXPECT_TRUE(reports(check(mutant, imaginary, derive(mutant, imaginary)), guideline.text(), guideline.left, 4, 128))
        << guideline.text();
  }
}

TEST(Guidelines, LargerIsNotFaster) {
  Measurements mutant = lawful();
  point_of(mutant, Kind::alltoall, 2, 32).candidates[0].times.assign(9, 5000);
  const std::vector<Violation> found = check(mutant, imaginary, derive(mutant, imaginary));
  EXPECT_TRUE(reports(found, larger_block, Kind::alltoall, 2, 32)) << text_of(found);
  EXPECT_TRUE(reports(found, larger_group, Kind::alltoall, 2, 32)) << text_of(found);
  EXPECT_NE(text_of(found).find("padding to 128 bytes"), std::string::npos) << text_of(found);
}

TEST(Guidelines, NoiseBreaksNone) {
  Measurements noisy = lawful();
  std::vector<double>& times = point_of(noisy, Kind::allreduce, 4, 128).candidates[0].times;
  for (std::size_t i = 0; i < times.size(); ++i) times[i] = i < 3 ? 1000 : 2000 * static_cast<double>(i);
  const std::vector<Violation> found = check(noisy, imaginary, derive(noisy, imaginary));
  EXPECT_TRUE(found.empty()) << text_of(found);
}

TEST(Guidelines, WhatWasMeasuredInTurnsDecides) {
  Measurements all = lawful();
  point_of(all, Kind::allreduce, 4, 128).candidates[0].times.assign(9, 1e6);
  std::vector<Violation> found = check(all, imaginary, derive(all, imaginary));
  ASSERT_FALSE(found.empty());
  for (const Violation& one : found)
    all.duels.push_back({one.ranks, {one.left}, one.right, std::vector<double>(9, 500), std::vector<double>(9, 490)});
  std::erase_if(found = check(all, imaginary, derive(all, imaginary)),
                [](const Violation& one) { return one.rule == larger_group; });
  EXPECT_TRUE(found.empty()) << text_of(found);
  for (Duel& duel : all.duels) duel.right_times.assign(9, 400);
  found = check(all, imaginary, derive(all, imaginary));
  ASSERT_FALSE(found.empty());
  EXPECT_TRUE(found.front().measured);
  EXPECT_EQ(found.front().left_time, 500);
}

/// What a duel has refuted does not come back when other collectives are measured anew.
TEST(Guidelines, WhatWasMeasuredInTurnsStays) {
  Measurements all = lawful();
  point_of(all, Kind::scan, 4, 128).candidates[0].times.assign(9, 1e6);
  const auto broken = [&] {
    const std::vector<Violation> found = check(all, imaginary, derive(all, imaginary));
    return reports(found, "scan(m) <= exscan(m) + combining(m)", Kind::scan, 4, 128);
  };
  for (const Violation& one : check(all, imaginary, derive(all, imaginary)))
    all.duels.push_back({one.ranks, {one.left}, one.right, std::vector<double>(9, 500), std::vector<double>(9, 490)});
  EXPECT_FALSE(broken());
  const auto anew = [](std::initializer_list<Kind> kinds) {
    Measurements newer = lawful();
    std::erase_if(newer.points,
                  [&](const Point& point) { return std::ranges::find(kinds, point.kind) == kinds.end(); });
    return newer;
  };
  all.add(anew({Kind::bcast, Kind::exscan}));
  EXPECT_FALSE(broken());
  all.add(anew({Kind::scan, Kind::exscan}));
  EXPECT_TRUE(all.duels.empty()) << "they could have been measured again";
}

TEST(Guidelines, RepairedByWhatIsFaster) {
  Measurements all = lawful();
  // The standard choice is taken for as fast, within its noise; a guideline shows that it is not.
  Point& point = point_of(all, Kind::gather, 4, 128);
  const double lawful_time = point.candidates[0].time();
  Candidate& usual = point.candidates[0];
  for (std::size_t i = 0; i < usual.times.size(); ++i)
    usual.times[i] = lawful_time * (1 + 0.025 * static_cast<double>(i));
  usual.times[1] = usual.times[0] = lawful_time * 1.002;
  point.candidates.push_back(steady("linear", lawful_time * 1.005));
  const Repaired repaired = derive_and_repair(all, imaginary);
  ASSERT_FALSE(repaired.violations.empty());
  for (const Violation& one : repaired.violations) EXPECT_EQ(one.repair, "linear is chosen") << one.text();
  EXPECT_TRUE(check(all, imaginary, repaired.lines).empty());
  EXPECT_FALSE(check(all, imaginary, derive(all, imaginary)).empty());
}

TEST(Guidelines, WhatCannotBeRepairedIsSaid) {
  Measurements all = lawful();
  point_of(all, Kind::scan, 4, 128).candidates[0].times.assign(9, 1e6);
  const Repaired repaired = derive_and_repair(all, imaginary);
  EXPECT_TRUE(reports(repaired.violations, "scan(m) <= exscan(m) + combining(m)", Kind::scan, 4, 128));
  EXPECT_NE(text_of(repaired.violations).find("not repaired"), std::string::npos);
}

}  // namespace
}  // namespace tutti::tuner
