// SPDX-License-Identifier: BSD-3-Clause
#include "job/blocks.hpp"

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <string>
#include <vector>

#include "base/names.hpp"
#include "collectives/collective.hpp"
#include "tutti/error.hpp"
#include "tutti/group.hpp"

namespace tutti {
namespace {

struct Extent {
  std::uintptr_t begin, end;
  bool sent;
};

/// Nobody has checked the numbers yet: they may wrap around.
void add_blocks(std::vector<Extent>& to, const void* memory, std::span<const Count> counts,
                std::span<const Count> offsets, std::size_t element, bool sent) {
  std::uintptr_t next = 0;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    const auto count = static_cast<std::uintptr_t>(counts[i]);
    const std::uintptr_t first = offsets.empty() ? next : static_cast<std::uintptr_t>(offsets[i]);
    const std::uintptr_t begin = reinterpret_cast<std::uintptr_t>(memory) + first * element;
    if (counts[i] > 0) to.push_back({begin, begin + count * element, sent});
    next = first + count;
  }
}

/// Whether block by block the same is sent and received.
bool gives_what_it_takes(const Call& call) {
  if (!std::ranges::equal(call.send_counts, call.recv_counts)) return false;
  Count sent = 0, received = 0;
  for (std::size_t i = 0; i < call.recv_counts.size(); ++i) {
    if (i < call.send_offsets.size()) sent = call.send_offsets[i];
    if (i < call.recv_offsets.size()) received = call.recv_offsets[i];
    if (sent != received) return false;
    // Of numbers that nobody has checked.
    static_cast<void>(__builtin_add_overflow(sent, call.send_counts[i], &sent));
    static_cast<void>(__builtin_add_overflow(received, call.recv_counts[i], &received));
  }
  return true;
}

bool blocks_apart(const Call& call) {
  const bool laid_out = call.input_layout != nullptr || call.output_layout != nullptr;
  if (laid_out || call.send_counts.empty() || call.recv_counts.empty()) return false;
  const auto incomplete = [](std::span<const Count> counts, std::span<const Count> offsets) {
    return !offsets.empty() && offsets.size() < counts.size();
  };
  if (incomplete(call.send_counts, call.send_offsets) || incomplete(call.recv_counts, call.recv_offsets))
    return true;  // refused later
  std::vector<Extent> blocks;
  add_blocks(blocks, call.input, call.send_counts, call.send_offsets, call.element, true);
  add_blocks(blocks, call.output, call.recv_counts, call.recv_offsets, call.element, false);
  std::ranges::sort(blocks, {}, &Extent::begin);
  std::uintptr_t sent = 0, received = 0;  // up to where those before reach
  for (const Extent& block : blocks) {
    if (block.begin < (block.sent ? received : sent)) return false;
    std::uintptr_t& reach = block.sent ? sent : received;
    reach = std::max(reach, block.end);
  }
  return true;
}

}  // namespace

detail::Meeting detail::meeting_of_blocks(const Call& call, Meeting of_buffers) {
  if (of_buffers == Meeting::apart) return of_buffers;
  const bool same = call.kind != Kind::alltoallv || call.send_counts.empty() || gives_what_it_takes(call);
  if (of_buffers == Meeting::same && same) return of_buffers;
  return blocks_apart(call) ? Meeting::apart : Meeting::crossing;
}

void detail::refuse_crossing(Kind kind) {
  throw Error(Cause::usage,
              std::string(name_of(kind)) +
                  ": in and out overlap; pass separate buffers, or to work in place the same memory, laid out alike, "
                  "as both (where one has everybody's blocks, this rank's own block of it as the other)");
}

}  // namespace tutti

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
