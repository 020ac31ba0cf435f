/* SPDX-License-Identifier: BSD-3-Clause */
/* While a persistent collective runs, rank 0 loops over looks at something else, which comes when the others are done.
 */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1 << 20, ROUNDS = 3 };

static int rank, size, wrong;

static void by_test(void) {
  MPI_Request message;
  int x = 0, flag = 0;
  MPI_Irecv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &message);
  while (!flag) MPI_Test(&message, &flag, MPI_STATUS_IGNORE);
  wrong += x != 7;
}

static void by_iprobe(void) {
  int x = 0, flag = 0;
  while (!flag) MPI_Iprobe(1, 0, MPI_COMM_WORLD, &flag, MPI_STATUS_IGNORE);
  MPI_Recv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  wrong += x != 7;
}

static void by_get_status(void) {
  MPI_Request message;
  int x = 0, flag = 0;
  MPI_Irecv(&x, 1, MPI_INT, 1, 0, MPI_COMM_WORLD, &message);
  while (!flag) MPI_Request_get_status(message, &flag, MPI_STATUS_IGNORE);
  MPI_Wait(&message, MPI_STATUS_IGNORE);
  wrong += x != 7;
}

int main(int argc, char** argv) {
  static void (*const ways[])(void) = {by_test, by_iprobe, by_get_status};
  const int seven = 7;
  MPI_Request kept;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int* in = calloc(COUNT, sizeof *in);
  int* out = calloc(COUNT, sizeof *out);
  MPI_Allreduce_init(in, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &kept);
  for (int round = 0; round < ROUNDS; ++round) {
    for (int i = 0; i < COUNT; ++i) in[i] = i % 1000 + rank, out[i] = -1;
    MPI_Start(&kept);
    if (rank == 0) ways[round]();
    MPI_Wait(&kept, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(&seven, 1, MPI_INT, 0, 0, MPI_COMM_WORLD);
    for (int i = 0; i < COUNT; ++i) wrong += out[i] != size * (i % 1000) + size * (size - 1) / 2;
  }
  MPI_Request_free(&kept);
  free(in);
  free(out);
  printf("rank %d: %d wrong\n", rank, wrong);
  MPI_Finalize();
  return 0;
}
