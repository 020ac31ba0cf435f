// SPDX-License-Identifier: BSD-3-Clause
// The algorithm `combined` of the collectives along edges: as few messages as there are neighbours, and no copy that
// the buffers' order does not ask for. That its results are right, the sweep proves; that the sweep's graphs have what
// it is about, is proved here.
#include <gtest/gtest.h>

#include <algorithm>
#include <set>
#include <vector>

#include "problems.hpp"

namespace tutti::collectives {
namespace {

/// What one rank does.
struct Steps {
  std::ptrdiff_t sends, receives, copies;
  bool operator==(const Steps&) const = default;
};

Steps steps_of(const Problem& problem, Rank rank) {
  const plan::Plan plan = find(problem.kind, "combined")->build(Shapes(problem)[rank]);
  const auto steps = [&](plan::Verb verb) { return std::ranges::count(plan.steps, verb, &plan::Step::verb); };
  return {steps(plan::Verb::send), steps(plan::Verb::recv), steps(plan::Verb::copy)};
}

Problem problem_on(Kind kind, std::vector<Neighbors> graph) {
  Problem problem{.kind = kind, .size = static_cast<Rank>(graph.size()), .count = 5, .neighbors = std::move(graph)};
  if (get(kind).varying) problem.counts.assign(graph.size(), 5);
  return problem;
}

std::ptrdiff_t distinct(const std::vector<Edge>& edges, Rank but) {
  std::set<Rank> ranks;
  for (const Edge& edge : edges)
    if (edge.exists() && edge.rank != but) ranks.insert(edge.rank);
  return static_cast<std::ptrdiff_t>(ranks.size());
}

TEST(Combined, SendsOneMessageToEachNeighbour) {
  for (const Kind kind : {Kind::neighbor_allgather, Kind::neighbor_allgatherv, Kind::neighbor_alltoall,
                          Kind::neighbor_alltoallv, Kind::neighbor_alltoallw})
    for (int variant = 0; variant < graph_variants; ++variant)
      for (const Rank size : {1, 2, 3, 6, 9}) {
        Problem problem = problem_of(kind, size, variant, 5, false, true);
        std::ranges::fill(problem.counts, 5);
        for (Rank rank = 0; rank < size; ++rank) {
          const Neighbors& mine = problem.neighbors[static_cast<std::size_t>(rank)];
          const Steps steps = steps_of(problem, rank);
          EXPECT_EQ(steps.sends, distinct(mine.destinations, rank)) << name_of(kind) << " on " << size;
          EXPECT_EQ(steps.receives, distinct(mine.sources, rank)) << name_of(kind) << " on " << size;
        }
      }
}

TEST(Combined, CopiesOnlyWhatDoesNotLieSideBySide) {
  const std::vector<Neighbors> ring = edges_of({{2}, {true}}), wide_ring = edges_of({{3}, {true}}),
                               alone = edges_of({{1}, {true}}),
                               repeated = pair_up({{1, 1, 1}, {0, 0, 0}}, {{1, 1, 1}, {0, 0, 0}});
  // Side by side where they are sent; what arrives goes to the other direction's place.
  EXPECT_EQ(steps_of(problem_on(Kind::neighbor_alltoall, ring), 0), (Steps{1, 1, 2}));
  EXPECT_EQ(steps_of(problem_on(Kind::neighbor_alltoall, repeated), 0), (Steps{1, 1, 0}));
  EXPECT_EQ(steps_of(problem_on(Kind::neighbor_alltoall, wide_ring), 0), (Steps{2, 2, 0}));
  EXPECT_EQ(steps_of(problem_on(Kind::neighbor_alltoall, alone), 0), (Steps{0, 0, 2}));
  // One block, one place, and a copy for each further one.
  EXPECT_EQ(steps_of(problem_on(Kind::neighbor_allgather, ring), 0), (Steps{1, 1, 1}));
  EXPECT_EQ(steps_of(problem_on(Kind::neighbor_allgather, repeated), 0), (Steps{1, 1, 2}));
  EXPECT_EQ(steps_of(problem_on(Kind::neighbor_allgather, wide_ring), 0), (Steps{2, 2, 0}));
  EXPECT_EQ(steps_of(problem_on(Kind::neighbor_allgather, alone), 0), (Steps{0, 0, 2}));
}

/// What a graph has: several edges to one other rank, such with others between them, such in another order at the other
/// end, and edges of a rank to itself.
struct Weave {
  bool repeated = false, apart = false, crossed = false, own = false;
};

void look_at(const std::vector<Edge>& edges, Rank rank, Weave& found) {
  for (std::size_t first = 0; first < edges.size(); ++first) {
    found.own |= edges[first].rank == rank;
    for (std::size_t second = first + 1; second < edges.size(); ++second) {
      if (!edges[first].exists() || edges[first].rank == rank || edges[first].rank != edges[second].rank) continue;
      found.repeated = true;
      found.crossed |= edges[first].slot > edges[second].slot;
      for (std::size_t between = first + 1; between < second; ++between)
        found.apart |= edges[between].rank != edges[first].rank;
    }
  }
}

TEST(Combined, IsTriedOnGraphsThatNeedIt) {
  for (const Rank size : {2, 3, 4, 5, 7, 64}) {  // those of the mutants, and the most of the sweep
    Weave out, in;
    for (int variant = 0; variant < graph_variants; ++variant) {
      const Problem problem = problem_of(Kind::neighbor_alltoall, size, variant, 1, false, true);
      for (Rank rank = 0; rank < size; ++rank) {
        look_at(problem.neighbors[static_cast<std::size_t>(rank)].destinations, rank, out);
        look_at(problem.neighbors[static_cast<std::size_t>(rank)].sources, rank, in);
      }
    }
    for (const Weave& found : {out, in}) {
      EXPECT_TRUE(found.repeated) << size;
      EXPECT_TRUE(found.apart) << size;
      EXPECT_TRUE(found.own) << size;
    }
    // Opposite directions of a dimension of two ranks: the first edge of one end is the second of the other.
    EXPECT_TRUE(in.crossed || (size != 2 && size != 4)) << size;
  }
}

}  // namespace
}  // namespace tutti::collectives
