/* SPDX-License-Identifier: BSD-3-Clause */
/* Errors end the program by MPI's own default, MPI_ERRORS_ARE_FATAL. */
#include <ctype.h>
#include <mpi.h>
#include <string.h>

#include "../layer.h"

static MPI_Request request = MPI_REQUEST_NULL;

void layer_start(int* argument_count, char*** arguments) { MPI_Init(argument_count, arguments); }

void layer_end(void) { MPI_Finalize(); }
void layer_abort(void) { MPI_Abort(MPI_COMM_WORLD, 1); }

int layer_rank(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int layer_size(void) {
  int size;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  return size;
}

void* layer_allocate(size_t bytes) {
  void* memory = NULL;
  MPI_Alloc_mem((MPI_Aint)bytes, MPI_INFO_NULL, &memory);
  return memory;
}

void layer_free(void* memory) { MPI_Free_mem(memory); }

/* The text up to its first comma or line, each run of white space made one blank. */
const char* layer_version(void) {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length;
  MPI_Get_library_version(text, &length);
  text[strcspn(text, ",\r\n")] = '\0';
  char* end = text;
  for (const char* from = text; *from != '\0'; ++from)
    if (!isspace((unsigned char)*from))
      *end++ = *from;
    else if (end > text && end[-1] != ' ')
      *end++ = ' ';
  *end = '\0';
  return text;
}

void layer_barrier(const struct call* c) {
  (void)c;
  MPI_Barrier(MPI_COMM_WORLD);
}

void layer_bcast(const struct call* c) { MPI_Bcast(c->out, c->count, MPI_DOUBLE, c->root, MPI_COMM_WORLD); }

void layer_reduce(const struct call* c) {
  MPI_Reduce(c->in, c->out, c->count, MPI_DOUBLE, MPI_SUM, c->root, MPI_COMM_WORLD);
}

void layer_allreduce(const struct call* c) {
  MPI_Allreduce(c->in, c->out, c->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

void layer_gather(const struct call* c) {
  MPI_Gather(c->in, c->count, MPI_DOUBLE, c->out, c->count, MPI_DOUBLE, c->root, MPI_COMM_WORLD);
}

void layer_scatter(const struct call* c) {
  MPI_Scatter(c->in, c->count, MPI_DOUBLE, c->out, c->count, MPI_DOUBLE, c->root, MPI_COMM_WORLD);
}

void layer_allgather(const struct call* c) {
  MPI_Allgather(c->in, c->count, MPI_DOUBLE, c->out, c->count, MPI_DOUBLE, MPI_COMM_WORLD);
}

void layer_alltoall(const struct call* c) {
  MPI_Alltoall(c->in, c->count, MPI_DOUBLE, c->out, c->count, MPI_DOUBLE, MPI_COMM_WORLD);
}

void layer_reduce_scatter_block(const struct call* c) {
  MPI_Reduce_scatter_block(c->in, c->out, c->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

void layer_scan(const struct call* c) { MPI_Scan(c->in, c->out, c->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }

void layer_exscan(const struct call* c) { MPI_Exscan(c->in, c->out, c->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD); }

void layer_gatherv(const struct call* c) {
  MPI_Gatherv(c->in, c->count, MPI_DOUBLE, c->out, c->counts, c->offsets, MPI_DOUBLE, c->root, MPI_COMM_WORLD);
}

void layer_scatterv(const struct call* c) {
  MPI_Scatterv(c->in, c->counts, c->offsets, MPI_DOUBLE, c->out, c->count, MPI_DOUBLE, c->root, MPI_COMM_WORLD);
}

void layer_allgatherv(const struct call* c) {
  MPI_Allgatherv(c->in, c->count, MPI_DOUBLE, c->out, c->counts, c->offsets, MPI_DOUBLE, MPI_COMM_WORLD);
}

void layer_alltoallv(const struct call* c) {
  MPI_Alltoallv(c->in, c->counts, c->offsets, MPI_DOUBLE, c->out, c->counts, c->offsets, MPI_DOUBLE, MPI_COMM_WORLD);
}

void layer_reduce_scatter(const struct call* c) {
  MPI_Reduce_scatter(c->in, c->out, c->counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
}

void layer_ibarrier(const struct call* c) {
  (void)c;
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
}

void layer_ibcast(const struct call* c) { MPI_Ibcast(c->out, c->count, MPI_DOUBLE, c->root, MPI_COMM_WORLD, &request); }

void layer_ireduce(const struct call* c) {
  MPI_Ireduce(c->in, c->out, c->count, MPI_DOUBLE, MPI_SUM, c->root, MPI_COMM_WORLD, &request);
}

void layer_iallreduce(const struct call* c) {
  MPI_Iallreduce(c->in, c->out, c->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
}

void layer_igather(const struct call* c) {
  MPI_Igather(c->in, c->count, MPI_DOUBLE, c->out, c->count, MPI_DOUBLE, c->root, MPI_COMM_WORLD, &request);
}

void layer_iscatter(const struct call* c) {
  MPI_Iscatter(c->in, c->count, MPI_DOUBLE, c->out, c->count, MPI_DOUBLE, c->root, MPI_COMM_WORLD, &request);
}

void layer_iallgather(const struct call* c) {
  MPI_Iallgather(c->in, c->count, MPI_DOUBLE, c->out, c->count, MPI_DOUBLE, MPI_COMM_WORLD, &request);
}

void layer_ialltoall(const struct call* c) {
  MPI_Ialltoall(c->in, c->count, MPI_DOUBLE, c->out, c->count, MPI_DOUBLE, MPI_COMM_WORLD, &request);
}

void layer_ireduce_scatter_block(const struct call* c) {
  MPI_Ireduce_scatter_block(c->in, c->out, c->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
}

void layer_iscan(const struct call* c) {
  MPI_Iscan(c->in, c->out, c->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
}

void layer_iexscan(const struct call* c) {
  MPI_Iexscan(c->in, c->out, c->count, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
}

void layer_igatherv(const struct call* c) {
  MPI_Igatherv(c->in, c->count, MPI_DOUBLE, c->out, c->counts, c->offsets, MPI_DOUBLE, c->root, MPI_COMM_WORLD,
               &request);
}

void layer_iscatterv(const struct call* c) {
  MPI_Iscatterv(c->in, c->counts, c->offsets, MPI_DOUBLE, c->out, c->count, MPI_DOUBLE, c->root, MPI_COMM_WORLD,
                &request);
}

void layer_iallgatherv(const struct call* c) {
  MPI_Iallgatherv(c->in, c->count, MPI_DOUBLE, c->out, c->counts, c->offsets, MPI_DOUBLE, MPI_COMM_WORLD, &request);
}

void layer_ialltoallv(const struct call* c) {
  MPI_Ialltoallv(c->in, c->counts, c->offsets, MPI_DOUBLE, c->out, c->counts, c->offsets, MPI_DOUBLE, MPI_COMM_WORLD,
                 &request);
}

void layer_ireduce_scatter(const struct call* c) {
  MPI_Ireduce_scatter(c->in, c->out, c->counts, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
}

int layer_test(void) {
  int done;
  MPI_Test(&request, &done, MPI_STATUS_IGNORE);
  return done;
}

void layer_wait(void) { MPI_Wait(&request, MPI_STATUS_IGNORE); }
