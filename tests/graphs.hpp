// SPDX-License-Identifier: BSD-3-Clause
// The graphs that the collectives along edges are tried on.
#pragma once

#include <algorithm>
#include <cstdint>
#include <functional>
#include <numeric>
#include <vector>

#include "base/random.hpp"
#include "collectives/collective.hpp"

namespace tutti::collectives {

/// A random graph with several edges between two ranks, edges of ranks to themselves, edges that lead nowhere and ranks
/// without any.
inline std::vector<Neighbors> random_graph(Rank size, std::uint64_t seed) {
  base::Random random(seed * 1000 + static_cast<std::uint64_t>(size));
  std::vector<std::vector<Rank>> sources(static_cast<std::size_t>(size)), destinations = sources;
  const auto some = [&] { return static_cast<std::size_t>(random.below(static_cast<std::uint64_t>(size))); };
  for (Rank edges = 0; edges < 2 * size; ++edges) {
    const std::size_t from = some() / 2 * 2, to = random.once_in(4) ? from : some();  // odd ranks send nothing
    for (std::uint64_t times = random.once_in(3) ? 2 : 1; times > 0; --times) {
      destinations[from].push_back(static_cast<Rank>(to));
      // In front: the two ends need not agree on the order of different neighbours.
      sources[to].insert(sources[to].begin(), static_cast<Rank>(from));
    }
    if (random.once_in(4)) destinations[from].push_back(-1);
    if (random.once_in(4)) sources[to].push_back(-1);
  }
  return pair_up(sources, destinations);
}

inline std::vector<Neighbors> edges_of(const Lattice& lattice) {
  std::vector<Neighbors> all;
  const Rank size = std::accumulate(lattice.dims.begin(), lattice.dims.end(), 1, std::multiplies<>());
  for (Rank rank = 0; rank < size; ++rank) all.push_back(neighbors(lattice, rank));
  return all;
}

/// A ring with all edges twice and more, and edges of ranks to themselves between them: those between two ranks lie
/// apart at the source, and apart in another way at the destination.
inline std::vector<Neighbors> woven_ring(Rank size) {
  std::vector<std::vector<Rank>> sources, destinations;
  for (Rank rank = 0; rank < size; ++rank) {
    const Rank next = (rank + 1) % size, previous = (rank + size - 1) % size;
    destinations.push_back({next, previous, next, next, rank, -1, previous, rank});
    sources.push_back({previous, previous, rank, next, previous, rank, next});
  }
  return pair_up(sources, destinations);
}

inline constexpr int graph_variants = 5;

/// Two random graphs, a ring (whose ranks have one neighbour twice when there are two, and themselves when there is
/// one), a woven one, and a grid that is periodic in one of its two dimensions.
inline void give_edges(Problem& problem, int variant) {
  const Rank size = problem.size;
  if (variant == 2) {
    problem.neighbors = woven_ring(size);
    return;
  }
  if (variant % 2 == 0) {
    problem.neighbors = random_graph(size, static_cast<std::uint64_t>(variant) + 1);
    return;
  }
  Rank rows = 1;
  for (Rank divisor = 2; divisor * divisor <= size; ++divisor)
    if (size % divisor == 0) rows = divisor;
  problem.lattice = variant == 1 ? Lattice{{size}, {true}} : Lattice{{rows, size / rows}, {true, false}};
  problem.neighbors = edges_of(problem.lattice);
}

}  // namespace tutti::collectives
