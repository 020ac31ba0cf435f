// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/alltoall/exchange.hpp"

namespace tutti::collectives::alltoall {

Outgoing outgoing(Writer& b, const Shape& shape) {
  Outgoing result;
  for (Rank rank = 0; rank < shape.size; ++rank) {
    const Slice home = output_block(shape, rank);
    if (rank == shape.rank) {
      result.block.push_back(shape.in_place ? home : input_block(shape, rank));
      result.ready.push_back(b.copy(result.block.back(), home));
    } else if (shape.in_place) {
      result.block.push_back(b.scratch(home.count));
      result.ready.push_back(b.copy(home, result.block.back()));
    } else {
      result.block.push_back(input_block(shape, rank));
      result.ready.emplace_back();
    }
  }
  return result;
}

}  // namespace tutti::collectives::alltoall
