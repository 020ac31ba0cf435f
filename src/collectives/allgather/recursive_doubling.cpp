// SPDX-License-Identifier: BSD-3-Clause
// Recursive doubling: pairs exchange all the blocks they have; the distance doubles. Latency, for powers of two.
// Thakur, Rabenseifner, Gropp 2005, doi 10.1177/1094342005051521. Cost: log2 P alpha + (P - 1) beta n.
//
//     P = 4      0      1      2      3
//     start      0      1      2      3
//     round 0    01     01     23     23
//     round 1    0123   0123   0123   0123
#include "collectives/algorithm.hpp"

namespace tutti::collectives::allgather {

plan::Plan recursive_doubling(const Shape& shape) {
  Writer b(shape);
  const Slice home = output_block(shape, shape.rank);
  const auto group = [&](Rank rank, Rank distance) {  // blocks of the aligned ranks around `rank`
    return all_output(shape).part((rank & -distance) * shape.count, distance * shape.count);
  };
  std::vector<Handle> have{b.copy(contribution(shape, home), home)};
  for (Rank distance = 1; distance < shape.size; distance *= 2) {
    const Rank other = shape.rank ^ distance;
    b.send(other, group(shape.rank, distance)).after(have);
    have.push_back(b.recv(other, group(other, distance)));
  }
  return b.build();
}

}  // namespace tutti::collectives::allgather
