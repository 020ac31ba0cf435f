/* SPDX-License-Identifier: BSD-3-Clause */
/* scan, exscan, reduce_scatter_block and reduce_scatter: both forms, in place, with a function that does not commute.
 */
#include <stdlib.h>

#include "check.h"

/* Element i of the ranks below `end`, combined. */
static int64_t sum(int32_t end, int64_t i) {
  int64_t total = 0;
  int32_t r;
  for (r = 0; r < end; ++r) total += value(r, i);
  return total;
}

static void check_scan(tutti_group group, int64_t n, int split_phase, int in_place) {
  const int32_t rank = tutti_rank(group);
  int64_t *in = fresh(n), *out = fresh(n), *before = fresh(n), i;
  tutti_request requests[2];
  for (i = 0; i < n; ++i) {
    in[i] = value(rank, i);
    if (in_place) out[i] = before[i] = in[i];
  }
  if (split_phase) {
    CHECK_OK(tutti_iscan(group, in_place ? TUTTI_IN_PLACE : in, out, n, TUTTI_INT64, TUTTI_SUM, &requests[0]));
    CHECK_OK(tutti_iexscan(group, in_place ? TUTTI_IN_PLACE : in, before, n, TUTTI_INT64, TUTTI_SUM, &requests[1]));
    CHECK_OK(tutti_wait_all(requests, 2, -1));
  } else {
    CHECK_OK(tutti_scan(group, in_place ? TUTTI_IN_PLACE : in, out, n, TUTTI_INT64, TUTTI_SUM));
    CHECK_OK(tutti_exscan(group, in_place ? TUTTI_IN_PLACE : in, before, n, TUTTI_INT64, TUTTI_SUM));
  }
  for (i = 0; i < n; ++i) {
    CHECK(in[i] == value(rank, i));
    CHECK(out[i] == sum(rank + 1, i));
    CHECK(before[i] == (rank > 0 ? sum(rank, i) : in_place ? value(0, i) : POISON));
  }
  release(in, n);
  release(out, n);
  release(before, n);
}

/* Rank r gets n elements, or n r of them. */
static void check_reduce_scatter(tutti_group group, int64_t n, int varying, int split_phase, int in_place) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  int64_t *counts = malloc((size_t)size * sizeof(int64_t)), first = 0, total = 0, i;
  int64_t *in, *out;
  const void* given;
  tutti_request request;
  int32_t r;
  CHECK(counts != NULL);
  for (r = 0; r < size; ++r) {
    counts[r] = varying ? n * r : n;
    if (r < rank) first += counts[r];
    total += counts[r];
  }
  in = fresh(total);
  out = fresh(total);
  for (i = 0; i < total; ++i) {
    in[i] = value(rank, i);
    if (in_place) out[i] = in[i];
  }
  given = in_place ? TUTTI_IN_PLACE : in;
  if (varying && split_phase)
    CHECK_OK(tutti_ireduce_scatter(group, given, out, counts, TUTTI_INT64, TUTTI_SUM, &request));
  if (varying && !split_phase) CHECK_OK(tutti_reduce_scatter(group, given, out, counts, TUTTI_INT64, TUTTI_SUM));
  if (!varying && split_phase)
    CHECK_OK(tutti_ireduce_scatter_block(group, given, out, n, TUTTI_INT64, TUTTI_SUM, &request));
  if (!varying && !split_phase) CHECK_OK(tutti_reduce_scatter_block(group, given, out, n, TUTTI_INT64, TUTTI_SUM));
  if (split_phase) CHECK_OK(tutti_wait(&request, -1));
  for (i = 0; i < total; ++i) {
    CHECK(in[i] == value(rank, i));
    if (i < counts[rank])
      CHECK(out[i] == sum(size, first + i));
    else
      CHECK(out[i] == (in_place ? value(rank, i) : POISON));
  }
  release(in, total);
  release(out, total);
  free(counts);
}

/* Keeps the higher rank's element: the order of the ranks matters. */
static void keep_last(const void* in, void* inout, int64_t n, void* context) {
  (void)in;
  (void)inout;
  *(int64_t*)context += n;
}

static void check_order(tutti_group group) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  int64_t mine[2] = {rank, rank}, got[2] = {-1, -1}, seen = 0, *all = fresh(2 * size), i;
  tutti_op op;
  CHECK_OK(tutti_op_create(keep_last, &seen, 0, &op));
  CHECK_OK(tutti_scan(group, mine, got, 2, TUTTI_INT64, op));
  CHECK(got[0] == rank && got[1] == rank);
  CHECK_OK(tutti_exscan(group, mine, got, 2, TUTTI_INT64, op));
  CHECK(got[0] == (rank > 0 ? rank - 1 : 0) && got[1] == got[0]);
  for (i = 0; i < 2 * size; ++i) all[i] = rank;
  CHECK_OK(tutti_reduce_scatter_block(group, all, got, 2, TUTTI_INT64, op));
  CHECK(got[0] == size - 1 && got[1] == size - 1);
  release(all, 2 * size);
}

static void check_refused(tutti_group group) {
  int64_t x = 0;
  CHECK_FAILS(TUTTI_USAGE, tutti_reduce_scatter(group, &x, &x, NULL, TUTTI_INT64, TUTTI_SUM));
  CHECK_FAILS(TUTTI_USAGE, tutti_scan(group, NULL, &x, 1, TUTTI_INT64, TUTTI_SUM));
  CHECK_FAILS(TUTTI_USAGE, tutti_exscan(group, &x, NULL, 1, TUTTI_INT64, TUTTI_SUM));
  CHECK_FAILS(TUTTI_USAGE, tutti_scan(group, TUTTI_IN_PLACE, &x, 1, TUTTI_LOCATED_INT8, TUTTI_SUM));
}

void check_scans(tutti_group group) {
  static const int64_t counts[] = {0, 1, 3, 1000, 20000};
  size_t i;
  int form;
  for (i = 0; i < sizeof counts / sizeof counts[0]; ++i)
    for (form = 0; form < 4; ++form) {
      check_scan(group, counts[i], form % 2, form / 2);
      check_reduce_scatter(group, counts[i], 0, form % 2, form / 2);
      check_reduce_scatter(group, counts[i], 1, form % 2, form / 2);
    }
  check_order(group);
  check_refused(group);
}
