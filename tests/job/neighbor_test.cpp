// SPDX-License-Identifier: BSD-3-Clause
// Grids and graphs as users make them, and what is refused.
#include <gtest/gtest.h>

#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "../refusal.hpp"
#include "collectives/collective.hpp"
#include "job/inproc.hpp"
#include "job/runtime.hpp"
#include "tutti/tutti.hpp"

namespace {

using tutti::Count;
using tutti::Graph;
using tutti::GraphEdge;
using tutti::Grid;
using tutti::Group;
using tutti::none;
using tutti::Rank;
using tutti::refusal;

using Ranks = std::vector<Rank>;

void on(int size, const std::function<void(const Group&)>& body) {
  tutti::job::run_inproc(size, {.fibers = true}, body);
}

TEST(Dims, AreAsEqualAsTheyCanBe) {
  using Dims = std::vector<int>;
  EXPECT_EQ(tutti::dims_create(6, {0, 0}), (Dims{3, 2}));
  EXPECT_EQ(tutti::dims_create(64, {0, 0, 0}), (Dims{4, 4, 4}));
  EXPECT_EQ(tutti::dims_create(72, {0, 0, 0}), (Dims{6, 4, 3}));
  EXPECT_EQ(tutti::dims_create(7, {0, 0}), (Dims{7, 1}));
  EXPECT_EQ(tutti::dims_create(12, {0, 2, 0}), (Dims{3, 2, 2}));
  EXPECT_EQ(tutti::dims_create(1, {0}), (Dims{1}));
  EXPECT_EQ(tutti::dims_create(1, {}), Dims());
  EXPECT_EQ(tutti::dims_create(4, {2, 2}), (Dims{2, 2}));
  for (const auto& dims : {Dims{5, 0}, Dims{2, 2}, Dims{-1, 0}, Dims{}})
    EXPECT_NE(refusal([&] { tutti::dims_create(6, dims); }).find("dims_create"), std::string::npos);
}

TEST(Grids, KnowWhereRanksStand) {
  on(7, [](const Group& world) {
    const Grid grid = tutti::cartesian(world, {2, 3}, {true, false});
    EXPECT_EQ(static_cast<bool>(grid), world.rank() < 6);
    if (!grid) return;
    const Rank rank = grid.rank();
    EXPECT_EQ(grid.coordinates(), (std::vector<int>{rank / 3, rank % 3}));
    EXPECT_EQ(grid.rank_at({rank / 3, rank % 3}), rank);
    EXPECT_EQ(grid.rank_at({-1, 1}), 4);
    EXPECT_EQ(grid.rank_at({5, 1}), 4);
    EXPECT_EQ(grid.rank_at({0, 3}), none);
    EXPECT_EQ(grid.rank_at({0, -1}), none);
    EXPECT_EQ(grid.shift(0).destination, (rank + 3) % 6);
    EXPECT_EQ(grid.shift(0).source, (rank + 3) % 6);
    EXPECT_EQ(grid.shift(1).destination, rank % 3 == 2 ? none : rank + 1);
    EXPECT_EQ(grid.shift(1, 2).source, rank % 3 == 2 ? rank - 2 : none);
    EXPECT_EQ(grid.shift(1, 1000).source, none);
    const Ranks around{(rank + 3) % 6, (rank + 3) % 6, rank % 3 == 0 ? none : rank - 1,
                       rank % 3 == 2 ? none : rank + 1};
    EXPECT_EQ(grid.sources(), around);
    EXPECT_EQ(grid.destinations(), around);

    const Grid row = grid.sub({false, true});
    EXPECT_EQ(row.dims(), (std::vector<int>{3}));
    EXPECT_EQ(row.periodic(), (std::vector<bool>{false}));
    EXPECT_EQ(row.rank(), rank % 3);
    int sum = 0;
    row.allreduce(std::vector<int>{rank}, std::span(&sum, 1), tutti::sum);
    EXPECT_EQ(sum, rank < 3 ? 3 : 12);
    EXPECT_EQ(grid.sub({false, false}).size(), 1);
    EXPECT_EQ(grid.dup().sources(), around);
  });
}

/// What goes in negative direction arrives from positive direction, also where both are the same rank.
TEST(Grids, DoNotSwapTheBlocksOfOneNeighbourTwice) {
  for (const int size : {1, 2, 3})
    on(size, [&](const Group& world) {
      const Grid ring = tutti::cartesian(world, {size}, {true});
      const Rank rank = ring.rank(), before = (rank + size - 1) % size, after = (rank + 1) % size;
      const std::vector<int> in{10 * rank + 1, 10 * rank + 2};  // to the negative, to the positive neighbour
      std::vector<int> out(2, -1);
      ring.neighbor_alltoall(in, out, 1);
      EXPECT_EQ(out, (std::vector<int>{10 * before + 2, 10 * after + 1})) << size;
    });
}

TEST(Grids, LeaveBlocksBeyondTheBorderAlone) {
  on(3, [](const Group& world) {
    const Grid line = tutti::cartesian(world, {3});
    const Rank rank = line.rank();
    std::vector<int> out(4, -7);
    line.neighbor_allgather(std::vector<int>{rank, rank + 100}, out);
    const std::vector<int> left = rank == 0 ? std::vector<int>{-7, -7} : std::vector<int>{rank - 1, rank + 99};
    const std::vector<int> right = rank == 2 ? std::vector<int>{-7, -7} : std::vector<int>{rank + 1, rank + 101};
    EXPECT_EQ(out, (std::vector<int>{left[0], left[1], right[0], right[1]}));
  });
}

/// Programs write one pair of offsets for all ranks, of which one may lie anywhere where nobody is.
TEST(Grids, LetBlocksBeyondTheBorderLieAnywhere) {
  on(2, [](const Group& world) {
    const Grid line = tutti::cartesian(world, {2});
    const Rank rank = line.rank(), other = 1 - rank;
    const std::vector<int> in{rank, rank + 10, rank + 20, rank + 30};
    std::vector<int> out(4, -7);
    const std::vector<Count> fours{4, 4}, both{0, 0};
    line.neighbor_alltoallv(in, fours, both, out, fours, both);
    EXPECT_EQ(out, (std::vector<int>{other, other + 10, other + 20, other + 30}));
    out.assign(4, -7);
    line.neighbor_allgatherv(in, out, fours, both);
    EXPECT_EQ(out, (std::vector<int>{other, other + 10, other + 20, other + 30}));
  });
}

TEST(Graphs, TakeEdgesFromAnybody) {
  on(4, [](const Group& world) {
    // Rank 3 gives all edges: twice 0 -> 1, 1 -> 1, and 2 -> 0.
    std::vector<GraphEdge> edges;
    if (world.rank() == 3) edges = {{0, 1}, {1, 1}, {0, 1}, {2, 0}};
    const Graph graph = tutti::graph(world, edges);
    const std::vector<Ranks> sources{{2}, {0, 1, 0}, {}, {}}, destinations{{1, 1}, {1}, {0}, {}};
    const auto rank = static_cast<std::size_t>(world.rank());
    EXPECT_EQ(graph.sources(), sources[rank]);
    EXPECT_EQ(graph.destinations(), destinations[rank]);
    const std::vector<std::vector<int>> in{{10, 20}, {11}, {12}, {}}, out{{12}, {10, 11, 20}, {}, {}};
    std::vector<int> got(sources[rank].size());
    graph.neighbor_alltoall(in[rank], got, 1);
    EXPECT_EQ(got, out[rank]);
    auto request = graph.ineighbor_alltoall(in[rank], got, 1);
    request.wait();
    EXPECT_EQ(got, out[rank]);
  });
}

TEST(Graphs, CombineWhatTheirSourcesGive) {
  on(4, [](const Group& world) {
    // 1 hears 0 twice, with itself between; 2 hears 3 and 1; nobody tells 0 and 3 anything.
    const std::vector<Ranks> sources{{}, {0, 1, 0}, {3, none, 1}, {}}, destinations{{1, 1}, {1, 2}, {}, {2}};
    const auto rank = static_cast<std::size_t>(world.rank());
    const Graph graph = tutti::adjacent_graph(world, sources[rank], destinations[rank]);
    for (const Count count : {1, 5000}) {
      const auto n = static_cast<std::size_t>(count);
      const std::vector<int> in(n, world.rank() + 1), sums{-1, 4, 6, -1}, lists{-1, 121, 42, -1};
      std::vector<int> out(n, -1);
      graph.neighbor_reduce(in, out, tutti::sum);
      EXPECT_EQ(out, std::vector<int>(n, sums[rank]));
      // Digits written one behind the other: no order but that of the edges gives them.
      const auto written = tutti::op([](int left, int right) { return 10 * left + right; }, false);
      graph.ineighbor_reduce(in, out, written).wait();
      EXPECT_EQ(out, std::vector<int>(n, lists[rank]));
      auto again = graph.neighbor_reduce_init(in, out, tutti::max);
      again.run();
      EXPECT_EQ(out, std::vector<int>(n, std::vector<int>{lists[0], 2, 4, lists[3]}[rank]));
    }
    if (rank == 0 || rank == 3) graph.neighbor_reduce(std::vector<int>{1}, std::vector<int>(), tutti::sum);
    std::vector<int> one(1);
    if (rank == 1 || rank == 2) graph.neighbor_reduce(std::vector<int>{1}, one, tutti::sum);
  });
}

TEST(Graphs, RoundTheirSumsOnce) {
  on(3, [](const Group& world) {
    const Ranks all{0, 1, 2, 2};
    const Graph graph(
        tutti::adjacent_graph(world, all, world.rank() == 2 ? Ranks{0, 1, 2, 0, 1, 2} : Ranks{0, 1, 2}).reproducible());
    const std::vector<double> given{1e100, 1.0, -5e99};
    double sum = 0;
    graph.neighbor_reduce(std::vector<double>{given[static_cast<std::size_t>(world.rank())]}, std::span(&sum, 1),
                          tutti::sum);
    EXPECT_EQ(sum, 1.0) << "1e100 + 1 - 5e99 - 5e99";
  });
}

TEST(Graphs, HaveBlocksOfAnySizeAndPersistentCollectives) {
  on(5, [](const Group& world) {
    const Rank rank = world.rank(), after = (rank + 1) % 5, before = (rank + 4) % 5;
    const Graph graph = tutti::adjacent_graph(world, Ranks{before, after}, Ranks{after, before});
    std::vector<int> in(static_cast<std::size_t>(rank + 1)), out(static_cast<std::size_t>(before + after + 2));
    const std::vector<Count> counts{before + 1, after + 1};
    auto gathers = graph.neighbor_allgatherv_init(in, out, counts);
    for (int step = 0; step < 3; ++step) {
      std::iota(in.begin(), in.end(), 100 * rank + step);
      gathers.run();
      EXPECT_EQ(out.front(), 100 * before + step);
      EXPECT_EQ(out[static_cast<std::size_t>(before + 1)], 100 * after + step);
    }
    // To the rank after me as many as its rank, to the one before me one.
    const std::vector<Count> send{after, 1}, recv{rank, 1};
    std::vector<int> given(static_cast<std::size_t>(after + 1), rank), got(static_cast<std::size_t>(rank + 1), -1);
    graph.neighbor_alltoallv(given, send, {}, got, recv, {});
    std::vector<int> expected(static_cast<std::size_t>(rank), before);
    expected.push_back(after);
    EXPECT_EQ(got, expected);
  });
}

TEST(Graphs, AreRefusedAlikeOnAllRanks) {
  on(3, [](const Group& world) {
    const Ranks sources = world.rank() == 0 ? Ranks{1} : Ranks{}, nobody;
    EXPECT_NE(refusal([&] { tutti::adjacent_graph(world, sources, nobody); }).find("both ends must name each edge"),
              std::string::npos);
    const Ranks beyond{3};
    EXPECT_NE(refusal([&] { tutti::adjacent_graph(world, beyond, nobody); }).find("not in the group"),
              std::string::npos);
    EXPECT_NE(refusal([&] {
                tutti::graph(world, std::vector<GraphEdge>{{0, -1}});
              }).find("no rank -1"),
              std::string::npos);
    EXPECT_NE(refusal([&] { tutti::cartesian(world, {2, 2}); }).find("more ranks"), std::string::npos);
    const Grid grid = tutti::cartesian(world, {1, world.size()});
    const bool first = world.rank() == 0;
    EXPECT_NE(refusal([&] { grid.sub({first, !first}); }).find("sub: rank 0 and rank 1"), std::string::npos);
    EXPECT_NE(refusal([&] { grid.sub({true}); }).find("1 choices"), std::string::npos);
    EXPECT_NE(refusal([&] { tutti::cartesian(world, {1 + world.rank()}); }).find("different dimensions"),
              std::string::npos);
    EXPECT_NE(refusal([&] { tutti::cartesian(world, {0}); }).find("at least one rank"), std::string::npos);
    EXPECT_NE(refusal([&] { tutti::cartesian(world, {3}, {true, true}); }).find("periodic"), std::string::npos);
    world.barrier();  // the group is intact
  });
}

TEST(Graphs, RefuseWrongCalls) {
  on(2, [](const Group& world) {
    EXPECT_NE(refusal([&] { Graph graph(world); }).find("has no neighbours"), std::string::npos);
    const Rank other = 1 - world.rank();
    const Graph graph = tutti::adjacent_graph(world, Ranks{other, other}, Ranks{other, other});
    EXPECT_NE(refusal([&] { Grid grid(graph); }).find("no grid"), std::string::npos);
    std::vector<int> buffer(2), small(1);
    EXPECT_NE(refusal([&] { graph.neighbor_alltoall(buffer, buffer, 1); }).find("in place"), std::string::npos);
    EXPECT_NE(refusal([&] { graph.neighbor_reduce(buffer, buffer, tutti::sum); }).find("in place"), std::string::npos);
    EXPECT_NE(refusal([&] { graph.neighbor_reduce(buffer, small, tutti::sum); }).find("must have 2"),
              std::string::npos);
    EXPECT_NE(refusal([&] { graph.neighbor_alltoall(buffer, small, 1); }).find("must have 2"), std::string::npos);
    const std::vector<Count> uneven{0, 1}, one{1};
    EXPECT_NE(refusal([&] { graph.neighbor_allgatherv(small, buffer, uneven); }).find("make the counts equal"),
              std::string::npos);
    EXPECT_NE(refusal([&] { graph.neighbor_allgatherv(small, buffer, one); }).find("2 needed"), std::string::npos);
    const std::vector<Count> three{1, 1, 1}, apart{0, 1000000}, ones{1, 1};
    EXPECT_NE(refusal([&] {
                graph.neighbor_allgatherv(small, buffer, three, apart);
              }).find("3 given, 2 needed; pass one for each neighbour"),
              std::string::npos);
    EXPECT_NE(refusal([&] {
                graph.neighbor_alltoallv(std::vector<int>(2), three, apart, buffer, ones, {});
              }).find("2 needed"),
              std::string::npos);
    const std::vector<Count> at{0, 0};
    EXPECT_NE(refusal([&] { graph.neighbor_allgatherv(small, buffer, ones, at); }).find("overlap"), std::string::npos);
    graph.barrier();
  });
}

TEST(Graphs, TellRanksThatDisagreeOnACount) {
  on(2, [](const Group& world) {
    const Rank other = 1 - world.rank();
    const Graph graph = tutti::adjacent_graph(world, Ranks{other}, Ranks{other});
    const std::vector<Count> send{2}, recv{3};
    std::vector<int> in(2), out(3);
    EXPECT_THROW(graph.neighbor_alltoallv(in, send, {}, out, recv, {}), tutti::Mismatch);
  });
}

/// Elements that go through memory, cells that are looked at and steps of one rank's plan.
struct Work {
  std::size_t steps = 0, cells = 0;
  Count moved = 0;
  bool operator==(const Work&) const = default;
};

Work work_of(const tutti::collectives::Algorithm& algorithm, Rank side, Count count) {
  tutti::collectives::Problem problem{.kind = algorithm.kind, .size = side * side, .count = count};
  problem.lattice = {{side, side}, {true, true}};
  problem.cell.small = problem.cell.large = 16;
  for (Rank rank = 0; rank < problem.size; ++rank)
    problem.neighbors.push_back(tutti::collectives::neighbors(problem.lattice, rank));
  problem.counts.assign(static_cast<std::size_t>(problem.size), count);
  const tutti::collectives::Shapes shapes(problem);
  const tutti::plan::Plan plan = algorithm.build(shapes[side + 1]);
  Work work{plan.steps.size(), static_cast<std::size_t>(plan.cells), 0};
  for (const tutti::plan::Step& step : plan.steps) {
    EXPECT_NE(step.peer, tutti::plan::everyone) << "it looks at all ranks";
    if (step.verb == tutti::plan::Verb::await) ++work.cells;
    work.moved += step.target.count + (step.verb == tutti::plan::Verb::send ? step.source.count : 0);
  }
  return work;
}

TEST(Graphs, CostDoesNotGrowWithTheGroup) {
  int algorithms = 0;
  for (const auto& algorithm : tutti::collectives::algorithms()) {
    if (!tutti::collectives::has_neighbors(algorithm.kind)) continue;
    for (const Count count : {1, 4, 1000}) {
      if (algorithm.needs.fits_small && count > 4) continue;
      const Work small = work_of(algorithm, 4, count);
      EXPECT_GT(small.steps, 0u);
      EXPECT_LE(small.moved, 4 * count * 3) << "four blocks in, four out, and four on the way";
      EXPECT_EQ(work_of(algorithm, 8, count), small) << algorithm.name << " on 64 ranks";
      EXPECT_EQ(work_of(algorithm, 16, count), small) << algorithm.name << " on 256 ranks";
    }
    ++algorithms;
  }
  EXPECT_EQ(algorithms, 20);
}

/// The same by what really runs: on 64 ranks the table's choice has the plan of 16.
TEST(Graphs, ExchangeOn64Ranks) {
  std::set<std::size_t> steps;
  for (const int side : {4, 8})
    on(side * side, [&](const Group& world) {
      const Grid grid = tutti::cartesian(world, {side, side}, {true, true});
      const std::vector<Rank> sources = grid.sources();
      for (const Count count : {1, 1000}) {
        std::vector<int> in(static_cast<std::size_t>(4 * count)), out(in.size());
        for (std::size_t i = 0; i < in.size(); ++i)
          in[i] = grid.rank() * 4 + static_cast<int>(i) / static_cast<int>(count);
        grid.neighbor_alltoall(in, out, count);
        for (std::size_t i = 0; i < out.size(); ++i) {
          const auto slot = i / static_cast<std::size_t>(count);
          ASSERT_EQ(out[i], sources[slot] * 4 + static_cast<int>(slot ^ 1)) << "rank " << grid.rank();
        }
      }
      tutti::Call call;
      call.kind = tutti::Kind::neighbor_alltoall;
      call.count = 1;
      steps.insert(grid.member()->init(call)->bound->plan.steps.size());
    });
  EXPECT_EQ(steps.size(), 1u);
}

TEST(Create, NeedsOnlyItsMembers) {
  on(5, [](const Group& world) {
    const Ranks even{4, 0, 2}, pair{2, 0};
    if (world.rank() % 2 != 0) {
      EXPECT_NE(refusal([&] { world.create(even); }).find("only those"), std::string::npos);
      return;
    }
    const Group group = world.create(even);
    EXPECT_EQ(group.rank(), world.rank() == 4 ? 0 : world.rank() / 2 + 1);
    int sum = 0;
    group.allreduce(std::vector<int>{world.rank()}, std::span(&sum, 1), tutti::sum);
    EXPECT_EQ(sum, 6);
    if (world.rank() == 4) return;
    for (int i = 0; i < 3; ++i) {
      const Group two = world.create(pair);
      two.bcast(std::span(&sum, 1), 1);
      EXPECT_EQ(two.size(), 2);
    }
    EXPECT_EQ(world.create(Ranks{world.rank()}).size(), 1);
  });
}

TEST(Create, RefusesWrongListsAndTellsDifferentOnes) {
  on(3, [](const Group& world) {
    EXPECT_NE(refusal([&] {
                world.create(Ranks{0, 0});
              }).find("rank 0 is listed twice; list each once"),
              std::string::npos);
    EXPECT_NE(refusal([&] {
                world.create(Ranks{0, 3});
              }).find("rank 3 is not in the group; list ranks from 0 to 2"),
              std::string::npos);
    if (world.rank() == 2) return;
    const Ranks mine = world.rank() == 0 ? Ranks{0, 1, 2} : Ranks{0, 1};
    if (world.rank() == 1)
      EXPECT_THROW(world.create(mine), tutti::Mismatch);
    else
      EXPECT_EQ(world.create(mine).size(), 3);  // it has told the others, and waits for nobody
  });
}

TEST(Hosts, AreShared) {
  on(3, [](const Group& world) {
    const Group host = world.split_by_host(-world.rank());
    EXPECT_EQ(host.size(), 3);
    EXPECT_EQ(host.rank(), 2 - world.rank());
  });
}

}  // namespace
