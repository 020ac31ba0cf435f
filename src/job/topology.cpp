// SPDX-License-Identifier: BSD-3-Clause
#include "tutti/topology.hpp"

#include <algorithm>
#include <limits>
#include <numeric>
#include <string>

#include "base/hash.hpp"
#include "job/runtime.hpp"
#include "job/topology.hpp"

namespace tutti {
namespace {

using collectives::Edge;
using collectives::Lattice;
using collectives::Neighbors;
using job::Topology;

/// How far a shift may go: what can be turned around is still a number.
constexpr int lattice_most = std::numeric_limits<int>::max();

[[noreturn]] void refuse(const std::string& text) { throw Error(Cause::usage, text); }

const Topology& topology_of(const Group& group) {
  if (!group) refuse("this group is empty: a rank that a grid has no place for; test it with `if (grid)` first");
  if (const Topology* topology = group.member()->topology()) return *topology;
  refuse("group " + group.name() + " has no neighbours; make one that has by cartesian, adjacent_graph or graph");
}

std::vector<Rank> ends(const std::vector<Edge>& edges) {
  std::vector<Rank> ranks;
  for (const Edge& edge : edges) ranks.push_back(edge.rank);
  return ranks;
}

Group with(const Group& group, Topology topology) {
  if (group) group.member()->attach(std::make_shared<const Topology>(std::move(topology)));
  return group;
}

Topology of_grid(const Lattice& lattice, Rank rank) {
  return {collectives::neighbors(lattice, rank), static_cast<std::int32_t>(2 * lattice.dims.size()), lattice, true};
}

Grid make_grid(const Group& group, const Lattice& lattice) {
  return group ? Grid(with(group, of_grid(lattice, group.rank()))) : Grid();
}

Graph make_graph(const Group& group, const std::vector<Neighbors>& all, const void* site) {
  std::size_t widest = 0;
  for (const Neighbors& one : all) widest = std::max(widest, one.destinations.size());
  return Graph(with(group.dup(site), {.neighbors = all[static_cast<std::size_t>(group.rank())],
                                      .widest = static_cast<std::int32_t>(widest),
                                      .lattice = {},
                                      .grid = false}));
}

/// Everybody's list, by rank.
std::vector<std::vector<Rank>> collect(const Group& group, std::span<const Rank> mine, const void* site) {
  const auto size = static_cast<std::size_t>(group.size());
  std::vector<Count> counts(size);
  const Count length = static_cast<Count>(mine.size());
  group.allgather(std::span(&length, 1), counts, {.site = site});
  std::vector<Rank> all(static_cast<std::size_t>(std::reduce(counts.begin(), counts.end())));
  group.allgatherv(mine, all, counts, {}, {.site = site});
  std::vector<std::vector<Rank>> lists;
  auto next = all.begin();
  for (const Count count : counts) {
    lists.emplace_back(next, next + count);
    next += count;
  }
  return lists;
}

/// Throws on all ranks unless all have passed the same to `call`.
void expect_same(const Group& group, const char* call, const std::vector<int>& dims, const std::vector<bool>& choices,
                 const void* site) {
  std::uint64_t mine = base::combine(dims.size(), choices.size());
  for (const int dim : dims) mine = base::combine(mine, static_cast<std::uint64_t>(dim));
  for (const bool choice : choices) mine = base::combine(mine, choice ? 1 : 0);
  std::vector<std::uint64_t> all(static_cast<std::size_t>(group.size()));
  group.allgather(std::span(&mine, 1), all, {.site = site});
  const auto other = std::ranges::find_if(all, [&](std::uint64_t one) { return one != all.front(); });
  if (other != all.end())
    refuse(std::string(call) + ": rank 0 and rank " + std::to_string(other - all.begin()) + " of group " +
           group.name() + " pass different dimensions; pass the same on all ranks");
}

/// The smallest sizes, not above `most`, that fill a grid of `size` ranks, descending; false when there are none.
bool fill(Rank size, std::size_t free, int most, std::vector<int>& found) {
  if (free == 0) return size == 1;
  for (int dim = 1; dim <= std::min<int>(most, size); ++dim) {
    Count reach = 1;  // ranks that `free` dimensions of this size hold
    for (std::size_t i = 0; i < free && reach < size; ++i) reach *= dim;
    if (reach < size || size % dim != 0) continue;
    found.push_back(dim);
    if (fill(size / dim, free - 1, dim, found)) return true;
    found.pop_back();
  }
  return false;
}

}  // namespace

Graph::Graph(Group group) : Group(std::move(group)) { topology_of(*this); }

std::vector<Rank> Graph::sources() const { return ends(topology_of(*this).neighbors.sources); }
std::vector<Rank> Graph::destinations() const { return ends(topology_of(*this).neighbors.destinations); }
Count Graph::indegree() const { return static_cast<Count>(topology_of(*this).neighbors.sources.size()); }
Count Graph::outdegree() const { return static_cast<Count>(topology_of(*this).neighbors.destinations.size()); }

Graph Graph::dup(const void* site) const { return Graph(Group::dup(site)); }

Grid::Grid(Group group) : Graph(std::move(group)) {
  if (!topology_of(*this).grid) refuse("group " + name() + " is a graph and no grid; make one by cartesian");
}

std::vector<int> Grid::dims() const { return topology_of(*this).lattice.dims; }
std::vector<bool> Grid::periodic() const { return topology_of(*this).lattice.periodic; }

std::vector<int> Grid::coordinates(Rank of) const {
  if (of < 0 || of >= size())
    refuse("coordinates: there is no rank " + std::to_string(of) + " in a grid of " + std::to_string(size()));
  return collectives::coordinates(topology_of(*this).lattice, of);
}

Rank Grid::rank_at(std::span<const int> coordinates) const {
  const Lattice& lattice = topology_of(*this).lattice;
  if (coordinates.size() != lattice.dims.size())
    refuse("rank_at: " + std::to_string(coordinates.size()) + " coordinates for a grid of " +
           std::to_string(lattice.dims.size()) + " dimensions; pass one for each");
  return collectives::rank_at(lattice, coordinates);
}

Grid::Shift Grid::shift(int dimension, int by) const {
  const Lattice& lattice = topology_of(*this).lattice;
  if (dimension < 0 || static_cast<std::size_t>(dimension) >= lattice.dims.size() || by < -lattice_most ||
      by > lattice_most)
    refuse("shift: by " + std::to_string(by) + " along dimension " + std::to_string(dimension) + " of a grid of " +
           std::to_string(lattice.dims.size()) + " dimensions; count them from 0");
  const auto along = static_cast<std::size_t>(dimension);
  return {collectives::beside(lattice, rank(), along, -by), collectives::beside(lattice, rank(), along, by)};
}

Grid Grid::sub(const std::vector<bool>& keep, const void* site) const {
  const Lattice& whole = topology_of(*this).lattice;
  expect_same(*this, "sub", {}, keep, site);
  if (keep.size() != whole.dims.size())
    refuse("sub: " + std::to_string(keep.size()) + " choices for a grid of " + std::to_string(whole.dims.size()) +
           " dimensions; say for each whether it is kept");
  Lattice kept, cut;
  std::vector<int> at_kept, at_cut;
  const std::vector<int> at = coordinates();
  for (std::size_t d = 0; d < keep.size(); ++d) {
    Lattice& into = keep[d] ? kept : cut;
    into.dims.push_back(whole.dims[d]);
    into.periodic.push_back(whole.periodic[d]);
    (keep[d] ? at_kept : at_cut).push_back(at[d]);
  }
  return make_grid(split(collectives::rank_at(cut, at_cut), collectives::rank_at(kept, at_kept), site), kept);
}

Grid Grid::dup(const void* site) const { return Grid(Graph::dup(site)); }

std::vector<int> dims_create(Rank size, std::vector<int> dims) {
  Rank rest = size;
  const auto wrong = [&] {
    refuse("dims_create: the sizes given cannot be those of a grid of " + std::to_string(size) +
           " ranks; they must divide it, and leave no rank where none is 0");
  };
  if (size < 1) wrong();
  for (const int dim : dims) {
    if (dim < 0 || (dim > 0 && rest % dim != 0)) wrong();
    if (dim > 0) rest /= dim;
  }
  std::vector<int> found;
  if (!fill(rest, static_cast<std::size_t>(std::ranges::count(dims, 0)), rest, found)) wrong();
  auto next = found.begin();
  for (int& dim : dims)
    if (dim == 0) dim = *next++;
  return dims;
}

Grid cartesian(const Group& group, const std::vector<int>& dims, const std::vector<bool>& periodic,
               [[maybe_unused]] bool reorder, const void* site) {
  Lattice lattice{dims, periodic};
  if (periodic.empty()) lattice.periodic.assign(dims.size(), false);
  expect_same(group, "cartesian", dims, lattice.periodic, site);
  if (lattice.periodic.size() != dims.size())
    refuse("cartesian: " + std::to_string(periodic.size()) + " words on " + std::to_string(dims.size()) +
           " dimensions; say for each whether it is periodic, or for none");
  Count ranks = 1;
  for (const int dim : dims) {
    if (dim < 1) refuse("cartesian: a dimension of " + std::to_string(dim) + "; each has at least one rank");
    ranks *= dim;
    if (ranks > group.size())
      refuse("cartesian: the grid has more ranks than group " + group.name() + ", " + std::to_string(group.size()) +
             "; choose smaller dimensions (dims_create finds some)");
  }
  return make_grid(group.split(group.rank() < ranks ? 0 : -1, group.rank(), site), lattice);
}

Graph adjacent_graph(const Group& group, std::span<const Rank> sources, std::span<const Rank> destinations,
                     const void* site) {
  const auto all_sources = collect(group, sources, site), all_destinations = collect(group, destinations, site);
  return make_graph(group, collectives::pair_up(all_sources, all_destinations), site);
}

Graph graph(const Group& group, std::span<const GraphEdge> edges, const void* site) {
  std::vector<Rank> mine;
  for (const GraphEdge& edge : edges) mine.insert(mine.end(), {edge.source, edge.destination});
  std::vector<std::vector<Rank>> sources(static_cast<std::size_t>(group.size())), destinations = sources;
  for (const std::vector<Rank>& given : collect(group, mine, site))
    for (std::size_t i = 0; i + 1 < given.size(); i += 2) {
      for (const Rank end : {given[i], given[i + 1]})
        if (end < 0 || end >= group.size())
          refuse("graph: there is no rank " + std::to_string(end) + " in group " + group.name() + " of " +
                 std::to_string(group.size()));
      destinations[static_cast<std::size_t>(given[i])].push_back(given[i + 1]);
      sources[static_cast<std::size_t>(given[i + 1])].push_back(given[i]);
    }
  return make_graph(group, collectives::pair_up(sources, destinations), site);
}

}  // namespace tutti
