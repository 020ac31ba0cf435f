// SPDX-License-Identifier: BSD-3-Clause
// Where blocks lie: in input and output, in place or not, with equal counts or counts of their own.
#pragma once

#include <algorithm>
#include <vector>

#include "collectives/collective.hpp"
#include "collectives/tree.hpp"
#include "collectives/writer.hpp"

namespace tutti::collectives {

/// The block for `rank` in the input of scatter(v) and alltoall(v).
inline Slice input_block(const Shape& shape, Rank rank) {
  if (shape.send_counts.empty()) return Writer::input(rank * shape.count, shape.count);
  const auto r = static_cast<std::size_t>(rank);
  return Writer::input(shape.send_offsets[r], shape.send_counts[r]);
}

/// The block of `rank` in the output of gather(v), allgather(v) and alltoall(v).
inline Slice output_block(const Shape& shape, Rank rank) {
  if (shape.recv_counts.empty()) return Writer::output(rank * shape.count, shape.count);
  const auto r = static_cast<std::size_t>(rank);
  return Writer::output(shape.recv_offsets[r], shape.recv_counts[r]);
}

/// How long the longest output block is.
inline Count largest_block(const Shape& shape) {
  return shape.recv_counts.empty() ? shape.count : std::ranges::max(shape.recv_counts);
}

/// A rank's own block of alltoall(v): in place it stays where it is.
inline void move_own_block(Writer& b, const Shape& shape) {
  if (!shape.in_place) b.copy(input_block(shape, shape.rank), output_block(shape, shape.rank));
}

/// The blocks of all ranks, of either kind.
inline std::vector<Slice> every(const Shape& shape, Slice (*block)(const Shape&, Rank)) {
  std::vector<Slice> blocks;
  for (Rank rank = 0; rank < shape.size; ++rank) blocks.push_back(block(shape, rank));
  return blocks;
}

/// All I contribute to gather(v), where the root alone may be in place.
inline Slice my_input(const Shape& shape) {
  return Writer::input(0, shape.send_counts.empty() ? shape.count : shape.send_counts[0]);
}

/// All I receive from scatter(v).
inline Slice my_output(const Shape& shape) {
  return Writer::output(0, shape.recv_counts.empty() ? shape.count : shape.recv_counts[0]);
}

/// My block, which belongs at `home` in the output of gather(v) and allgather(v): in place it lies there already.
inline Slice contribution(const Shape& shape, Slice home) {
  return shape.in_place ? home : Writer::input(0, home.count);
}

/// The root's own block of gather(v): in place it lies in the output already.
inline void place_own_block(Writer& b, const Shape& shape) {
  const Slice home = output_block(shape, shape.rank);
  b.copy(contribution(shape, home), home);
}

/// The root's own block of scatter(v): in place it stays in the input.
inline void keep_own_block(Writer& b, const Shape& shape) {
  if (!shape.in_place) b.copy(input_block(shape, shape.rank), my_output(shape));
}

/// Where a child's blocks lie in a parcel that holds the blocks of a whole subtree, one a position.
inline Slice of_branch(Slice parcel, const Tree& tree, const Branch& child) {
  const Count block = parcel.count / tree.here.size();
  return parcel.part((child.begin - tree.here.begin) * block, child.size() * block);
}

/// My part of a reduction whose result belongs at `result` in the output: the same range of the input, or in place.
inline Slice operand(const Shape& shape, Slice result) {
  return shape.in_place ? result : Writer::input(result.offset, result.count);
}

/// The whole output of bcast, reduce and allreduce.
inline Slice whole(const Shape& shape) { return Writer::output(0, shape.count); }

/// The whole input or output that holds one block of `count` elements a rank.
inline Slice all_input(const Shape& shape) { return Writer::input(0, shape.size * shape.count); }
inline Slice all_output(const Shape& shape) { return Writer::output(0, shape.size * shape.count); }

/// Blocks [first, last) of `whole` cut into `parts` blocks whose counts differ by at most one.
inline Slice blocks(Slice whole, Rank first, Rank last, Rank parts) {
  const auto begin = [&](Rank part) {
    return part * (whole.count / parts) + std::min<Count>(part, whole.count % parts);
  };
  return whole.part(begin(first), begin(last) - begin(first));
}

/// `whole` cut into `parts` such blocks.
inline std::vector<Slice> cut(Slice whole, Rank parts) {
  std::vector<Slice> result;
  for (Rank part = 0; part < parts; ++part) result.push_back(blocks(whole, part, part + 1, parts));
  return result;
}

/// `whole` in segments of `segment` elements; the last may be shorter.
inline std::vector<Slice> segments(Slice whole, Count segment) {
  std::vector<Slice> result;
  for (Count first = 0; first < whole.count; first += segment)
    result.push_back(whole.part(first, std::min(segment, whole.count - first)));
  return result;
}

/// The agreed segment of a pipeline: the caller's, or one long enough to pay for its message and for a plan of bounded
/// length. Where neither links nor transport say, but cells say how long an element is, that is 4 KiB, a sixteenth of a
/// large cell.
inline Count segment_of(const Shape& shape) {
  constexpr Count most = 128;
  const Count shortest = shape.least_segment > 0 ? shape.least_segment
                         : shape.cell.large > 0  ? std::max<Count>(shape.cell.large / 16, 1)
                                                 : 8192;
  return shape.parameters.segment > 0 ? shape.parameters.segment : std::max(shortest, shape.count / most + 1);
}

}  // namespace tutti::collectives
