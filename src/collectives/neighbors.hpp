// SPDX-License-Identifier: BSD-3-Clause
// Graphs of ranks, as each rank sees its own edges, and grids, whose edges follow from coordinates.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "tutti/types.hpp"

namespace tutti::collectives {

/// One edge of a rank. Edges are told apart by slots, not by ranks: two ranks may share several, and a rank may have
/// edges to itself.
struct Edge {
  Rank rank = -1;          ///< Who is at the other end; -1: nobody, and its block is not touched.
  std::int32_t slot = -1;  ///< Which one it is there: of a source, among its destinations; and the other way round.
  std::int32_t of = 0;     ///< How many there are there.

  bool exists() const { return rank >= 0; }
  bool operator==(const Edge&) const = default;
};

/// A rank's edges, in its own order: that of the blocks in its buffers.
struct Neighbors {
  std::vector<Edge> sources, destinations;
  bool operator==(const Neighbors&) const = default;
};

/// A Cartesian grid of ranks, the last dimension running fastest. No dimensions: one rank, or no grid at all.
struct Lattice {
  std::vector<int> dims;
  std::vector<bool> periodic;
  bool operator==(const Lattice&) const = default;
};

std::vector<int> coordinates(const Lattice& lattice, Rank rank);
/// The rank there, around periodic dimensions; -1 outside the others.
Rank rank_at(const Lattice& lattice, std::span<const int> coordinates);
/// The rank `by` steps along `dimension` from `rank`; -1 beyond the border.
Rank beside(const Lattice& lattice, Rank rank, std::size_t dimension, int by);
/// For each dimension its neighbour in negative direction, then that in positive one (MPI-3's order, the reverse of
/// Hoefler's 2008). What one rank sends in negative direction arrives as what the other has from positive direction,
/// also where both neighbours of a dimension are the same rank.
Neighbors neighbors(const Lattice& lattice, Rank rank);

/// All ranks' edges from what each named as its sources and destinations (-1: nobody). Of several edges between the
/// same two ranks the first of one end is the first of the other. Throws Error (usage) where one end names an edge and
/// the other does not.
std::vector<Neighbors> pair_up(const std::vector<std::vector<Rank>>& sources,
                               const std::vector<std::vector<Rank>>& destinations);

}  // namespace tutti::collectives
