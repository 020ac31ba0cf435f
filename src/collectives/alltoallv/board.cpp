// SPDX-License-Identifier: BSD-3-Clause
// Board: everybody publishes one cell for each other rank, nearest first: the block itself if it fits, else the exposed
// block. Whoever exposed one waits until its reader has copied it. Sender and receiver know the block's size, so that
// they take the same branch; no exchange of offsets before. In place exposes copies in scratch.
// Two ranks know all counts: large blocks go in pieces where a segment was asked for.
// Cost: alpha + (P - 1) alpha' + beta n, one alpha more for large blocks.
//
//     P = 3    0  #1 #2     1  #2 #0     2  #0 #1      >  all copy  >  all publish  >  done
#include "collectives/board.hpp"

namespace tutti::collectives::alltoallv {
namespace {

class Exchange {
 public:
  explicit Exchange(const Shape& shape)
      : shape_(shape),
        b_(shape),
        order_(b_, board::block_ring(shape), shape.size),
        saved_(static_cast<std::size_t>(shape.size)) {}

  plan::Plan build() {
    if (shape_.size > 1) b_.use(board::block_ring(shape_), shape_.size);
    blocks_.resize(saved_.size());
    for (Rank rank = 0; rank < shape_.size; ++rank) prepare(rank);
    const std::int32_t ahead = board::ahead(board::block_ring(shape_));
    for (std::int32_t cell = -ahead; cell < shape_.size - 1; ++cell) {
      if (cell + ahead < shape_.size - 1) give(cell + ahead);
      if (cell >= 0) take(cell);
    }
    finish();
    return b_.build();
  }

 private:
  /// In place, the block for that rank is saved before the one from it is written over it.
  void prepare(Rank rank) {
    const auto r = static_cast<std::size_t>(rank);
    const Slice home = output_block(shape_, rank);
    blocks_[r] = shape_.in_place ? home : input_block(shape_, rank);
    if (rank == shape_.rank) {
      b_.copy(blocks_[r], home);
    } else if (shape_.in_place) {
      blocks_[r] = b_.scratch(home.count);
      saved_[r] = b_.copy(home, blocks_[r]);
    }
  }

  void give(std::int32_t cell) {
    const auto to = static_cast<std::size_t>(board::neighbour(shape_, cell + 1));
    if (blocks_[to].count == 0) return;
    board::offer(b_, order_.of(cell), shape_, cell, blocks_[to]).after(saved_[to]);
  }

  void take(std::int32_t cell) {
    const Rank from = board::neighbour(shape_, -cell - 1);
    const Slice home = output_block(shape_, from);
    if (home.count > 0) {
      const Slice theirs = board::offered(shape_, from, cell, home);
      const Handle saved = saved_[static_cast<std::size_t>(from)];
      const Handle copied = board::take(b_, order_.of(cell), theirs, home).after(saved);
      if (!board::fits(shape_, home)) copied_.push_back(copied);
    }
    order_.finish(cell);
  }

  void finish() {
    const std::int32_t receipt = shape_.size - 1;
    if (!copied_.empty()) b_.publish(receipt, board::nothing(shape_.rank, receipt)).after(copied_);
    for (Rank distance = 1; distance < shape_.size; ++distance) {
      const Rank to = board::neighbour(shape_, distance);
      if (!board::fits(shape_, blocks_[static_cast<std::size_t>(to)])) b_.await(to, receipt, 0);
    }
  }

  const Shape& shape_;
  Writer b_;
  board::Order order_;
  std::vector<Slice> blocks_;   // what I have for each rank
  std::vector<Handle> saved_;   // in place: when it is in scratch
  std::vector<Handle> copied_;  // from exposed memory
};

plan::Plan in_pieces(const Shape& shape, Slice mine, Slice theirs) {
  Writer b(shape);
  board::swap(b, shape, mine, theirs);
  move_own_block(b, shape);
  return b.build();
}

}  // namespace

plan::Plan board(const Shape& shape) {
  if (shape.size == 2) {
    const Slice theirs = output_block(shape, 1 - shape.rank);
    const Slice mine = shape.in_place ? theirs : input_block(shape, 1 - shape.rank);
    if (board::in_pieces(shape, std::max(mine.count, theirs.count))) return in_pieces(shape, mine, theirs);
  }
  return Exchange(shape).build();
}

}  // namespace tutti::collectives::alltoallv
