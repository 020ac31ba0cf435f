// SPDX-License-Identifier: BSD-3-Clause
// Single copy: everybody exposes its data; its destinations combine it straight from there, and say so. Bandwidth: no
// byte is copied. Cost: 2 alpha + degree (beta + gamma) n, whatever the number of ranks.
#include "collectives/along_edges.hpp"

namespace tutti::collectives::neighbor_reduce {

plan::Plan single_copy(const Shape& shape) { return edges::combined_in_one_piece(shape, true); }

}  // namespace tutti::collectives::neighbor_reduce
