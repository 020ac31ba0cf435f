/* SPDX-License-Identifier: BSD-3-Clause */
/* What goes wrong with groups made from communicators, in C. Prints, for each rank, what the last call said. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tutti/mpi.h"

static int rank, size;

static void expect(int holds, const char* what) {
  if (holds) return;
  fprintf(stderr, "rank %d: wrong: %s; the last error is: %s\n", rank, what, tutti_last_error());
  _exit(1);
}

static void refused(MPI_Comm comm, const char* word) {
  tutti_group group = NULL;
  expect(tutti_from_mpi(comm, &group) == TUTTI_USAGE && group == NULL, word);
  expect(strstr(tutti_last_error(), word) != NULL, word);
}

static tutti_group made(MPI_Comm comm) {
  tutti_group group = NULL;
  expect(tutti_from_mpi(comm, &group) == TUTTI_OK, "a group of a communicator");
  return group;
}

/* Arguments that are no communicator with one group. */
static void arguments(void) {
  MPI_Comm half, both;
  tutti_group group;
  refused(MPI_COMM_NULL, "MPI_COMM_NULL");
  expect(tutti_from_mpi(MPI_COMM_WORLD, NULL) == TUTTI_USAGE, "nowhere to put it");
  group = made(MPI_COMM_WORLD);
  expect(strcmp(tutti_name(group), "MPI_COMM_WORLD") == 0, "the name");
  tutti_group_free(&group);
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - rank % 2, 0, &both);
  refused(both, "MPI_Intercomm_merge");
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

/* Ranks that call something else. */
static void mismatch(void) {
  double in[4] = {1, 2, 3, 4}, out[4];
  tutti_group group = made(MPI_COMM_WORLD);
  MPI_Barrier(MPI_COMM_WORLD); /* all have made theirs before it breaks */
  const tutti_status status = tutti_allreduce(group, in, out, rank == 1 ? 4 : 3, TUTTI_FLOAT64, TUTTI_SUM);
  expect(status == TUTTI_MISMATCH, "a mismatch");
  expect(tutti_barrier(group) == TUTTI_MISMATCH, "a broken group");
  tutti_group_free(&group);
}

/* A rank that ends in the middle; the MPI knows nothing of it. */
static void lost(void) {
  tutti_group group = made(MPI_COMM_WORLD);
  expect(tutti_barrier(group) == TUTTI_OK, "a barrier");
  if (rank == 1) _exit(0);
  expect(tutti_barrier(group) == TUTTI_PEER_LOST, "a lost rank");
  expect(tutti_last_error_peer() == 1, "the rank that is lost");
  fputs("good\n", stdout);
  fflush(stdout);
  _exit(0);
}

/* MPI_Finalize while a receive is pending. */
static void pending(void) {
  int data[3];
  tutti_request request;
  tutti_group group = made(MPI_COMM_WORLD);
  expect(tutti_irecv(group, data, 3, TUTTI_INT32, (rank + 1) % size, 5, &request) == TUTTI_OK, "a receive");
  MPI_Barrier(MPI_COMM_WORLD); /* whoever is told of another's end is told that, and not of its own */
  MPI_Finalize();
  expect(tutti_wait(&request, -1) == TUTTI_BROKEN, "a receive behind MPI_Finalize");
  expect(strstr(tutti_last_error(), "MPI_Finalize") != NULL, "the reason");
  expect(tutti_barrier(group) == TUTTI_BROKEN, "a barrier behind MPI_Finalize");
  tutti_group_free(&group);
}

/* What the environment of one rank gets wrong, all are told: says the words after the rank's number. */
static void settings(const char* word) {
  tutti_group group = NULL;
  expect(tutti_from_mpi(MPI_COMM_WORLD, &group) == TUTTI_USAGE, "wrong settings");
  expect(strstr(tutti_last_error(), word) != NULL, word);
}

/* A thread that moves operations on. */
static void thread(void) {
  int in = rank, out = -1;
  tutti_request request;
  tutti_group group = made(MPI_COMM_WORLD);
  expect(tutti_iallreduce(group, &in, &out, 1, TUTTI_INT32, TUTTI_SUM, &request) == TUTTI_OK, "an allreduce");
  expect(tutti_wait(&request, -1) == TUTTI_OK && out == size * (size - 1) / 2, "a sum");
  tutti_group_free(&group);
}

int main(int argc, char** argv) {
  int provided;
  const char* what = argc > 1 ? argv[1] : "";
  refused(MPI_COMM_WORLD, "MPI_Init");
  MPI_Init_thread(&argc, &argv, strcmp(what, "thread") == 0 ? MPI_THREAD_MULTIPLE : MPI_THREAD_FUNNELED, &provided);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  if (strcmp(what, "arguments") == 0) arguments();
  if (strcmp(what, "mismatch") == 0) mismatch();
  if (strcmp(what, "lost") == 0) lost();
  if (strcmp(what, "pending") == 0) pending();
  if (strcmp(what, "settings") == 0) settings(argv[2]);
  if (strcmp(what, "thread") == 0) thread();
  if (strcmp(what, "pending") != 0) MPI_Finalize();
  refused(MPI_COMM_WORLD, "MPI_Finalize");
  puts("good");
  return 0;
}
