// SPDX-License-Identifier: BSD-3-Clause
// A collective that is started again and again, and everything that can be done to one beside waiting for it.
#include <gtest/gtest.h>

#include <array>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include "../refusal.hpp"
#include "job/inproc.hpp"
#include "tutti/group.hpp"

namespace tutti {
namespace {

constexpr Rank ranks = 3;

/// Whether such a reduction may be given to a call that returns before it is done.
template <class Reduce>
concept Starts = requires(const tutti::Group& group, std::vector<double>& values, Reduce&& op) {
  group.iallreduce(values, values, std::forward<Reduce>(op));
  group.allreduce_init(values, values, std::forward<Reduce>(op));
};

constexpr double factor = 2;
using WithState = decltype(tutti::op([by = factor](double a, double b) { return by * (a + b); }));
using WithoutState = decltype(tutti::op([](double a, double b) { return a + b; }));
static_assert(Starts<const tutti::BuiltIn&> && Starts<tutti::BuiltIn> && Starts<WithoutState> && Starts<WithState&>);
static_assert(!Starts<WithState>, "it would be gone when it is needed");

TEST(PersistentTest, EachStartSendsWhatTheBufferHoldsThen) {
  job::run_inproc(ranks, {}, [](const Group& world) {
    for (const std::size_t length : {std::size_t{0}, std::size_t{1}, std::size_t{3000}, std::size_t{100'000}}) {
      std::vector<std::int64_t> in(length), out(length);
      Persistent total = world.allreduce_init(in, out, sum);
      for (std::int64_t step = 0; step < 40; ++step) {
        std::iota(in.begin(), in.end(), step * 1000 + world.rank());
        total.start();
        if (step % 2 == 0) total.wait();
        ASSERT_TRUE(total.wait_for(std::chrono::seconds(60)));
        for (std::size_t i = 0; i < length; ++i)
          ASSERT_EQ(out[i], 3 * (step * 1000 + static_cast<std::int64_t>(i)) + 3) << "step " << step;
      }
    }
  });
}

TEST(PersistentTest, IsTheSameCallAsTheBlockingForm) {
  job::run_inproc(ranks, {}, [](const Group& world) {
    std::array<int, 2> data{};
    Persistent news = world.bcast_init(data, 1);
    for (int step = 0; step < 100; ++step) {
      if (world.rank() == 1) data = {step, -step};
      if ((step + world.rank()) % 3 == 0)
        news.run();
      else if ((step + world.rank()) % 3 == 1)
        world.bcast(data, 1);
      else
        world.ibcast(data, 1).wait();
      ASSERT_EQ(data, (std::array{step, -step}));
    }
  });
}

TEST(PersistentTest, ManyAtATime) {
  job::run_inproc(ranks, {}, [](const Group& world) {
    constexpr int many = 50;
    std::vector<std::array<int, 1>> in(many), out(many);
    std::vector<Persistent> all;
    for (std::size_t i = 0; i < many; ++i) all.push_back(world.allreduce_init(in[i], out[i], max));
    for (int step = 0; step < 5; ++step) {
      for (std::size_t i = 0; i < many; ++i) in[i] = {static_cast<int>(i) * step + world.rank()};
      for (Persistent& one : all) one.start();
      for (std::size_t i = many; i-- > 0;) {
        while (!all[i].test()) EXPECT_TRUE(all[i].pending());
        EXPECT_FALSE(all[i].pending());
        ASSERT_EQ(out[i][0], static_cast<int>(i) * step + ranks - 1);
      }
    }
  });
}

TEST(PersistentTest, WrongUseIsRefusedAndHarmsNobody) {
  job::run_inproc(ranks, {}, [](const Group& world) {
    std::array<int, 1> in{1}, out{};
    const std::vector<int> two(2);
    expect_refused("`out` has 1 elements", [&] { world.allreduce_init(two, out, sum); });
    expect_refused("is not in the group", [&] { world.bcast_init(out, ranks); });
    expect_refused("empty", [] { Persistent().start(); });
    Persistent total = world.allreduce_init(in, out, sum);
    total.wait();  // not started: nothing to wait for
    total.start();
    expect_refused("still under way", [&] { total.start(); });
    expect_refused("still under way", [&] { total.run(); });
    total.wait();
    EXPECT_EQ(out[0], ranks);
    total.run();
    EXPECT_EQ(out[0], ranks);
  });
}

TEST(PersistentTest, MovesAndEndsWhilePending) {
  job::run_inproc(ranks, {}, [](const Group& world) {
    std::array<int, 1> in{world.rank()}, out{}, other_out{};
    {
      Persistent first = world.allreduce_init(in, out, sum);
      first.start();
      Persistent moved = std::move(first);
      EXPECT_FALSE(first);  // NOLINT(bugprone-use-after-move): empty, as promised
      EXPECT_TRUE(moved.pending());
      Persistent second = world.allreduce_init(in, other_out, max);
      moved = std::move(second);  // waits for what ran
      EXPECT_EQ(out[0], 3);
      moved.start();
    }  // waits
    EXPECT_EQ(other_out[0], 2);
  });
}

TEST(PersistentTest, KeepsItsGroup) {
  job::run_inproc(ranks, {}, [](const Group& world) {
    std::array<int, 1> in{1}, out{};
    Persistent total = world.dup().allreduce_init(in, out, sum);
    for (int step = 0; step < 3; ++step) {
      total.start();
      total.wait();
      EXPECT_EQ(out[0], ranks);
    }
  });
}

TEST(PersistentTest, AMismatchNamesBothCalls) {
  job::run_inproc(2, {}, [](const Group& world) {
    std::array<int, 1> in{1}, out{};
    Persistent mine = world.rank() == 0 ? world.allreduce_init(in, out, sum) : world.allreduce_init(in, out, max);
    mine.start();
    try {
      mine.wait();
      ADD_FAILURE() << "no mismatch";
    } catch (const Error& error) {
      EXPECT_EQ(error.cause(), Cause::mismatch) << error.what();
    }
    try {
      mine.start();
      ADD_FAILURE() << "the group is broken";
    } catch (const Error& error) {
      EXPECT_EQ(error.cause(), Cause::mismatch) << error.what();
    }
  });
}

}  // namespace
}  // namespace tutti
