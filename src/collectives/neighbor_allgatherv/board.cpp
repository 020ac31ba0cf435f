// SPDX-License-Identifier: BSD-3-Clause
// Board: everybody publishes its block in a cell if it fits, else exposes it; its destinations copy it. Both ends know
// its size, so that they take the same branch. Whoever exposed its block waits until all of them have copied it.
// Cost: alpha + beta (sum of the sources' n), one alpha more for large blocks, whatever the number of ranks.
#include "collectives/along_edges.hpp"

namespace tutti::collectives::neighbor_allgatherv {

plan::Plan board(const Shape& shape) {
  Writer b(shape);
  edges::copy_own(b, shape, edges::Gives::one);
  if (shape.widest == 0) return b.build();
  b.use(edges::block_ring(shape), 2);
  const std::vector<edges::Other> readers = edges::others(shape, shape.destinations);
  const Slice mine = my_input(shape);
  board::Line publishing;
  if (mine.count > 0 && !readers.empty()) edges::offer(b, publishing, shape, 0, mine);
  std::vector<Handle> exposed;
  for (const edges::Other& source : edges::others(shape, shape.sources)) {
    const Slice first = output_block(shape, source.slots.front());
    if (first.count == 0) continue;
    const Handle seen = b.await(source.rank, 0, first.count);
    for (const Rank slot : source.slots) {
      const Slice home = output_block(shape, slot);
      const Handle copied = b.copy(edges::offered(shape, source.rank, 0, home), home).after(seen);
      if (!edges::fits(shape, home)) exposed.push_back(copied);
    }
  }
  if (!exposed.empty()) b.publish(1, board::nothing(shape.rank, 1)).after(exposed);
  if (!edges::fits(shape, mine))
    for (const edges::Other& reader : readers) b.await(reader.rank, 1, 0);
  return b.build();
}

}  // namespace tutti::collectives::neighbor_allgatherv
