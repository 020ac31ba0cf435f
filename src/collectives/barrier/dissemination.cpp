// SPDX-License-Identifier: BSD-3-Clause
// Dissemination: in each round, tell the rank `distance` ahead that everybody between has come; the distance doubles.
// What has come before goes with each message: a send waits for the rounds that reach as far as its receiver needs.
// Hensgen, Finkel, Manber 1988, doi 10.1007/BF01379320. Cost: ceil(log2 P) alpha.
//
//     P = 5    0   1   2   3   4
//     round 0  0>1 1>2 2>3 3>4 4>0
//     round 1  0>2 1>3 2>4 3>0 4>1
//     round 2  0>4 1>0 2>1 3>2 4>3   needs no more than the sender's own arrival
#include "collectives/algorithm.hpp"

namespace tutti::collectives::barrier {

plan::Plan dissemination(const Shape& shape) {
  plan::Builder b(shape.rank, shape.size);
  std::vector<Handle> reached;  // of round k: who is 2^k to 2^(k+1) - 1 behind has come
  for (Count distance = 1; distance < shape.size; distance *= 2) {
    std::vector<Handle> needed;
    for (std::size_t k = 0; k < reached.size() && (Count{1} << k) < shape.size - distance; ++k)
      needed.push_back(reached[k]);
    const auto step = static_cast<Rank>(distance);
    b.send(rank_at(shape.rank, step, shape.size), b.scratch(0)).after(needed);
    reached.push_back(b.recv(position(shape.rank, step, shape.size), b.scratch(0)));
  }
  return b.build();
}

}  // namespace tutti::collectives::barrier
