// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/board.hpp"

namespace tutti::collectives::board {

std::int32_t pieces(const Shape& shape, Ring ring, Count count) {
  const Count cell = capacity(shape, ring);
  Count size = cell;
  if (shape.parameters.segment > 0)
    size = std::min(shape.parameters.segment, cell);
  else if (ring == Ring::large)
    size = std::clamp(count / 4, std::max<Count>(cell / 4, 1), cell);
  return static_cast<std::int32_t>((count + size - 1) / size);
}

Order::Order(Writer& b, Ring ring, std::int32_t cells, Handle start)
    : b_(b), start_(start), line_(start), free_(start), batch_(ahead(ring)) {
  // A batch is released if its first cell is taken again.
  const std::int32_t reused = std::max(cells - ring_length[ring], 0);
  last_release_ = (reused + batch_ - 1) / batch_ * batch_ - 1;
}

Line& Order::of(std::int32_t cell) {
  if (cell <= last_release_) return line_;
  free_ = Line(start_);
  return free_;
}

void Order::finish(std::int32_t cell) {
  if (cell <= last_release_ && cell % batch_ == batch_ - 1) line_.add(b_.release(cell));
}

Handle put(Writer& b, Line& line, std::int32_t cell, Slice content) {
  const Slice mine = Writer::shared(b.rank(), cell, 0, content.count);
  const Handle written = line.add(b.copy(content, mine));
  line.add(b.publish(cell, mine));
  return written;
}

Handle take(Writer& b, Line& line, Slice content, Slice target) {
  line.add(b.await(content.owner, content.cell, content.count));
  return line.add(b.copy(content, target));
}

Handle offer(Writer& b, Line& line, const Shape& shape, Ring ring, std::int32_t cell, Slice block) {
  return fits(shape, ring, block) ? put(b, line, cell, block) : line.add(b.publish(cell, block));
}

void combine_pair(Writer& b, Line& line, const Shape& shape, std::int32_t cell, Slice sum, Handle placed) {
  const Slice theirs = Writer::shared(1 - shape.rank, cell, 0, sum.count);
  line.add(b.await(theirs.owner, cell, theirs.count));
  line.add(b.reduce(theirs, sum, shape.rank == 0 ? Side::right : Side::left)).after(placed);
}

void swap(Writer& b, const Shape& shape, Slice mine, Slice theirs) {
  constexpr Ring ring = Ring::large;
  constexpr std::int32_t first = 2;
  const Rank other = 1 - shape.rank;
  const std::int32_t number = pieces(shape, ring, std::max(mine.count, theirs.count)), cells = first + number;
  b.use(ring, cells);
  Line agreed;
  if (mine.count > 0) {
    agreed.add(b.publish(0, nothing(shape.rank, 0)));
    agreed.add(b.publish(1, mine));
  }
  if (theirs.count > 0) agreed.add(b.await(other, 1, theirs.count));
  Order order(b, ring, cells, agreed.last());
  std::vector<Handle> written(static_cast<std::size_t>(cells));
  const auto piece = [&](Slice block, std::int32_t cell) { return part_of(block, cell - first, number); };
  const auto write = [&](std::int32_t cell) {
    if (const Slice part = piece(mine, cell); part.count > 0)
      written[static_cast<std::size_t>(cell)] = put(b, order.of(cell), cell, part);
  };
  const auto read = [&](std::int32_t cell) {
    if (const Slice home = piece(theirs, cell); home.count > 0)
      take(b, order.of(cell), Writer::shared(other, cell, 0, home.count), home)
          .after(written[static_cast<std::size_t>(cell)]);
  };
  order.run(first, cells, write, read);
}

Count exposed_segment(const Shape& shape, Count count) {
  constexpr Count most = 128;
  if (shape.parameters.segment > 0) return shape.parameters.segment;
  return std::max(16 * capacity(shape, Ring::large), count / most + 1);
}

std::vector<Handle> combine_exposed(Writer& b, const Shape& shape, Slice mine, Slice share, Slice target) {
  const Handle seen = b.await(everyone, 0, mine.count);
  std::vector<Handle> combined;
  for (const Slice part : segments(share, exposed_segment(shape, share.count))) {
    const Slice sum = target.part(part.offset - share.offset, part.count);
    Line line(seen);
    bool placed = part == sum;  // in place
    around(shape, [&](Rank rank, Side side) {
      const Slice theirs = Writer::exposed(rank, 0, part.offset - mine.offset, part.count);
      if (placed) {
        line.add(b.reduce(theirs, sum, side));
        return;
      }
      // Fetched to where the sum shall be, it is moved once less than through a buffer.
      line.add(b.copy(theirs, sum));
      line.add(b.reduce(part, sum, side == Side::right ? Side::left : Side::right));
      placed = true;
    });
    combined.push_back(line.last());
  }
  return combined;
}

void Receipts::add(Rank rank, Handle step) { read_[static_cast<std::size_t>(cell(rank))].push_back(step); }

void Receipts::publish(Writer& b) const {
  for (std::int32_t cell = 0; cell < cells(); ++cell)
    if (!read_[static_cast<std::size_t>(cell)].empty())
      b.publish(cell, nothing(b.rank(), cell)).after(read_[static_cast<std::size_t>(cell)]);
}

std::vector<Rank> children(Rank rank, Rank size, int radix) {
  std::vector<Rank> found;
  for (std::int64_t step = 1; step < size && rank % (step * radix) == 0; step *= radix)
    for (std::int64_t child = rank + step; child < std::min<std::int64_t>(rank + step * radix, size); child += step)
      found.push_back(static_cast<Rank>(child));
  return found;
}

Stream::Stream(const Shape& shape, Ring ring)
    : size_(shape.size), count_(shape.count), total_((shape.size - 1) * shape.count), capacity_(capacity(shape, ring)) {
  if (count_ <= capacity_) capacity_ = capacity_ / count_ * count_;
}

Stream::Overlap Stream::overlap(std::int32_t cell, Rank distance) const {
  const Count block = (distance - 1) * count_, begin = cell * capacity_;
  const Count from = std::max(block, begin), to = std::min(block + count_, begin + size(cell));
  return {from - block, from - begin, to - from};
}

void Stream::write(Writer& b, Line& line, std::int32_t cell, Slice blocks) const {
  for (Rank distance = nearest(cell); distance <= farthest(cell);) {
    // Blocks of neighbouring ranks lie side by side, up to the highest rank.
    const Rank to = (b.rank() + distance) % size_;
    const Rank end = std::min(distance + size_ - 1 - to, farthest(cell));
    const Overlap from = overlap(cell, distance), until = overlap(cell, end);
    const Count count = until.in_cell + until.count - from.in_cell;
    line.add(
        b.copy(blocks.part(to * count_ + from.in_block, count), Writer::shared(b.rank(), cell, from.in_cell, count)));
    distance = end + 1;
  }
  line.add(b.publish(cell, Writer::shared(b.rank(), cell, 0, size(cell))));
}

Handle Stream::read(Writer& b, Rank writer, Rank distance, std::int32_t cell, Slice block) const {
  const Overlap part = overlap(cell, distance);
  return b.copy(Writer::shared(writer, cell, part.in_cell, part.count), block.part(part.in_block, part.count));
}

}  // namespace tutti::collectives::board
