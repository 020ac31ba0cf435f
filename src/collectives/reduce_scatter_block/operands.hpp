// SPDX-License-Identifier: BSD-3-Clause
// What the algorithms of reduce_scatter(_block) share: where the operands lie, and when the result may be written.
#pragma once

#include "collectives/algorithm.hpp"
#include "collectives/blocks.hpp"

namespace tutti::collectives::reduce_scatter_block {

/// My operands: one block for each rank, side by side in the input. In place they lie in the output, and the result
/// goes to its beginning, over operands that are for others.
class Operands {
 public:
  explicit Operands(const Shape& shape);

  /// The blocks for ranks first ... last - 1.
  Slice blocks(Rank first, Rank last) const;
  Slice block(Rank rank) const { return blocks(rank, rank + 1); }
  Slice all() const { return blocks(0, shape_.size); }
  Count largest() const { return largest_block(shape_); }
  /// My block of the result.
  Slice result() const { return Writer::output(0, block(shape_.rank).count); }

  /// Where my block may be combined while operands are still read: in the result itself if nothing of others lies
  /// there, else in scratch.
  Slice sum(Writer& b) const;
  /// `step` reads these operands.
  void read(Slice operands, Handle step);
  /// `step` writes the result, when what lies there has been read.
  Handle overwrite(Handle step) const { return step.after(reading_); }
  /// Brings the sum, which is there after all of `ready`, to the result, when what lies there has been read.
  void finish(Writer& b, Slice sum, const std::vector<Handle>& ready) const;

 private:
  const Shape& shape_;
  std::vector<Handle> reading_;  // in place: who reads what the result is written over
};

}  // namespace tutti::collectives::reduce_scatter_block
