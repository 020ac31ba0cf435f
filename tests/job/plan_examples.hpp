// SPDX-License-Identifier: BSD-3-Clause
// Plans that a user might build, for tests.
#pragma once

#include <vector>

#include "tutti/plan.hpp"

namespace tutti::examples {

using Side = PlanBuilder::Side;
using Step = PlanBuilder::Step;

/// After round k everybody has heard of the 2^(k+1) ranks before it.
inline Plan dissemination(Rank rank, Rank size) {
  PlanBuilder plan("dissemination", rank, size, {});
  for (Rank distance = 1; distance < size; distance *= 2) {
    plan.send((rank + distance) % size, plan.in(0, 0));
    plan.recv((rank - distance + size) % size, plan.out(0, 0));
    plan.round();
  }
  return plan.commit();
}

/// A sum that goes around twice: once combined block by block, once handed on. Only edges, no rounds.
inline Plan ring(Rank rank, Rank size, Count count) {
  PlanBuilder plan("ring", rank, size, {.in = count, .out = count});
  const auto block = [&](Rank number) {
    const Rank which = (number % size + size) % size;
    const Count begin = count * which / size, end = count * (which + 1) / size;
    return plan.out(begin, end - begin);
  };
  const Rank next = (rank + 1) % size, previous = (rank + size - 1) % size;
  Step have = plan.copy(plan.in(), plan.out());
  std::vector<Step> sent;  // a block is written again when it has gone
  for (Rank i = 0; i < size - 1; ++i) {
    sent.push_back(plan.send(next, block(rank - i)).after(have));
    have = plan.recv_reduce(previous, block(rank - i - 1)).after(have);
  }
  for (Rank i = 0; i < size - 1; ++i) {
    plan.send(next, block(rank + 1 - i)).after(have);
    have = plan.recv(previous, block(rank - i)).after({have, sent[static_cast<std::size_t>(i)]});
  }
  return plan.commit();
}

/// Everybody's element combined in the order of the ranks, at rank 0, by a chain; then handed on along it. `half`:
/// two chains, for the two halves of the elements, so that steps of both run at the same time.
inline Plan chain(Rank rank, Rank size, Count count) {
  PlanBuilder plan("chain", rank, size, {.in = count, .out = count});
  for (const Count half : {Count{0}, Count{1}}) {
    const Count begin = half * (count / 2), length = half == 0 ? count / 2 : count - count / 2;
    const auto mine = plan.out(begin, length);
    Step have = plan.copy(plan.in(begin, length), mine);
    if (rank + 1 < size) have = plan.recv_reduce(rank + 1, mine, Side::right).after(have);
    if (rank > 0) {
      have = plan.send(rank - 1, mine).after(have);
      have = plan.recv(rank - 1, mine).after(have);
    }
    if (rank + 1 < size) plan.send(rank + 1, mine).after(have);
  }
  return plan.commit();
}

/// Everybody gets its neighbours' elements, by way of scratch; steps of the second round name steps of the first.
inline Plan neighbours(Rank rank, Rank size) {
  PlanBuilder plan("neighbours", rank, size, {.in = 1, .out = 2});
  const auto left = plan.scratch(1), right = plan.scratch(1);
  const Rank next = (rank + 1) % size, previous = (rank + size - 1) % size;
  Step from_left, from_right;
  if (size > 1) {
    plan.send(next, plan.in());
    plan.send(previous, plan.in());
    from_left = plan.recv(previous, left);
    from_right = plan.recv(next, right);
  } else {
    from_left = plan.copy(plan.in(), left);
    from_right = plan.copy(plan.in(), right);
  }
  plan.round();
  plan.copy(left, plan.out(0, 1)).after({from_left, from_right});
  plan.copy(right, plan.out(1, 1));
  return plan.commit();
}

/// The sum of all at rank 0 into `out` alone: no `in`.
inline Plan star(Rank rank, Rank size, Count count) {
  PlanBuilder plan("star", rank, size, {.out = count});
  Step last;
  for (Rank other = 1; rank == 0 && other < size; ++other)
    last = plan.recv_reduce(other, plan.out(), Side::right).after(last);
  if (rank != 0) plan.send(0, plan.out());
  return plan.commit();
}

}  // namespace tutti::examples
