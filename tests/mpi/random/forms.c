/* SPDX-License-Identifier: BSD-3-Clause */
/* The macros only spell the names of MPI's functions: FORMS makes the three modes of one collective, LARGE_FORMS the
 * same with MPI_Count. */
#include "forms.h"

#include <stddef.h>

#define IN call->in.buffer, call->in.count, call->in.type
#define OUT call->out.buffer, call->out.count, call->out.type
#define IN_BLOCKS call->in.buffer, call->in.counts, call->in.places, call->in.type
#define OUT_BLOCKS call->out.buffer, call->out.counts, call->out.places, call->out.type
#define IN_TYPED call->in.buffer, call->in.counts, call->in.places, call->in.types
#define OUT_TYPED call->out.buffer, call->out.counts, call->out.places, call->out.types
#define IN_LARGE call->in.buffer, call->in.large_counts, call->in.large_places, call->in.type
#define OUT_LARGE call->out.buffer, call->out.large_counts, call->out.large_places, call->out.type
#define IN_LARGE_TYPED call->in.buffer, call->in.large_counts, call->in.large_places, call->in.types
#define OUT_LARGE_TYPED call->out.buffer, call->out.large_counts, call->out.large_places, call->out.types
/* The neighbours' form has byte places that are always of type MPI_Aint. */
#define IN_NEAR call->in.buffer, call->in.counts, call->in.large_places, call->in.types
#define OUT_NEAR call->out.buffer, call->out.counts, call->out.large_places, call->out.types
#define REDUCED_BY call->in.buffer, call->out.buffer, call->out.count, call->out.type, call->op
#define PARTS_BY call->in.buffer, call->out.buffer, call->out.counts, call->out.type, call->op
#define LARGE_PARTS_BY call->in.buffer, call->out.buffer, call->out.large_counts, call->out.type, call->op
#define ROOT call->root

#define BLOCKING_FORM(Name, suffix, tail, ...) \
  static int Name##_blocking##suffix(struct call* call) { return MPI_##Name##tail(__VA_ARGS__, call->group); }
#define STARTED_FORM(Name, lower, suffix, tail, ...)                     \
  static int Name##_started##suffix(struct call* call) {                 \
    return MPI_I##lower##tail(__VA_ARGS__, call->group, &call->request); \
  }
#if HAS_PERSISTENT
#define KEPT_FORM(Name, suffix, tail, ...)                                                   \
  static int Name##_kept##suffix(struct call* call) {                                        \
    return MPI_##Name##_init##tail(__VA_ARGS__, call->group, MPI_INFO_NULL, &call->request); \
  }
#define KEPT(Name, suffix) Name##_kept##suffix
#else
#define KEPT_FORM(Name, suffix, tail, ...)
#define KEPT(Name, suffix) NULL
#endif

#define FORMS(Name, lower, ...)              \
  BLOCKING_FORM(Name, , , __VA_ARGS__)       \
  STARTED_FORM(Name, lower, , , __VA_ARGS__) \
  KEPT_FORM(Name, , , __VA_ARGS__)
