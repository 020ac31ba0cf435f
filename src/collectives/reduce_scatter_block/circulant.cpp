// SPDX-License-Identifier: BSD-3-Clause
// Circulant: Bruck's allgather backwards. Everybody holds sums of the blocks of its own and the following ranks, and
// each round sends the farther half of them on to where they are the nearer half. Each sum starts at another rank, so
// the operation must commute. Latency and bandwidth, for any P: no algorithm needs fewer rounds or moves less. Träff
// 2024, arXiv 2410.14234. Cost: ceil(log2 P) alpha (one more where the first blocks go around the end)
// + (P - 1)(beta + gamma) n, n elements a block.
//
//     P = 5    0        1        2        3        4        sums held
//     round 0  34>3     40>4     01>0     12>1     23>2     012      123      234      340      401
//     round 1  2>2      3>3      4>4      0>0      1>1      01       12       23       34       40
//     round 2  1>1      2>2      3>3      4>4      0>0      0        1        2        3        4
#include <array>

#include "collectives/reduce_scatter_block/operands.hpp"

namespace tutti::collectives::reduce_scatter_block {
namespace {

class Circulant {
 public:
  explicit Circulant(const Shape& shape) : rank_(shape.rank), size_(shape.size), b_(shape), operands_(shape) {}

  plan::Plan build() {
    if (size_ == 1) {
      operands_.finish(b_, operands_.all(), {});
      return b_.build();
    }
    Rank held = half(size_);
    first_round(held);
    for (Rank before = held; before > 1; before = held) {
      held = half(before);
      b_.send(ahead(held), sums(held, before)).after(ready_);
      const Handle added = b_.recv_reduce(behind(held), sums(0, before - held), Side::left).after(ready_);
      if (added.exists()) ready_ = {added};
    }
    operands_.finish(b_, sums(0, 1), ready_);
    return b_.build();
  }

 private:
  static Rank half(Rank held) { return held - held / 2; }
  Rank ahead(Rank distance) const { return around(rank_ + distance, size_); }
  Rank behind(Rank distance) const { return around(rank_ - distance, size_); }

  /// Where the blocks of a number of ranks lie that follow each other from `first` on: before the end of the group, and
  /// at its beginning.
  std::array<Slice, 2> following(Rank first, Rank count) const {
    const Rank before_end = std::min(count, size_ - first);
    return {operands_.blocks(first, first + before_end), operands_.blocks(0, count - before_end)};
  }

  /// Elements of the blocks for this rank and those that follow, so many ranks in all.
  Count elements(Rank count) const {
    const std::array<Slice, 2> blocks = following(rank_, count);
    return blocks[0].count + blocks[1].count;
  }
  /// The sums for the ranks from `first` to before `last`, counted from this one.
  Slice sums(Rank first, Rank last) const { return sums_.part(elements(first), elements(last) - elements(first)); }

  /// What leaves are operands; what stays becomes sums.
  void first_round(Rank held) {
    for (const Slice& leaving : following(ahead(held), size_ - held))
      operands_.read(leaving, b_.send(ahead(held), leaving));
    sums_ = b_.scratch(elements(held));
    Count done = 0;
    for (const Slice& mine : following(rank_, size_ - held)) {
      const Slice sum = sums_.part(done, mine.count);
      done += mine.count;
      const Handle received = b_.recv(behind(held), sum);
      add(b_.reduce(mine, sum, Side::left).after(received), mine);
    }
    if (2 * held == size_) return;
    const Slice alone = operands_.block(ahead(size_ - held));  // nobody sends it in this round
    add(b_.copy(alone, sums_.part(done, alone.count)), alone);
  }

  void add(Handle step, Slice operands) {
    operands_.read(operands, step);
    ready_.push_back(step);
  }

  Rank rank_, size_;
  Writer b_;
  Operands operands_;
  Slice sums_;
  std::vector<Handle> ready_;  // who makes the sums
};

}  // namespace

plan::Plan circulant(const Shape& shape) { return Circulant(shape).build(); }

}  // namespace tutti::collectives::reduce_scatter_block
