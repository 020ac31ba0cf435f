// SPDX-License-Identifier: BSD-3-Clause
// Board: everybody publishes its data in a cell and combines its sources' cells in the order of its edges, nobody
// else's. Latency: one step of the memory. Cost: alpha + degree (beta + gamma) n, whatever the number of ranks.
//
//     a ring of 3    0      1      2
//     publish        #      #      #
//     combine        2 1    0 2    1 0
#include "collectives/along_edges.hpp"

namespace tutti::collectives::neighbor_reduce {

plan::Plan board(const Shape& shape) { return edges::combined_in_one_piece(shape, false); }

}  // namespace tutti::collectives::neighbor_reduce
