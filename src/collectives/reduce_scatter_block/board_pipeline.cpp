// SPDX-License-Identifier: BSD-3-Clause
// Board pipeline: every block is cut into as many pieces as there are rounds. In a round each rank writes its piece of
// every block but its own into a large cell, half a ring ahead, and combines its own pieces of all ranks meanwhile.
// Medium and large sizes where single copy is forbidden. Cost: alpha S + 2 (P - 1) beta n + (P - 1) gamma n, S rounds.
//
//     P = 3    rank 0    write b0 c0 | b1 c1, combine a0 | b2 c2, combine a1 ...
//              rank 1    write a0 c0 | a1 c1, combine b0 | ...
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
    rounds_ = board::pieces(shape, board::Ring::large, operands.all().count - smallest);
    while (fullest() > board::capacity(shape, board::Ring::large)) ++rounds_;
  }

  std::int32_t number() const { return rounds_ * groups_; }
  bool has_whole_blocks() const { return rounds_ == 1; }
  /// The ranks whose pieces are in that cell: first ... last - 1.
  Rank first(std::int32_t cell) const { return cell % groups_ * group_; }
  Rank last(std::int32_t cell) const { return std::min(first(cell) + group_, size_); }
  bool has(std::int32_t cell, Rank rank) const { return first(cell) <= rank && rank < last(cell); }
  Slice piece(std::int32_t cell, Slice block) const { return board::part_of(block, cell / groups_, rounds_); }
  /// All that a rank writes into its cell, and the part of that for `reader`.
  Slice content(std::int32_t cell, Rank writer) const {
    return Writer::shared(writer, cell, 0, before(cell, writer, last(cell)));
  }
  Slice part(std::int32_t cell, Rank writer, Rank reader) const {
    return Writer::shared(writer, cell, before(cell, writer, reader), piece(cell, operands_.block(reader)).count);
  }

 private:
  /// Elements that the writer has in the cell for lower ranks.
  Count before(std::int32_t cell, Rank writer, Rank end) const {
    Count count = 0;
    for (Rank rank = first(cell); rank < end; ++rank)
      if (rank != writer) count += piece(cell, operands_.block(rank)).count;
    return count;
  }
  /// The first pieces are the largest ones.
  Count fullest() const {
    Count most = 0;
    for (std::int32_t cell = 0; cell < groups_; ++cell)
      for (Rank writer = 0; writer < size_; ++writer) most = std::max(most, content(cell, writer).count);
    return most;
  }

  const Operands& operands_;
  Rank size_, group_;
  std::int32_t groups_, rounds_ = 1;
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
    const Slice content = cells_.content(cell, shape_.rank);
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
        if (rank != shape_.rank) add(cells_.piece(cell, operands_.block(rank)));
    }
    line.add(b_.publish(cell, content));
  }

  /// My own contribution is the first in the sum; it may be there already.
  void combine(std::int32_t cell) {
    if (!cells_.has(cell, shape_.rank)) return;
    const Slice mine = cells_.piece(cell, operands_.block(shape_.rank)), sum = cells_.piece(cell, sum_);
    if (mine.count == 0) return;
    const Handle placed = b_.copy(mine, sum);
    operands_.read(mine, placed);
    board::Line& line = order_.of(cell);
    board::around(shape_, [&](Rank rank, Side side) {
      const Slice theirs = cells_.content(cell, rank);
      line.add(b_.await(rank, cell, theirs.count));
      line.add(b_.reduce(cells_.part(cell, rank, shape_.rank), sum, side)).after(placed);
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
