// SPDX-License-Identifier: BSD-3-Clause
// Board pipeline: every block is cut into as many pieces as there are rounds. In a round each rank writes its piece of
// every block but its own into a large cell, half a ring ahead, and combines its own pieces of all ranks meanwhile.
// Medium and large sizes where single copy is forbidden. Cost: alpha S + 2 (P - 1) beta n + (P - 1) gamma n, S rounds.
//
//     P = 3    rank 0    write b0 c0 | b1 c1, combine a0 | b2 c2, combine a1 ...
//              rank 1    write a0 c0 | a1 c1, combine b0 | ...
#include <ranges>
#include <utility>

#include "collectives/board.hpp"
#include "collectives/reduce_scatter_block/operands.hpp"

namespace tutti::collectives::reduce_scatter_block {
namespace {

/// Where the pieces lie in the cells: the same on all ranks. A cell that has not room for a piece of each rank's block
/// has the pieces of as many ranks as it has room for, and a round takes several.
class Cells {
 public:
  Cells(const Shape& shape, const Operands& operands)
      : operands_(operands),
        size_(shape.size),
        group_(static_cast<Rank>(std::min<Count>(shape.size, board::capacity(shape, board::Ring::large)))),
        groups_((size_ + group_ - 1) / group_) {
    Count smallest = operands.largest();
    for (Rank rank = 0; rank < size_; ++rank) smallest = std::min(smallest, operands.block(rank).count);
    const auto least = board::pieces(shape, board::Ring::large, operands.all().count - smallest);
    // With a round for each element a cell has one of each rank's at most, for which there is room.
    const auto most = std::max(least, static_cast<std::int32_t>(operands.largest()));
    const auto tries = std::views::iota(least, most);
    rounds_ = *std::ranges::partition_point(
        tries, [&](std::int32_t rounds) { return fullest(rounds) > board::capacity(shape, board::Ring::large); });
  }

  std::int32_t number() const { return rounds_ * groups_; }
  bool has_whole_blocks() const { return rounds_ == 1; }
  /// The ranks whose pieces are in that cell: first ... last - 1.
  Rank first(std::int32_t cell) const { return cell % groups_ * group_; }
  Rank last(std::int32_t cell) const { return std::min(first(cell) + group_, size_); }
  bool has(std::int32_t cell, Rank rank) const { return first(cell) <= rank && rank < last(cell); }
  Slice piece(std::int32_t cell, Slice block) const { return board::part_of(block, cell / groups_, rounds_); }
  Slice piece(std::int32_t cell, Rank rank) const { return piece(cell, operands_.block(rank)); }

 private:
  /// Elements of the fullest cell. The first pieces are the largest ones; who writes for itself leaves its own out.
  Count fullest(std::int32_t rounds) const {
    Count most = 0;
    for (std::int32_t cell = 0; cell < groups_; ++cell) {
      Count all = 0, least = groups_ > 1 ? 0 : operands_.largest();
      for (Rank rank = first(cell); rank < last(cell); ++rank) {
        const Count count = board::part_of(operands_.block(rank), 0, rounds).count;
        all += count;
        least = std::min(least, count);
      }
      most = std::max(most, all - least);
    }
    return most;
  }

  const Operands& operands_;
  Rank size_, group_;
  std::int32_t groups_, rounds_ = 1;
};

/// What lies in one cell, of whichever writer: to go through the pieces before each of them would be a loop over the
/// ranks for every rank.
class Content {
 public:
  Content(const Cells& cells, std::int32_t cell) : cells_(cells), cell_(cell), begins_{0} {
    for (Rank rank = cells.first(cell); rank < cells.last(cell); ++rank)
      begins_.push_back(begins_.back() + cells.piece(cell, rank).count);
  }
  /// All that a rank writes into its cell, and the part of that for `reader`.
  Slice of(Rank writer) const { return Writer::shared(writer, cell_, 0, before(writer, cells_.last(cell_))); }
  Slice part(Rank writer, Rank reader) const {
    return Writer::shared(writer, cell_, before(writer, reader), cells_.piece(cell_, reader).count);
  }

 private:
  /// Elements that the writer has in the cell for lower ranks.
  Count before(Rank writer, Rank end) const {
    const Count own = cells_.has(cell_, writer) && writer < end ? cells_.piece(cell_, writer).count : 0;
    return begins_[static_cast<std::size_t>(end - cells_.first(cell_))] - own;
  }

  const Cells& cells_;
  std::int32_t cell_;
  std::vector<Count> begins_;  // of the pieces, as if nobody left one out, and their end
};

class Pipeline {
 public:
  explicit Pipeline(const Shape& shape)
      : shape_(shape),
        b_(shape),
        operands_(shape),
        cells_(shape, operands_),
        order_(b_, board::Ring::large, cells_.number()),
        sum_(operands_.sum(b_)) {}

  plan::Plan build() {
    b_.use(board::Ring::large, cells_.number());
    order_.run(
        0, cells_.number(), [&](std::int32_t cell) { write(cell); }, [&](std::int32_t cell) { combine(cell); });
    operands_.finish(b_, sum_, combined_);
    return b_.build();
  }

 private:
  void write(std::int32_t cell) {
    const Slice content = Content(cells_, cell).of(shape_.rank);
    if (content.count == 0) return;
    board::Line& line = order_.of(cell);
    Count at = 0;
    const auto add = [&](Slice mine) {
      if (mine.count == 0) return;
      operands_.read(mine, line.add(b_.copy(mine, content.part(at, mine.count))));
      at += mine.count;
    };
    const Rank first = cells_.first(cell), last = cells_.last(cell);
    if (cells_.has_whole_blocks()) {  // which lie side by side
      add(operands_.blocks(first, std::clamp(shape_.rank, first, last)));
      add(operands_.blocks(std::clamp(shape_.rank + 1, first, last), last));
    } else {
      for (Rank rank = first; rank < last; ++rank)
        if (rank != shape_.rank) add(cells_.piece(cell, rank));
    }
    line.add(b_.publish(cell, content));
  }

  /// My own contribution is the first in the sum; it may be there already.
  void combine(std::int32_t cell) {
    if (!cells_.has(cell, shape_.rank)) return;
    const Slice mine = cells_.piece(cell, shape_.rank), sum = cells_.piece(cell, sum_);
    if (mine.count == 0) return;
    const Handle placed = b_.copy(mine, sum);
    operands_.read(mine, placed);
    board::Line& line = order_.of(cell);
    const Content content(cells_, cell);
    Handle ready = placed;  // the first waits for it, and the others for the first
    board::around(shape_, [&](Rank rank, Side side) {
      line.add(b_.await(rank, cell, content.of(rank).count));
      line.add(b_.reduce(content.part(rank, shape_.rank), sum, side)).after(std::exchange(ready, Handle()));
    });
    combined_.push_back(line.last());
  }

  const Shape& shape_;
  Writer b_;
  Operands operands_;
  Cells cells_;
  board::Order order_;
  Slice sum_;
  std::vector<Handle> combined_;  // per piece of mine
};

}  // namespace

plan::Plan board_pipeline(const Shape& shape) {
  if (shape.size > 1 && Operands(shape).all().count > 0) return Pipeline(shape).build();
  Writer b(shape);
  Operands(shape).finish(b, Operands(shape).all(), {});
  return b.build();
}

}  // namespace tutti::collectives::reduce_scatter_block
