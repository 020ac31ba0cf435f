// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/neighbors.hpp"

#include <map>
#include <string>
#include <utility>

#include "tutti/error.hpp"

namespace tutti::collectives {

std::vector<int> coordinates(const Lattice& lattice, Rank rank) {
  std::vector<int> found(lattice.dims.size());
  for (std::size_t d = lattice.dims.size(); d-- > 0; rank /= lattice.dims[d]) found[d] = rank % lattice.dims[d];
  return found;
}

Rank rank_at(const Lattice& lattice, std::span<const int> coordinates) {
  Rank rank = 0;
  for (std::size_t d = 0; d < lattice.dims.size(); ++d) {
    const int dim = lattice.dims[d];
    int at = coordinates[d];
    if (lattice.periodic[d]) at = (at % dim + dim) % dim;
    if (at < 0 || at >= dim) return -1;
    rank = rank * dim + at;
  }
  return rank;
}

Rank beside(const Lattice& lattice, Rank rank, std::size_t dimension, int by) {
  std::vector<int> at = coordinates(lattice, rank);
  const int dim = lattice.dims[dimension];
  // Whole turns first, so that no sum overflows.
  if (lattice.periodic[dimension])
    by %= dim;
  else if (by <= -dim || by >= dim)
    return -1;
  at[dimension] += by;
  return rank_at(lattice, at);
}

Neighbors neighbors(const Lattice& lattice, Rank rank) {
  Neighbors found;
  const auto edges = static_cast<std::int32_t>(2 * lattice.dims.size());
  for (std::int32_t slot = 0; slot < edges; ++slot) {
    const bool positive = slot % 2 == 1;
    const Rank other = beside(lattice, rank, static_cast<std::size_t>(slot / 2), positive ? 1 : -1);
    found.sources.push_back(other < 0 ? Edge() : Edge{other, positive ? slot - 1 : slot + 1, edges});
  }
  found.destinations = found.sources;
  return found;
}

namespace {

using Ends = std::pair<Rank, Rank>;  // source, destination

/// The slots of all edges from the lists of one side, by their ends.
std::map<Ends, std::vector<std::int32_t>> slots_by_ends(const std::vector<std::vector<Rank>>& lists,
                                                        bool destinations) {
  std::map<Ends, std::vector<std::int32_t>> found;
  const auto size = static_cast<Rank>(lists.size());
  for (Rank rank = 0; rank < size; ++rank) {
    const std::vector<Rank>& list = lists[static_cast<std::size_t>(rank)];
    for (std::size_t slot = 0; slot < list.size(); ++slot) {
      const Rank other = list[slot];
      if (other < -1 || other >= size)
        throw Error(Cause::usage, "graph: rank " + std::to_string(rank) + " names the neighbour " +
                                      std::to_string(other) + ", which is not in the group of " + std::to_string(size));
      if (other >= 0)
        found[destinations ? Ends{rank, other} : Ends{other, rank}].push_back(static_cast<std::int32_t>(slot));
    }
  }
  return found;
}

}  // namespace

std::vector<Neighbors> pair_up(const std::vector<std::vector<Rank>>& sources,
                               const std::vector<std::vector<Rank>>& destinations) {
  const auto in = slots_by_ends(sources, false);
  auto out = slots_by_ends(destinations, true);
  std::vector<Neighbors> all(sources.size());
  for (std::size_t rank = 0; rank < all.size(); ++rank) {
    all[rank].sources.resize(sources[rank].size());
    all[rank].destinations.resize(destinations[rank].size());
  }
  for (const auto& edges : in) out.try_emplace(edges.first);
  for (const auto& [ends, given] : out) {
    const auto found = in.find(ends);
    const std::size_t taken = found == in.end() ? 0 : found->second.size();
    if (given.size() != taken)
      throw Error(Cause::usage, "graph: rank " + std::to_string(ends.first) + " names rank " +
                                    std::to_string(ends.second) + " " + std::to_string(given.size()) +
                                    " times as a destination, but is named " + std::to_string(taken) +
                                    " times by it as a source; both ends must name each edge");
    const auto source = static_cast<std::size_t>(ends.first), destination = static_cast<std::size_t>(ends.second);
    for (std::size_t i = 0; i < given.size(); ++i) {
      const std::int32_t at_source = given[i], at_destination = found->second[i];
      all[source].destinations[static_cast<std::size_t>(at_source)] = {
          ends.second, at_destination, static_cast<std::int32_t>(sources[destination].size())};
      all[destination].sources[static_cast<std::size_t>(at_destination)] = {
          ends.first, at_source, static_cast<std::int32_t>(destinations[source].size())};
    }
  }
  return all;
}

}  // namespace tutti::collectives
