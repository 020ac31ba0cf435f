// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm the leaders of hosts take among each other. A segment that was asked for means a pipeline.
#include "collectives/compose.hpp"

namespace tutti::collectives {
namespace {

const char* name(Kind kind, const Shape& shape, bool is_long) {
  const bool pipeline = shape.parameters.segment > 0;
  switch (kind) {
    case Kind::barrier:
      return "dissemination";
    case Kind::bcast:
      // Few ranks have no use for blocks: the data follows itself from host to host.
      return pipeline || (is_long && shape.size <= 3) ? "chain" : is_long ? "scatter_allgather" : "binomial";
    case Kind::reduce:
      return pipeline || is_long ? (shape.size <= 8 ? "chain" : "binary") : "binomial";
    case Kind::allreduce:
      if (!is_long) return "recursive_multiplying";
      return !shape.commutative ? "rabenseifner" : pipeline ? "segmented_ring" : "ring";
    case Kind::allgather:
    case Kind::allgatherv:
      return is_long ? "ring" : "bruck";
    case Kind::reduce_scatter_block:
    case Kind::reduce_scatter:
      return !shape.commutative ? "pairwise" : is_long ? "ring" : "recursive_halving";
    case Kind::scan:
    case Kind::exscan:
      return pipeline || is_long ? "chain" : "recursive_doubling";
    case Kind::gather:
    case Kind::scatter:
      return is_long ? "linear" : "binomial";
    default:
      return "linear";
  }
}

}  // namespace

const Algorithm& among_leaders(Kind kind, const Shape& shape, Count large) {
  return *find(kind, name(kind, shape, shape.count > large));
}

}  // namespace tutti::collectives
