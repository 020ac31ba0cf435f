// SPDX-License-Identifier: BSD-3-Clause
#include "job/blocks.hpp"

#include <algorithm>
#include <numeric>
#include <string>
#include <vector>

#include "base/names.hpp"
#include "collectives/collective.hpp"
#include "tutti/error.hpp"

namespace tutti::job {
namespace {

/// What counts count.
const char* unit(const Call& call) { return collectives::has_parts(call.kind) ? " bytes" : " elements"; }

std::string block(const Call& call, std::size_t at) {
  return std::to_string(call.recv_counts[at]) + unit(call) + " of " + partner(call.kind) + " " + std::to_string(at);
}

[[noreturn]] void refuse(const Call& call, const std::string& text) {
  throw Error(Cause::usage, std::string(name_of(call.kind)) + ": " + text);
}

void check_overlap(const Call& call, std::span<const collectives::Edge> sources = {}) {
  if (call.recv_offsets.empty()) return;
  const auto in_order = [&call](std::size_t a, std::size_t b) {
    return call.recv_offsets[b] - call.recv_offsets[a] >= call.recv_counts[a];
  };
  bool ascending = true;
  for (std::size_t r = 1; r < call.recv_counts.size() && ascending; ++r) ascending = in_order(r - 1, r);
  if (ascending) return;  // as most callers' blocks do: nothing to sort
  std::vector<std::size_t> order;
  for (std::size_t r = 0; r < call.recv_counts.size(); ++r)
    if (call.recv_counts[r] > 0 && (sources.empty() || sources[r].exists())) order.push_back(r);
  std::ranges::sort(order, {}, [&](std::size_t r) { return call.recv_offsets[r]; });
  for (std::size_t i = 1; i < order.size(); ++i)
    if (!in_order(order[i - 1], order[i]))
      refuse(call, "the " + block(call, order[i - 1]) + " at " + std::to_string(call.recv_offsets[order[i - 1]]) +
                       " overlap the " + block(call, order[i]) + " at " + std::to_string(call.recv_offsets[order[i]]) +
                       "; what is received needs a place of its own");
}

void check_own(const Call& call, Count gives, Count takes) {
  if (gives == takes) return;
  refuse(call, "this rank gives itself " + std::to_string(gives) + unit(call) + " and takes " + std::to_string(takes) +
                   " from itself; make them equal");
}

}  // namespace

const char* partner(Kind kind) { return collectives::has_neighbors(kind) ? "neighbour" : "rank"; }

void check_blocks(const Call& call, Rank rank, std::span<const collectives::Edge> sources) {
  const auto own = static_cast<std::size_t>(rank);
  const bool root = rank == call.root;
  switch (call.kind) {
    case Kind::gatherv:
      if (!root) return;
      check_overlap(call);
      if (!call.in_place) check_own(call, call.send_counts[0], call.recv_counts[own]);
      return;
    case Kind::scatterv:
      if (root && !call.in_place) check_own(call, call.send_counts[own], call.recv_counts[0]);
      return;
    case Kind::alltoallv:
    case Kind::alltoallw:
      check_overlap(call);
      if (!call.in_place) check_own(call, call.send_counts[own], call.recv_counts[own]);
      return;
    case Kind::allgatherv:
      check_overlap(call);
      return;
    case Kind::neighbor_allgatherv:
    case Kind::neighbor_alltoallv:
    case Kind::neighbor_alltoallw:
      check_overlap(call, sources);
      return;
    default:
      return;
  }
}

Count total(std::span<const Count> counts) { return std::accumulate(counts.begin(), counts.end(), Count{0}); }

}  // namespace tutti::job
