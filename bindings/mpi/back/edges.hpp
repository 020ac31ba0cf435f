// SPDX-License-Identifier: BSD-3-Clause
// The neighbours of a communicator's ranks, as the MPI knows them.
#pragma once

#include <vector>

#include "abi.hpp"
#include "tutti/topology.hpp"

namespace tutti::mpi {

/// This rank's neighbours in the order of their blocks; MPI_PROC_NULL as tutti::none.
struct Edges {
  std::vector<Rank> sources, destinations;
};

/// Of a communicator with a topology; nothing of another.
Edges edges_of(MPI_Comm comm);

/// The same ranks with the communicator's neighbours; the group itself where it has none, or has some that the MPIs do
/// not treat alike. Collective.
Group with_edges(const Group& group, MPI_Comm comm);

}  // namespace tutti::mpi
