// SPDX-License-Identifier: BSD-3-Clause
// Dissemination: in each round, tell the rank `distance` ahead that everybody between has come; the distance doubles.
// Radix k tells k - 1 ranks a round, 1 ... k - 1 distances ahead, and the distance grows k-fold (n-way dissemination).
// What has come before goes with each message: a send waits for the rounds that reach as far as its receiver needs.
// Hensgen, Finkel, Manber 1988, doi 10.1007/BF01379320; n-way: Hoefler, Mehlan, Mietke, Rehm 2006, Fast Barrier
// Synchronization for InfiniBand. Cost: ceil(log_k P) alpha.
//
//     P = 5    0   1   2   3   4
//     round 0  0>1 1>2 2>3 3>4 4>0
//     round 1  0>2 1>3 2>4 3>0 4>1
//     round 2  0>4 1>0 2>1 3>2 4>3   needs no more than the sender's own arrival
#include "collectives/algorithm.hpp"

namespace tutti::collectives::barrier {

plan::Plan dissemination(const Shape& shape) {
  plan::Builder b(shape.rank, shape.size);
  struct Reach {
    Count distance;  // from there on, who is behind has come
    Handle known;
  };
  std::vector<Reach> reached;
  const Count radix = std::max(shape.parameters.radix, 2);
  for (Count reach = 1; reach < shape.size; reach *= radix) {
    const std::vector<Reach> before = reached;
    for (Count distance = reach; distance < std::min<Count>(reach * radix, shape.size); distance += reach) {
      std::vector<Handle> needed;
      for (const Reach& earlier : before)
        if (earlier.distance < shape.size - distance) needed.push_back(earlier.known);
      const auto step = static_cast<Rank>(distance);
      b.send(rank_at(shape.rank, step, shape.size), b.scratch(0)).after(needed);
      reached.push_back({distance, b.recv(position(shape.rank, step, shape.size), b.scratch(0))});
    }
  }
  return b.build();
}

}  // namespace tutti::collectives::barrier
