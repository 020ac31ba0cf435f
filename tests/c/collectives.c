/* SPDX-License-Identifier: BSD-3-Clause */
/* The collectives with one agreed count: both forms, all roots, in place. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

static const int64_t counts[] = {0, 1, 3, 1000};
enum { count_cases = sizeof counts / sizeof counts[0] };

/* Runs the i-form to its end, so that each check is written once. */
static void finish(tutti_request* request) {
  CHECK_OK(tutti_wait(request, -1));
  CHECK(request->operation == NULL);
}

static void check_bcast(tutti_group group, int64_t n, int32_t root, int split_phase) {
  int64_t* buffer = fresh(n);
  tutti_request request;
  if (tutti_rank(group) == root) fill(buffer, root, 0, n);
  if (split_phase) {
    CHECK_OK(tutti_ibcast(group, buffer, n, TUTTI_INT64, root, &request));
    finish(&request);
  } else {
    CHECK_OK(tutti_bcast(group, buffer, n, TUTTI_INT64, root));
  }
  expect(buffer, root, 0, n);
  release(buffer, n);
}

static void check_gather(tutti_group group, int64_t n, int32_t root, int split_phase, int in_place) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  int64_t *in = fresh(n), *out = fresh(size * n);
  const void* given = rank == root && in_place ? TUTTI_IN_PLACE : in;
  tutti_request request;
  int32_t r;
  fill(in, rank, 0, n);
  if (rank == root && in_place) fill(out + rank * n, rank, 0, n);
  if (split_phase) {
    CHECK_OK(tutti_igather(group, given, out, n, TUTTI_INT64, root, &request));
    finish(&request);
  } else {
    CHECK_OK(tutti_gather(group, given, out, n, TUTTI_INT64, root));
  }
  for (r = 0; r < size; ++r) {
    if (rank == root)
      expect(out + r * n, r, 0, n);
    else
      expect_poison(out + r * n, n);
  }
  expect(in, rank, 0, n);
  release(in, n);
  release(out, size * n);
}

static void check_scatter(tutti_group group, int64_t n, int32_t root, int split_phase, int in_place) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  int64_t *in = fresh(size * n), *out = fresh(n);
  void* given = rank == root && in_place ? TUTTI_IN_PLACE : out;
  tutti_request request;
  if (rank == root) fill(in, root, 0, size * n);
  if (split_phase) {
    CHECK_OK(tutti_iscatter(group, in, given, n, TUTTI_INT64, root, &request));
    finish(&request);
  } else {
    CHECK_OK(tutti_scatter(group, in, given, n, TUTTI_INT64, root));
  }
  if (given == out)
    expect(out, root, rank * n, n);
  else
    expect_poison(out, n);
  if (rank == root)
    expect(in, root, 0, size * n);
  else
    expect_poison(in, size * n);
  release(in, size * n);
  release(out, n);
}

static void check_allgather(tutti_group group, int64_t n, int split_phase, int in_place) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  int64_t *in = fresh(n), *out = fresh(size * n);
  const void* given = in_place ? TUTTI_IN_PLACE : in;
  tutti_request request;
  int32_t r;
  fill(in_place ? out + rank * n : in, rank, 0, n);
  if (split_phase) {
    CHECK_OK(tutti_iallgather(group, given, out, n, TUTTI_INT64, &request));
    finish(&request);
  } else {
    CHECK_OK(tutti_allgather(group, given, out, n, TUTTI_INT64));
  }
  for (r = 0; r < size; ++r) expect(out + r * n, r, 0, n);
  release(in, n);
  release(out, size * n);
}

static void check_alltoall(tutti_group group, int64_t n, int split_phase, int in_place) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  int64_t *in = fresh(size * n), *out = fresh(size * n);
  const void* given = in_place ? TUTTI_IN_PLACE : in;
  tutti_request request;
  int32_t r;
  fill(in_place ? out : in, rank, 0, size * n);
  if (split_phase) {
    CHECK_OK(tutti_ialltoall(group, given, out, n, TUTTI_INT64, &request));
    finish(&request);
  } else {
    CHECK_OK(tutti_alltoall(group, given, out, n, TUTTI_INT64));
  }
  for (r = 0; r < size; ++r) expect(out + r * n, r, rank * n, n);
  release(in, size * n);
  release(out, size * n);
}

