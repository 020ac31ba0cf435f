// SPDX-License-Identifier: BSD-3-Clause
// Recursive halving: pairs at halving distance share the work: each sends the blocks of the other's half of the ranks
// and combines those of its own. Any P: the first ranks go in pairs (allreduce/fold.hpp). Far ranks combine first, so
// the operation must commute. Bandwidth, in few rounds. Thakur, Rabenseifner, Gropp 2005, doi 10.1177/1094342005051521.
// Cost: log2 P alpha + (P - 1)(beta + gamma) n, n elements a block; P no power of two: 2 alpha + (P + 1) beta n more.
//
//     P = 6    0>1 2>3       all blocks: 1 is for 0 1, 3 for 2 3
//              1=4 3=5       0123 to 1 and 3, 45 to 4 and 5
//              1=3 4=5       01 to 1, 23 to 3, 4 to 4, 5 to 5
//              0<1 2<3
#include "collectives/allreduce/fold.hpp"
#include "collectives/reduce_scatter_block/operands.hpp"

namespace tutti::collectives::reduce_scatter_block {
namespace {

class Halving {
 public:
  Halving(const Shape& shape, const allreduce::Team& team)
      : rank_(shape.rank), team_(team), b_(shape), operands_(shape), end_(shape.size) {}

  plan::Plan build() {
    if (team_.sits_out()) return sit_out();
    if (team_.partner() >= 0) combine(team_.partner());
    Rank first = 0;  // of the positions whose blocks are combined here
    for (Rank half = team_.size() / 2; half > 0; half /= 2) {
      const bool upper = (team_.position() & half) != 0;
      const Rank other = team_.rank(team_.position() ^ half), middle = team_.begin(first + half);
      const Slice given = upper ? held(begin_, middle) : held(middle, end_);
      const Handle sent = b_.send(other, given).after(ready_);
      if (!begun_) operands_.read(given, sent);
      (upper ? begin_ : end_) = middle;
      if (upper) first += half;
      combine(other);
    }
    if (team_.partner() >= 0) b_.send(team_.partner(), held(team_.partner(), team_.partner() + 1)).after(ready_);
    operands_.finish(b_, held(rank_, rank_ + 1), {ready_});
    return b_.build();
  }

 private:
  plan::Plan sit_out() {
    operands_.read(operands_.all(), b_.send(team_.partner(), operands_.all()));
    operands_.overwrite(b_.recv(team_.partner(), operands_.result()));
    return b_.build();
  }

  /// Blocks as far as they have been combined.
  Slice held(Rank first, Rank last) const {
    const Slice blocks = operands_.blocks(first, last);
    return begun_ ? sums_.part(blocks.offset - base_, blocks.count) : blocks;
  }

  /// Takes in the other's part of the blocks that are combined here.
  void combine(Rank other) {
    if (begun_) {
      ready_ = b_.recv_reduce(other, held(begin_, end_), Side::left).after(ready_);
      return;
    }
    const Slice mine = operands_.blocks(begin_, end_);
    begun_ = true;
    base_ = mine.offset;
    sums_ = b_.scratch(mine.count);
    const Handle received = b_.recv(other, sums_);
    ready_ = b_.reduce(mine, sums_, Side::left).after(received);
    operands_.read(mine, ready_);
  }

  Rank rank_;
  const allreduce::Team& team_;
  Writer b_;
  Operands operands_;
  Rank begin_ = 0, end_;  // ranks whose blocks are combined here
  bool begun_ = false;    // something has been combined: in sums_, whose first element is the operands' element base_
  Slice sums_;
  Count base_ = 0;
  Handle ready_;
};

}  // namespace

plan::Plan recursive_halving(const Shape& shape) {
  Writer b(shape);
  Operands operands(shape);
  Rank first = 0;               // of those whose blocks are combined here
  Slice held = operands.all();  // what their blocks have come to
  Handle ready;
  for (Rank half = shape.size / 2; half > 0; half /= 2) {
    const Rank other = shape.rank ^ half, middle = first + half;
    const bool upper = shape.rank >= middle;
    const Count below = operands.blocks(first, middle).count;
    const Slice lower_half = held.part(0, below), upper_half = held.part(below, held.count - below);
    const Slice given = upper ? lower_half : upper_half, mine = upper ? upper_half : lower_half;
    const Handle sent = b.send(other, given).after(ready);
    if (upper) first = middle;
    if (2 * half < shape.size) {
      held = mine;
      ready = b.recv_reduce(other, held, Side::left).after(ready);
      continue;
    }
    operands.read(given, sent);
    held = b.scratch(mine.count);
    const Handle received = b.recv(other, held);
    ready = b.reduce(mine, held, Side::left).after(received);
    operands.read(mine, ready);
  }
  operands.finish(b, held, {ready});
  return b.build();
}

}  // namespace tutti::collectives::reduce_scatter_block
