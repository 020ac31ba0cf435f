/* SPDX-License-Identifier: BSD-3-Clause */
/* Collectives that are started again and again: every _init form, what a start sends, and wrong use. */
#include <stdlib.h>

#include "check.h"

#define STEPS 5

static tutti_status again(tutti_persistent* one, int step) {
  int done = 0;
  if (step % 3 == 0) return tutti_run(one);
  CHECK_OK(tutti_start(one));
  if (step % 3 == 1) return tutti_persistent_wait(one, -1);
  while (!done) CHECK_OK(tutti_persistent_test(one, &done));
  return TUTTI_OK;
}

static void check_reducing(tutti_group group) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  const int64_t n = 3;
  int64_t *in = fresh(n * size), *sums = fresh(n), *rooted = fresh(n), *prefix = fresh(n), *before = fresh(n),
          *block = fresh(n), *own = fresh(n), *counts = fresh(size), i;
  int32_t r;
  int step;
  tutti_persistent all[6];
  for (r = 0; r < size; ++r) counts[r] = n;
  CHECK_OK(tutti_allreduce_init(group, in, sums, n, TUTTI_INT64, TUTTI_SUM, &all[0]));
  CHECK_OK(tutti_reduce_init(group, in, rooted, n, TUTTI_INT64, TUTTI_SUM, size - 1, &all[1]));
  CHECK_OK(tutti_scan_init(group, in, prefix, n, TUTTI_INT64, TUTTI_SUM, &all[2]));
  CHECK_OK(tutti_exscan_init(group, in, before, n, TUTTI_INT64, TUTTI_SUM, &all[3]));
  CHECK_OK(tutti_reduce_scatter_block_init(group, in, block, n, TUTTI_INT64, TUTTI_SUM, &all[4]));
  CHECK_OK(tutti_reduce_scatter_init(group, in, own, counts, TUTTI_INT64, TUTTI_SUM, &all[5]));
  for (step = 0; step < STEPS; ++step) {
    for (i = 0; i < n * size; ++i) in[i] = value(rank, i) + step;
    for (i = 0; i < 6; ++i) CHECK_OK(again(&all[i], step));
    for (i = 0; i < n; ++i) {
      int64_t total = 0, mine = 0, lower = 0;
      for (r = 0; r < size; ++r) {
        if (r == rank) lower = total;
        total += value(r, i) + step;
        mine += value(r, rank * n + i) + step;
      }
      CHECK(sums[i] == total);
      CHECK(rooted[i] == (rank == size - 1 ? total : POISON));
      CHECK(prefix[i] == lower + value(rank, i) + step);
      CHECK(before[i] == (rank > 0 ? lower : POISON));
      CHECK(block[i] == mine && own[i] == mine);
    }
  }
  for (i = 0; i < 6; ++i) CHECK_OK(tutti_persistent_free(&all[i]));
  release(in, n * size);
  release(sums, n);
  release(rooted, n);
  release(prefix, n);
  release(before, n);
  release(block, n);
  release(own, n);
  release(counts, size);
}

static void check_moving(tutti_group group) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group), root = size / 2;
  const int64_t n = 2;
  int64_t *in = fresh(n * size), *out = fresh(n * size), *one = fresh(n), *counts = fresh(size), i;
  int32_t r;
  int step;
  tutti_persistent all[9];
  for (r = 0; r < size; ++r) counts[r] = n;
  CHECK_OK(tutti_bcast_init(group, one, n, TUTTI_INT64, root, &all[0]));
  CHECK_OK(tutti_scatter_init(group, in, one, n, TUTTI_INT64, root, &all[1]));
  CHECK_OK(tutti_scatterv_init(group, in, counts, NULL, one, n, TUTTI_INT64, root, &all[2]));
  CHECK_OK(tutti_allgather_init(group, one, out, n, TUTTI_INT64, &all[3]));
  CHECK_OK(tutti_allgatherv_init(group, one, n, out, counts, NULL, TUTTI_INT64, &all[4]));
  CHECK_OK(tutti_gather_init(group, one, out, n, TUTTI_INT64, root, &all[5]));
  CHECK_OK(tutti_gatherv_init(group, one, n, out, counts, NULL, TUTTI_INT64, root, &all[6]));
  CHECK_OK(tutti_alltoall_init(group, in, out, n, TUTTI_INT64, &all[7]));
  CHECK_OK(tutti_alltoallv_init(group, in, counts, NULL, out, counts, NULL, TUTTI_INT64, &all[8]));
  for (step = 0; step < STEPS; ++step) {
    int form;
    for (i = 0; i < n * size; ++i) in[i] = value(rank, i) + step;
    for (form = 0; form < 9; ++form) {
      const int to_one = form < 3, from_in = form >= 7, gathers_at_root = form == 5 || form == 6;
      for (i = 0; i < n; ++i) one[i] = to_one && !(form == 0 && rank == root) ? POISON : value(rank, i) + step;
      for (i = 0; i < n * size; ++i) out[i] = POISON;
      CHECK_OK(again(&all[form], step));
      for (i = 0; i < n; ++i)
        if (to_one) CHECK(one[i] == value(root, form == 0 ? i : rank * n + i) + step);
      for (i = 0; !to_one && i < n * size; ++i) {
        const int64_t sent = value((int32_t)(i / n), from_in ? rank * n + i % n : i % n) + step;
        CHECK(out[i] == (gathers_at_root && rank != root ? POISON : sent));
      }
    }
  }
  for (i = 0; i < 9; ++i) CHECK_OK(tutti_persistent_free(&all[i]));
  release(in, n * size);
  release(out, n * size);
  release(one, n);
  release(counts, size);
}

static void check_wrong_use(tutti_group group) {
  tutti_persistent one = {NULL, NULL};
  int done = 0;
  CHECK_FAILS(TUTTI_USAGE, tutti_start(&one));
  CHECK_FAILS(TUTTI_USAGE, tutti_start(NULL));
  CHECK_FAILS(TUTTI_USAGE, tutti_barrier_init(group, NULL));
  CHECK_FAILS(TUTTI_USAGE, tutti_bcast_init(group, &done, 1, TUTTI_INT32, tutti_size(group), &one));
  CHECK_OK(tutti_persistent_wait(&one, -1)); /* nothing to wait for */
  CHECK_OK(tutti_barrier_init(group, &one));
  CHECK_OK(tutti_start(&one));
  CHECK_FAILS(TUTTI_USAGE, tutti_start(&one));
  CHECK_FAILS(TUTTI_USAGE, tutti_run(&one));
  CHECK_FAILS(TUTTI_USAGE, tutti_persistent_test(&one, NULL));
  CHECK_OK(tutti_persistent_free(&one)); /* waits */
  CHECK(one.collective == NULL && one.operation == NULL);
  CHECK_OK(tutti_persistent_free(&one));
}

void check_persistent(tutti_group group) {
  check_reducing(group);
  check_moving(group);
  check_wrong_use(group);
}
