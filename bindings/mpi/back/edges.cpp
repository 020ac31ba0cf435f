// SPDX-License-Identifier: BSD-3-Clause
#include "edges.hpp"

#include <algorithm>

#include "real.hpp"

namespace tutti::mpi {
namespace {

struct Box {
  std::vector<int> dims, periodic;
};

int topology_of(MPI_Comm comm) {
  int kind = MPI_UNDEFINED;
  return real.Topo_test(comm, &kind) == MPI_SUCCESS ? kind : MPI_UNDEFINED;
}

Box box_of(MPI_Comm comm) {
  int dimensions = 0;
  real.Cartdim_get(comm, &dimensions);
  Box box;
  box.dims.resize(static_cast<std::size_t>(dimensions));
  box.periodic.resize(box.dims.size());
  std::vector<int> place(box.dims.size());
  real.Cart_get(comm, dimensions, box.dims.data(), box.periodic.data(), place.data());
  return box;
}

Edges of_box(MPI_Comm comm) {
  Edges edges;
  const auto dimensions = static_cast<int>(box_of(comm).dims.size());
  for (int dimension = 0; dimension < dimensions; ++dimension) {
    int below = MPI_PROC_NULL, above = MPI_PROC_NULL;
    real.Cart_shift(comm, dimension, 1, &below, &above);
    for (const int rank : {below, above}) edges.sources.push_back(rank == MPI_PROC_NULL ? none : rank);
  }
  edges.destinations = edges.sources;
  return edges;
}

Edges of_graph(MPI_Comm comm) {
  int rank = 0, count = 0;
  real.Comm_rank(comm, &rank);
  real.Graph_neighbors_count(comm, rank, &count);
  Edges edges;
  edges.sources.resize(static_cast<std::size_t>(count));
  real.Graph_neighbors(comm, rank, count, edges.sources.data());
  edges.destinations = edges.sources;
  return edges;
}

Edges of_distributed_graph(MPI_Comm comm) {
  int sources = 0, destinations = 0, weighted = 0;
  real.Dist_graph_neighbors_count(comm, &sources, &destinations, &weighted);
  Edges edges;
  edges.sources.resize(static_cast<std::size_t>(sources));
  edges.destinations.resize(static_cast<std::size_t>(destinations));
  std::vector<int> source_weights(edges.sources.size() + 1), destination_weights(edges.destinations.size() + 1);
  real.Dist_graph_neighbors(comm, sources, edges.sources.data(), source_weights.data(), destinations,
                            edges.destinations.data(), destination_weights.data());
  return edges;
}

}  // namespace

Edges edges_of(MPI_Comm comm) {
  switch (topology_of(comm)) {
    case MPI_CART:
      return of_box(comm);
    case MPI_GRAPH:
      return of_graph(comm);
    case MPI_DIST_GRAPH:
      return of_distributed_graph(comm);
    default:
      return {};
  }
}

Group with_edges(const Group& group, MPI_Comm comm) {
  const int kind = topology_of(comm);
  if (kind == MPI_UNDEFINED) return group;
  if (kind != MPI_CART) {
    const Edges edges = edges_of(comm);
    return adjacent_graph(group, edges.sources, edges.destinations);
  }
  const Box box = box_of(comm);
  // Where both neighbours are one rank, MPIs differ in which block is which.
  for (std::size_t i = 0; i < box.dims.size(); ++i)
    if (box.dims[i] <= 2 && box.periodic[i] != 0) return group;
  return cartesian(group, box.dims, std::vector<bool>(box.periodic.begin(), box.periodic.end()));
}

}  // namespace tutti::mpi
