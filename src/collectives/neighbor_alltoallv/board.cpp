// SPDX-License-Identifier: BSD-3-Clause
// Board: everybody publishes one cell for each of its edges: the block itself if it fits, else the exposed block.
// Whoever exposed one waits until its reader has copied it. Both ends know the block's size, so that they take the same
// branch. Cost: alpha + degree alpha' + beta (sum of n), one alpha more for large blocks, whatever the number of ranks.
//
//     a ring of 3    0  #- #+     1  #- #+     2  #- #+     >  all copy  >  all publish  >  done
#include "collectives/along_edges.hpp"

namespace tutti::collectives::neighbor_alltoallv {
namespace {

/// Cell k holds the block of its owner's edge k; the one after the widest rank's last says what has been copied.
class Exchange {
 public:
  explicit Exchange(const Shape& shape)
      : shape_(shape), b_(shape), order_(b_, edges::block_ring(shape), shape.widest + 1) {}

  plan::Plan build() {
    edges::copy_own(b_, shape_, edges::Gives::each);
    if (shape_.widest == 0) return b_.build();
    b_.use(edges::block_ring(shape_), shape_.widest + 1);
    order_.run(
        0, shape_.widest, [&](std::int32_t cell) { give(cell); }, [&](std::int32_t cell) { take(cell); });
    finish();
    return b_.build();
  }

 private:
  bool leads_elsewhere(const Edge& edge) const { return edge.exists() && edge.rank != shape_.rank; }

  void give(std::int32_t cell) {
    if (cell >= static_cast<std::int32_t>(shape_.destinations.size())) return;
    const Slice block = input_block(shape_, cell);
    if (block.count == 0 || !leads_elsewhere(shape_.destinations[static_cast<std::size_t>(cell)])) return;
    edges::offer(b_, order_.of(cell), shape_, cell, block);
  }

  void take(std::int32_t cell) {
    for (std::size_t slot = 0; slot < shape_.sources.size(); ++slot) {
      const Edge& edge = shape_.sources[slot];
      const Slice home = output_block(shape_, static_cast<Rank>(slot));
      if (edge.slot != cell || !leads_elsewhere(edge) || home.count == 0) continue;
      const Slice theirs = edges::offered(shape_, edge.rank, cell, home);
      const Handle copied = board::take(b_, order_.of(cell), theirs, home);
      if (!edges::fits(shape_, home)) copied_.push_back(copied);
    }
  }

  void finish() {
    const std::int32_t receipt = shape_.widest;
    if (!copied_.empty()) b_.publish(receipt, board::nothing(shape_.rank, receipt)).after(copied_);
    for (const edges::Other& reader : edges::others(shape_, shape_.destinations))
      if (std::ranges::any_of(reader.slots, [&](Rank s) { return !edges::fits(shape_, input_block(shape_, s)); }))
        b_.await(reader.rank, receipt, 0);
  }

  const Shape& shape_;
  Writer b_;
  board::Order order_;
  std::vector<Handle> copied_;  // from exposed memory
};

}  // namespace

plan::Plan board(const Shape& shape) { return Exchange(shape).build(); }

}  // namespace tutti::collectives::neighbor_alltoallv
