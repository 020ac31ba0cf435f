// SPDX-License-Identifier: BSD-3-Clause
// Proves plans: right result, every message matched, no deadlock, no race, no undefined data. The rules are those the
// engine keeps: a send and its receive are one event (rendezvous); order inside a rank comes from its edges alone;
// a cell is written again only when every rank has released it.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "plan/contract.hpp"
#include "plan/plan.hpp"

namespace tutti::plan {

/// The cells every rank has on a board: how many a ring holds, and how many elements fit one. Ranks of different hosts
/// share no memory: no cells, and each host's rings go on by themselves.
struct Board {
  OfRings<std::int32_t> length = ring_length;
  Cells cell{};
  /// Each rank's host, numbered from 0 in the order of their lowest ranks; empty: all ranks are on one host.
  std::span<const Rank> hosts{};
};

/// What the checker found.
struct Verdict {
  /// `step` where the finding concerns no single step.
  static constexpr Index no_step = static_cast<Index>(-1);

  bool ok = true;
  Rank rank = -1;
  Index step = no_step;
  std::string text;  ///< Which rank, which step and why; empty when ok.
  explicit operator bool() const { return ok; }
};

/// One checker serves one thread; keeping it for many checks saves its memory from being asked for again.
class Checker {
 public:
  Checker();
  ~Checker();
  Checker(Checker&&) noexcept;
  Checker& operator=(Checker&&) noexcept;

  /// All ranks' plans keep the contract: structure, matching, no deadlock under rendezvous, no races, no undefined
  /// reads, and after it exactly what the contract says. `after any` is tried with each choice.
  Verdict check(std::span<const Plan> plans, const Contract& contract, const Board& board);

  /// The same, but what this step writes, from its element `from` on, counts as a value that no contract names: ok when
  /// no result depends on it.
  Verdict check_without(std::span<const Plan> plans, const Contract& contract, const Board& board, Rank rank,
                        Index step, Count from = 0);

  /// The same without a contract, for plans that users wrote: input and output begin with data of the user, are as
  /// large as the plans take them to be, and may hold anything afterwards.
  Verdict check_user(std::span<const Plan> plans, const Board& board);

  /// Operations that follow each other on the same rings, each with the plans of all ranks, do not deadlock: neither
  /// with all of them started at once, nor with each rank starting one when its one before is complete.
  Verdict check_sequence(std::span<const std::vector<Plan>> operations, const Board& board);

 private:
  struct Memory;
  std::unique_ptr<Memory> memory_;
};

/// With a checker of their own.
Verdict check(std::span<const Plan> plans, const Contract& contract, const Board& board);
Verdict check_user(std::span<const Plan> plans, const Board& board);
Verdict check_sequence(std::span<const std::vector<Plan>> operations, const Board& board);

}  // namespace tutti::plan
