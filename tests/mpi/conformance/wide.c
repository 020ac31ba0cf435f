/* SPDX-License-Identifier: BSD-3-Clause */
/* 64-bit counts on an MPI without: behind arrays, and in arguments that mean nothing on a rank, stand numbers that no
 * int holds. */
#include <mpi.h>
#include <stdio.h>

enum { MOST = 16 };
static const MPI_Count wild = (MPI_Count)1 << 40;

#if MPI_VERSION < 4
int MPI_Gatherv_c(const void*, MPI_Count, MPI_Datatype, void*, const MPI_Count*, const MPI_Aint*, MPI_Datatype, int,
                  MPI_Comm);
int MPI_Gather_c(const void*, MPI_Count, MPI_Datatype, void*, MPI_Count, MPI_Datatype, int, MPI_Comm);
int MPI_Allgatherv_c(const void*, MPI_Count, MPI_Datatype, void*, const MPI_Count*, const MPI_Aint*, MPI_Datatype,
                     MPI_Comm);
#endif
#pragma weak MPI_Gatherv_c
#pragma weak MPI_Gather_c
#pragma weak MPI_Allgatherv_c

static int rank, size;
static FILE* out;

static void say(const char* what, const int* numbers, int count) {
  fprintf(out, "%s:", what);
  for (int i = 0; i < count; ++i) fprintf(out, " %d", numbers[i]);
  fprintf(out, "\n");
}

/* All to all between two groups: each side's arrays have a number for each rank of the other. */
static void across(MPI_Comm between, int others) {
  MPI_Count counts[MOST];
  MPI_Aint places[MOST];
  int narrow_counts[MOST], narrow_places[MOST], mine[2] = {rank, -rank}, all[2 * MOST] = {0};
  for (int i = 0; i < MOST; ++i) {
    counts[i] = i < others ? 2 : wild, places[i] = i < others ? 2 * i : wild;
    narrow_counts[i] = 2, narrow_places[i] = 2 * i;
  }
  if (MPI_Allgatherv_c)
    MPI_Allgatherv_c(mine, 2, MPI_INT, all, counts, places, MPI_INT, between);
  else
    MPI_Allgatherv(mine, 2, MPI_INT, all, narrow_counts, narrow_places, MPI_INT, between);
  say("across", all, 2 * others);
}

/* To rank 0 of `comm`, or in an intercommunicator to the rank that says `MPI_ROOT`. */
static void to_root(const char* what, MPI_Comm comm, int root, int at_root, int senders) {
  MPI_Count counts[MOST];
  MPI_Aint places[MOST];
  int narrow_counts[MOST], narrow_places[MOST], all[MOST] = {0};
  for (int i = 0; i < MOST; ++i) {
    counts[i] = at_root && i < senders ? 1 : wild, places[i] = at_root && i < senders ? i : wild;
    narrow_counts[i] = 1, narrow_places[i] = i;
  }
  if (MPI_Gatherv_c)
    MPI_Gatherv_c(&rank, 1, MPI_INT, all, counts, places, MPI_INT, root, comm);
  else
    MPI_Gatherv(&rank, 1, MPI_INT, all, narrow_counts, narrow_places, MPI_INT, root, comm);
  say(what, all, at_root ? senders : 0);
  if (MPI_Gather_c)
    MPI_Gather_c(&rank, 1, MPI_INT, all, at_root ? 1 : wild, MPI_INT, root, comm);
  else
    MPI_Gather(&rank, 1, MPI_INT, all, 1, MPI_INT, root, comm);
  say(what, all, at_root ? senders : 0);
}

int main(int argc, char** argv) {
  char name[32];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  snprintf(name, sizeof name, "wide.%d", rank);
  out = fopen(name, "w");
  to_root("gather", MPI_COMM_WORLD, 0, rank == 0, size);
  if (size > 1) {
    const int alone = rank == 0, others = alone ? size - 1 : 1;
    MPI_Comm half, between;
    MPI_Comm_split(MPI_COMM_WORLD, alone, rank, &half);
    MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, alone ? 1 : 0, 0, &between);
    across(between, others);
    to_root("to one", between, alone ? MPI_ROOT : 0, alone, others);
    to_root("to many", between, alone ? 0 : rank == 1 ? MPI_ROOT : MPI_PROC_NULL, rank == 1, others);
    MPI_Comm_free(&between);
    MPI_Comm_free(&half);
  }
  fclose(out);
  MPI_Finalize();
  return 0;
}
