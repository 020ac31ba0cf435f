// SPDX-License-Identifier: BSD-3-Clause
// Board pipeline: everybody's blocks go through its large cells in rounds of a whole ring: a part of every block in
// each, so that all ranks combine at the same time, in the order of the ranks, half a ring behind the writing.
// Two ranks write no block of their own. Medium and large sizes where single copy is forbidden. Cost: alpha S + 2 P
// beta n
// + P gamma n, S cells.
//
//     P = 3    write    #a0 #b0 #c0 #a1 #b1 #c1 ...
//              combine                0: a0, 1: b0, 2: c0 ...
#include "collectives/board.hpp"
#include "collectives/reduce_scatter_block/operands.hpp"

namespace tutti::collectives::reduce_scatter_block {
namespace {

/// A part of the block for a rank, and where it lies in its cell.
struct Part {
  Rank rank;
  Count in_block, in_cell, count;
};

/// What each cell holds: the same on all ranks. One round fills the ring.
class Cells {
 public:
  Cells(const Shape& shape, const Operands& operands) {
    const std::int32_t cells = board::pieces(shape, board::Ring::large, operands.all().count);
    constexpr std::int32_t ring = board::ring_length(board::Ring::large);
    const std::int32_t rounds = (cells + ring - 1) / ring;
    room_ = (operands.all().count + cells - 1) / cells;
    for (std::int32_t round = 0; round < rounds; ++round)
      for (Rank rank = 0; rank < shape.size; ++rank) {
        const Slice block = operands.block(rank), part = board::part_of(block, round, rounds);
        add(rank, part.offset - block.offset, part.count);
      }
  }

  std::int32_t count() const { return static_cast<std::int32_t>(cells_.size()); }
  const std::vector<Part>& parts(std::int32_t cell) const { return cells_[static_cast<std::size_t>(cell)]; }
  /// Elements in the cell.
  Count size(std::int32_t cell) const { return parts(cell).back().in_cell + parts(cell).back().count; }

 private:
  void add(Rank rank, Count in_block, Count count) {
    while (count > 0) {
      if (cells_.empty() || size(this->count() - 1) == room_) cells_.emplace_back();
      std::vector<Part>& parts = cells_.back();
      const Count used = parts.empty() ? 0 : size(this->count() - 1), taken = std::min(count, room_ - used);
      parts.push_back({rank, in_block, used, taken});
      in_block += taken;
      count -= taken;
    }
  }

  Count room_ = 0;
  std::vector<std::vector<Part>> cells_;
};

class Pipeline {
 public:
  explicit Pipeline(const Shape& shape)
      : shape_(shape),
        b_(shape),
        operands_(shape),
        cells_(shape, operands_),
        order_(b_, board::Ring::large, cells_.count()),
        sum_(operands_.sum(b_)) {}

  plan::Plan build() {
    constexpr std::int32_t ahead = board::ahead(board::Ring::large);
    b_.use(board::Ring::large, cells_.count());
    for (std::int32_t cell = -ahead; cell < cells_.count(); ++cell) {
      if (cell + ahead < cells_.count()) write(cell + ahead);
      if (cell >= 0) combine(cell);
    }
    operands_.finish(b_, sum_, combined_);
    return b_.build();
  }

 private:
  void write(std::int32_t cell) {
    board::Line& line = order_.of(cell);
    const std::vector<Part>& parts = cells_.parts(cell);
    for (std::size_t i = 0; i < parts.size();) {
      Slice mine = operand(parts[i]);
      const Count in_cell = parts[i].in_cell;
      // Whole blocks lie side by side.
      for (++i; i < parts.size() && operand(parts[i]).offset == mine.offset + mine.count; ++i)
        mine.count += parts[i].count;
      operands_.read(mine, line.add(b_.copy(mine, Writer::shared(shape_.rank, cell, in_cell, mine.count))));
    }
    written_.push_back(line.last());
    line.add(b_.publish(cell, Writer::shared(shape_.rank, cell, 0, cells_.size(cell))));
  }

  Slice operand(const Part& part) const { return operands_.block(part.rank).part(part.in_block, part.count); }

  /// My part of everybody's cell, my own too, since the sum may lie where that comes from.
  void combine(std::int32_t cell) {
    board::Line& line = order_.of(cell);
    Handle seen;
    for (const Part& part : cells_.parts(cell)) {
      if (part.rank != shape_.rank) continue;
      if (!seen.exists()) {
        seen = b_.await(board::everyone, cell, cells_.size(cell)).after(written_[static_cast<std::size_t>(cell)]);
        line.add(seen);
      }
      board::fold(b_, line, shape_, sum_.part(part.in_block, part.count), false,
                  [&](Rank rank) { return Writer::shared(rank, cell, part.in_cell, part.count); });
    }
    if (seen.exists()) combined_.push_back(line.last());
    order_.finish(cell);
  }

  const Shape& shape_;
  Writer b_;
  Operands operands_;
  Cells cells_;
  board::Order order_;
  Slice sum_;
  std::vector<Handle> written_, combined_;  // per cell; per part of mine
};

/// Two ranks: each writes the other's block alone, and combines its own where it is.
plan::Plan of_two(const Shape& shape) {
  constexpr board::Ring ring = board::Ring::large;
  Writer b(shape);
  Operands operands(shape);
  const Rank other = 1 - shape.rank;
  const std::int32_t cells = board::pieces(shape, ring, operands.largest()), ahead = board::ahead(ring);
  b.use(ring, cells);
  board::Order order(b, ring, cells);
  const Slice sum = operands.sum(b);
  const auto piece = [&](Slice block, std::int32_t cell) { return board::part_of(block, cell, cells); };
  std::vector<Handle> combined;
  for (std::int32_t cell = -ahead; cell < cells; ++cell) {
    const std::int32_t next = cell + ahead;
    if (next < cells)
      if (const Slice theirs = piece(operands.block(other), next); theirs.count > 0)
        operands.read(theirs, board::put(b, order.of(next), next, theirs));
    if (cell < 0) continue;
    if (const Slice mine = piece(operands.block(shape.rank), cell), target = piece(sum, cell); mine.count > 0) {
      board::Line& line = order.of(cell);
      const Handle placed = b.copy(mine, target);
      if (placed.exists()) operands.read(mine, placed);
      board::combine_pair(b, line, shape, cell, target, placed);
      combined.push_back(line.last());
    }
    order.finish(cell);
  }
  operands.finish(b, sum, combined);
  return b.build();
}

}  // namespace

plan::Plan board_pipeline(const Shape& shape) {
  if (shape.size > 1 && Operands(shape).all().count > 0)
    return shape.size == 2 ? of_two(shape) : Pipeline(shape).build();
  Writer b(shape);
  Operands(shape).finish(b, Operands(shape).all(), {});
  return b.build();
}

}  // namespace tutti::collectives::reduce_scatter_block
