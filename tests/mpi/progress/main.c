/* SPDX-License-Identifier: BSD-3-Clause */
/* progress FOLDER test|wait [CALL...]: two ranks and two tables, one line each:
 *
 * "CALL under COLLECTIVE": while a large collective is pending, rank 0 blocks in CALL, until rank 1 has completed the
 * collective and answered. With `test` rank 1 looks for it for a while only: when nothing has moved it, it says
 * "stuck", answers all the same, and nobody hangs. With `wait` it waits, as programs do.
 *
 * "message before COLLECTIVE": rank 1 has started a large send and is already inside the collective; rank 0 first wants
 * the message. With `test` it gives up after a while. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "progress.h"

enum { PATIENCE_MS = 400, PAUSE_US = 20000 };

MPI_Comm other, pending_group;
char folder[4096];
static int rank, waits, stuck;
static int *in, *out;

static double now_ms(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e3 + (double)time.tv_nsec / 1e6;
}

static void start_allreduce(MPI_Request* request) {
  MPI_Iallreduce(in, out, LARGE, MPI_INT, MPI_SUM, pending_group, request);
}
static void start_alltoall(MPI_Request* request) {
  MPI_Ialltoall(in, LARGE / 2, MPI_INT, out, LARGE / 2, MPI_INT, pending_group, request);
}
static void start_bcast(MPI_Request* request) {
  MPI_Ibcast(rank == 0 ? in : out, LARGE, MPI_INT, 0, pending_group, request);
}

/* Whether a request completes, within a while or, with `wait`, at all. */
static int completes(MPI_Request* request) {
  int flag = 0;
  if (waits) return MPI_Wait(request, MPI_STATUS_IGNORE) == MPI_SUCCESS;
  for (const double start = now_ms(); !flag && now_ms() - start < PATIENCE_MS;) {
    MPI_Test(request, &flag, MPI_STATUS_IGNORE);
    if (!flag) usleep(50);
  }
  return flag;
}

static void say(const char* first, const char* between, const char* second, int moved) {
  printf("%s %s %s: %s\n", first, between, second, moved ? "moved" : "stuck");
  fflush(stdout);
  stuck += !moved;
}

static void fill(void) {
  for (int i = 0; i < LARGE; ++i) in[i] = i % 1000 + rank, out[i] = -1;
}

static int is_right(int collective) {
  for (int i = 0; i < LARGE; ++i) {
    const int half = i % (LARGE / 2) + rank * (LARGE / 2);
    const int wanted[3] = {i % 1000 * 2 + 1, half % 1000 + i / (LARGE / 2), rank == 0 ? -1 : i % 1000};
    if (out[i] != wanted[collective]) return 0;
  }
  return 1;
}

static void try_blocked(const struct blocked* call) {
  static void (*const starts[])(MPI_Request*) = {start_allreduce, start_alltoall, start_bcast};
  static const char* const names[] = {"Iallreduce", "Ialltoall", "Ibcast"};
  for (int i = 0; i < 3; ++i) {
    MPI_Request request;
    fill();
    MPI_Barrier(MPI_COMM_WORLD);
    starts[i](&request);
    if (rank == 0) {
      call->blocks();
    } else {
      usleep(PAUSE_US);
      const int moved = completes(&request);
      say(call->name, "under", names[i], moved);
      call->answers();
    }
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    if (!is_right(i)) say(call->name, "spoilt", names[i], 0);
  }
}

static void enter_barrier(void) { MPI_Barrier(other); }
static void enter_bcast(void) { MPI_Bcast(in, 1000, MPI_INT, 0, other); }
static void enter_allreduce(void) { MPI_Allreduce(in, out, 1000, MPI_INT, MPI_SUM, other); }
static void enter_alltoall(void) { MPI_Alltoall(in, 1000, MPI_INT, out, 1000, MPI_INT, other); }
static void enter_gather(void) { MPI_Gather(in, LARGE / 2, MPI_INT, out, LARGE / 2, MPI_INT, 0, other); }

/* The message has gaps, so that no library can leave it to the receiver alone to fetch it. */
static void try_message_first(void) {
  static void (*const enter[])(void) = {enter_barrier, enter_bcast, enter_allreduce, enter_alltoall, enter_gather};
  static const char* const names[] = {"Barrier", "Bcast", "Allreduce", "Alltoall", "Gather"};
  MPI_Datatype gaps;
  MPI_Type_vector(LARGE / 2, 1, 2, MPI_INT, &gaps);
  MPI_Type_commit(&gaps);
  for (int i = 0; i < 5; ++i) {
    MPI_Request request;
    MPI_Barrier(MPI_COMM_WORLD);
    if (rank == 1) MPI_Isend(in, 1, gaps, 0, TAG, MPI_COMM_WORLD, &request);
    if (rank == 0) {
      usleep(PAUSE_US);
      MPI_Irecv(out, 1, gaps, 1, TAG, MPI_COMM_WORLD, &request);
      say("message", "before", names[i], completes(&request));
    }
    enter[i]();
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }
  MPI_Type_free(&gaps);
}

static int is_wanted(int argc, char** argv, const char* name) {
  for (int i = 3; i < argc; ++i) {
    if (strcmp(argv[i], name) == 0) return 1;
  }
  return argc <= 3;
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (argc < 3) return 2;
  snprintf(folder, sizeof folder, "%s", argv[1]);
  waits = strcmp(argv[2], "wait") == 0;
  MPI_Comm_dup(MPI_COMM_WORLD, &other);
  MPI_Comm_dup(MPI_COMM_WORLD, &pending_group);
  in = malloc(sizeof *in * LARGE);
  out = malloc(sizeof *out * LARGE);
  for (int i = 0; i < blocked_count; ++i) {
    if (is_wanted(argc, argv, blocked_calls[i].name)) try_blocked(&blocked_calls[i]);
  }
  if (is_wanted(argc, argv, "message")) try_message_first();
  MPI_Comm_free(&pending_group);
  MPI_Comm_free(&other);
  free(in);
  free(out);
  MPI_Finalize();
  return 0;
}
