// SPDX-License-Identifier: BSD-3-Clause
// Board: everybody publishes all its blocks together in one cell and takes its own out of its sources' cells, nobody
// else's. Latency: one step of the memory. Cost: alpha + 2 degree beta n, whatever the number of ranks.
//
//     a ring of 3    0         1         2
//     publish        -0 +0     -1 +1     -2 +2       towards the lower and the higher neighbour
//     read           +2 -1     +0 -2     +1 -0
#include "collectives/along_edges.hpp"

namespace tutti::collectives::neighbor_alltoall {

plan::Plan board(const Shape& shape) { return edges::in_one_piece(shape, edges::Gives::each, false); }

}  // namespace tutti::collectives::neighbor_alltoall
