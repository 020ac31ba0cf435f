// SPDX-License-Identifier: BSD-3-Clause
// Wide groups inside one process: every algorithm on 256 ranks, and barrier, bcast and allreduce on 1000.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <vector>

#include "job/inproc.hpp"
#include "matrix.hpp"

namespace {

using tutti::Count;
using tutti::Group;
using tutti::Kind;
using tutti::Rank;
using tutti::matrix::Case;
using tutti::matrix::Expected;
using tutti::matrix::Form;

/// One cell, and several large ones where the data of all ranks are not too many.
std::vector<Count> counts(Kind kind, Rank size) {
  switch (kind) {
    case Kind::barrier:
      return {0};
    case Kind::bcast:
    case Kind::reduce:
    case Kind::allreduce:
      return size > 256 ? std::vector<Count>{1, 40} : std::vector<Count>{1, 3000};
    case Kind::allgather:
    case Kind::alltoall:
    case Kind::reduce_scatter_block:
      return {1, 3};
    case Kind::allgatherv:
    case Kind::alltoallv:
    case Kind::reduce_scatter:
      return {3};
    case Kind::scan:
    case Kind::exscan:
      return {1, 40};
    default:
      return {1, 300};
  }
}

/// The cases of a collective, with roots at both ends, each once: blocking or as a request.
std::vector<Case> cases(Kind kind, Rank size) {
  auto list = tutti::matrix::cases(size, counts(kind, size), 2, true, true, kind);
  std::erase_if(list, [](const Case& one) {
    return one.form == Form::persistent ||
           (one.form == Form::request) != (one.problem.in_place != (one.problem.root != 0));
  });
  for (Case& one : list)
    if (one.problem.root != 0) one.problem.root = size - 2;
  return list;
}

void run_all(Rank size, const std::vector<Case>& cases) {
  ASSERT_FALSE(cases.empty());
  std::vector<std::shared_ptr<const Expected>> expected;
  for (const Case& one : cases) {
    const auto same = std::ranges::find(cases, one.problem, &Case::problem) - cases.begin();
    const auto at = static_cast<std::size_t>(same);
    expected.push_back(at < expected.size() ? expected[at] : std::make_shared<Expected>(one.problem));
  }
  tutti::job::run_inproc(size, {.fibers = true}, [&](const Group& world) {
    for (std::size_t i = 0; i < cases.size(); ++i) tutti::matrix::run(world, cases[i], *expected[i]);
  });
}

class Wide : public ::testing::TestWithParam<Kind> {};

TEST_P(Wide, On256Ranks) { run_all(256, cases(GetParam(), 256)); }

INSTANTIATE_TEST_SUITE_P(Kinds, Wide,
                         ::testing::Values(Kind::barrier, Kind::bcast, Kind::reduce, Kind::allreduce, Kind::gather,
                                           Kind::gatherv, Kind::scatter, Kind::scatterv, Kind::allgather,
                                           Kind::allgatherv, Kind::alltoall, Kind::alltoallv,
                                           Kind::reduce_scatter_block, Kind::reduce_scatter, Kind::scan, Kind::exscan,
                                           Kind::neighbor_allgather, Kind::neighbor_allgatherv, Kind::neighbor_alltoall,
                                           Kind::neighbor_alltoallv, Kind::neighbor_alltoallw, Kind::neighbor_reduce));

class VeryWide : public ::testing::TestWithParam<Kind> {};

TEST_P(VeryWide, On1000Ranks) { run_all(1000, cases(GetParam(), 1000)); }

INSTANTIATE_TEST_SUITE_P(Kinds, VeryWide, ::testing::Values(Kind::barrier, Kind::bcast, Kind::allreduce));

}  // namespace
