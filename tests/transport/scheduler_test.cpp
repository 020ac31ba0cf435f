// SPDX-License-Identifier: BSD-3-Clause
#include "transport/inproc/scheduler.hpp"

#include <gtest/gtest.h>

#include <set>
#include <string>
#include <vector>

namespace tutti::transport::inproc {

namespace {

std::vector<Rank> trace(int size, std::uint64_t seed) {
  std::vector<Rank> order;
  Fibers fibers(size, seed);
  fibers.run([&](Rank rank) {
    for (int i = 0; i < 3; ++i) {
      order.push_back(rank);
      fibers.yield();
    }
  });
  return order;
}

TEST(Fibers, seed_zero_takes_turns) { EXPECT_EQ(trace(3, 0), (std::vector<Rank>{0, 1, 2, 0, 1, 2, 0, 1, 2})); }

TEST(Fibers, a_seed_repeats_and_seeds_differ) {
  std::set<std::vector<Rank>> traces;
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    EXPECT_EQ(trace(4, seed), trace(4, seed));
    traces.insert(trace(4, seed));
  }
  EXPECT_GT(traces.size(), 15u);
}

TEST(Fibers, a_thousand_ranks) {
  Fibers fibers(1000, 3);
  std::vector<int> turns(1000, 0);
  fibers.run([&](Rank rank) {
    for (int i = 0; i < 10; ++i) {
      ++turns[static_cast<std::size_t>(rank)];
      fibers.yield();
    }
  });
  EXPECT_EQ(turns, std::vector<int>(1000, 10));
}

TEST(Fibers, exceptions_are_each_ranks_own) {
  Fibers fibers(8, 5);
  int right = 0;
  fibers.run([&](Rank rank) {
    try {
      throw std::to_string(rank);
    } catch (const std::string& outer) {
      fibers.yield();
      try {
        throw std::to_string(rank + 100);
      } catch (const std::string& inner) {
        fibers.yield();
        right += inner == std::to_string(rank + 100);
      }
      fibers.yield();
      try {
        throw;
      } catch (const std::string& again) {
        right += again == outer && outer == std::to_string(rank);
      }
    }
  });
  EXPECT_EQ(right, 16);
}

struct Counter {
  explicit Counter(int& value) : value_(value) { ++value_; }
  ~Counter() { --value_; }
  int& value_;
};

TEST(Fibers, the_first_exception_comes_out_and_all_stacks_are_unwound) {
  Fibers fibers(10, 2);
  int alive = 0;
  const auto body = [&](Rank rank) {
    const Counter counter(alive);
    for (int i = 0; i < 5; ++i) fibers.yield();
    if (rank == 4) throw std::runtime_error("four");
    for (;;) fibers.yield();
  };
  try {
    fibers.run(body);
    FAIL() << "nothing was thrown";
  } catch (const std::runtime_error& error) {
    EXPECT_STREQ(error.what(), "four");
  }
  EXPECT_EQ(alive, 0);
}

TEST(Fibers, a_destructor_may_yield_while_unwinding) {
  struct Yields {
    ~Yields() { fibers.yield(); }
    Fibers& fibers;
  };
  Fibers fibers(3, 1);
  EXPECT_THROW(fibers.run([&](Rank rank) {
    const Yields yields{fibers};
    fibers.yield();
    if (rank == 0) throw std::logic_error("zero");
    for (;;) fibers.yield();
  }),
               std::logic_error);
}

TEST(Fibers, idle_time_flies) {
  Fibers fibers(4, 1);
  fibers.run([&](Rank rank) {
    const std::uint64_t until = fibers.now() + 30'000'000'000;
    while (rank != 0 && fibers.now() < until) fibers.yield();
  });
  EXPECT_GT(fibers.now(), 30'000'000'000u);
}

TEST(Fibers, events_hold_the_clock_back) {
  Fibers fibers(2, 0);
  const std::uint64_t before = fibers.now();
  fibers.run([&](Rank) {
    for (int i = 0; i < 5000; ++i) {
      fibers.happened();
      fibers.yield();
    }
  });
  EXPECT_LT(fibers.now() - before, 1'000'000u);
}

TEST(Fibers, a_deadlock_is_reported_with_its_ranks) {
  Fibers fibers(4, 9);
  try {
    fibers.run([&](Rank rank) {
      while (rank == 2) fibers.yield();
    });
    FAIL() << "no deadlock was found";
  } catch (const Deadlock& deadlock) {
    EXPECT_NE(std::string(deadlock.what()).find("for ever: 2"), std::string::npos) << deadlock.what();
  }
}

TEST(Fibers, a_frozen_rank_stops_and_is_unwound_at_the_end) {
  Fibers fibers(3, 4);
  int alive = 0, turns = 0;
  fibers.run([&](Rank rank) {
    const Counter counter(alive);
    if (rank == 1) {
      fibers.freeze(1);
      for (;; ++turns) fibers.yield();
    }
    for (int i = 0; i < 20; ++i) fibers.yield();
    EXPECT_GE(alive, 1);
  });
  EXPECT_EQ(alive, 0);
  EXPECT_EQ(turns, 0);
}

TEST(Fibers, may_run_again) {
  Fibers fibers(3, 4);
  int ran = 0;
  for (int i = 0; i < 3; ++i) fibers.run([&](Rank) { ++ran; });
  EXPECT_EQ(ran, 9);
}

}  // namespace

}  // namespace tutti::transport::inproc
