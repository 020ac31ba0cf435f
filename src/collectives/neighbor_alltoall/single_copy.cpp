// SPDX-License-Identifier: BSD-3-Clause
// Single copy: everybody exposes all its blocks at once; its destinations copy theirs straight to their places, and say
// so. Bandwidth: each byte is moved once. Cost: 2 alpha + degree beta n, whatever the number of ranks.
#include "collectives/along_edges.hpp"

namespace tutti::collectives::neighbor_alltoall {

plan::Plan single_copy(const Shape& shape) { return edges::in_one_piece(shape, edges::Gives::each, true); }

}  // namespace tutti::collectives::neighbor_alltoall
