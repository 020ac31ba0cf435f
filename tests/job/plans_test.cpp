// SPDX-License-Identifier: BSD-3-Clause
// Plans of users: started in every form, on threads, under every interleaving and in real processes.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <functional>
#include <numeric>
#include <stdexcept>
#include <string>
#include <vector>

#include "../matrix/processes.hpp"
#include "../refusal.hpp"
#include "job/inproc.hpp"
#include "plan_examples.hpp"
#include "tutti/tutti.hpp"

namespace tutti {
namespace {

using namespace examples;

constexpr std::int64_t poison = -77;

void require(bool holds, const std::string& what, const Group& group) {
  if (!holds) throw std::runtime_error(what + " is wrong on rank " + std::to_string(group.rank()));
}

std::int64_t element(Rank rank, std::size_t index) { return rank * 1000 + static_cast<std::int64_t>(index); }

std::vector<std::int64_t> contribution(Rank rank, Count count) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i) all[i] = element(rank, i);
  return all;
}

/// The sum of element(rank, i) over all ranks.
std::vector<std::int64_t> total(Rank size, Count count) {
  std::vector<std::int64_t> all(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < all.size(); ++i)
    all[i] = 1000 * size * (size - 1) / 2 + size * static_cast<std::int64_t>(i);
  return all;
}

/// One sum in the form of that number. What it does not own stays as it was.
void sum_once(const Group& group, const Plan& plan, Count count, int form) {
  const auto in = contribution(group.rank(), count);
  std::vector<std::int64_t> padded(static_cast<std::size_t>(count) + 2, poison);
  const std::span<std::int64_t> out = std::span(padded).subspan(1, static_cast<std::size_t>(count));
  if (form == 0) group.run(plan, in, out, sum);
  if (form == 1) group.start(plan, in, out, sum).wait();
  if (form == 2) {
    Persistent again = group.init(plan, in, out, sum);
    for (int step = 0; step < 3; ++step) {
      std::ranges::fill(out, poison);
      again.start();
      again.wait();
    }
    again.run();
  }
  require(std::ranges::equal(out, total(group.size(), count)), plan.name(), group);
  require(padded.front() == poison && padded.back() == poison, plan.name() + "'s surroundings", group);
  require(in == contribution(group.rank(), count), plan.name() + "'s input", group);
}

/// A barrier that is not over before the last rank has come.
void hold_back(const Group& group, const Plan& barrier) {
  for (Rank last = 0; last < group.size(); ++last) {
    if (group.rank() != last) {
      Request request = group.start(barrier);
      require(!request.test(), "a barrier that did not wait", group);
      group.send(std::array<int, 1>{1}, last, 3);
      request.wait();
    } else {
      std::array<int, 1> here{};
      for (Rank other = 0; other < group.size(); ++other)
        if (other != last) group.recv(here, other, 3);
      group.run(barrier);
    }
  }
}

