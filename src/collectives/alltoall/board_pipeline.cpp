// SPDX-License-Identifier: BSD-3-Clause
// Board pipeline: everybody's blocks go through its large cells, nearest rank first, read half a ring behind. Where
// single copy is forbidden. Cost: alpha S + 2 (P - 1) beta n, S cells.
//
//     P = 3    0  #1 #1 #2 #2 ...     1  #2 #2 #0 #0 ...     2  #0 #0 #1 #1 ...
#include "collectives/board.hpp"

namespace tutti::collectives::alltoall {

plan::Plan board_pipeline(const Shape& shape) { return board::alltoall(shape, board::Ring::large); }

}  // namespace tutti::collectives::alltoall
