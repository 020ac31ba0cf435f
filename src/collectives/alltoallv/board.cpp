// SPDX-License-Identifier: BSD-3-Clause
// Board: everybody publishes one cell for each other rank, nearest first: the block itself if it fits, else the exposed
// block. Whoever exposed one waits until its reader has copied it. Sender and receiver know the block's size, so that
// they take the same branch; no exchange of offsets before. In place exposes copies in scratch.
// Where a segment was asked for, which says that going through cells is faster than reading from memory, each rank has
// more cells for each other, and larger blocks go through them, piece by piece, read half a ring behind: the first cell
// exposes such a block only to show how long it is. Who has small blocks alone neither writes nor releases the further
// cells. Two ranks know all counts, and so how many cells any block takes. A radix is the most pieces of a block: what
// all ranks copy twice has to stay in their caches.
// Cost: alpha + (P - 1) alpha' + beta n, one alpha more for large blocks.
//
//     P = 3    0  #1 #2     1  #2 #0     2  #0 #1      >  all copy  >  all publish  >  done
//     pieces   0  #1 #2 receipt #1 #2 #1 #2 ...
#include "collectives/board.hpp"
#include "collectives/alltoall/exchange.hpp"

namespace tutti::collectives::alltoallv {
namespace {

class Exchange {
 public:
  explicit Exchange(const Shape& shape)
      : shape_(shape),
        b_(shape),
        mine_(alltoall::outgoing(b_, shape)),
        most_(most_pieces(shape)),
        cells_(shape.size + most_ * (shape.size - 1)),
        used_(cells_used()),
        agreed_(static_cast<std::size_t>(shape.size)),
        order_(b_, board::block_ring(shape), used_) {}

  plan::Plan build() {
    if (shape_.size > 1) b_.use(board::block_ring(shape_), cells_);
    order_.run(
        0, used_, [&](std::int32_t cell) { give(cell); }, [&](std::int32_t cell) { take(cell); });
    return b_.build();
  }

 private:
  /// Of a block that goes through further cells; what is larger is copied from memory. Few enough that two operations
  /// fit the ring of the small cells, which all of them come from.
  static std::int32_t most_pieces(const Shape& shape) {
    const auto [segment, radix] = shape.parameters;
    if (segment == 0 || radix == 1 || shape.size <= 2 || board::block_ring(shape) != board::Ring::large) return 0;
    const std::int32_t most = std::clamp(192 / (shape.size - 1), 2, 64);
    return radix > 0 ? std::min(radix, most) : most;
  }

  /// Of a block that goes through further cells; 0: its first cell holds or exposes it.
  std::int32_t pieces(Slice block) const {
    if (most_ == 0 || board::fits(shape_, block)) return 0;
    const Count cell = std::min(shape_.parameters.segment, shape_.cell.large), needed = (block.count + cell - 1) / cell;
    return needed <= most_ ? static_cast<std::int32_t>(needed) : 0;
  }
  bool exposed(Slice block) const { return pieces(block) == 0 && !board::fits(shape_, block); }

  /// From the first to the last that this rank writes or reads: its completion releases the others. Who waits until
  /// others have read what it exposes releases its first ones before, without which they may not come so far.
  std::int32_t cells_used() const {
    std::int32_t used = shape_.size;
    for (Rank rank = 0; rank < shape_.size; ++rank) {
      if (rank == shape_.rank) continue;
      const Slice mine = block_for(rank);
      const std::int32_t most = std::max(pieces(mine), pieces(output_block(shape_, rank)));
      used = std::max(used, shape_.size + most * (shape_.size - 1));
      if (exposed(mine)) used = std::max(used, shape_.size + board::ahead(board::block_ring(shape_)));
    }
    return std::min(used, cells_);
  }

  Slice block_for(Rank rank) const { return mine_.block[static_cast<std::size_t>(rank)]; }
  Handle saved(Rank rank) const { return mine_.ready[static_cast<std::size_t>(rank)]; }

  /// All other ranks' first cells, then my receipt, then their first pieces, ...
  bool is_receipt(std::int32_t cell) const { return cell == shape_.size - 1; }
  bool is_first(std::int32_t cell) const { return cell < shape_.size - 1; }
  std::int32_t piece(std::int32_t cell) const { return (cell - shape_.size) / (shape_.size - 1); }
  Rank distance(std::int32_t cell) const { return (cell - (cell >= shape_.size)) % (shape_.size - 1) + 1; }

  void give(std::int32_t cell) {
    if (is_receipt(cell)) return;
    const Rank to = board::neighbour(shape_, distance(cell));
    const Slice block = block_for(to);
    if (block.count == 0) return;
    if (is_first(cell) && pieces(block) > 0)
      order_.of(cell).add(b_.publish(cell, block));  // nobody reads it
    else if (is_first(cell))
      board::offer(b_, order_.of(cell), shape_, cell, block).after(saved(to));
    else if (piece(cell) < pieces(block))
      board::put(b_, order_.of(cell), cell, board::part_of(block, piece(cell), pieces(block))).after(saved(to));
  }

  void take(std::int32_t cell) {
    if (is_receipt(cell))
      give_receipt(cell);
    else if (const Rank from = board::neighbour(shape_, -distance(cell)); output_block(shape_, from).count > 0)
      take(cell, from, output_block(shape_, from));
  }

  void take(std::int32_t cell, Rank from, Slice home) {
    Handle& agreed = agreed_[static_cast<std::size_t>(from)];
    if (!is_first(cell)) {
      if (piece(cell) >= pieces(home)) return;
      const Slice part = board::part_of(home, piece(cell), pieces(home));
      board::take(b_, order_.of(cell), Writer::shared(from, cell, 0, part.count), part).after({saved(from), agreed});
    } else if (pieces(home) > 0) {
      agreed = order_.of(cell).add(b_.await(from, cell, home.count));
    } else {
      const Slice theirs = board::offered(shape_, from, cell, home);
      const Handle copied = board::take(b_, order_.of(cell), theirs, home).after(saved(from));
      if (exposed(home)) copied_.push_back(copied);
    }
  }

  void give_receipt(std::int32_t cell) {
    board::Line& line = order_.of(cell);
    if (!copied_.empty()) line.add(b_.publish(cell, board::nothing(shape_.rank, cell)).after(copied_));
    for (Rank distance = 1; distance < shape_.size; ++distance) {
      const Rank to = board::neighbour(shape_, distance);
      if (exposed(block_for(to))) line.add(b_.await(to, cell, 0));
    }
  }

  const Shape& shape_;
  Writer b_;
  alltoall::Outgoing mine_;
  std::int32_t most_, cells_;  // pieces of a block, and cells of them all
  std::int32_t used_;
  std::vector<Handle> agreed_;  // that the block of each rank that comes in pieces is as long as is meant here
  board::Order order_;
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
