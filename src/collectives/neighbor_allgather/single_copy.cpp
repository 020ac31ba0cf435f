// SPDX-License-Identifier: BSD-3-Clause
// Single copy: everybody exposes its block; its destinations copy it straight to its place, and say so.
// Bandwidth: each byte is moved once along each edge. Cost: 2 alpha + degree beta n, whatever the number of ranks.
#include "collectives/along_edges.hpp"

namespace tutti::collectives::neighbor_allgather {

plan::Plan single_copy(const Shape& shape) { return edges::in_one_piece(shape, edges::Gives::one, true); }

}  // namespace tutti::collectives::neighbor_allgather
