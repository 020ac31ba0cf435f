/* SPDX-License-Identifier: BSD-3-Clause */
/* tutti-hot: small calls of every collective, again and again. Under callgrind the functions that run inside
 * `tutti_measured` are what scripts/hot.py has the linker put side by side. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "tutti/tutti.h"

enum { most_ranks = 64, most = 256, warm_up = 300, rounds = 30 };

static tutti_group world;
static double in[most_ranks * most], out[most_ranks * most];
static int64_t counts[most_ranks];
static tutti_persistent persistent;

static void must(tutti_status status) {
  if (status == TUTTI_OK) return;
  fprintf(stderr, "tutti-hot: %s\n", tutti_last_error());
  exit(1);
}

static void complete(tutti_status started, tutti_request* request) {
  must(started);
  must(tutti_wait(request, -1));
}

static void blocking(int64_t n) {
  must(tutti_barrier(world));
  must(tutti_bcast(world, in, n, TUTTI_FLOAT64, 0));
  must(tutti_reduce(world, in, out, n, TUTTI_FLOAT64, TUTTI_SUM, 0));
  must(tutti_allreduce(world, in, out, n, TUTTI_FLOAT64, TUTTI_SUM));
  must(tutti_scan(world, in, out, n, TUTTI_FLOAT64, TUTTI_SUM));
  must(tutti_exscan(world, in, out, n, TUTTI_FLOAT64, TUTTI_SUM));
  must(tutti_reduce_scatter_block(world, in, out, n, TUTTI_FLOAT64, TUTTI_SUM));
  must(tutti_gather(world, in, out, n, TUTTI_FLOAT64, 0));
  must(tutti_scatter(world, in, out, n, TUTTI_FLOAT64, 0));
  must(tutti_allgather(world, in, out, n, TUTTI_FLOAT64));
  must(tutti_alltoall(world, in, out, n, TUTTI_FLOAT64));
}

static void with_counts(int64_t n) {
  const int size = tutti_size(world);
  for (int rank = 0; rank < size; ++rank) counts[rank] = n;
  must(tutti_gatherv(world, in, n, out, counts, NULL, TUTTI_FLOAT64, 0));
  must(tutti_scatterv(world, in, counts, NULL, out, n, TUTTI_FLOAT64, 0));
  must(tutti_allgatherv(world, in, n, out, counts, NULL, TUTTI_FLOAT64));
  must(tutti_alltoallv(world, in, counts, NULL, out, counts, NULL, TUTTI_FLOAT64));
  must(tutti_reduce_scatter(world, in, out, counts, TUTTI_FLOAT64, TUTTI_SUM));
}

static void started(int64_t n) {
  tutti_request request;
  complete(tutti_ibarrier(world, &request), &request);
  complete(tutti_ibcast(world, in, n, TUTTI_FLOAT64, 0, &request), &request);
  complete(tutti_iallreduce(world, in, out, n, TUTTI_FLOAT64, TUTTI_SUM, &request), &request);
  complete(tutti_ialltoall(world, in, out, n, TUTTI_FLOAT64, &request), &request);
  must(tutti_start(&persistent));
  must(tutti_persistent_wait(&persistent, -1));
}

static void everything(int64_t n) {
  blocking(n);
  with_counts(n);
  started(n);
}

/* The work behind it keeps the call from becoming a jump, after which callgrind would not see the end of it. */
__attribute__((noinline)) void tutti_measured(int64_t n) {
  everything(n);
  __asm__ volatile("" ::: "memory");
}

int main(void) {
  must(tutti_world(&world));
  if (tutti_size(world) > most_ranks) return fprintf(stderr, "tutti-hot: at most %d ranks\n", most_ranks), 2;
  must(tutti_allreduce_init(world, in, out, 1, TUTTI_FLOAT64, TUTTI_SUM, &persistent));
  for (int64_t n = 1; n <= most; n *= 16) {
    for (int round = 0; round < warm_up; ++round) everything(n);
    for (int round = 0; round < rounds; ++round) tutti_measured(n);
  }
  tutti_persistent_free(&persistent);
  tutti_group_free(&world);
  return 0;
}
