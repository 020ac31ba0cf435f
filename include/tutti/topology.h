/* SPDX-License-Identifier: BSD-3-Clause */
/* Tutti for C: grids and graphs, the collectives along their edges, and sparse_exchange. Part of tutti.h, which says
 * what holds for every function. */
#ifndef TUTTI_TOPOLOGY_H
#define TUTTI_TOPOLOGY_H

#include "tutti/tutti.h"

#ifdef __cplusplus
extern "C" {
#endif

/* No rank: beyond the border of a grid, or an edge that leads nowhere. */
#define TUTTI_NONE (-1)

/* ---- Grids. The last dimension runs fastest. ---- */

/* Sizes of a grid of `size` ranks, as equal as they can be and descending where dims has zeros; the others stay.
 * dims: `dimensions` numbers. Local. Errors: TUTTI_USAGE when they cannot be filled. */
TUTTI_C_API tutti_status tutti_dims_create(int32_t size, int dimensions, int* dims);
/* The first ranks of a group as a grid; NULL for ranks that are left over. dims, periodic: `dimensions` numbers;
 * periodic[d]: whether it goes around; NULL: no dimension does. reorder: allows ranks to be numbered anew; they keep
 * their numbers so far. Collective. Agreed: all arguments. Errors: TUTTI_USAGE on all ranks where they differ, or where
 * the grid does not fit. */
TUTTI_C_API tutti_status tutti_cartesian(tutti_group group, int dimensions, const int* dims, const int* periodic,
                                         int reorder, tutti_group* grid);
/* A grid's dimensions; dims and periodic may be NULL. Local. Errors: TUTTI_USAGE for a group that is no grid. */
TUTTI_C_API tutti_status tutti_grid(tutti_group grid, int* dimensions, int* dims, int* periodic);
/* Where a rank stands: one number for each dimension. Local. Errors, of these and the next: TUTTI_USAGE for a group
 * that is no grid, or no such rank or dimension. */
TUTTI_C_API tutti_status tutti_coordinates(tutti_group grid, int32_t rank, int* coordinates);
/* The rank there, around periodic dimensions; TUTTI_NONE outside the others. Local. */
TUTTI_C_API tutti_status tutti_rank_at(tutti_group grid, const int* coordinates, int32_t* rank);
/* The ranks `by` steps before this one and behind it along a dimension: from whom it receives, and to whom it sends,
 * when all data move by so much. Local. */
TUTTI_C_API tutti_status tutti_shift(tutti_group grid, int dimension, int by, int32_t* source, int32_t* destination);
/* The grids that are left when the dimensions d with keep[d] = 0 are cut: this rank's. Collective. Agreed: keep.
 * Errors: TUTTI_USAGE on all ranks where it differs. */
TUTTI_C_API tutti_status tutti_sub_grid(tutti_group grid, const int* keep, tutti_group* part);

/* ---- Graphs. ---- */

/* A graph from what each rank knows of itself: from whom it receives and to whom it sends, in the order of its blocks;
 * TUTTI_NONE: nobody. Parallel edges between two ranks are paired in the order in which each end lists them.
 * Collective. Errors: TUTTI_USAGE on all ranks when an edge is not named at both ends, or a rank is not there. */
TUTTI_C_API tutti_status tutti_adjacent_graph(tutti_group group, int32_t source_count, const int32_t* sources,
                                              int32_t destination_count, const int32_t* destinations,
                                              tutti_group* graph);
/* An edge of a graph. */
typedef struct tutti_edge {
  int32_t source, destination;
} tutti_edge;
/* A graph from edges that any rank may give, each once. A rank's edges stand in the order of those who gave them, and
 * as given. Collective. Errors: TUTTI_USAGE on all ranks for an edge to a rank that is not in the group. */
TUTTI_C_API tutti_status tutti_graph(tutti_group group, const tutti_edge* edges, size_t n, tutti_group* graph);

/* How many sources and destinations this rank has in a graph or grid. Local. Errors: TUTTI_USAGE for other groups. */
TUTTI_C_API tutti_status tutti_degrees(tutti_group graph, int32_t* sources, int32_t* destinations);
/* Who they are, in the order of the blocks; each may be NULL. In a grid: for each dimension the neighbour in negative
 * direction, then the one in positive direction; TUTTI_NONE where there is none. Local. */
TUTTI_C_API tutti_status tutti_neighbors(tutti_group graph, int32_t* sources, int32_t* destinations);

/* ---- Collectives along edges. Blocks stand in the order of the neighbours; those of edges that lead nowhere are not
 * touched. Called by all ranks of the group; buffers must not overlap. In a grid, what a rank sends in negative
 * direction arrives as what the other has from positive direction, also where both are the same rank. ---- */

/* Block s of out = in of source s. in: count elements; out: sources * count. Agreed: count, type. */
TUTTI_C_API tutti_status tutti_neighbor_allgather(tutti_group graph, const void* in, void* out, int64_t count,
                                                  tutti_type type);
TUTTI_C_API tutti_status tutti_ineighbor_allgather(tutti_group graph, const void* in, void* out, int64_t count,
                                                   tutti_type type, tutti_request* request);
TUTTI_C_API tutti_status tutti_neighbor_allgather_init(tutti_group graph, const void* in, void* out, int64_t count,
                                                       tutti_type type, tutti_persistent* persistent);

/* Block d of in goes along edge d, block s of out comes along edge s. in: destinations * count elements; out: sources *
 * count. Agreed: count, type. */
TUTTI_C_API tutti_status tutti_neighbor_alltoall(tutti_group graph, const void* in, void* out, int64_t count,
                                                 tutti_type type);
TUTTI_C_API tutti_status tutti_ineighbor_alltoall(tutti_group graph, const void* in, void* out, int64_t count,
                                                  tutti_type type, tutti_request* request);
TUTTI_C_API tutti_status tutti_neighbor_alltoall_init(tutti_group graph, const void* in, void* out, int64_t count,
                                                      tutti_type type, tutti_persistent* persistent);

/* out[i] = in[i] of source 0 op in[i] of source 1 ..., in the order of this rank's edges: a source counts once for each
 * of its edges. The out of a rank without sources stays as it is and may be NULL. in, out: count elements. Agreed:
 * count, type, op. */
TUTTI_C_API tutti_status tutti_neighbor_reduce(tutti_group graph, const void* in, void* out, int64_t count,
                                               tutti_type type, tutti_op op);
TUTTI_C_API tutti_status tutti_ineighbor_reduce(tutti_group graph, const void* in, void* out, int64_t count,
                                                tutti_type type, tutti_op op, tutti_request* request);
TUTTI_C_API tutti_status tutti_neighbor_reduce_init(tutti_group graph, const void* in, void* out, int64_t count,
                                                    tutti_type type, tutti_op op, tutti_persistent* persistent);

/* counts[s] elements of source s at offsets[s] of out (NULL: side by side). in: count elements. Agreed: type; each
 * count is its source's. */
TUTTI_C_API tutti_status tutti_neighbor_allgatherv(tutti_group graph, const void* in, int64_t count, void* out,
                                                   const int64_t* counts, const int64_t* offsets, tutti_type type);
TUTTI_C_API tutti_status tutti_ineighbor_allgatherv(tutti_group graph, const void* in, int64_t count, void* out,
                                                    const int64_t* counts, const int64_t* offsets, tutti_type type,
                                                    tutti_request* request);
TUTTI_C_API tutti_status tutti_neighbor_allgatherv_init(tutti_group graph, const void* in, int64_t count, void* out,
                                                        const int64_t* counts, const int64_t* offsets, tutti_type type,
                                                        tutti_persistent* persistent);

/* send_counts[d] elements of in at send_offsets[d] go along edge d, recv_counts[s] come along edge s to recv_offsets[s]
 * of out (offsets NULL: side by side). Agreed: type; each send count is the recv count at the edge's other end. */
TUTTI_C_API tutti_status tutti_neighbor_alltoallv(tutti_group graph, const void* in, const int64_t* send_counts,
                                                  const int64_t* send_offsets, void* out, const int64_t* recv_counts,
                                                  const int64_t* recv_offsets, tutti_type type);
TUTTI_C_API tutti_status tutti_ineighbor_alltoallv(tutti_group graph, const void* in, const int64_t* send_counts,
                                                   const int64_t* send_offsets, void* out, const int64_t* recv_counts,
                                                   const int64_t* recv_offsets, tutti_type type,
                                                   tutti_request* request);
TUTTI_C_API tutti_status tutti_neighbor_alltoallv_init(tutti_group graph, const void* in, const int64_t* send_counts,
                                                       const int64_t* send_offsets, void* out,
                                                       const int64_t* recv_counts, const int64_t* recv_offsets,
                                                       tutti_type type, tutti_persistent* persistent);

/* send[d] says what of in goes along edge d, recv[s] where in out lies what comes along edge s, each offset bytes
 * further on (offsets NULL: none): layouts and types of each edge's own, in which both ends have the same number of
 * bytes. A layout of NULL: nothing. in and out may be one array in which the parts lie apart: a halo. Agreed: nothing
 * else. */
TUTTI_C_API tutti_status tutti_neighbor_alltoallw(tutti_group graph, const void* in, const int64_t* send_offsets,
                                                  const tutti_layout* send, void* out, const int64_t* recv_offsets,
                                                  const tutti_layout* recv);
TUTTI_C_API tutti_status tutti_ineighbor_alltoallw(tutti_group graph, const void* in, const int64_t* send_offsets,
                                                   const tutti_layout* send, void* out, const int64_t* recv_offsets,
                                                   const tutti_layout* recv, tutti_request* request);
TUTTI_C_API tutti_status tutti_neighbor_alltoallw_init(tutti_group graph, const void* in, const int64_t* send_offsets,
                                                       const tutti_layout* send, void* out, const int64_t* recv_offsets,
                                                       const tutti_layout* recv, tutti_persistent* persistent);

/* ---- Messages to ranks that do not expect them. On every group. ---- */

/* Elements for one rank, or from one. */
typedef struct tutti_parcel {
  int32_t rank;
  int64_t count;
  const void* data;
} tutti_parcel;
/* What came in a sparse_exchange. */
typedef struct tutti_exchange_handle* tutti_exchange;

/* Hands each of n parcels to its rank; *exchange has those that came for this one. Any number of parcels of any length,
 * to this rank itself too. Collective. Agreed: the type. Errors: TUTTI_USAGE for a rank that is not in the group. */
TUTTI_C_API tutti_status tutti_sparse_exchange(tutti_group group, const tutti_parcel* parcels, size_t n,
                                               tutti_type type, tutti_exchange* exchange);
/* Starts one; the parcels' data stay where they are until its request is complete. */
TUTTI_C_API tutti_status tutti_isparse_exchange(tutti_group group, const tutti_parcel* parcels, size_t n,
                                                tutti_type type, tutti_exchange* exchange);
/* Its request, to be waited for; it belongs to the exchange. NULL for NULL. Local. */
TUTTI_C_API tutti_request* tutti_exchange_request(tutti_exchange exchange);
/* What came, in the order of the ranks; several of one rank stay in the order in which it gave them. Valid as long as
 * the exchange. Local. Errors: TUTTI_USAGE while it is under way. */
TUTTI_C_API tutti_status tutti_deliveries(tutti_exchange exchange, const tutti_parcel** deliveries, size_t* n);
/* Gives it back and sets it to NULL; NULL is allowed. As tutti_request_free while it is under way. */
TUTTI_C_API tutti_status tutti_exchange_free(tutti_exchange* exchange);

#ifdef __cplusplus
}
#endif

#endif
