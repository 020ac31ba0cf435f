/* SPDX-License-Identifier: BSD-3-Clause */
/* What MPIs match apart: I-collectives that some ranks start before a barrier and others behind it, and persistent ones
 * that are started in another order than they were made. */
#include <mpi.h>
#include <stdio.h>

static int rank, size;
static FILE* out;

static void around_a_barrier(int root) {
  int one = rank + 1, sum = -1;
  MPI_Request request;
  if (rank != root) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
  if (rank == root) MPI_Barrier(MPI_COMM_WORLD);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  fprintf(out, "root %d: %d\n", root, sum);
}

static void in_any_order(void) {
  int one = rank + 1, sum = -1, told = rank == 0 ? 42 : -1;
  MPI_Request both[2];
  MPI_Allreduce_init(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &both[0]);
  MPI_Bcast_init(&told, 1, MPI_INT, 0, MPI_COMM_WORLD, MPI_INFO_NULL, &both[1]);
  for (int round = 0; round < 3; ++round) {
    for (int i = 0; i < 2; ++i) MPI_Start(&both[(rank + round + i) % 2]);
    for (int i = 0; i < 2; ++i) MPI_Wait(&both[i], MPI_STATUS_IGNORE);
    fprintf(out, "persistent: %d %d\n", sum, told);
  }
  for (int i = 0; i < 2; ++i) MPI_Request_free(&both[i]);
}

int main(int argc, char** argv) {
  char name[32];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  snprintf(name, sizeof name, "apart.%d", rank);
  out = fopen(name, "w");
  for (int root = 0; root < size; ++root) around_a_barrier(root);
  if (size > 1) in_any_order(); /* Alone, Open MPI's own never end. */
  fclose(out);
  MPI_Finalize();
  return 0;
}
