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

bool gathers(const Problem& problem) {
  return problem.kind == Kind::neighbor_allgather || problem.kind == Kind::neighbor_allgatherv;
}

/// Elements that `rank` sends along its edge `slot`.
Count along_edge(const Problem& problem, Rank rank, std::int32_t slot) {
  if (!get(problem.kind).varying) return problem.count;
  const Rank at = gathers(problem) ? rank : (rank + slot) % problem.size;
  return problem.counts.at(static_cast<std::size_t>(at));
}

const Neighbors& neighbors_of(const Problem& problem, Rank rank) {
  return problem.neighbors.at(static_cast<std::size_t>(rank));
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

Layout sent_to_neighbors(const Problem& problem, Rank rank) {
  std::vector<Count> counts;
  const auto edges = gathers(problem) ? 1 : static_cast<std::int32_t>(neighbors_of(problem, rank).destinations.size());
  for (std::int32_t slot = 0; slot < edges; ++slot) counts.push_back(along_edge(problem, rank, slot));
  return lay_out(std::move(counts), gathers(problem) ? 0 : problem.gap);
}

Layout received_from_neighbors(const Problem& problem, Rank rank) {
  std::vector<Count> counts;
  for (const Edge& edge : neighbors_of(problem, rank).sources)
    counts.push_back(edge.exists() ? along_edge(problem, edge.rank, edge.slot) : along_edge(problem, rank, 0));
  return lay_out(std::move(counts), problem.gap);
}

plan::Contract along_edges(const Problem& problem) {
  plan::Contract contract = nothing(problem);
  for (Rank rank = 0; rank < problem.size; ++rank) {
    plan::Promise& promise = contract.ranks[static_cast<std::size_t>(rank)];
    const Layout mine = sent_to_neighbors(problem, rank), received = received_from_neighbors(problem, rank);
    promise.input = mine.extent;
    promise.output = received.extent;
    for (Rank slot = 0; slot < static_cast<Rank>(mine.counts.size()); ++slot)
      hold(promise.before, plan::Buffer::input, mine.offset(slot), mine.count(slot), {rank, mine.offset(slot)});
    const std::vector<Edge>& sources = neighbors_of(problem, rank).sources;
    for (Rank slot = 0; slot < static_cast<Rank>(sources.size()); ++slot) {
      const Edge& edge = sources[static_cast<std::size_t>(slot)];
      if (!edge.exists()) continue;
      const Count from = gathers(problem) ? 0 : sent_to_neighbors(problem, edge.rank).offset(edge.slot);
      hold(promise.after, plan::Buffer::output, received.offset(slot), received.count(slot), {edge.rank, from});
    }
  }
  return contract;
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
