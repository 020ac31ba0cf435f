// SPDX-License-Identifier: BSD-3-Clause
// Board: everybody publishes its block in a cell and reads its sources' cells, nobody else's. Latency: one step of the
// memory. Cost: alpha + degree beta n, whatever the number of ranks.
//
//     a ring of 3    0     1     2
//     publish        #     #     #
//     read           2 1   0 2   1 0
#include "collectives/along_edges.hpp"

namespace tutti::collectives::neighbor_allgather {

plan::Plan board(const Shape& shape) { return edges::in_one_piece(shape, edges::Gives::one, false); }

}  // namespace tutti::collectives::neighbor_allgather