#define MODES(Name) \
  { Name##_blocking, Name##_started, KEPT(Name, ) }
#if HAS_LARGE
#define LARGE_FORMS(Name, lower, ...)                \
  BLOCKING_FORM(Name, _large, _c, __VA_ARGS__)       \
  STARTED_FORM(Name, lower, _large, _c, __VA_ARGS__) \
  KEPT_FORM(Name, _large, _c, __VA_ARGS__)
#define LARGE_MODES(Name) \
  { Name##_blocking_large, Name##_started_large, KEPT(Name, _large) }
#else
#define LARGE_FORMS(Name, lower, ...)
#define LARGE_MODES(Name) MODES(Name)
#endif
#define BOTH_FORMS(Name, lower, ...) FORMS(Name, lower, __VA_ARGS__) LARGE_FORMS(Name, lower, __VA_ARGS__)

static int Barrier_blocking(struct call* call) { return MPI_Barrier(call->group); }
static int Barrier_started(struct call* call) { return MPI_Ibarrier(call->group, &call->request); }
#if HAS_PERSISTENT
static int Barrier_kept(struct call* call) { return MPI_Barrier_init(call->group, MPI_INFO_NULL, &call->request); }
#endif

BOTH_FORMS(Bcast, bcast, OUT, ROOT)
BOTH_FORMS(Gather, gather, IN, OUT, ROOT)
BOTH_FORMS(Scatter, scatter, IN, OUT, ROOT)
BOTH_FORMS(Allgather, allgather, IN, OUT)
BOTH_FORMS(Alltoall, alltoall, IN, OUT)
BOTH_FORMS(Reduce, reduce, REDUCED_BY, ROOT)
BOTH_FORMS(Allreduce, allreduce, REDUCED_BY)
BOTH_FORMS(Scan, scan, REDUCED_BY)
BOTH_FORMS(Exscan, exscan, REDUCED_BY)
BOTH_FORMS(Reduce_scatter_block, reduce_scatter_block, REDUCED_BY)
BOTH_FORMS(Neighbor_allgather, neighbor_allgather, IN, OUT)
BOTH_FORMS(Neighbor_alltoall, neighbor_alltoall, IN, OUT)
FORMS(Gatherv, gatherv, IN, OUT_BLOCKS, ROOT)
LARGE_FORMS(Gatherv, gatherv, IN, OUT_LARGE, ROOT)
FORMS(Scatterv, scatterv, IN_BLOCKS, OUT, ROOT)
LARGE_FORMS(Scatterv, scatterv, IN_LARGE, OUT, ROOT)
FORMS(Allgatherv, allgatherv, IN, OUT_BLOCKS)
LARGE_FORMS(Allgatherv, allgatherv, IN, OUT_LARGE)
FORMS(Alltoallv, alltoallv, IN_BLOCKS, OUT_BLOCKS)
LARGE_FORMS(Alltoallv, alltoallv, IN_LARGE, OUT_LARGE)
FORMS(Alltoallw, alltoallw, IN_TYPED, OUT_TYPED)
LARGE_FORMS(Alltoallw, alltoallw, IN_LARGE_TYPED, OUT_LARGE_TYPED)
FORMS(Reduce_scatter, reduce_scatter, PARTS_BY)
LARGE_FORMS(Reduce_scatter, reduce_scatter, LARGE_PARTS_BY)
FORMS(Neighbor_allgatherv, neighbor_allgatherv, IN, OUT_BLOCKS)
LARGE_FORMS(Neighbor_allgatherv, neighbor_allgatherv, IN, OUT_LARGE)
FORMS(Neighbor_alltoallv, neighbor_alltoallv, IN_BLOCKS, OUT_BLOCKS)
LARGE_FORMS(Neighbor_alltoallv, neighbor_alltoallv, IN_LARGE, OUT_LARGE)
FORMS(Neighbor_alltoallw, neighbor_alltoallw, IN_NEAR, OUT_NEAR)
LARGE_FORMS(Neighbor_alltoallw, neighbor_alltoallw, IN_LARGE_TYPED, OUT_LARGE_TYPED)

#define ROW(Name, pattern, blocks, result, neighbors, in_place) \
  { #Name, pattern, blocks, result, neighbors, in_place, MODES(Name), LARGE_MODES(Name) }

const struct form forms[] = {
    {"Barrier", NOTHING, EQUAL_BLOCKS, AT_ALL, 0, 0, MODES(Barrier), MODES(Barrier)},
    ROW(Bcast, FROM_ROOT, EQUAL_BLOCKS, AT_ALL, 0, 0),
    ROW(Gather, TO_ROOT, EQUAL_BLOCKS, AT_ROOT, 0, 1),
    ROW(Gatherv, TO_ROOT, UNEQUAL_BLOCKS, AT_ROOT, 0, 1),
    ROW(Scatter, SCATTERED, EQUAL_BLOCKS, AT_ALL, 0, 1),
    ROW(Scatterv, SCATTERED, UNEQUAL_BLOCKS, AT_ALL, 0, 1),
    ROW(Allgather, TO_ALL, EQUAL_BLOCKS, AT_ALL, 0, 1),
    ROW(Allgatherv, TO_ALL, UNEQUAL_BLOCKS, AT_ALL, 0, 1),
    ROW(Alltoall, ALL_TO_ALL, EQUAL_BLOCKS, AT_ALL, 0, 1),
    ROW(Alltoallv, ALL_TO_ALL, UNEQUAL_BLOCKS, AT_ALL, 0, 1),
    ROW(Alltoallw, ALL_TO_ALL, TYPED_BLOCKS, AT_ALL, 0, 1),
    ROW(Reduce, REDUCED, EQUAL_BLOCKS, AT_ROOT, 0, 1),
    ROW(Allreduce, REDUCED, EQUAL_BLOCKS, AT_ALL, 0, 1),
    ROW(Reduce_scatter, REDUCED, UNEQUAL_BLOCKS, PARTS, 0, 1),
    ROW(Reduce_scatter_block, REDUCED, EQUAL_BLOCKS, EQUAL_PARTS, 0, 1),
    ROW(Scan, REDUCED, EQUAL_BLOCKS, AT_ALL, 0, 1),
    ROW(Exscan, REDUCED, EQUAL_BLOCKS, NOT_AT_FIRST, 0, 1),
    ROW(Neighbor_allgather, TO_ALL, EQUAL_BLOCKS, AT_ALL, 1, 0),
    ROW(Neighbor_allgatherv, TO_ALL, UNEQUAL_BLOCKS, AT_ALL, 1, 0),
    ROW(Neighbor_alltoall, ALL_TO_ALL, EQUAL_BLOCKS, AT_ALL, 1, 0),
    ROW(Neighbor_alltoallv, ALL_TO_ALL, UNEQUAL_BLOCKS, AT_ALL, 1, 0),
    ROW(Neighbor_alltoallw, ALL_TO_ALL, TYPED_BLOCKS, AT_ALL, 1, 0),
};
const int forms_count = sizeof forms / sizeof *forms;
