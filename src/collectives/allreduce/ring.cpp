// SPDX-License-Identifier: BSD-3-Clause
// Ring: the data is cut into P blocks. Block x starts at rank x + 1 and goes around the ring, each rank adding its
// part, until it is complete at rank x; then the complete blocks go around once more. It starts each sum at another
// rank, so the operation must commute. Bandwidth: everybody sends and receives the data less than twice. Patarasuk,
// Yuan 2009, doi 10.1016/j.jpdc.2008.09.002. Cost: 2 (P - 1) alpha + 2 (P-1)/P beta n + (P-1)/P gamma n.
//
//     P = 3    0        1        2
//     step 0   c>1      a>2      b>0        partial sums
//     step 1   b>1      c>2      a>0        now a is complete at 0, b at 1, c at 2
//     step 2   a>1      b>2      c>0        complete blocks
//     step 3   c>1      a>2      b>0
#include "collectives/algorithm.hpp"

namespace tutti::collectives::allreduce {

plan::Plan ring(const Shape& shape) {
  Shape whole_blocks = shape;
  whole_blocks.parameters.segment = std::max<Count>(shape.count, 1);
  return segmented_ring(whole_blocks);
}

}  // namespace tutti::collectives::allreduce
