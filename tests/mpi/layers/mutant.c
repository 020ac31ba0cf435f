/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded, it does one thing wrong on rank 1: MUTANT names it. The comparison has to notice. */
#include <mpi.h>
#include <stdlib.h>
#include <string.h>

/* The first time in a job, for one kind of call. */
static int is_first(void) {
  static int calls;
  return ++calls == 1;
}

static int is_chosen(const char* name) {
  const char* chosen = getenv("MUTANT");
  int rank;
  PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return chosen != NULL && strcmp(chosen, name) == 0 && rank == 1;
}

static void flip(void* buffer, MPI_Aint offset) { ((unsigned char*)buffer)[offset] ^= 1; }

int MPI_Allreduce(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm group) {
  const int status = PMPI_Allreduce(in, out, count, type, op, group);
  if (count > 0 && is_chosen("one byte") && is_first()) {
    MPI_Aint low, extent;
    PMPI_Type_get_true_extent(type, &low, &extent);
    flip(out, low);
  }
  return status;
}

/* Writes into the guard behind the result. */
int MPI_Scan(const void* in, void* out, int count, MPI_Datatype type, MPI_Op op, MPI_Comm group) {
  const int status = PMPI_Scan(in, out, count, type, op, group);
  if (is_chosen("guard") && is_first()) {
    MPI_Aint lower, extent, low, true_extent;
    PMPI_Type_get_extent(type, &lower, &extent);
    PMPI_Type_get_true_extent(type, &low, &true_extent);
    flip(out, low + true_extent + (count > 0 ? count - 1 : 0) * extent);
  }
  return status;
}

/* Tells another tag than that of the message. */
int MPI_Waitall(int count, MPI_Request requests[], MPI_Status statuses[]) {
  const int status = PMPI_Waitall(count, requests, statuses);
  for (int i = 0; is_chosen("tag") && statuses != MPI_STATUSES_IGNORE && i < count; ++i) statuses[i].MPI_TAG += 1;
  return status;
}
