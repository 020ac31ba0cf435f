// SPDX-License-Identifier: BSD-3-Clause
// Who is alive, with real processes that are killed.
#include <gtest/gtest.h>
#include <poll.h>

#include "base/clock.hpp"
#include "child.hpp"
#include "host/segment.hpp"
#include "tutti/error.hpp"

namespace tutti::host {
namespace {

using test::Child;

/// Enters as `rank` and stays until it is killed.
Child resident(const std::shared_ptr<Segment>& segment, Rank rank, bool with_child = false) {
  return Child([segment, rank, with_child] {
    segment->enter(rank);
    if (with_child && fork() == 0) {
      poll(nullptr, 0, 500);  // Holds the mapping and a copy of the descriptor while its parent is killed.
      _exit(0);
    }
    while (true) pause();
    return true;
  });
}

bool becomes(Segment& segment, Rank rank, Life wanted, std::uint64_t within) {
  const std::uint64_t until = base::now() + within;
  while (base::now() < until) {
    if (segment.probe(rank) == wanted) return true;
    poll(nullptr, 0, 1);
  }
  return false;
}

constexpr std::uint64_t tick = 20'000'000, start_up = 5'000'000'000;

TEST(Life, GoesFromAbsentToAliveToLeft) {
  const auto segment = Segment::create(2, 1);
  EXPECT_EQ(segment->probe(0), Life::absent);
  segment->enter(0);
  EXPECT_EQ(segment->probe(0), Life::alive);
  EXPECT_EQ(segment->process(0).pid, getpid());
  EXPECT_EQ(segment->header().alarm.load(), 0u);
  segment->leave(0);
  EXPECT_EQ(segment->probe(0), Life::left);
  EXPECT_EQ(segment->header().alarm.load(), 1u);
  EXPECT_THROW(segment->enter(0), Error);
  EXPECT_THROW(segment->enter(2), Error);
  EXPECT_THROW(segment->probe(-1), Error);
}

TEST(Life, AKilledProcessIsFoundDeadWithinATick) {
  for (const bool with_child : {false, true}) {
    const auto segment = Segment::create(2, 1);
    Child child = resident(segment, 1, with_child);
    ASSERT_TRUE(becomes(*segment, 1, Life::alive, start_up));
    for (int i = 0; i < 100; ++i) ASSERT_EQ(segment->probe(1), Life::alive);
    EXPECT_EQ(segment->header().alarm.load(), 0u);
    child.kill();
    EXPECT_TRUE(becomes(*segment, 1, Life::dead, tick)) << (with_child ? "with" : "without") << " a child of its own";
    EXPECT_EQ(segment->header().alarm.load(), 1u);
    EXPECT_EQ(segment->probe(1), Life::dead);
    EXPECT_EQ(segment->header().alarm.load(), 1u) << "the alarm is raised once";
  }
}

/// Whoever watches is told what another has just found.
TEST(Life, IsAskedForByOneOfThoseWhoWatch) {
  const auto segment = Segment::create(2, 1);
  Child child = resident(segment, 1);
  ASSERT_TRUE(becomes(*segment, 1, Life::alive, start_up));
  const std::uint64_t now = base::now();
  EXPECT_EQ(segment->watch(1, now), Life::alive);
  child.kill();
  EXPECT_EQ(segment->watch(1, now + tick / 4), Life::alive) << "the system is not asked again";
  EXPECT_EQ(segment->watch(1, now - tick / 4), Life::alive);
  ASSERT_TRUE(becomes(*segment, 1, Life::dead, start_up));
  EXPECT_EQ(segment->watch(1, now), Life::dead);
}

TEST(Life, IsAskedForAgainByThoseWhoGoOnWatching) {
  const auto segment = Segment::create(2, 1);
  Child child = resident(segment, 1);
  ASSERT_TRUE(becomes(*segment, 1, Life::alive, start_up));
  child.kill();
  std::uint64_t now = base::now();
  for (const std::uint64_t until = now + start_up; now < until && segment->watch(1, now) == Life::alive;
       now += tick / 2)
    poll(nullptr, 0, 1);
  EXPECT_EQ(segment->watch(1, now), Life::dead);
  EXPECT_EQ(segment->header().alarm.load(), 1u);
}

TEST(Life, ALivingProcessIsFoundAliveByOthersAlso) {
  const auto segment = Segment::create(3, 1);
  segment->enter(0);
  Child other([&] {
    segment->enter(1);
    const bool good = segment->probe(0) == Life::alive && segment->probe(1) == Life::alive;
    segment->leave(1);
    return good;
  });
  EXPECT_TRUE(other.good());
  EXPECT_EQ(segment->probe(1), Life::left);
}

TEST(Life, AForkedChildDisturbsNothing) {
  const auto segment = Segment::create(2, 1);
  segment->enter(0);
  Child observer([&] {
    // The grandchild has entered nothing: it leaves, closes its copy and ends, as destructors would.
    const auto attached = Segment::attach(dup(segment->descriptor()), 1);
    attached->enter(1);
    Child copy([&] {
      attached->leave(1);
      close(attached->descriptor());
      return true;
    });
    const bool ended = copy.good();
    return ended && attached->process(1).life.load() == Life::alive && kill(getpid(), SIGSTOP) == 0;
  });
  int status = 0;
  ASSERT_EQ(waitpid(observer.pid(), &status, WUNTRACED), observer.pid());
  ASSERT_TRUE(WIFSTOPPED(status));
  EXPECT_EQ(segment->probe(1), Life::alive) << "the lock of a stopped process is still held";
  observer.kill();
  EXPECT_TRUE(becomes(*segment, 1, Life::dead, tick));
}

TEST(Life, ARankIsTakenOnce) {
  const auto segment = Segment::create(2, 1);
  Child child = resident(segment, 0);
  ASSERT_TRUE(becomes(*segment, 0, Life::alive, start_up));
  EXPECT_THROW(segment->enter(0), Error);
  EXPECT_EQ(segment->probe(0), Life::alive);
  child.kill();
  child.wait();
  EXPECT_EQ(segment->probe(0), Life::dead);
  EXPECT_THROW(segment->enter(0), Error) << "the dead do not come back";
  EXPECT_EQ(segment->probe(0), Life::dead);
}

TEST(Life, DeclaredDeathsRaiseTheAlarmOnce) {
  for (const auto& segment : {Segment::create(3, 1), Segment::local(3, 1)}) {
    segment->enter(1);
    segment->declare_dead(1);
    segment->declare_dead(1);
    segment->declare_dead(2);  // never came
    EXPECT_EQ(segment->probe(1), Life::dead);
    EXPECT_EQ(segment->probe(2), Life::dead);
    EXPECT_EQ(segment->header().alarm.load(), 2u);
    segment->leave(1);
    EXPECT_EQ(segment->probe(1), Life::dead);
  }
}

TEST(Life, ManyRanksOfOneProcess) {
  const auto segment = Segment::local(1000, 1);
  for (Rank i = 0; i < 1000; ++i) segment->enter(i);
  EXPECT_EQ(segment->probe(999), Life::alive);
  EXPECT_THROW(segment->enter(5), Error);
}

}  // namespace
}  // namespace tutti::host
