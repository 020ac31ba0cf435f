// SPDX-License-Identifier: BSD-3-Clause
// Board pipeline: the root copies the blocks one after another into its large cells; everybody reads its own while the
// next are written. Where single copy is forbidden. Cost: alpha S + (P - 1) beta n at the root, S cells.
//
//     root 0   #1 #1 #2 #2 #3 #3 ...
//     1            1  1              2, 3: wait for theirs, having released what comes before
#include "collectives/board.hpp"

namespace tutti::collectives::scatter {

plan::Plan board_pipeline(const Shape& shape) { return board::scatter(shape, board::Ring::large); }

}  // namespace tutti::collectives::scatter
