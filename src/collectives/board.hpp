// SPDX-License-Identifier: BSD-3-Clause
// What the algorithms on the board share: pieces, lines of steps, folding in rank order, when cells are released.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <vector>

#include "collectives/algorithm.hpp"

namespace tutti::collectives::board {

using plan::everyone;
using plan::Ring;
using plan::ring_length;

/// Elements that fit a cell.
inline Count capacity(const Shape& shape, Ring ring) { return std::max<Count>(1, shape.cell[ring]); }

/// An empty cell: it says only that its owner has come so far.
inline Slice nothing(Rank owner, std::int32_t cell) { return Writer::shared(owner, cell, 0, 0); }

/// The rank `distance` after mine, around the group; negative distances go backwards. Less than the size.
inline Rank neighbour(const Shape& shape, Rank distance) { return (shape.rank + distance + shape.size) % shape.size; }

/// Part `part` of `whole` cut into `parts` whose counts differ by at most one.
inline Slice part_of(Slice whole, Rank part, Rank parts) { return blocks(whole, part, part + 1, parts); }

/// In how many pieces, of sizes that differ by at most one, `count` elements go through the ring's cells: of at most
/// the segment asked for. Where none was: as few as possible through small cells; through large cells four as soon as
/// they are a quarter of a cell each, so that reading overlaps writing.
std::int32_t pieces(const Shape& shape, Ring ring, Count count);

/// Steps that run one after the other.
class Line {
 public:
  explicit Line(Handle start = Handle()) : last_(start) {}
  Handle add(Handle step) {
    if (step.exists()) last_ = step.after(last_);
    return last_;
  }
  Handle last() const { return last_; }

 private:
  Handle last_;
};

/// What a rank does with the cells of an operation, in ascending order. Where the ring is shorter than that, it
/// releases them in batches, half a ring each, so that the others can write while it reads: all it does with cells that
/// it releases is one line. The last cells are given back by completion, and need no order among each other.
class Order {
 public:
  Order(Writer& b, Ring ring, std::int32_t cells, Handle start = Handle());
  /// The line for the steps on `cell`.
  Line& of(std::int32_t cell);
  /// All steps on `cell` have been added.
  void finish(std::int32_t cell);
  /// write(cell) and read(cell) add the steps of the cells first ... end - 1: each is written half a ring before it is
  /// read, and finished then.
  template <class Write, class Read>
  void run(std::int32_t first, std::int32_t end, Write write, Read read) {
    for (std::int32_t cell = first - batch_; cell < end; ++cell) {
      if (cell + batch_ < end) write(cell + batch_);
      if (cell < first) continue;
      read(cell);
      finish(cell);
    }
  }

