/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory from MPI_Alloc_mem: of any size, with hints, in collectives, messages and windows; it is the program's again
 * as soon as a call is over. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { LENGTH = 60000 };

static int wrong = 0;
static int rank, size;

static void check(int good) { wrong += !good; }

static double* make(MPI_Info info) {
  double* memory = NULL;
  check(MPI_Alloc_mem(LENGTH * sizeof *memory, info, &memory) == MPI_SUCCESS && memory != NULL);
  return memory;
}

static void collectives(double* in, double* out) {
  for (int round = 0; round < 40; ++round) {
    for (int i = 0; i < LENGTH; ++i) in[i] = rank + i + round;
    MPI_Allreduce(in, out, LENGTH, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    memset(in, 0, LENGTH * sizeof *in);
    for (int i = 0; i < LENGTH; ++i) check(out[i] == (double)size * (i + round) + size * (size - 1) / 2);
    const int root = round % size;
    for (int i = 0; i < LENGTH; ++i) in[i] = rank == root ? i + round : -1;
    MPI_Bcast(in, LENGTH, MPI_DOUBLE, root, MPI_COMM_WORLD);
    for (int i = 0; i < LENGTH; ++i) check(in[i] == i + round);
    memset(in, 0, LENGTH * sizeof *in);
  }
}

static void window(double* memory) {
  MPI_Win made;
  const double mine = rank + 1;
  MPI_Win_create(memory, LENGTH * sizeof *memory, sizeof *memory, MPI_INFO_NULL, MPI_COMM_WORLD, &made);
  MPI_Win_fence(0, made);
  MPI_Put(&mine, 1, MPI_DOUBLE, (rank + 1) % size, 3, 1, MPI_DOUBLE, made);
  MPI_Win_fence(0, made);
  check(memory[3] == (rank + size - 1) % size + 1);
  MPI_Win_free(&made);
}

int main(int argc, char** argv) {
  MPI_Info hints;
  double* small = NULL;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Info_create(&hints);
  MPI_Info_set(hints, "mpi_minimum_memory_alignment", "64");
  double *in = make(MPI_INFO_NULL), *out = make(rank % 2 == 0 ? MPI_INFO_NULL : hints);
  collectives(in, out);
  window(in);
  MPI_Sendrecv(out, LENGTH, MPI_DOUBLE, (rank + 1) % size, 0, in, LENGTH, MPI_DOUBLE, (rank + size - 1) % size, 0,
               MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < LENGTH; ++i) check(in[i] == out[i]);
  check(MPI_Free_mem(in) == MPI_SUCCESS);
  check(MPI_Free_mem(out) == MPI_SUCCESS);
  for (int i = 0; i < 1000; ++i) {
    check(MPI_Alloc_mem(8, MPI_INFO_NULL, &small) == MPI_SUCCESS);
    *small = i;
    check(MPI_Free_mem(small) == MPI_SUCCESS);
  }
  MPI_Info_free(&hints);
  MPI_Finalize();
  printf("rank %d: %d wrong\n", rank, wrong);
  return 0;
}
