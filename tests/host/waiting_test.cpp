// SPDX-License-Identifier: BSD-3-Clause
// Waiting with real processes and threads: wake-ups arrive, idle waiting is free, foreign load is noticed.
#include "host/waiting.hpp"

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <functional>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "base/random.hpp"
#include "child.hpp"
#include "host/company.hpp"

namespace tutti::host {
namespace {

using test::Child;
using Word = std::atomic<std::uint64_t>;

constexpr std::uint64_t millisecond = 1'000'000;

void nap(std::uint64_t nanoseconds) {
  const timespec time{0, static_cast<long>(nanoseconds)};
  nanosleep(&time, nullptr);
}

struct Fixture {
  std::shared_ptr<Segment> segment;
  Word* words;

  explicit Fixture(int size) : segment(Segment::create(size, 1)) {
    words = reinterpret_cast<Word*>(segment->at(segment->allocate(4096), 4096));
  }
  Word& word(int i) const { return words[i * 16]; }
  void sleep_at_once(bool on = true) const {
    segment->header().foreign_until.store(on ? base::now() + 3600'000'000'000u : 0);
  }
};

/// Waits until the word has the value; the number of slow ticks.
int wait_for(Waiting& waiting, const Word& word, std::uint64_t value, Rank awaited) {
  int ticks = 0;
  Waiting::Round round(waiting);
  while (word.load(std::memory_order_acquire) != value)
    if (round.pause(awaited, 0)) ++ticks;
  return ticks;
}

void publish(Waiting& waiting, Word& word, std::uint64_t value, std::uint64_t members) {
  word.store(value, std::memory_order_release);
  waiting.ring(&members, 1);
}

double cpu_of_thread() {
  rusage usage{};
  getrusage(RUSAGE_THREAD, &usage);
  return static_cast<double>(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
         1e-6 * static_cast<double>(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec);
}

TEST(Waiting, ASecondCostsLittleAndEndsAtOnce) {
  const Fixture f(2);
  for (const int cores : {1, 2}) {  // with and without spinning
    f.word(0).store(0);
    Child child([&] {
      Waiting waiting(*f.segment, 1, cores, 2);
      const double before = cpu_of_thread();
      const int ticks = wait_for(waiting, f.word(0), 1, 0);
      const std::uint64_t late = base::now() - f.word(1).load();
      const double used = cpu_of_thread() - before;
      std::printf("waited 1 s with %.1f ms of CPU, woken after %.0f us, %d ticks\n", used * 1e3,
                  static_cast<double>(late) * 1e-3, ticks);
      return used < 0.020 && late < 15 * millisecond && ticks >= 25 && ticks <= 60;
    });
    Waiting waiting(*f.segment, 0, cores, 2);
    std::this_thread::sleep_for(std::chrono::milliseconds(1005));
    f.word(1).store(base::now());
    publish(waiting, f.word(0), 1, 0b10);
    EXPECT_TRUE(child.good());
  }
}

/// Ranks publish in turn; all others wait for whose turn it is. `pauses`: whether they compute in between.
bool take_turns(const Fixture& f, Rank self, int ranks, int rounds, std::uint64_t seed, bool pauses) {
  Waiting waiting(*f.segment, self, 2, ranks);
  base::Random random(seed + static_cast<std::uint64_t>(self));
  for (int round = 0; round < rounds; ++round) {
    const Rank turn = round % ranks;
    const auto value = static_cast<std::uint64_t>(round + 1);
    if (pauses && random.once_in(4)) nap(random.below(700'000));
    if (turn == self)
      publish(waiting, f.word(turn), value, (std::uint64_t{1} << ranks) - 1);
    else
      wait_for(waiting, f.word(turn), value, random.once_in(2) ? turn : -1);
  }
  return true;
}

std::uint64_t time_of_turns(bool at_once, int ranks, int rounds, bool pauses) {
  const std::uint64_t seed = 99;
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  const Fixture f(ranks);
  f.sleep_at_once(at_once);
  const std::uint64_t start = base::now();
  std::vector<Child> all;
  for (Rank i = 0; i < ranks; ++i) all.emplace_back([&, i] { return take_turns(f, i, ranks, rounds, seed, pauses); });
  for (Child& child : all) EXPECT_TRUE(child.good());
  return base::now() - start;
}

TEST(Waiting, SleepersAreWokenEveryTime) {
  // A lost wake-up would cost 20 ms; 20000 turns of a few microseconds leave room for no more than a few. On a machine
  // that others use a try may last longer, three will not.
  for (const auto& [ranks, rounds] : {std::pair(2, 20000), std::pair(5, 5000)}) {
    std::uint64_t best = time_of_turns(true, ranks, rounds, false);
    for (int i = 0; i < 2 && best >= 3000 * millisecond; ++i)
      best = std::min(best, time_of_turns(true, ranks, rounds, false));
    EXPECT_LT(best, 3000 * millisecond);
  }
}

TEST(Waiting, AnyMixOfSpinningYieldingAndSleepingArrives) {
  EXPECT_LT(time_of_turns(false, 2, 4000, true), 8000 * millisecond);
  EXPECT_LT(time_of_turns(false, 6, 3000, true), 8000 * millisecond);
}

TEST(Waiting, OnlyTheAwaitedRankWakes) {
  const Fixture f(3);
  f.sleep_at_once();
  Waiting sleeper(*f.segment, 0, 2, 3), first(*f.segment, 1, 2, 3), second(*f.segment, 2, 2, 3);
  const Process::Bell& bell = f.segment->process(0).bell;
  std::thread thread([&] { wait_for(sleeper, f.word(0), 1, 1); });
  while (bell.asleep.load() == 0) nap(100'000);
  EXPECT_EQ(bell.awaited.load(), 1);
  EXPECT_EQ(f.segment->header().sleepers[0].load(), 1u);
  publish(second, f.word(2), 1, 0b111);
  EXPECT_EQ(bell.word.load(), 0u) << "rank 2 is not awaited";
  const std::uint64_t others = 0b110;
  first.ring(&others, 1);
  EXPECT_EQ(bell.word.load(), 0u) << "rank 0 is not a member";
  second.ring(0);
  EXPECT_EQ(bell.word.load(), 1u) << "a message wakes whatever is awaited";
  publish(first, f.word(0), 1, 0b111);
  thread.join();
  EXPECT_EQ(bell.asleep.load(), 0u);
  EXPECT_EQ(f.segment->header().sleepers[0].load(), 0u);
}

TEST(Waiting, ThreadsOfOneRankSleepTogether) {
  const Fixture f(3);
  f.sleep_at_once();
  Waiting sleeper(*f.segment, 0, 2, 3), first(*f.segment, 1, 2, 3), second(*f.segment, 2, 2, 3);
  const Process::Bell& bell = f.segment->process(0).bell;
  std::thread one([&] { wait_for(sleeper, f.word(1), 1, 1); });
  while (bell.asleep.load() != 1) nap(100'000);
  std::thread two([&] { wait_for(sleeper, f.word(2), 1, 2); });
  while (bell.asleep.load() != 2) nap(100'000);
  EXPECT_EQ(bell.awaited.load(), -1);
  publish(first, f.word(1), 1, 0b1);
  one.join();
  EXPECT_EQ(bell.asleep.load(), 1u);
  EXPECT_EQ(f.segment->header().sleepers[0].load(), 1u) << "the other still sleeps";
  publish(second, f.word(2), 1, 0b1);
  two.join();
  EXPECT_EQ(bell.asleep.load(), 0u);
}

TEST(Waiting, AThreadWakesAnotherOfItsRankBetweenItsOwnLooks) {
  const Fixture f(2);
  f.sleep_at_once();
  Waiting waiting(*f.segment, 0, 2, 2);
  const Process::Bell& bell = f.segment->process(0).bell;
  bool woken = false;  // and not by a tick, which comes first where the machine stands still
  for (std::uint64_t attempt = 1; attempt <= 10 && !woken; ++attempt) {
    std::thread other([&] { woken = wait_for(waiting, f.word(0), attempt, 1) == 0; });
    while (bell.asleep.load() != 1) std::this_thread::yield();
    nap(millisecond);
    Waiting::Round round(waiting);
    round.pause(1, 0);
    EXPECT_EQ(bell.asleep.load(), 2u);
    publish(waiting, f.word(0), attempt, 0b1);
    other.join();
  }
  EXPECT_TRUE(woken);
  EXPECT_EQ(bell.asleep.load(), 0u);
}

TEST(Waiting, WhoRingsItselfLooksAgainAndThenSleeps) {
  const Fixture f(2);
  f.sleep_at_once();
  Waiting futex(*f.segment, 0, 2, 2), door(*f.segment, 1, 2, 2);
  const base::Descriptor silent(epoll_create1(EPOLL_CLOEXEC));
  door.watch(silent.get());
  for (Waiting* const waiting : {&futex, &door}) {
    // Nothing that the ring has left ends the sleep after the second look. A machine that stands still for a tick makes
    // the first one late.
    bool at_once = false;
    for (int attempt = 0; attempt < 10 && !at_once; ++attempt) {
      Waiting::Round round(*waiting);
      round.pause(-1, 0);
      waiting->ring(waiting == &futex ? 0 : 1);
      at_once = !round.pause(-1, 0);
      const std::uint64_t start = waiting->now();
      round.pause(-1, 0);
      EXPECT_GE(waiting->now() - start, tick_length / 2);
    }
    EXPECT_TRUE(at_once);
  }
}

TEST(Waiting, TheAlarmWakesAll) {
  const Fixture f(3);
  f.sleep_at_once();
  std::vector<std::thread> threads;
  std::vector<std::unique_ptr<Waiting>> waiting;
  for (Rank i = 0; i < 2; ++i) waiting.push_back(std::make_unique<Waiting>(*f.segment, i, 2, 3));
  std::atomic<int> woken{0};
  for (Rank i = 0; i < 2; ++i)
    threads.emplace_back([&, i] {
      Waiting::Round round(*waiting[static_cast<std::size_t>(i)]);
      while (f.segment->header().alarm.load(std::memory_order_acquire) == 0) round.pause(2, 0);
      ++woken;
    });
  for (Rank i = 0; i < 2; ++i)
    while (f.segment->process(i).bell.asleep.load() == 0) nap(100'000);
  f.segment->declare_dead(2);
  for (auto& thread : threads) thread.join();
  EXPECT_EQ(woken.load(), 2);
  EXPECT_GE(f.segment->process(0).bell.word.load(), 1u);
}

TEST(Waiting, TheAwaitedRankMayChangeWhileAnnounced) {
  const Fixture f(3);
  f.sleep_at_once();
  Waiting waiting(*f.segment, 0, 2, 3);
  const Process::Bell& bell = f.segment->process(0).bell;
  {
    Waiting::Round round(waiting);
    EXPECT_FALSE(round.pause(1, 0)) << "announces, and does not sleep before another poll";
    EXPECT_EQ(bell.awaited.load(), 1);
    EXPECT_FALSE(round.pause(2, 0)) << "announces again";
    EXPECT_EQ(bell.awaited.load(), 2);
    EXPECT_EQ(bell.asleep.load(), 1u);
  }
  EXPECT_EQ(bell.asleep.load(), 0u);
}

TEST(Waiting, EndsInTimeForADeadline) {
  const Fixture f(2);
  Waiting waiting(*f.segment, 0, 2, 2);
  for (const bool at_once : {false, true}) {
    f.sleep_at_once(at_once);
    const std::uint64_t start = waiting.now(), until = start + 7 * millisecond;
    Waiting::Round round(waiting);
    while (!(round.pause(1, until) && waiting.now() >= until)) {
    }
    EXPECT_LT(waiting.now() - until, 10 * millisecond);
  }
}

TEST(Waiting, SaysHowItWaits) {
  const Fixture f(4);
  EXPECT_GT(Waiting(*f.segment, 0, 4, 4).policy().spins, 0u);
  EXPECT_EQ(Waiting(*f.segment, 0, 2, 4).policy().spins, 0u);
  EXPECT_NE(Waiting(*f.segment, 0, 2, 4).policy().why.find("4 ranks on 2 cores: yield"), std::string::npos);
  EXPECT_FALSE(Waiting(*f.segment, 0, 2, 4).policy().foreign);
}

TEST(Waiting, KeepsTheCoreForOtherCoresOnlyWhereThereAreSomeAndFewerThanRanks) {
  const Fixture f(4);
  EXPECT_EQ(Waiting(*f.segment, 0, 4, 4).patience_now(), 0u);
  EXPECT_EQ(Waiting(*f.segment, 0, 1, 4).patience_now(), 0u);
  const Waiting crowded(*f.segment, 0, 2, 4);
  EXPECT_GT(crowded.patience_now(), 0u);
  EXPECT_NE(crowded.policy().why.find("polls where only ranks of other cores are awaited"), std::string::npos);
  f.sleep_at_once(true);
  EXPECT_EQ(crowded.patience_now(), 0u);
}

/// Three ranks on one core: this process, one that waits as well, and one that may be busy.
class OnOneCore {
 public:
  OnOneCore() {
    CPU_ZERO(&one_);
    EXPECT_EQ(sched_getaffinity(0, sizeof before_, &before_), 0);
    for (int cpu = 0; CPU_COUNT(&one_) == 0; ++cpu)
      if (CPU_ISSET(cpu, &before_)) CPU_SET(cpu, &one_);
    EXPECT_EQ(sched_setaffinity(0, sizeof one_, &one_), 0);
    for (Rank rank = 0; rank < 3; ++rank) segment().process(rank).life.store(Life::alive);
    other_ = std::make_unique<Child>(
        for_ever([waiting = std::make_shared<Waiting>(segment(), 1, 1, 3)] { wait_a_little(*waiting); }));
  }
  ~OnOneCore() { sched_setaffinity(0, sizeof before_, &before_); }
  OnOneCore(const OnOneCore&) = delete;
  OnOneCore& operator=(const OnOneCore&) = delete;

  /// Waits until foreign load is believed in or not, for so many milliseconds at most; whether it came to that.
  bool foreign_becomes(bool wanted, std::uint64_t milliseconds) {
    const std::uint64_t until = base::now() + milliseconds * millisecond;
    while (waiting_.policy().foreign != wanted && base::now() < until) wait_a_little(waiting_);
    return waiting_.policy().foreign == wanted;
  }
  /// Waits for so many milliseconds; for which part of that foreign load was believed in.
  double share_believed(std::uint64_t milliseconds) {
    const std::uint64_t start = base::now(), until = start + milliseconds * millisecond;
    std::uint64_t believed = 0, before = start;
    while (before < until) {
      wait_a_little(waiting_);
      const std::uint64_t now = base::now();
      if (waiting_.policy().foreign) believed += now - before;
      before = now;
    }
    return static_cast<double>(believed) / static_cast<double>(before - start);
  }
  Segment& segment() const { return *f_.segment; }
  /// What a child does for ever; but no longer than this process lives.
  template <class Step>
  static std::function<bool()> for_ever(Step step) {
    return [step] {
      prctl(PR_SET_PDEATHSIG, SIGKILL);
      for (;;) step();
      return true;
    };
  }
  static void compute(std::uint64_t nanoseconds) {
    for (const std::uint64_t end = base::now() + nanoseconds; base::now() < end;) {
    }
  }

 private:
  static void wait_a_little(Waiting& waiting) {
    Waiting::Round round(waiting);
    for (int i = 0; i < 6; ++i) round.pause(2, 0);
  }

  cpu_set_t before_, one_;
  const Fixture f_{3};
  Waiting waiting_{*f_.segment, 0, 1, 3};
  std::unique_ptr<Child> other_;
};

TEST(Waiting, NoticesForeignLoadAndForgetsIt) {
  OnOneCore here;
  {
    const Child hog(OnOneCore::for_ever([] { OnOneCore::compute(millisecond); }));
    EXPECT_TRUE(here.foreign_becomes(true, 20'000));
    EXPECT_GT(here.share_believed(700), 0.3);
  }
  EXPECT_TRUE(here.foreign_becomes(false, 20'000));
}

TEST(Waiting, ARankThatComputesIsNoForeignLoad) {
  OnOneCore here;
  const Child busy([&] {
    take_core(here.segment(), 2, base::now());
    return OnOneCore::for_ever([] { OnOneCore::compute(millisecond); })();
  });
  // The least of six times: this machine may have foreign load indeed.
  double least = 1;
  for (int i = 0; i < 6 && least > 0.1; ++i) least = std::min(least, here.share_believed(700));
  EXPECT_LE(least, 0.1);
}

TEST(Waiting, WhoHadTheCoreIsKnownByStretches) {
  const OnOneCore here;
  const Segment& segment = here.segment();
  for (const Rank rank : {0, 1}) {
    segment.process(rank).life.store(Life::alive);
    take_core(segment, rank, 100);
  }
  give_core(segment, 1, 200);
  Absence absence = give_core(segment, 0, 1000);
  EXPECT_FALSE(was_ours(segment, absence, 2000)) << "the other one waits";
  for (const std::uint64_t begin : {1000, 1300, 1600}) {  // in three pieces
    EXPECT_FALSE(was_ours(segment, absence, 2000)) << begin;
    take_core(segment, 1, begin);
    give_core(segment, 1, begin + 167);
  }
  EXPECT_TRUE(was_ours(segment, absence, 2000)) << "half of it";

  take_core(segment, 0, 2000);
  take_core(segment, 1, 2100);
  absence = give_core(segment, 0, 3000);
  EXPECT_TRUE(was_ours(segment, absence, 4000)) << "the other one computes";
  segment.process(1).life.store(Life::dead);
  EXPECT_FALSE(was_ours(segment, absence, 4000)) << "the dead need no core";
  segment.process(1).life.store(Life::alive);
  take_core(segment, 1, 3501);
  EXPECT_FALSE(was_ours(segment, absence, 4000)) << "it has begun too late";
  take_core(segment, 1, 3000);
  EXPECT_TRUE(on_one_core(segment, 0, 1));
  segment.process(1).stretch.core.store(static_cast<std::uint32_t>(absence.core + 1));
  EXPECT_FALSE(on_one_core(segment, 0, 1));
  EXPECT_FALSE(was_ours(segment, absence, 4000)) << "on another core";
  take_core(segment, 1, 5000);
  EXPECT_FALSE(was_ours(segment, absence, 4000)) << "clocks may differ a little: begun after the end";
}

TEST(Waiting, AFairShareIsNoReasonToSleep) {
  EXPECT_FALSE(yields_to_foreign(3 * millisecond, 3 * millisecond)) << "half of the core";
  EXPECT_FALSE(yields_to_foreign(3 * millisecond, millisecond)) << "three quarters";
  EXPECT_TRUE(yields_to_foreign(3 * millisecond, millisecond / 10)) << "every yield";
}

#ifdef SYS_epoll_pwait2
/// Filters of older containers do not know the call, and say that it is not permitted.
TEST(Waiting, SleepsWhereTheKernelRefusesTheBetterCall) {
  for (const int refusal : {EPERM, ENOSYS, 0}) {
    Child child([refusal] {
      sock_filter filter[] = {
          BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
          BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_epoll_pwait2, 0, 1),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | static_cast<std::uint32_t>(refusal)),
          BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      };
      const sock_fprog program{sizeof filter / sizeof *filter, filter};
      if (refusal != 0 &&
          (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) != 0))
        return false;
      const base::Descriptor set(epoll_create1(EPOLL_CLOEXEC));
      const Door door(set.get());
      const std::uint64_t start = base::now();
      return door.sleep(30 * millisecond) == ETIMEDOUT && base::now() - start >= 30 * millisecond;
    });
    EXPECT_TRUE(child.good()) << refusal;
  }
}
#endif

/// A clock that moves 1 ms with each yield.
struct Steps : Scheduler {
  std::uint64_t time = 1;
  int yields = 0, events = 0;
  void yield() override { ++yields, time += millisecond; }
  void happened() override { ++events; }
  std::uint64_t now() override { return time; }
};

TEST(Waiting, UnderASchedulerItYieldsAndNeverSleeps) {
  const auto segment = Segment::local(2, 1);
  Steps steps;
  Waiting waiting(*segment, 0, 2, 2, &steps);
  Waiting::Round round(waiting);
  int ticks = 0;
  for (int i = 0; i < 1000; ++i) ticks += round.pause(1, 0) ? 1 : 0;
  EXPECT_EQ(steps.yields, 1000);
  EXPECT_NEAR(ticks, 50, 2);
  EXPECT_EQ(segment->process(0).bell.asleep.load(), 0u);
  EXPECT_TRUE(round.pause(1, waiting.now())) << "the deadline is the scheduler's";
  const std::uint64_t members = 0b11;
  waiting.ring(&members, 1);
  waiting.ring(1);
  EXPECT_EQ(steps.events, 2);
}

TEST(Waiting, MoreThanAThousandRanksShareBits) {
  const auto segment = Segment::local(1100, 1);
  segment->header().foreign_until.store(base::now() + 3600'000'000'000u);
  Waiting low(*segment, 5, 2, 1100), high(*segment, 1029, 2, 1100), other(*segment, 7, 2, 1100);
  Word word{0};
  std::thread sleeper([&] { wait_for(high, word, 1, 7); });
  while (segment->process(1029).bell.asleep.load() == 0) nap(100'000);
  {
    Waiting::Round round(low);
    round.pause(7, 0);
  }
  std::uint64_t members[18] = {};
  members[16] = std::uint64_t{1} << 5;
  word.store(1, std::memory_order_release);
  other.ring(members, 18);
  EXPECT_EQ(segment->process(1029).bell.word.load(), 1u) << "one that woke has not hidden the other";
  sleeper.join();
}

}  // namespace
}  // namespace tutti::host
