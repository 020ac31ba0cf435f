// SPDX-License-Identifier: BSD-3-Clause
// Who serves a collective, decided by made-up times: the faster one, alike on all ranks, watched, given back.
#include "trials.hpp"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <utility>
#include <vector>

namespace tutti::mpi {
namespace {

/// What a call takes: of the MPI, or of Tutti; the call's number.
using Cost = std::function<std::int64_t(Side, int)>;
const Cost nothing = [](Side, int) { return 0; };

/// The ranks of a job that call one collective again and again, without an MPI.
class Job {
 public:
  explicit Job(int ranks, int block = 4, int pairs = 64)
      : ranks_(static_cast<std::size_t>(ranks), Trials(block, 0, pairs)), lent_(static_cast<std::size_t>(ranks)) {}

  /// Returns how many of the calls were Tutti's.
  int call(int calls, const Cost& cost, const Cost& behind = nothing) {
    int by_tutti = 0;
    for (int i = 0; i < calls; ++i) {
      const Side side = call_once(cost, behind);
      by_tutti += side == Side::tutti ? 1 : 0;
    }
    return by_tutti;
  }
  const Trials& rank(std::size_t rank) const { return ranks_[rank]; }
  int agreements() const { return agreements_; }
  const std::vector<int>& agreed_at() const { return agreed_at_; }

 private:
  Side call_once(const Cost& cost, const Cost& behind) {
    std::vector<Trials::Turn> turns;
    for (std::size_t r = 0; r < ranks_.size(); ++r) {
      Trials& rank = ranks_[r];
      turns.push_back(next(r));
      EXPECT_EQ(turns.back().side, turns.front().side) << "call " << calls_;
      EXPECT_EQ(turns.back().sample, turns.front().sample) << "call " << calls_;
      const auto [side, sample] = turns.back();
      if (sample < 0) continue;
      rank.measured(sample, cost(side, calls_));
      rank.followed(sample, behind(side, calls_));
    }
    ++calls_;
    if (ranks_.front().due()) agree();
    return turns.front().side;
  }
  /// Of some ranks most of the calls between trials are counted elsewhere, and given back at different times.
  Trials::Turn next(std::size_t rank) {
    Trials& trials = ranks_[rank];
    std::int64_t& lent = lent_[rank];
    if (calls_ % (100 * static_cast<int>(rank) + 7) == 0) trials.give_back(std::exchange(lent, 0));
    if (lent > 0) return --lent, Trials::Turn{Side::mpi, -1};
    const Trials::Turn turn = trials.next();
    if (rank % 2 == 1 && trials.resting() && trials.side() == Side::mpi) lent = trials.lend();
    return turn;
  }
  void agree() {
    ++agreements_;
    agreed_at_.push_back(calls_);
    std::vector<std::int64_t> sums(ranks_.front().times().size(), 0);
    for (Trials& rank : ranks_) {
      ASSERT_EQ(rank.times().size(), sums.size());
      for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += rank.times()[i];
    }
    for (Trials& rank : ranks_) {
      std::ranges::copy(sums, rank.times().begin());
      rank.decide(static_cast<int>(ranks_.size()));
      EXPECT_EQ(rank.side(), ranks_.front().side());
    }
  }

