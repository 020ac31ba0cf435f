/* SPDX-License-Identifier: BSD-3-Clause */
/* The collectives with one agreed count: both forms, all roots, in place. */
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
  CHECK_OK(tutti_barrier(group));
  CHECK_OK(tutti_ibarrier(group, &request));
  finish(&request);
}
