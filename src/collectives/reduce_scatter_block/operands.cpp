// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/reduce_scatter_block/operands.hpp"

namespace tutti::collectives::reduce_scatter_block {

Operands::Operands(const Shape& shape) : shape_(shape) {}

Slice Operands::blocks(Rank first, Rank last) const {
  const auto begin = [&](Rank rank) {
    if (shape_.recv_counts.empty()) return rank * shape_.count;
    const auto r = static_cast<std::size_t>(rank);
    return rank < shape_.size ? shape_.recv_offsets[r] : shape_.recv_offsets[r - 1] + shape_.recv_counts[r - 1];
  };
  const Count offset = begin(first), count = begin(last) - offset;
  return shape_.in_place ? Writer::output(offset, count) : Writer::input(offset, count);
}

Slice Operands::sum(Writer& b) const {
  const Slice target = result();
  return !shape_.in_place || block(shape_.rank) == target ? target : b.scratch(target.count);
}

void Operands::read(Slice operands, Handle step) {
  if (step.exists() && shape_.in_place && operands.offset < result().count) reading_.push_back(step);
}

void Operands::finish(Writer& b, Slice sum, const std::vector<Handle>& ready) const {
  overwrite(b.copy(sum, result())).after(ready);
}

}  // namespace tutti::collectives::reduce_scatter_block
