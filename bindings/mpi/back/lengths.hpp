// SPDX-License-Identifier: BSD-3-Clause
// How long the arrays of a call are, which the communicator says.
#pragma once

#include "edges.hpp"
#include "real.hpp"
#include "tutti/call.hpp"

namespace tutti::mpi {

/// Of the arrays of what is sent and of what is received; the MPI looks at nothing of a side that is absent, so that a
/// program may pass anything there.
struct Lengths {
  static constexpr int absent = -1;
  int sends = 0, receives = 0;
};

/// The arrays of a collective that is not along edges have a number for each rank of the other group, or of the only
/// one.
inline Lengths lengths_of(Kind kind, MPI_Comm comm, int root) {
  int between = 0, rank = 0, size = 0;
  real.Comm_test_inter(comm, &between);
  real.Comm_rank(comm, &rank);
  if (between != 0 && kind != Kind::reduce_scatter)
    real.Comm_remote_size(comm, &size);
  else
    real.Comm_size(comm, &size);
  Lengths lengths{size, size};
  const bool at_root = root == (between != 0 ? MPI_ROOT : rank), at_others = between == 0 || root >= 0;
  const auto significant = [&](bool is) { return is ? size : Lengths::absent; };
  if (kind == Kind::gather || kind == Kind::gatherv)
    lengths = {significant(at_others), significant(at_root)};
  else if (kind == Kind::scatter || kind == Kind::scatterv)
    lengths = {significant(at_root), significant(at_others)};
  return lengths;
}

/// Those of one along edges have a number for each neighbour.
inline Lengths lengths_along_edges(MPI_Comm comm) {
  const Edges edges = edges_of(comm);
  return {static_cast<int>(edges.destinations.size()), static_cast<int>(edges.sources.size())};
}

}  // namespace tutti::mpi
