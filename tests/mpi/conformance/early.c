/* SPDX-License-Identifier: BSD-3-Clause */
/* What a program may free while a request still needs it: the communicator, the type and the operator. Open MPI itself
 * ends in memory that is not there, so this program knows what is right. (It has threads: without, a request with a
 * function of the program's is the MPI's.) */
#include <mpi.h>
#include <stdio.h>

enum { COUNT = 100000, ROUNDS = 20 };

static int rank, size;
static int ones[COUNT], sums[COUNT], shared[COUNT], twices[COUNT];

static void twice(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += 2 * ((int*)in)[i];
}

static int round_is_right(int round) {
  MPI_Request requests[3];
  MPI_Comm group;
  MPI_Datatype type;
  MPI_Op op;
  int right = 1;
  for (int i = 0; i < COUNT; ++i) ones[i] = rank + round, shared[i] = rank == 0 ? i : -1;
  MPI_Comm_dup(MPI_COMM_WORLD, &group);
  MPI_Type_vector(COUNT / 2, 1, 2, MPI_INT, &type);
  MPI_Type_commit(&type);
  MPI_Op_create(twice, 1, &op);
  MPI_Ibcast(shared, 1, type, 0, group, &requests[0]);
  MPI_Iallreduce(ones, sums, COUNT, MPI_INT, MPI_SUM, group, &requests[1]);
  MPI_Iscan(ones, twices, COUNT, MPI_INT, op, group, &requests[2]);
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  MPI_Comm_free(&group);
  MPI_Waitall(3, requests, MPI_STATUSES_IGNORE);
  for (int i = 0; i < COUNT; ++i) {
    right &= sums[i] == size * (size - 1) / 2 + size * round;
    right &= shared[i] == (rank == 0 || i % 2 == 0 ? i : -1);
    right &= rank != 0 || twices[i] == round;
    right &= rank != 1 || twices[i] == 2 * round + 1 + round;
  }
  return right;
}

int main(int argc, char** argv) {
  int wrong = 0;
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int round = 0; round < ROUNDS; ++round) wrong += !round_is_right(round);
  printf("rank %d: %d wrong\n", rank, wrong);
  fflush(stdout);
  MPI_Finalize();
  return wrong != 0;
}
