// SPDX-License-Identifier: BSD-3-Clause
// One call of a collective without its types: what every language binding fills in, and the one door to the engine.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>

#include "tutti/export.hpp"
#include "tutti/types.hpp"

namespace tutti {

class Layout;

namespace job {
struct UserPlan;
}

/// The collectives, by MPI's names; MPI has no neighbor_reduce.
enum class Kind : std::uint8_t {
  barrier,
  bcast,
  reduce,
  allreduce,
  gather,
  gatherv,
  scatter,
  scatterv,
  allgather,
  allgatherv,
  alltoall,
  alltoallv,
  reduce_scatter_block,
  reduce_scatter,
  scan,
  exscan,
  alltoallw,
  neighbor_allgather,
  neighbor_allgatherv,
  neighbor_alltoall,
  neighbor_alltoallv,
  neighbor_alltoallw,
  neighbor_reduce,
  sparse_exchange,  ///< Matched as the others are, but made by the engine's mailbox and not by a plan.
  plan,             ///< A plan that the user has built (plan.hpp).
};
inline constexpr int kinds = static_cast<int>(Kind::sparse_exchange);  ///< Those that have algorithms.
inline constexpr int operations = static_cast<int>(Kind::plan) + 1;    ///< With sparse_exchange and plan.

/// "allreduce"; "unknown" of a number that is none of theirs.
TUTTI_API std::string_view name_of(Kind kind);
/// The collective of that name, among those that have algorithms.
TUTTI_API std::optional<Kind> kind_named(std::string_view name);

/// Whether sums of floating-point numbers are rounded once, and over what.
enum class Exactness : std::uint8_t {
  none,    ///< Each addition rounds, in the order of the algorithm.
  each,    ///< Element by element: group.reproducible().
  folded,  ///< All ranks' whole inputs become one element: group.sum().
};

/// A call. Counts and offsets are in elements of `element` bytes. All ranks agree on kind, type, count, root, reduction
/// and algorithm; the counts of the v-forms are each rank's own (those of allgatherv and reduce_scatter are
/// agreed), exactly one for each rank, or for each neighbour in the neighbor_ forms; more or fewer are refused.
/// Which of `input` and `output` is used, and how long it is, stands beside each method of Group.
struct Call {
  /// User-provided: a defaulted constructor lets the compiler clear the object by `rep stos`, slower at this size.
  Call() noexcept {}

  // Eight bytes without a gap, which the planner compares as one.
  Kind kind = Kind::barrier;
  Type type = Type::opaque;
  bool in_place = false;  ///< The contribution already lies in `output` (scatter: the root's block stays in `input`).
  Exactness exact = Exactness::none;  ///< Agreed. Of a fold `count` is 1, and the input has `own` elements.
  std::uint32_t element = 1;          ///< Bytes of one element.
  const void* input = nullptr;
  void* output = nullptr;
  Count count = 0;
  Rank root = 0;
  Reduction reduction;
  Count own = 0;
  std::span<const Count> send_counts, send_offsets, recv_counts,
      recv_offsets;  ///< Empty offsets: blocks lie side by side.
  /// Where the elements of input and output lie, each rank's own; null: side by side. Counts and offsets count elements
  /// in the layout's order. They are used until the call returns.
  const Layout* input_layout = nullptr;
  const Layout* output_layout = nullptr;
  const job::UserPlan* plan = nullptr;  ///< Kind::plan: which; its name is agreed. It is used until the call returns.
  std::string_view algorithm;           ///< Empty: the table chooses. Agreed. "ring", "chain:segment=4096" (in bytes).
  const void* site = nullptr;           ///< The caller's return address, for reports of mismatches.
};

}  // namespace tutti
