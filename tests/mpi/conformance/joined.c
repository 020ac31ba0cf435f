/* SPDX-License-Identifier: BSD-3-Clause */
/* A thread waits in the MPI for a message that comes when the others are done with what this one starts after it, and
 * waits for when it has joined the thread. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { COUNT = 1 << 20, PAUSE_US = 30000 };

static int rank, size, wrong;
static MPI_Comm other;

static void by_receive(int* x) { MPI_Recv(x, 1, MPI_INT, 1, 0, other, MPI_STATUS_IGNORE); }
static void by_wait(int* x) {
  MPI_Request message;
  MPI_Irecv(x, 1, MPI_INT, 1, 0, other, &message);
  MPI_Wait(&message, MPI_STATUS_IGNORE);
}
static void by_probe(int* x) {
  MPI_Probe(1, 0, other, MPI_STATUS_IGNORE);
  by_receive(x);
}

typedef void way(int*);
static way* const ways[] = {by_receive, by_wait, by_probe};

static void* wait_for_it(void* chosen) {
  int x = 0;
  (*(way* const*)chosen)(&x);
  if (x != 7) printf("rank %d: another message\n", rank);
  return NULL;
}

int main(int argc, char** argv) {
  const int seven = 7;
  int provided;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  int* in = calloc(COUNT, sizeof *in);
  int* out = calloc(COUNT, sizeof *out);
  for (int round = 0; round < 3; ++round) {
    pthread_t thread;
    MPI_Request request;
    for (int i = 0; i < COUNT; ++i) in[i] = i % 1000 + rank, out[i] = -1;
    if (rank == 0) {
      pthread_create(&thread, NULL, wait_for_it, (void*)&ways[round]);
      usleep(PAUSE_US);
    }
    MPI_Iallreduce(in, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &request);
    if (rank == 0) pthread_join(thread, NULL);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (rank == 1) MPI_Send(&seven, 1, MPI_INT, 0, 0, other);
    for (int i = 0; i < COUNT; ++i) wrong += out[i] != size * (i % 1000) + size * (size - 1) / 2;
  }
  MPI_Comm_free(&other);
  free(in);
  free(out);
  printf("rank %d: %d wrong\n", rank, wrong);
  MPI_Finalize();
  return 0;
}