void do_all(const Group& group) {
  const Rank size = group.size();
  hold_back(group, dissemination(group.rank(), size));
  for (const Count count :
       {Count{0}, Count{1}, Count{size - 1}, Count{size}, Count{size + 1}, Count{1000}, Count{70'000}})
    for (int form = 0; form < 3; ++form) {
      sum_once(group, ring(group.rank(), size, count), count, form);
      sum_once(group, chain(group.rank(), size, count), count, form);
    }
  const std::array<int, 1> mine{group.rank()};
  std::array<int, 2> others{-1, -1};
  group.run(neighbours(group.rank(), size), mine, others);
  require(others[0] == (group.rank() + size - 1) % size && others[1] == (group.rank() + 1) % size, "neighbours", group);
  std::array<double, 2> gathered{group.rank() + 0.5, 1};
  group.run(star(group.rank(), size, 2), std::span<const double>(), gathered, sum);
  if (group.rank() == 0)
    require(gathered[0] == size * (size - 1) / 2 + size * 0.5 && gathered[1] == size, "star", group);
}

class UserPlans : public ::testing::TestWithParam<Rank> {};

TEST_P(UserPlans, GiveRightResultsOnThreads) { job::run_inproc(GetParam(), {}, do_all); }

TEST_P(UserPlans, GiveRightResultsUnderEveryInterleaving) {
  for (std::uint64_t seed = 0; seed < 5; ++seed)
    job::run_inproc(GetParam(), {.fibers = true, .seed = seed, .board = seed % 2 == 0}, do_all);
}

TEST_P(UserPlans, GiveRightResultsInProcesses) {
  const auto said = matrix::run_processes(GetParam(), {}, 100, do_all);
  for (std::size_t rank = 0; rank < said.size(); ++rank) EXPECT_EQ(said[rank], "") << "rank " << rank;
}

TEST_P(UserPlans, AreProved) {
  const Rank size = GetParam();
  EXPECT_EQ(check(dissemination, size, {Kind::barrier}).text, "");
  EXPECT_EQ(check(neighbours, size).text, "");
  for (const Count count : {Count{0}, Count{1}, Count{size - 1}, Count{size}, Count{3 * size + 1}}) {
    const auto by_ring = [count](Rank rank, Rank of) { return ring(rank, of, count); };
    const auto by_chain = [count](Rank rank, Rank of) { return chain(rank, of, count); };
    EXPECT_EQ(check(by_ring, size, {Kind::allreduce, count}).text, "");
    EXPECT_EQ(check(by_chain, size, {Kind::allreduce, count, 0, false}).text, "");
    if (size > 2 && count >= size) {
      EXPECT_FALSE(check(by_ring, size, {Kind::allreduce, count, 0, false}));  // not in the order of the ranks
    }
    EXPECT_EQ(check(by_ring, size, {Kind::allreduce, count + 1}).ok, false);
  }
}

INSTANTIATE_TEST_SUITE_P(Ranks, UserPlans, ::testing::Values(1, 2, 3, 5, 8));

TEST(UserPlansTest, WrongPlansWouldBeFound) {
  const auto run = [](const std::function<void(const Group&)>& body) {
    EXPECT_THROW(job::run_inproc(3, {.fibers = true}, body), std::runtime_error);
  };
  run([](const Group& world) {
    PlanBuilder lazy("lazy", world.rank(), world.size(), {.in = 4, .out = 4});
    lazy.copy(lazy.in(), lazy.out());
    sum_once(world, lazy.commit(), 4, 0);
  });
  run([](const Group& world) { hold_back(world, PlanBuilder("none", world.rank(), world.size(), {}).commit()); });
}

TEST(UserPlansTest, OrderOfTheRanksIsKept) {
  // f(x) = a x + b, of which the composition does not commute.
  struct Line {
    std::int64_t a, b;
    bool operator==(const Line&) const = default;
  };
  const auto compose = op(
      [](const Line& first, const Line& then) {
        return Line{then.a * first.a, then.a * first.b + then.b};
      },
      false);
  job::run_inproc(5, {}, [&](const Group& world) {
    const std::vector<Line> in(3, {world.rank() + 2, world.rank()});
    std::vector<Line> out(3), expected(3);
    world.run(chain(world.rank(), world.size(), 3), in, out, compose);
    world.allreduce(in, expected, compose);
    EXPECT_EQ(out, expected);
  });
}

TEST(UserPlansTest, SeveralAreUnderWayAtATime) {
  job::run_inproc(3, {}, [](const Group& world) {
    constexpr std::size_t many = 20;
    const Plan plan = ring(world.rank(), world.size(), 10);
    const auto in = contribution(world.rank(), 10);
    std::vector<std::vector<std::int64_t>> out(many, std::vector<std::int64_t>(10));
    std::vector<Request> requests;
    for (auto& one : out) requests.push_back(world.start(plan, in, one, sum));
    world.barrier();
    wait_all(requests);
    for (const auto& one : out) EXPECT_EQ(one, total(3, 10));
  });
}

TEST(UserPlansTest, WorkOnBuffersThatAreLaidOut) {
  job::run_inproc(3, {}, [](const Group& world) {
    const Plan plan = ring(world.rank(), world.size(), 4);
    std::vector<std::int64_t> matrix(8, poison);
    const Layout column = Layout::of<std::int64_t>().strided(4, 1, 2);
    for (std::size_t i = 0; i < 4; ++i) matrix[2 * i] = element(world.rank(), i);
    world.run(plan, View(std::span(matrix), column), View(std::span(matrix).subspan(1), column), sum);
    for (std::size_t i = 0; i < 4; ++i) {
      EXPECT_EQ(matrix[2 * i], element(world.rank(), i));
      EXPECT_EQ(matrix[2 * i + 1], total(3, 4)[i]);
    }
  });
}

TEST(UserPlansTest, AreBuiltOncePerKeyAndGroup) {
  job::run_inproc(3, {}, [](const Group& world) {
    int built = 0;
    const auto build = [&built](Rank rank, Rank size) {
      ++built;
      return ring(rank, size, 6);
    };
    const auto in = contribution(world.rank(), 6);
    for (int i = 0; i < 5; ++i) {
      std::vector<std::int64_t> out(6);
      world.run(world.plan("ring of 6", build), in, out, sum);
      EXPECT_EQ(out, total(3, 6));
    }
    EXPECT_EQ(built, 1);
    EXPECT_EQ(world.plan("ring of 6", build).get(), world.plan("ring of 6", build).get());
    world.plan("another key", build);
    EXPECT_EQ(built, 2);
    const Group copy = world.dup();
    const Group same = world;
    copy.plan("ring of 6", build);
    EXPECT_EQ(built, 3);
    same.plan("ring of 6", build);
    EXPECT_EQ(built, 3);
    expect_refused("no luck",
                   [&] { world.plan("fails", [](Rank, Rank) -> Plan { throw Error(Cause::usage, "no luck"); }); });
    world.plan("fails", build);  // what failed is not kept
    EXPECT_EQ(built, 4);
  });
}

/// One of two is cancelled; what comes after it, and after that, has nothing to wait for any more.
Plan two_alternatives(Rank rank, Rank size) {
  PlanBuilder plan("any", rank, size, {.in = 2, .out = 6});
  const Step first = plan.copy(plan.in(0, 1), plan.out(0, 1)), second = plan.copy(plan.in(1, 1), plan.out(1, 1));
  plan.copy(plan.in(0, 1), plan.out(2, 1)).after_any({first, second});
  const Step behind_first = plan.copy(plan.in(0, 1), plan.out(3, 1)).after(first);
  const Step behind_second = plan.copy(plan.in(1, 1), plan.out(4, 1)).after(second);
  plan.copy(plan.out(3, 1), plan.out(5, 1)).after({behind_first, behind_second});
  return plan.commit();
}

TEST(UserPlansTest, WhatComesAfterACancelledStepRuns) {
  EXPECT_TRUE(check(two_alternatives, 2)) << check(two_alternatives, 2).text;
  job::run_inproc(2, {}, [](const Group& world) {
    const auto in = contribution(world.rank(), 2);
    std::vector<std::int64_t> out(6, poison);
    world.start(two_alternatives(world.rank(), 2), in, out).wait(std::chrono::seconds(20));
    EXPECT_EQ(std::vector(out.begin() + 2, out.end()), (std::vector{in[0], in[0], in[1], in[0]}));
    EXPECT_EQ(std::ranges::count(out, poison), 1) << "one of the two was cancelled";
  });
}

/// Rank 0 takes what rank 1 sends. What rank 2 sends later loses: its receipt is cancelled, where it `waits` before it
/// has begun.
Plan first_of_two(Rank rank, Rank size, Count count, bool waits) {
  PlanBuilder plan("late", rank, size, {.in = count, .out = 3});
  const auto room = plan.scratch(2 * count + 1);
  if (rank == 1) plan.send(0, plan.in());
  if (rank == 2) {
    plan.send(0, plan.in(0, 1));
    const Step told = plan.recv(0, room.part(0, 1));
    plan.send(0, plan.in()).after(told);
  }
  if (rank != 0) return plan.commit();
  const Step before = plan.recv(2, room.part(2 * count, 1));
  const Step early = plan.recv(1, room.part(0, count)), late = plan.recv(2, room.part(count, count));
  if (waits) late.after({before, early});
  plan.copy(plan.in(0, 1), plan.out(0, 1)).after_any({early, late});
  plan.copy(plan.in(0, 1), plan.out(1, 1)).after(late);
  plan.round();
  plan.copy(plan.in(0, 1), plan.out(2, 1));
  plan.send(2, plan.in(0, 1));
  return plan.commit();
}

/// What follows a receipt that has lost follows the winner, in a round of its own; and however long the message that
/// comes late, it does not hold up its sender.
TEST(UserPlansTest, ACancelledReceiptHoldsNothingUp) {
  for (const Count count : {1, 1 << 20})
    for (const bool waits : {false, true})
      job::run_inproc(3, {}, [&](const Group& world) {
        const std::vector<std::int64_t> in(static_cast<std::size_t>(count), 7);
        std::vector<std::int64_t> out(3, poison);
        Request request = world.start(first_of_two(world.rank(), 3, count, waits), in, out);
        request.wait(std::chrono::seconds(20));
        world.barrier();  // where rank 0 learns of what comes late
        if (world.rank() == 0) {
          EXPECT_EQ(out, (std::vector<std::int64_t>{7, 7, 7}));
        }
      });
}

TEST(UserPlansTest, WrongCallsAreRefusedAndHarmNobody) {
  job::run_inproc(3, {}, [](const Group& world) {
    const Plan plan = ring(world.rank(), world.size(), 4);
    const auto in = contribution(world.rank(), 4);
    std::vector<std::int64_t> out(4);
    const Rank other = (world.rank() + 1) % world.size();
    expect_refused("plan ring: `in` has 3 elements and must have 4",
                   [&] { world.run(plan, std::span(in).first(3), out, sum); });
    expect_refused("`out` has 5 elements", [&] { world.start(plan, in, std::vector<std::int64_t>(5), sum); });
    expect_refused("combines elements; pass an operation", [&] { world.run(plan, in, out); });
    expect_refused("overlap", [&] { world.run(plan, out, out, sum); });
    std::vector<std::int64_t> field(8);
    const View even(field, Layout::of<std::int64_t>().strided(4, 1, 2));
    const View odd(std::span<std::int64_t>(field).subspan(1), Layout::of<std::int64_t>().strided(4, 1, 2));
    expect_refused("overlap", [&] { world.run(plan, even, even, sum); });
    expect_refused("overlap", [&] { world.run(plan, std::span(field).first(4), odd, sum); });
    world.run(plan, even, odd, sum);
    expect_refused("it is the plan of rank " + std::to_string(other),
                   [&] { world.run(ring(other, world.size(), 4), in, out, sum); });
    expect_refused("of 4, but", [&] { world.init(ring(world.rank(), 4, 4), in, out, sum); });
    expect_refused("choose none", [&] { world.run(plan, in, out, sum, {.algorithm = "ring"}); });
    expect_refused("this plan is empty", [&] { world.run(Plan()); });
    const std::vector<double> real_in(4);
    std::vector<double> real_out(4);
    expect_refused("does not go with elements of type float64", [&] { world.run(plan, real_in, real_out, band); });
    expect_refused("rounds sums once", [&] { world.reproducible().run(plan, real_in, real_out, sum); });
    world.run(plan, in, out, sum);
    EXPECT_EQ(out, total(3, 4));
  });
}

}  // namespace
}  // namespace tutti
