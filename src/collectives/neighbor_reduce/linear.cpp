// SPDX-License-Identifier: BSD-3-Clause
// Linear: everybody sends its data once to each neighbour, however many edges lead there; each combines what comes in
// the order of its edges. Cost: neighbours (alpha + beta n + gamma n), whatever the number of ranks.
//
//     a ring of 3    0 > 2 1    1 > 0 2    2 > 1 0        0: 2 op 1    1: 0 op 2    2: 1 op 0
#include "collectives/along_edges.hpp"

namespace tutti::collectives::neighbor_reduce {

plan::Plan linear(const Shape& shape) {
  Writer b(shape);
  const Slice mine = my_input(shape);
  for (const edges::Other& destination : edges::others(shape, shape.destinations)) b.send(destination.rank, mine);
  // What is combined more than once waits in scratch memory.
  std::vector<edges::Given> given;
  for (const edges::Other& source : edges::others(shape, shape.sources)) {
    if (source.slots.size() == 1) continue;
    const Slice place = b.scratch(shape.count);
    given.push_back({source.rank, place, b.recv(source.rank, place)});
  }
  edges::combine(b, shape, whole(shape), given);
  return b.build();
}

}  // namespace tutti::collectives::neighbor_reduce
