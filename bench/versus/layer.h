/* SPDX-License-Identifier: BSD-3-Clause */
/* What the benchmark needs of a library: one implementation by tutti.h (layer/tutti.c), one by mpi.h (layer/mpi.c).
 * Each function is one call of the library and nothing else; a call that fails ends the program with its message. */
#ifndef VERSUS_LAYER_H
#define VERSUS_LAYER_H

#include <stddef.h>
#include <stdint.h>

/* The type of the numbers in the arrays of the v-forms: they are handed over as they are. */
#ifdef VERSUS_MPI
typedef int layer_count;
#else
typedef int64_t layer_count;
#endif

/* One call. Elements are doubles, reductions are sums. */
struct call {
  const double* in;
  double* out;
  layer_count count; /* elements of a block */
  int root;
  const layer_count* counts; /* for each rank, in the v-forms */
  const layer_count* offsets;
};

void layer_start(int* argument_count, char*** arguments);
void layer_end(void);
/* Ends all ranks. */
void layer_abort(void);
int layer_rank(void);
int layer_size(void);
/* Memory of the library's own, at the beginning of a page: tutti_allocate, MPI_Alloc_mem. */
void* layer_allocate(size_t bytes);
void layer_free(void* memory);
/* The library's name and version, in one line. */
const char* layer_version(void);

void layer_barrier(const struct call* call);
void layer_bcast(const struct call* call); /* of out */
void layer_reduce(const struct call* call);
void layer_allreduce(const struct call* call);
void layer_gather(const struct call* call);
void layer_scatter(const struct call* call);
void layer_allgather(const struct call* call);
void layer_alltoall(const struct call* call);
void layer_reduce_scatter_block(const struct call* call);
void layer_scan(const struct call* call);
void layer_exscan(const struct call* call);
void layer_gatherv(const struct call* call);
void layer_scatterv(const struct call* call);
void layer_allgatherv(const struct call* call);
void layer_alltoallv(const struct call* call);
void layer_reduce_scatter(const struct call* call);

/* The same, only started: one at a time. */
void layer_ibarrier(const struct call* call);
void layer_ibcast(const struct call* call);
void layer_ireduce(const struct call* call);
void layer_iallreduce(const struct call* call);
void layer_igather(const struct call* call);
void layer_iscatter(const struct call* call);
void layer_iallgather(const struct call* call);
void layer_ialltoall(const struct call* call);
void layer_ireduce_scatter_block(const struct call* call);
void layer_iscan(const struct call* call);
void layer_iexscan(const struct call* call);
void layer_igatherv(const struct call* call);
void layer_iscatterv(const struct call* call);
void layer_iallgatherv(const struct call* call);
void layer_ialltoallv(const struct call* call);
void layer_ireduce_scatter(const struct call* call);
/* Moves on what was started; whether it is done. */
int layer_test(void);
void layer_wait(void);

#endif
