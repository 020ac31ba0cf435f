// SPDX-License-Identifier: BSD-3-Clause
// Combined: the block travels once to each neighbour, however many edges lead there, and is copied to the further
// places there. For ranks that share several edges: in a periodic dimension of two ranks, in graphs that name an edge
// again. Cost: neighbours (alpha + beta n), and a copy of n for each further edge.
//
//     a ring of 2    0  #  >  1     from its lower neighbour, copied: from its higher one, which is 0 too
#include "collectives/along_edges.hpp"

namespace tutti::collectives::neighbor_allgather {

plan::Plan combined(const Shape& shape) { return edges::combined(shape, edges::Gives::one); }

}  // namespace tutti::collectives::neighbor_allgather
