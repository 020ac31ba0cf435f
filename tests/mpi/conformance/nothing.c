/* SPDX-License-Identifier: BSD-3-Clause */
/* MPICH and its like take no datatype for what is nothing, on ranks that have something to do with others. */
#include <mpi.h>
#include <stdio.h>

enum { MOST = 8 };
static int rank, size, wrong;

/* Rank 0 exchanges a number with every rank, and the others with it alone. */
static void star(void) {
  int in[MOST], out[MOST], counts[MOST], places[MOST];
  MPI_Datatype types[MOST];
  for (int i = 0; i < size; ++i) {
    const int has = rank == 0 || i == 0;
    in[i] = 100 * rank + i, out[i] = -1;
    counts[i] = has, places[i] = (int)sizeof(int) * i, types[i] = has ? MPI_INT : MPI_DATATYPE_NULL;
  }
  MPI_Alltoallw(in, counts, places, types, out, counts, places, types, MPI_COMM_WORLD);
  for (int i = 0; i < size; ++i) wrong += out[i] != (counts[i] ? 100 * i + rank : -1);
}

/* All have nothing, and say so in different ways; what comes behind has to find its partners. */
static void empty(void) {
  int sum = 0;
  MPI_Datatype mine = rank == 0 ? MPI_INT : MPI_DATATYPE_NULL;
  MPI_Bcast(NULL, 0, mine, 0, MPI_COMM_WORLD);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  wrong += sum != size * (size - 1) / 2;
}

/* On a ring that is open. */
static void along(MPI_Comm line) {
  int in = rank, out[2] = {-1, -1}, counts[2] = {0, 0};
  MPI_Aint places[2] = {0, 0};
  MPI_Datatype types[2] = {MPI_DATATYPE_NULL, MPI_DATATYPE_NULL};
  MPI_Datatype mine = rank == 0 ? MPI_INT : MPI_DATATYPE_NULL;
  MPI_Neighbor_allgather(&in, 0, mine, out, 0, mine, line);
  MPI_Neighbor_allgatherv(&in, 0, mine, out, counts, counts, MPI_INT, line);
  MPI_Neighbor_alltoall(&in, 0, mine, out, 0, mine, line);
  if (rank == 0) types[0] = types[1] = MPI_INT;
  MPI_Neighbor_alltoallw(&in, counts, places, types, out, counts, places, types, line);
  MPI_Neighbor_allgather(&in, 1, MPI_INT, out, 1, MPI_INT, line);
  wrong += out[0] != rank - 1 || out[1] != (rank + 1 < size ? rank + 1 : -1);
}

int main(int argc, char** argv) {
  MPI_Comm line;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int shape[1] = {size}, round[1] = {0};
  MPI_Cart_create(MPI_COMM_WORLD, 1, shape, round, 0, &line);
  for (int i = 0; i < 20; ++i) {
    star();
    empty();
    along(line);
  }
  MPI_Comm_free(&line);
  printf("rank %d: %d wrong\n", rank, wrong);
  MPI_Finalize();
  return 0;
}
