/* SPDX-License-Identifier: BSD-3-Clause */
/* The program's own attributes call collectives with the communicator that is being freed, whose handle the MPI gives
 * to the next one: another group, in another order. */
#include <mpi.h>
#include <stdio.h>

enum { ROUNDS = 40 };

static int rank, size, wrong, deleted;

static int total_of(MPI_Comm comm, int mine) {
  int sum = -1;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
  return sum;
}

static int delete_it(MPI_Comm comm, int key, void* value, void* more) {
  (void)key, (void)value, (void)more;
  wrong += total_of(comm, rank) != size * (size - 1) / 2;
  ++deleted;
  return MPI_SUCCESS;
}

static void one_round(MPI_Comm from, int round) {
  MPI_Comm copy, reversed;
  int place, at_root = -1;
  MPI_Comm_dup(from, &copy);
  wrong += total_of(copy, rank) != size * (size - 1) / 2;
  MPI_Comm_free(&copy);
  MPI_Comm_split(MPI_COMM_WORLD, 0, size - rank, &reversed);
  MPI_Comm_rank(reversed, &place);
  if (place == 0) at_root = round;
  MPI_Bcast(&at_root, 1, MPI_INT, 0, reversed);
  wrong += at_root != round || place != size - 1 - rank;
  MPI_Comm_free(&reversed);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &copy);
  wrong += total_of(copy, 1) != (size + 1 - rank % 2) / 2;
  MPI_Comm_free(&copy);
}

int main(int argc, char** argv) {
  MPI_Comm from;
  int key;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_create_keyval(MPI_COMM_DUP_FN, delete_it, &key, NULL);
  MPI_Comm_dup(MPI_COMM_WORLD, &from);
  MPI_Comm_set_attr(from, key, NULL);
  for (int round = 0; round < ROUNDS; ++round) one_round(from, round);
  MPI_Comm_free(&from);
  wrong += deleted != ROUNDS + 1;
  printf("rank %d: %d wrong\n", rank, wrong);
  fflush(stdout);
  MPI_Finalize();
  return wrong != 0;
}
