// SPDX-License-Identifier: BSD-3-Clause
// Blocks that travel from one rank to all others over the edges of a circulant graph, in as few rounds as can be: in
// each one every rank sends one block and receives one. Träff 2024, arXiv 2407.18004.
#pragma once

#include <vector>

#include "plan/plan.hpp"

namespace tutti::collectives {

/// What one position does in a round: one block goes ahead while another one comes from behind.
struct Round {
  Rank ahead = 0, behind = 0;      ///< Positions behind the root, which is position 0.
  Count sent = -1, received = -1;  ///< Numbers of blocks; -1: none.
};

/// The rounds of one position, blocks - 1 + ceil(log2 size) of them. Everybody but the root receives every block once,
/// and sends in each round what came in an earlier one.
///
///     P = 5, blocks a b c    round 0   0 -a-> 2
///                            round 1   0 -b-> 3
///                            round 2   0 -c-> 1   2 -a-> 3   3 -b-> 4
///                            round 3   0 -c-> 2   2 -a-> 4   4 -b-> 1
///                            round 4   0 -c-> 3   1 -c-> 4   3 -a-> 1   4 -b-> 2
std::vector<Round> circulant(Rank position, Rank size, Count blocks);

}  // namespace tutti::collectives
