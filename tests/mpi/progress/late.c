/* SPDX-License-Identifier: BSD-3-Clause */
/* Rank 0 is done with its part of collectives and leaves, into MPI_Finalize; rank 1 completes its part later. */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <mpi.h>

enum { COUNT = 1 << 20, PAUSE_US = 200000 };

int main(int argc, char** argv) {
  int rank, size, right = 1;
  int* values = calloc(COUNT, sizeof *values);
  MPI_Request request;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int i = 0; i < COUNT && rank == 0; ++i) values[i] = i;
  MPI_Ibcast(values, COUNT, MPI_INT, 0, MPI_COMM_WORLD, &request);
  if (rank != 0) usleep(PAUSE_US);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  if (rank == size - 1) usleep(PAUSE_US);
  MPI_Bcast(values, COUNT / 2, MPI_INT, 0, MPI_COMM_WORLD);
  for (int i = 0; i < COUNT; ++i) right &= values[i] == i;
  printf("rank %d: %s\n", rank, right ? "right" : "wrong");
  fflush(stdout);
  MPI_Finalize();
  free(values);
  return 0;
}
