// SPDX-License-Identifier: BSD-3-Clause
// Board pipeline: the data goes through the large cells in rounds. In each, everybody publishes a piece, but for
// the share of it that it combines itself, combines that share of all in the order of the ranks where it shall stay,
// publishes a copy, and collects the others' shares.
// Medium and large sizes where single copy is forbidden. Cost: 2 alpha S + 3 beta n + gamma n, S rounds.
//
//     P = 2     write 0  |  write 1, combine 0  |  write 2, combine 1, collect 0  |  write 3, ...
//     cells     0, 2, 4: pieces     1, 3, 5: shares
#include "collectives/board.hpp"

namespace tutti::collectives::allreduce {
namespace {

class Pipeline {
 public:
  explicit Pipeline(const Shape& shape) : shape_(shape), b_(shape), rounds_(rounds(shape)) {}

  plan::Plan build() {
    b_.use(board::Ring::large, 2 * rounds_);
    if (shape_.in_place) room_ = b_.scratch(share(0, shape_.rank).count);  // no later one is larger
    // Each stage needs of the others only what they did a stage before.
    for (std::int32_t stage = 0; stage < rounds_ + 2; ++stage) {
      if (stage < rounds_) write(stage);
      if (stage >= 1 && stage <= rounds_) combine(stage - 1);
      if (stage >= 2) collect(stage - 2);
    }
    return b_.build();
  }

 private:
  /// As few that everybody has a share in each, if a cell has room for that.
  static std::int32_t rounds(const Shape& shape) {
    const Count cell = board::capacity(shape, board::Ring::large);
    const Count most = std::max<Count>(shape.count / shape.size, 1), least = (shape.count + cell - 1) / cell;
    const Count pieces = board::pieces(shape, board::Ring::large, shape.count);
    return static_cast<std::int32_t>(std::max(std::min(pieces, most), least));
  }

  Slice piece(std::int32_t round) const { return board::part_of(whole(shape_), round, rounds_); }
  Slice share(std::int32_t round, Rank rank) const { return board::part_of(piece(round), rank, shape_.size); }

  /// All but my own share, which nobody else reads.
  void write(std::int32_t round) {
    const Slice all = piece(round), mine = share(round, shape_.rank), cell = content(round, shape_.rank);
    if (cell.count == 0) return;
    const Count before = mine.offset - all.offset, behind = before + mine.count;
    line_.add(b_.copy(operand(shape_, all.part(0, before)), cell.part(0, before)));
    line_.add(b_.copy(operand(shape_, all.part(behind, all.count - behind)), cell.part(before, all.count - behind)));
    line_.add(b_.publish(2 * round, cell));
  }

  Slice content(std::int32_t round, Rank rank) const {
    return Writer::shared(rank, 2 * round, 0, piece(round).count - share(round, rank).count);
  }

  /// What that rank has for my share.
  Slice contribution(std::int32_t round, Rank rank) const {
    const Slice mine = share(round, shape_.rank);
    if (rank == shape_.rank) return operand(shape_, mine);
    const Count left_out = rank < shape_.rank ? share(round, rank).count : 0;
    return content(round, rank).part(mine.offset - piece(round).offset - left_out, mine.count);
  }

  void combine(std::int32_t round) {
    const Slice mine = share(round, shape_.rank);
    if (mine.count == 0) return;
    for (Rank distance = 1; distance < shape_.size; ++distance) {
      const Slice theirs = content(round, board::neighbour(shape_, distance));
      line_.add(b_.await(theirs.owner, theirs.cell, theirs.count));
    }
    // In place, my own data is still to be combined when others' come to where it lies.
    const Slice sum = shape_.in_place ? room_.part(0, mine.count) : mine;
    board::fold(b_, line_, shape_, sum, false, [&](Rank rank) { return contribution(round, rank); });
    board::put(b_, line_, 2 * round + 1, sum);
    line_.add(b_.copy(sum, mine));
  }

  void collect(std::int32_t round) {
    // Without a share there is nothing to be in line with, unless my data is still to be read.
    const bool idle = rounds_ == 1 && share(round, shape_.rank).count == 0 && !shape_.in_place;
    for (Rank distance = 1; distance < shape_.size; ++distance) {
      const Rank rank = board::neighbour(shape_, distance);
      const Slice theirs = share(round, rank);
      if (theirs.count == 0) continue;
      if (idle) line_ = board::Line();
      board::take(b_, line_, Writer::shared(rank, 2 * round + 1, 0, theirs.count), theirs);
    }
    if (2 * round + board::ring_length[board::Ring::large] < 2 * rounds_) line_.add(b_.release(2 * round + 1));
  }

  const Shape& shape_;
  Writer b_;
  std::int32_t rounds_;
  Slice room_;
  board::Line line_;
};

}  // namespace

plan::Plan board_pipeline(const Shape& shape) {
  if (shape.size > 1 && shape.count > 0) return Pipeline(shape).build();
  Writer b(shape);
  b.copy(operand(shape, whole(shape)), whole(shape));
  return b.build();
}

}  // namespace tutti::collectives::allreduce
