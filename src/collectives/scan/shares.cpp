// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/scan/shares.hpp"

namespace tutti::collectives::scan {
namespace {

/// Of two ranks the second does all there is to do.
plan::Plan pair(const Shape& shape, Rank own) {
  Writer b(shape);
  b.use(board::Ring::small, 2);
  if (shape.rank == 0) {
    b.publish(0, operand(shape, whole(shape)));
    if (own == 1) b.copy(operand(shape, whole(shape)), whole(shape));
    b.await(1, 1, 0);
    return b.build();
  }
  board::Line line;
  const Slice before = Writer::exposed(0, 0, 0, shape.count);
  if (own == 1) line.add(b.copy(operand(shape, whole(shape)), whole(shape)));
  line.add(b.await(0, 0, shape.count));
  line.add(own == 1 ? b.reduce(before, whole(shape), Side::left) : b.copy(before, whole(shape)));
  line.add(b.publish(1, board::nothing(shape.rank, 1)));
  return b.build();
}

class Shares {
 public:
  Shares(const Shape& shape, Rank own) : shape_(shape), own_(own), b_(shape) {}

  plan::Plan build() {
    b_.use(board::Ring::small, 3);
    b_.publish(0, operand(shape_, whole(shape_)));
    const Slice share = share_of(shape_.rank);
    table_ = b_.scratch(rows() * share.count);
    std::vector<Handle> done;
    if (share.count > 0) {
      done = combine(share);
      b_.publish(1, table_).after(done);
    }
    if (shape_.rank > 0)
      done = collect(done);
    else if (own_ == 1)
      b_.copy(operand(shape_, whole(shape_)), whole(shape_));
    b_.publish(2, board::nothing(shape_.rank, 2)).after(shape_.rank > 0 ? done : std::vector<Handle>());
    if (share.count > 0) b_.await(board::everyone, 2, 0);
    return b_.build();
  }

 private:
  /// Row k of a table is a share of the result of rank k + 1; that of rank 0 needs no work.
  Rank rows() const { return shape_.size - 1; }
  Slice share_of(Rank rank) const { return board::part_of(whole(shape_), rank, shape_.size); }
  Slice data(Rank rank, Slice part) const {
    return rank == shape_.rank ? operand(shape_, part) : Writer::exposed(rank, 0, part.offset, part.count);
  }

  /// Fills my table, segment by segment, so that each row finds the one before in the cache.
  std::vector<Handle> combine(Slice share) {
    constexpr Count most = 16;
    const Count segment = std::max(2 * board::capacity(shape_, board::Ring::large), share.count / most + 1);
    const Handle seen = b_.await(board::everyone, 0, shape_.count);
    std::vector<Handle> combined;
    for (const Slice part : segments(share, segment)) {
      board::Line line;
      Slice before = data(0, part);
      for (Rank row = 0; row < rows(); ++row) {
        const Slice sum = table_.part(row * share.count + part.offset - share.offset, part.count);
        const Rank newest = row + own_;
        line.add(b_.copy(data(newest, part), sum)).after(newest == shape_.rank ? Handle() : seen);
        if (newest > 0) line.add(b_.reduce(before, sum, Side::left)).after(seen);
        before = sum;
      }
      combined.push_back(line.last());
    }
    return combined;
  }

  /// My row of everybody's table. In place, share j of my output is read by rank j alone, before it publishes.
  std::vector<Handle> collect(const std::vector<Handle>& combined) {
    const Rank row = shape_.rank - 1;
    std::vector<Handle> copied;
    for (Rank distance = 0; distance < shape_.size; ++distance) {
      const Rank rank = board::neighbour(shape_, distance);
      const Slice theirs = share_of(rank);
      if (theirs.count == 0) continue;
      if (rank == shape_.rank) {
        b_.copy(table_.part(row * theirs.count, theirs.count), theirs).after(combined);
        continue;
      }
      const Handle seen = b_.await(rank, 1, rows() * theirs.count);
      copied.push_back(b_.copy(Writer::exposed(rank, 1, row * theirs.count, theirs.count), theirs).after(seen));
    }
    return copied;
  }

  const Shape& shape_;
  Rank own_;
  Writer b_;
  Slice table_;
};

}  // namespace

plan::Plan by_shares(const Shape& shape, Rank own) {
  if (shape.size > 2 && shape.count > 0) return Shares(shape, own).build();
  if (shape.size == 2 && shape.count > 0) return pair(shape, own);
  Writer b(shape);
  if (own == 1) b.copy(operand(shape, whole(shape)), whole(shape));
  return b.build();
}

}  // namespace tutti::collectives::scan