/* TUTTI_IN_PLACE stands for no place to receive in, nor for what is sent where it is read. */
static void check_misplaced(tutti_group group) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  const tutti_parcel parcel[1] = {{rank, 3, TUTTI_IN_PLACE}};
  int64_t *in = fresh(3 * size), *counts = fresh(size);
  tutti_layout layout = NULL, *layouts = malloc((size_t)size * sizeof(tutti_layout));
  tutti_request request;
  tutti_persistent again;
  tutti_exchange exchange;
  double number = 1;
  int32_t r;
  CHECK(layouts != NULL);
  CHECK_OK(tutti_layout_strided(&layout, TUTTI_INT64, 1, 3, 3));
  for (r = 0; r < size; ++r) counts[r] = 3, layouts[r] = layout;
  CHECK_FAILS(TUTTI_USAGE, tutti_bcast(group, TUTTI_IN_PLACE, 3, TUTTI_INT64, 0));
  CHECK(strstr(tutti_last_error(), "TUTTI_IN_PLACE cannot stand for buffer") != NULL);
  CHECK_FAILS(TUTTI_USAGE, tutti_ibcast(group, TUTTI_IN_PLACE, 3, TUTTI_INT64, 0, &request));
  CHECK_FAILS(TUTTI_USAGE, tutti_allreduce(group, in, TUTTI_IN_PLACE, 3, TUTTI_INT64, TUTTI_SUM));
  CHECK_FAILS(TUTTI_USAGE, tutti_allreduce(group, TUTTI_IN_PLACE, TUTTI_IN_PLACE, 3, TUTTI_INT64, TUTTI_SUM));
  CHECK(strstr(tutti_last_error(), "for out") != NULL);
  CHECK_FAILS(TUTTI_USAGE, tutti_allreduce_init(group, in, TUTTI_IN_PLACE, 3, TUTTI_INT64, TUTTI_SUM, &again));
  CHECK_FAILS(TUTTI_USAGE, tutti_reduce(group, in, TUTTI_IN_PLACE, 3, TUTTI_INT64, TUTTI_SUM, rank));
  CHECK_FAILS(TUTTI_USAGE, tutti_scan(group, in, TUTTI_IN_PLACE, 3, TUTTI_INT64, TUTTI_SUM));
  CHECK_FAILS(TUTTI_USAGE, tutti_reduce_scatter(group, in, TUTTI_IN_PLACE, counts, TUTTI_INT64, TUTTI_SUM));
  CHECK_FAILS(TUTTI_USAGE, tutti_gather(group, in, TUTTI_IN_PLACE, 3, TUTTI_INT64, rank));
  CHECK_FAILS(TUTTI_USAGE, tutti_allgather(group, in, TUTTI_IN_PLACE, 3, TUTTI_INT64));
  CHECK_FAILS(TUTTI_USAGE, tutti_allgatherv(group, in, 3, TUTTI_IN_PLACE, counts, NULL, TUTTI_INT64));
  CHECK_FAILS(TUTTI_USAGE, tutti_scatter(group, TUTTI_IN_PLACE, in, 3, TUTTI_INT64, rank));
  CHECK_FAILS(TUTTI_USAGE, tutti_scatter(group, TUTTI_IN_PLACE, TUTTI_IN_PLACE, 3, TUTTI_INT64, rank));
  CHECK_FAILS(TUTTI_USAGE, tutti_scatterv(group, TUTTI_IN_PLACE, counts, NULL, in, 3, TUTTI_INT64, rank));
  CHECK_FAILS(TUTTI_USAGE, tutti_alltoall(group, in, TUTTI_IN_PLACE, 3, TUTTI_INT64));
  CHECK_FAILS(TUTTI_USAGE, tutti_alltoallw(group, in, NULL, layouts, TUTTI_IN_PLACE, NULL, layouts));
  CHECK_FAILS(TUTTI_USAGE, tutti_sum(group, TUTTI_IN_PLACE, 1, TUTTI_FLOAT64, &number));
  CHECK_FAILS(TUTTI_USAGE, tutti_sum(group, &number, 1, TUTTI_FLOAT64, TUTTI_IN_PLACE));
  CHECK_FAILS(TUTTI_USAGE, tutti_send(group, TUTTI_IN_PLACE, 3, TUTTI_INT64, (rank + 1) % size, 0));
  CHECK_FAILS(TUTTI_USAGE, tutti_irecv(group, TUTTI_IN_PLACE, 3, TUTTI_INT64, (rank + 1) % size, 0, &request));
  CHECK(strstr(tutti_last_error(), "recv: TUTTI_IN_PLACE") != NULL);
  CHECK_FAILS(TUTTI_USAGE, tutti_sparse_exchange(group, parcel, 1, TUTTI_INT64, &exchange));
  CHECK_OK(tutti_layout_free(&layout));
  free(layouts);
  release(in, 3 * size);
  release(counts, size);
}

