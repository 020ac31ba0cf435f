// SPDX-License-Identifier: BSD-3-Clause
// Bine tree: a binomial tree whose messages stay nearer to each other on a ring of ranks (swing.hpp). Its subtrees are
// no ranges of ranks, so the operation must commute. Latency, where far ranks are many hops or a narrow link away.
// Cost: ceil(log2 P) (alpha + beta n + gamma n), over two thirds of the binomial tree's ways.
#include "collectives/reduce/along.hpp"
#include "collectives/swing.hpp"

namespace tutti::collectives::reduce {

plan::Plan bine(const Shape& shape) {
  Writer b(shape);
  along(b, shape, bine_tree(shape.rank, shape.root, shape.size), whole(shape));
  return b.build();
}

}  // namespace tutti::collectives::reduce
