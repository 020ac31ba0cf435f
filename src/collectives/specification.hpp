// SPDX-License-Identifier: BSD-3-Clause
// What the specifications of the collectives and the shapes of a problem share: where a problem's blocks lie.
#pragma once

#include <vector>

#include "collectives/collective.hpp"

namespace tutti::collectives {

/// Blocks in a buffer, one a rank.
struct Layout {
  std::vector<Count> counts, offsets;
  Count extent = 0;  ///< Elements of the buffer.

  Count count(Rank rank) const { return counts[static_cast<std::size_t>(rank)]; }
  Count offset(Rank rank) const { return offsets[static_cast<std::size_t>(rank)]; }
};

/// Blocks for all ranks at the root of gather(v) and scatter(v), in the output of allgather(v), or in the input of
/// reduce_scatter(_block). v-forms but reduce_scatter have `gap` unused elements before, between and behind the blocks.
Layout blocks_of_all(const Problem& problem);
/// alltoall(v): the blocks that `rank` sends, and those that it receives. In place both are the same, so that counts
/// must be symmetric: the smaller rank's row gives them.
Layout sent_by(const Problem& problem, Rank rank);
Layout received_by(const Problem& problem, Rank rank);

/// neighbor_ forms: the blocks that `rank` sends (neighbor_allgather(v): the one), and those that it receives, by its
/// edges. Those of edges that lead nowhere have room too.
Layout sent_to_neighbors(const Problem& problem, Rank rank);
Layout received_from_neighbors(const Problem& problem, Rank rank);
/// Every block sent arrives where the other end of its edge says; all else stays as it is.
plan::Contract along_edges(const Problem& problem);

/// A contract that promises nothing yet.
plan::Contract nothing(const Problem& problem);
/// This rank's piece of plain data from `rank`, element `from` on; none when it is empty.
void hold(std::vector<plan::Piece>& pieces, plan::Buffer buffer, Count offset, Count count, plan::Contribution data);
/// `rank` contributes `count` elements: its input, or in place those at `home` in its output.
void contribute(plan::Promise& promise, Rank rank, Count count, bool in_place, Count home);
/// What the first `ranks` ranks contribute from their element `from` on, combined in the order of the ranks.
plan::Value combined(Rank ranks, Count from = 0);

// clang-format off
namespace barrier { plan::Contract contract(const Problem& problem); }
namespace bcast { plan::Contract contract(const Problem& problem); }
namespace reduce { plan::Contract contract(const Problem& problem); }
namespace allreduce { plan::Contract contract(const Problem& problem); }
namespace gather { plan::Contract contract(const Problem& problem); }
namespace gatherv { plan::Contract contract(const Problem& problem); }
namespace scatter { plan::Contract contract(const Problem& problem); }
namespace scatterv { plan::Contract contract(const Problem& problem); }
namespace allgather { plan::Contract contract(const Problem& problem); }
namespace allgatherv { plan::Contract contract(const Problem& problem); }
namespace alltoall { plan::Contract contract(const Problem& problem); }
namespace alltoallv { plan::Contract contract(const Problem& problem); }
namespace alltoallw { plan::Contract contract(const Problem& problem); }
namespace reduce_scatter_block { plan::Contract contract(const Problem& problem); }
namespace reduce_scatter { plan::Contract contract(const Problem& problem); }
namespace scan { plan::Contract contract(const Problem& problem); }
namespace exscan { plan::Contract contract(const Problem& problem); }
namespace neighbor_allgather { plan::Contract contract(const Problem& problem); }
namespace neighbor_allgatherv { plan::Contract contract(const Problem& problem); }
namespace neighbor_alltoall { plan::Contract contract(const Problem& problem); }
namespace neighbor_alltoallv { plan::Contract contract(const Problem& problem); }
namespace neighbor_alltoallw { plan::Contract contract(const Problem& problem); }
namespace neighbor_reduce { plan::Contract contract(const Problem& problem); }
// clang-format on

}  // namespace tutti::collectives
