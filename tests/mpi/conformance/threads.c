/* SPDX-License-Identifier: BSD-3-Clause */
/* Several threads of a process, each in a communicator of its own, all inside the MPI at once. Every result is
 * checked; prints how many were wrong. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { THREADS = 3, ROUNDS = 150, COUNT = 3000 };

/* Each is first used by all threads at about the same time. */
static MPI_Datatype types[ROUNDS];

struct thread {
  MPI_Comm comm;
  int number, wrong;
  int mine[COUNT], sums[COUNT], told[COUNT];
};

static int rank, size;

static void blocking_and_not(struct thread* own, int round) {
  const int root = round % size, count = 1 + round * 37 % COUNT;
  MPI_Request requests[2];
  for (int i = 0; i < count; ++i) own->mine[i] = rank + round + own->number, own->told[i] = rank == root ? i : -1;
  MPI_Iallreduce(own->mine, own->sums, count, MPI_INT, MPI_SUM, own->comm, &requests[0]);
  MPI_Ibcast(own->told, count, MPI_INT, root, own->comm, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
  MPI_Bcast(own->told, 1, types[round], root, own->comm);
  for (int i = 0; i < count; ++i) {
    own->wrong += own->sums[i] != size * (size - 1) / 2 + size * (round + own->number);
    own->wrong += own->told[i] != i;
  }
  MPI_Allreduce(MPI_IN_PLACE, own->mine, count, MPI_INT, MPI_MAX, own->comm);
  for (int i = 0; i < count; ++i) own->wrong += own->mine[i] != size - 1 + round + own->number;
}

/* Its neighbour's message may be large, and the neighbour in a collective of another communicator. */
static void around(struct thread* own, int round) {
  const int count = round % 3 == 0 ? COUNT : 1, next = (rank + 1) % size, before = (rank + size - 1) % size;
  for (int i = 0; i < count; ++i) own->mine[i] = rank * 1000 + own->number;
  MPI_Sendrecv(own->mine, count, MPI_INT, next, round, own->told, count, MPI_INT, before, round, own->comm,
               MPI_STATUS_IGNORE);
  for (int i = 0; i < count; ++i) own->wrong += own->told[i] != before * 1000 + own->number;
  MPI_Barrier(own->comm);
}

static void* run(void* given) {
  struct thread* own = given;
  for (int round = 0; round < ROUNDS; ++round) {
    blocking_and_not(own, round);
    around(own, round);
  }
  return NULL;
}

int main(int argc, char** argv) {
  static struct thread threads[THREADS];
  pthread_t handles[THREADS];
  MPI_Errhandler before, after;
  int provided, wrong = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (provided != MPI_THREAD_MULTIPLE) return fprintf(stderr, "this MPI has no threads\n"), 2;
  for (int i = 0; i < THREADS; ++i) {
    threads[i].number = i;
    MPI_Comm_dup(MPI_COMM_WORLD, &threads[i].comm);
  }
  for (int i = 0; i < ROUNDS; ++i) {
    MPI_Type_vector(1 + i % 7, 1, 2, MPI_INT, &types[i]);
    MPI_Type_commit(&types[i]);
  }
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
  for (int i = 0; i < THREADS; ++i) pthread_create(&handles[i], NULL, run, &threads[i]);
  for (int i = 0; i < THREADS; ++i) pthread_join(handles[i], NULL);
  MPI_Comm_get_errhandler(MPI_COMM_WORLD, &after); /* they have looked up datatypes, several at a time */
  wrong += before != after;
  for (int i = 0; i < THREADS; ++i) {
    wrong += threads[i].wrong;
    MPI_Comm_free(&threads[i].comm);
  }
  for (int i = 0; i < ROUNDS; ++i) MPI_Type_free(&types[i]);
  printf("rank %d: %d wrong\n", rank, wrong);
  fflush(stdout);
  MPI_Finalize();
  return wrong != 0;
}