 private:
  Writer& b_;
  Handle start_;
  Line line_, free_;
  std::int32_t batch_, last_release_;
};

/// How many cells a rank may be ahead with writing while it reads: the others have half a ring to read meanwhile.
constexpr std::int32_t ahead(Ring ring) { return ring_length[ring] / 2; }

/// Publishes a copy of `content` in a cell; returns the copying.
Handle put(Writer& b, Line& line, std::int32_t cell, Slice content);

/// Waits for a cell and copies it, from its beginning, into `target`; returns the copying. `content`: shared or
/// exposed.
Handle take(Writer& b, Line& line, Slice content, Slice target);

/// For operations that take a cell for each block: areas enough for all blocks under way, as large as can be.
constexpr Ring ring_of(std::int32_t cells) {
  return cells <= ring_length[Ring::large]    ? Ring::large
         : cells <= ring_length[Ring::medium] ? Ring::medium
                                              : Ring::small;
}
/// For blocks, one for each rank, whose sizes their owner and their reader alone know.
inline Ring block_ring(const Shape& shape) { return ring_of(shape.size); }
/// Such a block goes through a cell if that is faster than copying it from memory to memory; else it is exposed, and
/// its owner has to wait until it has been read. A segment that was asked for is the largest block that does.
inline bool fits(const Shape& shape, Ring ring, Slice block) {
  if (ring != Ring::large) return block.count <= shape.cell[ring];
  if (shape.parameters.segment > 0) return block.count <= std::min(shape.parameters.segment, shape.cell.large);
  // Of an area of 64 KiB; two ranks have nobody to wait for but each other.
  const Count share = shape.cell.large / (shape.size == 2 ? 16 : 4);
  return block.count <= std::clamp(shape.cell.small, share, shape.cell.large);
}
inline bool fits(const Shape& shape, Slice block) { return fits(shape, block_ring(shape), block); }
/// The owner's steps; returns the one that reads the block, or exposes it.
Handle offer(Writer& b, Line& line, const Shape& shape, Ring ring, std::int32_t cell, Slice block);
inline Handle offer(Writer& b, Line& line, const Shape& shape, std::int32_t cell, Slice block) {
  return offer(b, line, shape, block_ring(shape), cell, block);
}
/// Where a reader finds it.
inline Slice offered(const Shape& shape, Ring ring, Rank owner, std::int32_t cell, Slice block) {
  return fits(shape, ring, block) ? Writer::shared(owner, cell, 0, block.count)
                                  : Writer::exposed(owner, cell, 0, block.count);
}
inline Slice offered(const Shape& shape, Rank owner, std::int32_t cell, Slice block) {
  return offered(shape, block_ring(shape), owner, cell, block);
}

/// Elements of a segment in which `count` of exposed memory are combined: what stays in the cache, at most 128
/// segments.
Count exposed_segment(const Shape& shape, Count count);

/// Combines `share`, a part of what this rank exposes (`mine`), and the same part of everybody's exposed cell 0 into
/// `target`, segment by segment, so that the target stays in the cache. Whoever publishes or reads the result waits for
/// all the handles.
std::vector<Handle> combine_exposed(Writer& b, const Shape& shape, Slice mine, Slice share, Slice target);

/// source(0) op ... op source(size - 1) into `target`, from the highest rank down: whoever does it gets the same bits.
/// `placed`: the target holds the highest rank's contribution already.
template <class Source>
void fold(Writer& b, Line& line, const Shape& shape, Slice target, bool placed, Source source) {
  if (!placed) line.add(b.copy(source(shape.size - 1), target));
  for (Rank rank = shape.size - 2; rank >= 0; --rank) line.add(b.reduce(source(rank), target, Side::left));
}

/// Of two ranks: combines the other's cell, from its beginning, into `sum`, where this rank's own data lies after
/// `placed`, in the order of the ranks.
void combine_pair(Writer& b, Line& line, const Shape& shape, std::int32_t cell, Slice sum, Handle placed);

/// Calls step(j, side) for all other ranks j in the order in which their contributions go around mine: the higher ranks
/// upwards, to the right of it, then the lower ones downwards, to the left.
template <class Step>
void around(const Shape& shape, Step step) {
  for (Rank rank = shape.rank + 1; rank < shape.size; ++rank) step(rank, Side::right);
  for (Rank rank = shape.rank - 1; rank >= 0; --rank) step(rank, Side::left);
}

/// How the root of a collective tells the others that it has read their exposed memory: through its cells 0 ... 7,
/// which the others share, so that a late rank holds up few of them.
class Receipts {
 public:
  explicit Receipts(const Shape& shape) : root_(shape.root), size_(shape.size) {}
  std::int32_t cells() const { return std::min(size_ - 1, most_cells); }
  std::int32_t cell(Rank rank) const { return (position(rank, root_, size_) - 1) % cells(); }
  /// The root has read what `rank` exposed when `step` is done.
  void add(Rank rank, Handle step);
  /// The root's cells, after all steps added.
  void publish(Writer& b) const;

