// SPDX-License-Identifier: BSD-3-Clause
// A plan is made once for calls that come again, also where a few of them fall into one place of the cache.
#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <memory>
#include <vector>

#include "base/names.hpp"
#include "job/planner.hpp"
#include "tune/table.hpp"
#include "tutti/call.hpp"

namespace tutti::job {
namespace {

using engine::Bound;

Planner planner_of(Rank size) {
  const auto table = std::make_shared<const tune::Table>(tune::Table::parse(tune::Table::standard({})));
  return {0, size, "world", {table, false, true}};
}

Call allreduce(Count count) {
  Call call;
  call.kind = Kind::allreduce;
  call.type = Type::float64;
  call.element = sizeof(double);
  call.count = count;
  call.reduction.op = Op::sum;
  return call;
}

/// Calls that take turns: a plan that is made again has another address, as the first one is kept.
int made_again(Planner& planner, const std::vector<Call>& calls) {
  std::vector<std::shared_ptr<const Bound>> first;
  for (const Call& call : calls) first.push_back(planner.prepare(call));
  int again = 0;
  for (int round = 0; round < 3; ++round) {
    for (std::size_t i = 0; i < calls.size(); ++i) again += planner.prepare(calls[i]) != first[i];
  }
  return again;
}

TEST(Planner, KeepsThePlansOfAnyTwoCallsThatAlternate) {
  for (Count a = 0; a < 100; ++a) {
    Planner planner = planner_of(2);
    for (Count b = a + 1; b < 100; ++b)
      EXPECT_EQ(made_again(planner, {allreduce(a), allreduce(b)}), 0) << a << ", " << b;
  }
}

/// On one host, of any number of ranks, as docs/reproducible.md says.
TEST(Planner, AddsUpFewNumbersAtOnePlace) {
  for (const Rank size : {3, 32, 33, 48, 200})
    for (const Kind kind : {Kind::reduce, Kind::allreduce, Kind::reduce_scatter_block, Kind::scan, Kind::exscan}) {
      Planner planner = planner_of(size);
      Call call = allreduce(1);
      call.kind = kind;
      call.exact = Exactness::each;
      call.type = Type::complex128;
      call.element = sizeof(std::complex<double>);
      // Words for the numbers would be integers.
      EXPECT_EQ(planner.prepare(call)->element, call.element) << base::name(kind, {}) << " of " << size << " ranks";
    }
}

TEST(Planner, GivesEachCallItsOwnPlan) {
  Planner planner = planner_of(2);
  for (int round = 0; round < 3; ++round) {
    for (Count count = 0; count < 1000; ++count) {
      const auto plan = planner.prepare(allreduce(count));
      ASSERT_EQ(plan->description.count, count);
    }
  }
}

TEST(Planner, KeepsABoundedNumberOfPlans) {
  Planner planner = planner_of(2);
  std::vector<std::weak_ptr<const Bound>> made;
  for (Count count = 0; count < 2000; ++count) made.push_back(planner.prepare(allreduce(count)));
  const auto alive = std::ranges::count_if(made, [](const auto& plan) { return !plan.expired(); });
  EXPECT_LE(alive, 256);
  EXPECT_GT(alive, 128);
}

}  // namespace
}  // namespace tutti::job
