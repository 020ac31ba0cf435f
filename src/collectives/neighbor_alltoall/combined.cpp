// SPDX-License-Identifier: BSD-3-Clause
// Combined: one message to each neighbour, however many edges lead there: its blocks in the order of the sender's
// slots, packed where they do not lie side by side. Latency, where ranks share several edges: in a periodic dimension
// of two ranks, in graphs that name an edge again. Cost: neighbours alpha + degree beta n, and beta once more where
// blocks are packed, and where they are parted.
//
//     a ring of 2    0  -0 +0  >  1     0's lower neighbour is 1, and so is its higher one
//                    1  +0 -0           as blocks from 1's higher neighbour and from its lower one
#include "collectives/along_edges.hpp"

namespace tutti::collectives::neighbor_alltoall {

plan::Plan combined(const Shape& shape) { return edges::combined(shape, edges::Gives::each); }

}  // namespace tutti::collectives::neighbor_alltoall
