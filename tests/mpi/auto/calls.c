/* SPDX-License-Identifier: BSD-3-Clause */
/* calls N: as many reductions of each form, every result checked; barriers in between, and one of each rank alone.
 * Prints how many were wrong. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 16 };
static int rank, size, wrong;

static void fill(double* values, int call) {
  for (int i = 0; i < COUNT; ++i) values[i] = rank + call + i;
}
static void check(const double* sums, int call) {
  for (int i = 0; i < COUNT; ++i) wrong += sums[i] != size * (size - 1) / 2 + (double)size * (call + i);
}

int main(int argc, char** argv) {
  double values[COUNT], sums[COUNT];
  int total = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int calls = atoi(argv[1]);
  MPI_Barrier(MPI_COMM_SELF);
  for (int call = 0; call < calls; ++call) {
    fill(values, call);
    MPI_Allreduce(values, sums, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    check(sums, call);
  }
  for (int call = 0; call < calls; ++call) {
    MPI_Request request;
    fill(values, call);
    MPI_Iallreduce(values, sums, COUNT, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    check(sums, call);
    if (call % 8 == 7) MPI_Barrier(MPI_COMM_WORLD);
  }
  MPI_Reduce(&wrong, &total, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD);
  if (rank == 0) printf("%d wrong\n", total);
  return MPI_Finalize();
}
