// SPDX-License-Identifier: BSD-3-Clause
// Which algorithm the leaders of hosts take among each other. A segment that was asked for means a pipeline, as does
// more than one of those that slow links ask for; a radix means a tree of it: fewest messages. (Of an alltoallv it is
// how many rounds are under way. Leaders of hosts of different size may choose differently there: both send the same.)
#include "collectives/blocks.hpp"
#include "collectives/compose.hpp"

namespace tutti::collectives {
namespace {

const char* name(Kind kind, const Shape& shape, Count large) {
  const Count block = largest_block(shape);
  const bool slow = shape.least_segment > 0 && shape.least_segment < large && block > shape.least_segment;
  const bool pipeline = shape.parameters.segment > 0 || slow, is_long = block > large, in_parts = slow || is_long;
  const bool few = shape.size <= 8, tree = shape.parameters.radix > 0;
  switch (kind) {
    case Kind::barrier:
      return tree ? "tree" : "dissemination";
    case Kind::bcast:
      if (pipeline) return few ? "chain" : "two_trees";
      // Two or three ranks have no use for blocks: the data follows itself from host to host.
      return !is_long ? "binomial" : shape.size <= 3 ? "chain" : "scatter_allgather";
    case Kind::reduce:
      if (!pipeline && !is_long) return "binomial";
      return few ? "chain" : shape.commutative ? "two_trees" : "binary";
    case Kind::allreduce:
      if (!in_parts) return tree ? "reduce_bcast" : "recursive_multiplying";
      return !is_long || !shape.commutative ? "rabenseifner" : pipeline ? "segmented_ring" : "ring";
    case Kind::allgather:
    case Kind::allgatherv:
      return in_parts ? "ring" : tree && kind == Kind::allgather ? "gather_bcast" : "bruck";
    case Kind::reduce_scatter_block:
    case Kind::reduce_scatter:
      return !shape.commutative ? "pairwise" : in_parts ? "ring" : "circulant";
    case Kind::scan:
    case Kind::exscan:
      return pipeline || is_long ? "chain" : "recursive_doubling";
    case Kind::gather:
    case Kind::scatter:
      return in_parts ? "linear" : "binomial";
    case Kind::alltoallv:
      return in_parts ? "pairwise" : "linear";
    default:
      return "linear";
  }
}

}  // namespace

const Algorithm& among_leaders(Kind kind, const Shape& shape, Count large) {
  return *find(kind, name(kind, shape, large));
}

}  // namespace tutti::collectives
