// SPDX-License-Identifier: BSD-3-Clause
// A plan made ready to run: what can be computed once per plan is computed here.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "plan/plan.hpp"
#include "tutti/call.hpp"

namespace tutti::engine {

/// What a rank says about a call; equal on all ranks of a matching call.
struct Description {
  Kind kind = Kind::barrier;
  Type type = Type::opaque;
  Op op = Op::none;
  std::uint32_t element = 1;
  Count count = 0;
  Rank root = 0;
  std::int32_t algorithm = -1;    ///< Position in the registry.
  std::uint32_t agreed_hash = 0;  ///< Of what else is agreed: parameters, allgatherv's counts.

  /// 32 bits that differ, with high probability, when anything above differs.
  std::uint32_t signature() const;
};

/// An immutable plan with its dependency counts; shared by all operations that run it.
struct Bound {
  /// `element`: bytes of one element of this plan; the description's own, unless it only exchanges counts.
  Bound(plan::Plan plan, const Description& description, std::size_t element);

  /// Bytes moved by one step before other operations get their turn.
  static constexpr Count piece_bytes = 1 << 20;

  plan::Plan plan;
  Description description;
  std::uint32_t signature;
  std::size_t element;
  std::vector<plan::Index> starts;           ///< Steps without predecessors, last first: a stack.
  std::vector<std::uint32_t> missing;        ///< Predecessors per step (1 for `any`).
  std::vector<plan::Index> first_successor;  ///< size steps + 1
  std::vector<plan::Index> successors;
  std::vector<std::int32_t> transfer;  ///< Per step: index of its message, or -1.
  std::vector<std::size_t> landing;    ///< Per step: recv_reduce's place for the message, in bytes of scratch.
  std::vector<bool> small;             ///< Per step: at most one piece.
  std::int32_t transfers = 0;
  std::size_t scratch_bytes = 0;
  bool exposes = false;  ///< Others may read this rank's memory while it runs.
  /// The steps can run strictly one after the other, as they stand: no publish or release then waits for an await that
  /// it does not come after anyway. Such plans need no counting of edges.
  bool in_order = false;
  bool any = false;           ///< Has `after any` edges.
  std::int32_t reserved = 0;  ///< Small cells kept for a second plan of the same operation.
 private:
  bool find_in_order() const;
};

}  // namespace tutti::engine
