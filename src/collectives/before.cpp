// SPDX-License-Identifier: BSD-3-Clause
// What lies in a rank's output before the collective, as its specification has it, from what the rank itself knows.
#include <numeric>

#include "collectives/blocks.hpp"

namespace tutti::collectives {

std::vector<Slice> output_before(Kind kind, const Shape& shape) {
  if (kind == Kind::bcast && shape.rank == shape.root) return {whole(shape)};
  if (!shape.in_place) return {};
  switch (kind) {
    case Kind::reduce:
    case Kind::allreduce:
    case Kind::scan:
    case Kind::exscan:
      return {whole(shape)};
    case Kind::gather:
    case Kind::gatherv:
    case Kind::allgather:
    case Kind::allgatherv:
      return {output_block(shape, shape.rank)};
    case Kind::reduce_scatter_block:
      return {all_output(shape)};
    case Kind::reduce_scatter:
      return {Writer::output(0, std::accumulate(shape.recv_counts.begin(), shape.recv_counts.end(), Count{0}))};
    case Kind::alltoall:
    case Kind::alltoallv:
    case Kind::alltoallw: {
      std::vector<Slice> blocks;
      for (Rank rank = 0; rank < shape.size; ++rank) blocks.push_back(output_block(shape, rank));
      return blocks;
    }
    default:
      return {};
  }
}

}  // namespace tutti::collectives
