// SPDX-License-Identifier: BSD-3-Clause
// Single copy: everybody exposes its block; the root copies each straight to its place, and says so.
// Bandwidth: each byte is moved once. Cost: 2 alpha + (P - 1) beta n at the root.
//
//     P = 3, root 0:    1, 2 expose  >  0 copies  >  0 publishes  >  1, 2 done
#include "collectives/board.hpp"

namespace tutti::collectives::gather {

plan::Plan single_copy(const Shape& shape) {
  Writer b(shape);
  if (shape.rank == shape.root) place_own_block(b, shape);
  if (shape.size == 1 || shape.count == 0) return b.build();
  board::Receipts receipts(shape);
  b.use(board::Ring::small, receipts.cells());
  if (shape.rank != shape.root) {
    b.publish(0, my_input(shape));
    b.await(shape.root, receipts.cell(shape.rank), 0);
    return b.build();
  }
  for (Rank distance = 1; distance < shape.size; ++distance) {
    const Rank from = board::neighbour(shape, distance);
    board::Line line;
    receipts.add(from, board::take(b, line, Writer::exposed(from, 0, 0, shape.count), output_block(shape, from)));
  }
  receipts.publish(b);
  return b.build();
}

}  // namespace tutti::collectives::gather