 private:
  static constexpr std::int32_t most_cells = 8;
  Rank root_, size_;
  std::array<std::vector<Handle>, most_cells> read_;
};

/// Fan-in of the trees: children of one rank, by level.
inline int radix(const Shape& shape) { return shape.parameters.radix > 1 ? shape.parameters.radix : 8; }

/// A flat tree whose subtrees are ranges of ranks, so that it can combine in their order: the children of `rank`,
/// ascending.
///     radix 3, 8 ranks:   0 <- 1, 2, 3, 6    3 <- 4, 5    6 <- 7
std::vector<Rank> children(Rank rank, Rank size, int radix);

/// Equal blocks that a rank (the writer) has for the ranks behind it, nearest first, as one stream cut into cells:
/// whole blocks to a cell if they fit, else whole cells.
class Stream {
 public:
  Stream(const Shape& shape, Ring ring);

  std::int32_t cells() const { return static_cast<std::int32_t>((total_ + capacity_ - 1) / capacity_); }
  Count size(std::int32_t cell) const { return std::min(capacity_, total_ - cell * capacity_); }
  /// The first and the last cell with elements for the rank `distance` (from 1 on) behind the writer.
  std::int32_t first(Rank distance) const { return static_cast<std::int32_t>((distance - 1) * count_ / capacity_); }
  std::int32_t last(Rank distance) const { return static_cast<std::int32_t>((distance * count_ - 1) / capacity_); }
  /// The nearest and the farthest distance with elements in the cell.
  Rank nearest(std::int32_t cell) const { return static_cast<Rank>(cell * capacity_ / count_) + 1; }
  Rank farthest(std::int32_t cell) const { return static_cast<Rank>((cell * capacity_ + size(cell) - 1) / count_) + 1; }
  /// What the cell holds of the block for that distance: where in the block, where in the cell, how much.
  struct Overlap {
    Count in_block, in_cell, count;
  };
  Overlap overlap(std::int32_t cell, Rank distance) const;

  /// The writer's steps for one cell. `blocks`: one for each rank, in their order.
  void write(Writer& b, Line& line, std::int32_t cell, Slice blocks) const;
  /// A reader's copy from the cell of the rank `distance` before it into its block.
  Handle read(Writer& b, Rank writer, Rank distance, std::int32_t cell, Slice block) const;

 private:
  Rank size_;
  Count count_, total_, capacity_;
};

/// A part of every block of gather(v) but the root's, in pieces through large cells.
struct Pieces {
  std::int32_t first, number;  ///< Its cells.
  Count skip, count;           ///< Its elements.
};
/// Everybody but the root writes them; the root collects them meanwhile, and places all of its own block.
void gather(Writer& b, const Shape& shape, Order& order, const Pieces& pieces);

/// The two sides of a block on its way to the root in one copy, most of it moved by its owner and a share by the root;
/// both take cells 0 and 1. The owner, into what the root has opened, from element `place` on.
void hand_over(Writer& b, const Shape& shape, Slice block, Slice opened, Count place);
/// The root, which has opened `home` and perhaps more.
void fetch_share(Writer& b, const Shape& shape, Rank from, Slice home);

/// Whether the blocks of two ranks, `count` elements at most, go through large cells piece by piece: where a segment
/// was asked for, which says that copying twice, by two cores, is faster than reading from memory; with a radix, up to
/// so many pieces.
inline bool in_pieces(const Shape& shape, Count count) {
  const auto [segment, radix] = shape.parameters;
  if (shape.size != 2 || segment == 0 || fits(shape, Ring::large, Writer::input(0, count))) return false;
  return radix == 0 || count <= radix * std::min(segment, shape.cell.large);
}
/// Of two ranks: `mine` to the other one and `theirs` from it, in pieces. Either may be empty, and both the same place.
/// Both ranks know both counts. Who means others is found out before he takes anything: cell 1 shows how long mine is,
/// and cell 0, where small blocks lie, is empty.
void swap(Writer& b, const Shape& shape, Slice mine, Slice theirs);

/// Scatter and alltoall through the cells of either ring.
plan::Plan scatter(const Shape& shape, Ring ring);
plan::Plan alltoall(const Shape& shape, Ring ring);

}  // namespace tutti::collectives::board
