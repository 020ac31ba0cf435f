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
  return std::to_string(call.recv_counts[at]) + unit(call) +
         (collectives::has_neighbors(call.kind) ? " of neighbour " : " of rank ") + std::to_string(at);
}

[[noreturn]] void refuse(const Call& call, const std::string& text) {
  throw Error(Cause::usage, std::string(name_of(call.kind)) + ": " + text);
}

/// Whether block b begins where nothing of block a is. Numbers below zero are left to the planner.
bool apart(const Call& call, std::size_t a, std::size_t b) {
  const Count begin = call.recv_offsets[a], length = call.recv_counts[a];
  const Count next = call.recv_offsets[b];
  return length <= 0 || call.recv_counts[b] <= 0 || begin < 0 || next < 0 || next - begin >= length;
}

void check_overlap(const Call& call, std::size_t size) {
  if (call.recv_offsets.size() < size || call.recv_counts.size() < size) return;
  bool ordered = true;
  for (std::size_t r = 1; r < size && ordered; ++r) ordered = apart(call, r - 1, r);
  // Most callers' blocks ascend, and none is empty: nothing to sort.
  if (ordered && std::ranges::none_of(call.recv_counts.first(size), [](Count count) { return count <= 0; })) return;
  std::vector<std::size_t> order;
  for (std::size_t r = 0; r < size; ++r)
    if (call.recv_counts[r] > 0) order.push_back(r);
  std::ranges::sort(order, {}, [&](std::size_t r) { return call.recv_offsets[r]; });
  for (std::size_t i = 1; i < order.size(); ++i)
    if (!apart(call, order[i - 1], order[i]))
      refuse(call, "the " + block(call, order[i - 1]) + " at " + std::to_string(call.recv_offsets[order[i - 1]]) +
                       " overlap the " + block(call, order[i]) + " at " + std::to_string(call.recv_offsets[order[i]]) +
                       "; what is received needs a place of its own");
}

void check_own(const Call& call, Count gives, Count takes) {
  if (call.in_place || gives == takes) return;
  refuse(call, "this rank gives itself " + std::to_string(gives) + unit(call) + " and takes " + std::to_string(takes) +
                   " from itself; make them equal");
}

}  // namespace

void check_blocks(const Call& call, Rank rank, Rank size) {
  const auto own = static_cast<std::size_t>(rank), group = static_cast<std::size_t>(size);
  const bool root = rank == call.root;
  const bool sends = call.send_counts.size() > own, receives = call.recv_counts.size() > own;
  switch (call.kind) {
    case Kind::gatherv:
      if (!root) return;
      check_overlap(call, group);
      if (receives && !call.send_counts.empty()) check_own(call, call.send_counts[0], call.recv_counts[own]);
      return;
    case Kind::scatterv:
      if (root && sends && !call.recv_counts.empty()) check_own(call, call.send_counts[own], call.recv_counts[0]);
      return;
    case Kind::alltoallv:
    case Kind::alltoallw:
      check_overlap(call, group);
      if (sends && receives) check_own(call, call.send_counts[own], call.recv_counts[own]);
      return;
    case Kind::allgatherv:
      check_overlap(call, group);
      return;
    case Kind::neighbor_allgatherv:
    case Kind::neighbor_alltoallv:
    case Kind::neighbor_alltoallw:
      check_overlap(call, call.recv_counts.size());
      return;
    default:
      return;
  }
}

Count total(std::span<const Count> counts) { return std::accumulate(counts.begin(), counts.end(), Count{0}); }

}  // namespace tutti::job