/* What is received lies where something is still read, and the call is not in place: all ranks are refused alike. */
static void check_overlapping(tutti_group group) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  int64_t* both = fresh(3 * size + 3);
  int64_t *across = both + 3 * rank + 1, *other = both + (rank == 0 ? 3 : 0);
  CHECK_FAILS(TUTTI_USAGE, tutti_allgather(group, across, both, 3, TUTTI_INT64));
  CHECK(strstr(tutti_last_error(), "allgather: in and out overlap; pass separate buffers") != NULL);
  if (size > 1) CHECK_FAILS(TUTTI_USAGE, tutti_allgather(group, other, both, 3, TUTTI_INT64));
  CHECK_FAILS(TUTTI_USAGE, tutti_gather(group, across, both, 3, TUTTI_INT64, rank));
  CHECK_FAILS(TUTTI_USAGE, tutti_scatter(group, both, across, 3, TUTTI_INT64, rank));
  CHECK_FAILS(TUTTI_USAGE, tutti_alltoall(group, both, both + 2, 3, TUTTI_INT64));
  CHECK_FAILS(TUTTI_USAGE, tutti_allreduce(group, both, both + 2, 3, TUTTI_INT64, TUTTI_SUM));
  CHECK_FAILS(TUTTI_USAGE, tutti_exscan(group, both + 2, both, 3, TUTTI_INT64, TUTTI_SUM));
  CHECK_FAILS(TUTTI_USAGE, tutti_reduce_scatter_block(group, both, both + 3 * size - 1, 3, TUTTI_INT64, TUTTI_SUM));
  expect_poison(both, 3 * size + 3);
  release(both, 3 * size + 3);
}

void check_collectives(tutti_group group) {
  tutti_request request;
  int32_t root;
  int c, form;
  for (form = 0; form < 2; ++form) {
    for (c = 0; c < count_cases; ++c) {
      for (root = 0; root < tutti_size(group); ++root) {
        check_bcast(group, counts[c], root, form);
        check_gather(group, counts[c], root, form, 0);
        check_gather(group, counts[c], root, form, 1);
        check_scatter(group, counts[c], root, form, 0);
        check_scatter(group, counts[c], root, form, 1);
      }
      check_allgather(group, counts[c], form, 0);
      check_allgather(group, counts[c], form, 1);
      check_alltoall(group, counts[c], form, 0);
      check_alltoall(group, counts[c], form, 1);
    }
  }
  check_misplaced(group);
  check_overlapping(group);
  CHECK_OK(tutti_barrier(group));
  CHECK_OK(tutti_ibarrier(group, &request));
  finish(&request);
}
