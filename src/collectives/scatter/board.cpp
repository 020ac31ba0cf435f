// SPDX-License-Identifier: BSD-3-Clause
// Board: the root publishes all blocks, as many to a cell as fit, and is done; everybody reads its own.
// Latency: nobody waits for anybody but the root. Cost: alpha + (P - 1) beta n at the root.
// With more cells than the ring has, the others release what is not theirs.
//
//     P = 5, root 0, two blocks a cell:    0  #(1 2) #(3 4)    >   1 2 3 4
#include "collectives/board.hpp"

namespace tutti::collectives {
namespace {

void take_block(Writer& b, const Shape& shape, board::Ring ring, const board::Stream& stream) {
  const Rank distance = position(shape.rank, shape.root, shape.size);
  const std::int32_t first = stream.first(distance), last = stream.last(distance);
  board::Order order(b, ring, last + 1);
  if (first > 0 && last >= board::ring_length[ring]) order.of(0).add(b.release(first - 1));
  for (std::int32_t cell = first; cell <= last; ++cell) {
    board::Line& line = order.of(cell);
    line.add(b.await(shape.root, cell, stream.size(cell)));
    line.add(stream.read(b, shape.root, distance, cell, my_output(shape)));
    order.finish(cell);
  }
}

}  // namespace

plan::Plan board::scatter(const Shape& shape, Ring ring) {
  Writer b(shape);
  const bool root = shape.rank == shape.root;
  if (shape.size == 1) keep_own_block(b, shape);
  if (shape.size == 1 || shape.count == 0) return b.build();
  const Stream stream(shape, ring);
  b.use(ring, stream.cells());
  if (!root) {
    take_block(b, shape, ring, stream);
    return b.build();
  }
  Order order(b, ring, stream.cells());
  for (std::int32_t cell = 0; cell < stream.cells(); ++cell) {
    stream.write(b, order.of(cell), cell, all_input(shape));
    order.finish(cell);
  }
  keep_own_block(b, shape);
  return b.build();
}

namespace scatter {

plan::Plan board(const Shape& shape) { return board::scatter(shape, board::Ring::small); }

}  // namespace scatter
}  // namespace tutti::collectives
