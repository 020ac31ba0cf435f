// SPDX-License-Identifier: BSD-3-Clause
// Proves the checker: changes a correct set of plans in all small ways and looks which changes it does not refuse.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "plan/checker.hpp"
#include "plan/mutations.hpp"

namespace tutti::plan {

/// A mutant that the checker passes. That is right when the change does not matter, which `proof` then shows without
/// the checker's own rules; empty when no proof is known, and the checker may be blind.
struct Survivor {
  std::string mutation;
  std::string proof;
};

struct MutationReport {
  std::uint64_t mutants = 0;
  std::uint64_t killed = 0;
  std::vector<Survivor> survivors;

  std::uint64_t unproved() const;
  /// "120 mutants, 117 killed, 3 survive with proof", then one line a survivor.
  std::string text() const;
};

/// Checks all mutants of plans that keep the contract.
MutationReport mutate(std::span<const Plan> plans, const Contract& contract, const Board& board, Checker& checker);

}  // namespace tutti::plan