  std::vector<Trials> ranks_;
  std::vector<std::int64_t> lent_;
  int calls_ = 0;
  int agreements_ = 0;
  std::vector<int> agreed_at_;
};

/// Times around `mpi` and `tutti`, with waits for a core now and then.
Cost noisy(double mpi, double tutti, unsigned seed) {
  auto random = std::make_shared<std::mt19937>(seed);
  return [=](Side side, int) {
    std::lognormal_distribution<double> around(0, 0.3);
    const double time = (side == Side::mpi ? mpi : tutti) * around(*random);
    return static_cast<std::int64_t>((*random)() % 200 == 0 ? time + 3e6 : time);
  };
}

TEST(Trials, the_faster_one_serves) {
  for (const int block : {1, 4})
    for (const int ranks : {1, 3, 8}) {
      Job tutti(ranks, block), mpi(ranks, block);
      EXPECT_GT(tutti.call(20000, [](Side side, int) { return side == Side::mpi ? 1300 : 1000; }), 19000);
      EXPECT_LT(mpi.call(20000, [](Side side, int) { return side == Side::mpi ? 1000 : 1300; }), 400);
    }
}

TEST(Trials, ranks_agree_at_powers_of_two) {
  Job job(2);
  // Neither worth a change nor clearly not: all trials are needed.
  job.call(600, [](Side side, int) { return side == Side::mpi ? 1000 : 950; });
  EXPECT_EQ(job.agreed_at(), (std::vector<int>{16, 32, 64, 128, 256, 512}));
  EXPECT_EQ(job.rank(0).side(), Side::mpi) << "a gain has to be shown";
}

TEST(Trials, last_for_as_many_pairs_as_they_may) {
  Job job(2, 4, 16);
  EXPECT_EQ(job.call(128 + 2047, [](Side side, int) { return side == Side::mpi ? 1000 : 950; }), 64);
  EXPECT_EQ(job.agreed_at(), (std::vector<int>{16, 32, 64, 128}));
}

TEST(Trials, a_gain_of_less_than_a_twentieth_is_not_worth_a_change) {
  for (const int tutti : {960, 1000, 1040}) {
    Job job(2);
    EXPECT_LT(job.call(2000, [=](Side side, int) { return side == Side::mpi ? 1000 : tutti; }), 100) << tutti;
  }
}

TEST(Trials, what_it_costs_those_behind_it_counts) {
  Job shifts(2), saves(2);
  const Cost own = [](Side side, int) { return side == Side::mpi ? 300 : 200; };
  EXPECT_LT(shifts.call(2000, own, [](Side side, int) { return side == Side::mpi ? 50 : 200; }), 100);
  EXPECT_GT(saves.call(2000, own, [](Side side, int) { return side == Side::mpi ? 200 : 210; }), 1900);
}

TEST(Trials, the_call_itself_does_not_become_slower) {
  const Cost behind = [](Side side, int) { return side == Side::mpi ? 900 : 300; };
  Job slower(2), alike(2);
  EXPECT_LT(slower.call(
                2000, [](Side side, int) { return side == Side::mpi ? 200 : 210; }, behind),
            100);
  EXPECT_GT(alike.call(
                2000, [](Side side, int) { return side == Side::mpi ? 200 : 203; }, behind),
            1900);
}

TEST(Trials, gain_is_what_one_call_of_one_rank_saves) {
  for (const int block : {1, 4}) {
    Job job(3, block);
    job.call(16 * block, [](Side side, int) { return side == Side::mpi ? 1300 : 1000; });
    EXPECT_EQ(job.rank(2).gain(), 300);
  }
}

TEST(Trials, noise_does_not_choose_the_slower_one) {
  // Fewer pairs find no more that is wrong, and miss some of what is right until they come again.
  for (const auto& [pairs, missable] : {std::pair(64, 20), std::pair(32, 100)}) {
    int wrong = 0, missed = 0;
    for (unsigned seed = 1; seed <= 200; ++seed) {
      Job slower(4, 4, pairs), faster(4, 4, pairs);
      slower.call(8 * pairs, noisy(1000, 1200, seed));
      wrong += slower.rank(0).side() == Side::tutti ? 1 : 0;
      faster.call(8 * pairs, noisy(1200, 1000, seed + 1000));
      missed += faster.rank(0).side() == Side::mpi ? 1 : 0;
    }
    EXPECT_LE(wrong, 6) << "of 200, " << pairs << " pairs";
    EXPECT_LE(missed, missable) << "of 200, " << pairs << " pairs";
  }
}

TEST(Trials, a_gain_that_goes_is_given_back_and_taken_again) {
  Job job(2);
  bool mpi_got_better = false;
  const Cost cost = [&](Side side, int) { return side == Side::tutti ? 1000 : mpi_got_better ? 700 : 1500; };
  job.call(2000, cost);
  EXPECT_EQ(job.rank(0).side(), Side::tutti);
  mpi_got_better = true;
  job.call(20000, cost);
  EXPECT_EQ(job.rank(0).side(), Side::mpi);
  mpi_got_better = false;
  job.call(20000, cost);
  EXPECT_EQ(job.rank(0).side(), Side::tutti);
}

TEST(Trials, one_glitch_ends_nothing) {
  for (int glitch = 0; glitch < 32; ++glitch) {
    Job job(2);
    const Cost cost = [&](Side side, int call) { return side == Side::mpi ? 1500 : call == glitch ? 100000 : 1000; };
    job.call(600, cost);
    EXPECT_EQ(job.rank(0).side(), Side::tutti) << "call " << glitch;
  }
}

TEST(Trials, an_mpi_that_is_far_slower_is_left_soon) {
  const Cost cost = [](Side side, int) { return side == Side::mpi ? 1000000 : 1000; };
  for (const int block : {1, 4}) {
    Job job(2, block);
    EXPECT_EQ(job.call(1000, cost), 1000 - 4 * block);
    EXPECT_EQ(job.call(100000, cost), 100000 - 4 * block) << "seen again, it is not asked for long";
  }
}

/// Of glitches, of the MPI's side this time, nothing is left after the next trials.
TEST(Trials, what_is_won_by_glitches_is_given_back_soon) {
  Job job(2);
  const Cost cost = [&](Side side, int call) { return side == Side::tutti ? 1200 : call < 100 ? 100000 : 1000; };
  EXPECT_LT(job.call(40000, cost), 17 * 1024);
  EXPECT_EQ(job.rank(0).side(), Side::mpi);
}

TEST(Trials, what_is_lost_by_a_slow_start_is_tried_again_soon) {
  Job job(2);
  const Cost cost = [&](Side side, int call) { return side == Side::mpi ? 1500 : call < 100 ? 5000 : 1000; };
  job.call(100, cost);
  EXPECT_EQ(job.rank(0).side(), Side::mpi);
  job.call(1200, cost);
  EXPECT_EQ(job.rank(0).side(), Side::tutti);
}

TEST(Trials, watching_is_cheap_however_slow_the_other_is) {
  for (const int times_slower : {2, 5, 50, 1000}) {
    Job job(2);
    std::int64_t spent = 0;
    const Cost cost = [&](Side side, int) { return side == Side::mpi ? 1000 : 1000 * times_slower; };
    const int calls = 1000000;
    for (int i = 0; i < calls; ++i) spent += job.call(1, cost) != 0 ? 1000 * times_slower : 1000;
    const double more = static_cast<double>(spent) / (1000.0 * calls) - 1;
    EXPECT_LT(more, times_slower < 100 ? 0.02 : 0.2) << times_slower;
    EXPECT_GT(job.agreements(), 2) << "it is tried again";
  }
}

/// Where both are as fast, no trials say more than the ones before: few calls are spent on them.
TEST(Trials, trials_without_a_winner_become_rare) {
  Job job(3);
  job.call(20'000, noisy(1000, 1000, 7));
  EXPECT_EQ(job.rank(0).side(), Side::mpi);
  int tried = 0;
  const Cost alike = noisy(1000, 1000, 8);
  for (int call = 0; call < 80'000; ++call) {
    tried += job.rank(0).resting() ? 0 : 1;
    job.call(1, alike);
  }
  EXPECT_LT(tried, 80'000 / 12);
  EXPECT_GT(tried, 0) << "it stays watched";
}

TEST(Trials, two_in_one_loop_are_told_apart) {
  // A barrier and a broadcast in turn: either side's pair costs 400 together, mixed they cost more, and what a
  // broadcast saves in its own time depends on the barrier before it.
  Trials barrier(4, 1), bcast(4, 2);
  for (int call = 0; call < 20000; ++call) {
    const Trials::Turn first = barrier.next();
    const bool by_mpi = first.side == Side::mpi;
    if (first.sample >= 0) barrier.measured(first.sample, by_mpi ? 300 : 200);
    if (barrier.due()) barrier.decide(1);
    const Trials::Turn second = bcast.next();
    const std::int64_t cost = second.side == Side::mpi ? (by_mpi ? 20 : 190) : (by_mpi ? 30 : 90);
    if (second.sample >= 0) bcast.measured(second.sample, cost);
    if (bcast.due()) bcast.decide(1);
  }
  EXPECT_EQ(barrier.side(), Side::tutti);
  EXPECT_EQ(bcast.side(), Side::tutti);
}

TEST(Trials, calls_before_the_agreement_go_as_before) {
  Trials trials;
  while (!trials.due()) trials.next();
  for (int i = 0; i < 100; ++i) {
    const Trials::Turn turn = trials.next();
    EXPECT_EQ(turn.side, Side::mpi);
    EXPECT_EQ(turn.sample, -1);
  }
  trials.decide(1);
  EXPECT_FALSE(trials.due());
}

/// One call of one of several collectives that are tried on one stage; whether it was measured.
bool call_on(Stage& stage, Trials& trials, const Cost& cost, int call) {
  const Trials::Turn turn = stage.next(trials);
  if (turn.sample >= 0) trials.measured(turn.sample, cost(turn.side, call));
  if (trials.due()) trials.decide(1);
  return turn.sample >= 0;
}

TEST(Trials, a_call_that_was_none_leaves_no_trace) {
  Trials whole, broken;
  const auto both = [&](int call) {
    const Trials::Mark mark = broken.mark();
    const bool was_due = broken.due();
    broken.next();
    broken.take_back(mark);
    EXPECT_EQ(broken.due(), was_due);
    const Trials::Turn one = whole.next(), other = broken.next();
    EXPECT_EQ(one.side, other.side) << "call " << call;
    EXPECT_EQ(one.sample, other.sample) << "call " << call;
    EXPECT_EQ(whole.due(), broken.due()) << "call " << call;
    if (one.sample >= 0)
      for (Trials* trials : {&whole, &broken}) trials->measured(one.sample, one.side == Side::mpi ? 1500 : 1000);
    if (whole.due())
      for (Trials* trials : {&whole, &broken}) trials->decide(1);
  };
  for (int call = 0; call < 5000; ++call) both(call);
  EXPECT_EQ(broken.side(), Side::tutti);
}

TEST(Stage, trials_wait_for_one_another) {
  Stage stage;
  std::vector<Trials> trials{Trials(4, 1), Trials(4, 2), Trials(1, 3)};
  const Cost cost = [](Side side, int) { return side == Side::mpi ? 1500 : 1000; };
  std::vector<int> order;  // who was tried, each once for all its calls in a row
  for (int call = 0; call < 400; ++call)
    for (int which = 0; which < 3; ++which)
      if (call_on(stage, trials[static_cast<std::size_t>(which)], cost, call) &&
          (order.empty() || order.back() != which))
        order.push_back(which);
  EXPECT_EQ(order, (std::vector{0, 1, 2}));
  for (const Trials& one : trials) EXPECT_EQ(one.side(), Side::tutti);
}

/// Two that follow each other gain when Tutti serves both, and lose when it serves one of them.
TEST(Stage, what_only_gains_together_is_found) {
  Stage stage;
  Trials first(4, 1), second(4, 2);
  Side before = Side::mpi;
  int by_tutti = 0;
  const auto call = [&](Trials& trials) {
    const Trials::Turn turn = stage.next(trials);
    const std::int64_t time = turn.side != before ? 1200 : turn.side == Side::mpi ? 1000 : 700;
    if (turn.sample >= 0) trials.measured(turn.sample, time);
    if (trials.due()) trials.decide(1);
    before = turn.side;
    by_tutti += turn.side == Side::tutti ? 1 : 0;
  };
  for (int round = 0; round < 400; ++round) {
    call(first);
    call(second);
  }
  EXPECT_EQ(first.side(), Side::tutti);
  EXPECT_EQ(second.side(), Side::tutti);
  EXPECT_GT(by_tutti, 600);
}

/// What has been decided stays as it is while others are tried, also when its own next trials are due.
TEST(Stage, what_is_decided_does_not_go_along) {
  Stage stage;
  Trials decided(4, 1), other(4, 2);
  const Cost slower = [](Side side, int) { return side == Side::mpi ? 1000 : 1500; };
  const Cost faster = [](Side side, int) { return side == Side::mpi ? 1500 : 1000; };
  while (!decided.concluded()) call_on(stage, decided, slower, 0);
  int calls = 0;
  call_on(stage, other, faster, calls);  // comes first, and goes on below
  while (decided.resting()) stage.next(decided);
  for (; !other.resting() && calls < 1000; call_on(stage, other, faster, ++calls))
    EXPECT_EQ(stage.next(decided).side, Side::mpi) << "call " << calls;
  EXPECT_GE(calls, 60);
  EXPECT_EQ(other.side(), Side::tutti);
}

TEST(Stage, what_is_called_no_more_gives_way) {
  Stage stage;
  Trials once(1), often(1);
  const Cost cost = [](Side side, int) { return side == Side::mpi ? 1500 : 1000; };
  EXPECT_TRUE(call_on(stage, once, cost, 0));
  int waited = 0;
  while (!call_on(stage, often, cost, waited)) ++waited;
  EXPECT_GT(waited, 10) << "calls of another in between are no reason";
  EXPECT_LT(waited, 1000);
  for (int call = 0; call < 100; ++call) call_on(stage, often, cost, call);
  EXPECT_EQ(often.side(), Side::tutti);
  for (int call = 0; call < 100; ++call) call_on(stage, once, cost, call);
  EXPECT_EQ(once.side(), Side::tutti) << "it goes on where it was";
}

}  // namespace
}  // namespace tutti::mpi
