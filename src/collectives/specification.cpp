// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/specification.hpp"

#include <algorithm>
#include <utility>

namespace tutti::collectives {
namespace {

Layout lay_out(std::vector<Count> counts, Count gap) {
  Layout layout{std::move(counts), {}, gap};
  for (const Count count : layout.counts) {
    layout.offsets.push_back(layout.extent);
    layout.extent += count + gap;
  }
  return layout;
}

Layout equal_blocks(const Problem& problem) {
  return lay_out(std::vector<Count>(static_cast<std::size_t>(problem.size), problem.count), 0);
}

Count from_matrix(const Problem& problem, Rank sender, Rank receiver) {
  if (problem.in_place && receiver < sender) std::swap(sender, receiver);
  return problem.counts.at(static_cast<std::size_t>(sender) * static_cast<std::size_t>(problem.size) +
                           static_cast<std::size_t>(receiver));
}

template <class CountOf>
Layout blocks_of_matrix(const Problem& problem, CountOf count_of) {
  if (!get(problem.kind).varying) return equal_blocks(problem);
  std::vector<Count> counts;
  for (Rank other = 0; other < problem.size; ++other) counts.push_back(count_of(other));
  return lay_out(std::move(counts), problem.gap);
}

}  // namespace

Layout blocks_of_all(const Problem& problem) {
  return get(problem.kind).varying ? lay_out(problem.counts, has_gaps(problem.kind) ? problem.gap : 0)
                                   : equal_blocks(problem);
}

Layout sent_by(const Problem& problem, Rank rank) {
  return blocks_of_matrix(problem, [&](Rank other) { return from_matrix(problem, rank, other); });
}

Layout received_by(const Problem& problem, Rank rank) {
  return blocks_of_matrix(problem, [&](Rank other) { return from_matrix(problem, other, rank); });
}

plan::Contract nothing(const Problem& problem) {
  return {std::vector<plan::Promise>(static_cast<std::size_t>(problem.size)), problem.commutative};
}

void hold(std::vector<plan::Piece>& pieces, plan::Buffer buffer, Count offset, Count count, plan::Contribution data) {
  if (count > 0) pieces.push_back({buffer, offset, count, {data}});
}

void contribute(plan::Promise& promise, Rank rank, Count count, bool in_place, Count home) {
  if (in_place) return hold(promise.before, plan::Buffer::output, home, count, {rank, 0});
  promise.input = count;
  hold(promise.before, plan::Buffer::input, 0, count, {rank, 0});
}

plan::Value combined(Rank ranks, Count from) {
  plan::Value value;
  for (Rank rank = 0; rank < ranks; ++rank) value.push_back({rank, from});
  return value;
}

}  // namespace tutti::collectives
