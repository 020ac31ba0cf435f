/* SPDX-License-Identifier: BSD-3-Clause */
/* The collectives with a count per rank: both forms, all roots, in place, with and without gaps. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

/* Rank r has 2 r elements; with gaps, its block starts one element after the one before ends. */
typedef struct layout {
  int64_t *counts, *offsets, total;
} layout;

static layout make_layout(int32_t size, int gaps) {
  layout made;
  int32_t r;
  made.counts = malloc((size_t)size * sizeof(int64_t));
  made.offsets = malloc((size_t)size * sizeof(int64_t));
  CHECK(made.counts != NULL && made.offsets != NULL);
  made.total = 0;
  for (r = 0; r < size; ++r) {
    made.counts[r] = 2 * r;
    made.offsets[r] = made.total;
    made.total += made.counts[r] + gaps;
  }
  return made;
}

static void free_layout(layout* gone) {
  free(gone->counts);
  free(gone->offsets);
}

/* Without gaps, the offsets need not be given. */
static const int64_t* offsets_of(const layout* blocks, int gaps) { return gaps ? blocks->offsets : NULL; }

static void expect_gathered(const int64_t* out, const layout* blocks, int32_t size, int gaps) {
  int32_t r;
  for (r = 0; r < size; ++r) {
    expect(out + blocks->offsets[r], r, 0, blocks->counts[r]);
    if (gaps) CHECK(out[blocks->offsets[r] + blocks->counts[r]] == POISON);
  }
}

static void check_gatherv(tutti_group group, int32_t root, int split_phase, int in_place, int gaps) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  const int at_root = rank == root;
  const int64_t n = 2 * rank;
  layout blocks = make_layout(size, gaps);
  int64_t *in = fresh(n), *out = fresh(blocks.total);
  const void* given = at_root && in_place ? TUTTI_IN_PLACE : in;
  const int64_t *counts = at_root ? blocks.counts : NULL, *offsets = at_root ? offsets_of(&blocks, gaps) : NULL;
  tutti_request request;
  fill(given == in ? in : out + blocks.offsets[rank], rank, 0, n);
  if (split_phase) {
    CHECK_OK(tutti_igatherv(group, given, n, out, counts, offsets, TUTTI_INT64, root, &request));
    CHECK_OK(tutti_wait(&request, -1));
  } else {
    CHECK_OK(tutti_gatherv(group, given, n, out, counts, offsets, TUTTI_INT64, root));
  }
  if (at_root) expect_gathered(out, &blocks, size, gaps);
  release(in, n);
  release(out, blocks.total);
  free_layout(&blocks);
}

static void check_scatterv(tutti_group group, int32_t root, int split_phase, int in_place, int gaps) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  const int at_root = rank == root;
  const int64_t n = 2 * rank;
  layout blocks = make_layout(size, gaps);
  int64_t *in = fresh(blocks.total), *out = fresh(n);
  void* given = at_root && in_place ? TUTTI_IN_PLACE : out;
  const int64_t *counts = at_root ? blocks.counts : NULL, *offsets = at_root ? offsets_of(&blocks, gaps) : NULL;
  tutti_request request;
  if (at_root) fill(in, root, 0, blocks.total);
  if (split_phase) {
    CHECK_OK(tutti_iscatterv(group, in, counts, offsets, given, n, TUTTI_INT64, root, &request));
    CHECK_OK(tutti_wait(&request, -1));
  } else {
    CHECK_OK(tutti_scatterv(group, in, counts, offsets, given, n, TUTTI_INT64, root));
  }
  if (given == out) expect(out, root, blocks.offsets[rank], n);
  if (at_root) expect(in, root, 0, blocks.total);
  release(in, blocks.total);
  release(out, n);
  free_layout(&blocks);
}

static void check_allgatherv(tutti_group group, int split_phase, int in_place, int gaps) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  const int64_t n = 2 * rank;
  layout blocks = make_layout(size, gaps);
  int64_t *in = fresh(n), *out = fresh(blocks.total);
  const void* given = in_place ? TUTTI_IN_PLACE : in;
  tutti_request request;
  fill(in_place ? out + blocks.offsets[rank] : in, rank, 0, n);
  if (split_phase) {
    CHECK_OK(tutti_iallgatherv(group, given, n, out, blocks.counts, offsets_of(&blocks, gaps), TUTTI_INT64, &request));
    CHECK_OK(tutti_wait(&request, -1));
  } else {
    CHECK_OK(tutti_allgatherv(group, given, n, out, blocks.counts, offsets_of(&blocks, gaps), TUTTI_INT64));
  }
  expect_gathered(out, &blocks, size, gaps);
  release(in, n);
  release(out, blocks.total);
  free_layout(&blocks);
}

/* Rank r sends (r + j) % 3 elements to rank j: symmetric, so that it also works in place. */
static layout make_matrix_row(int32_t rank, int32_t size, int gaps) {
  layout made = make_layout(size, gaps);
  int32_t j;
  made.total = 0;
  for (j = 0; j < size; ++j) {
    made.counts[j] = (rank + j) % 3;
    made.offsets[j] = made.total;
    made.total += made.counts[j] + gaps;
  }
  return made;
}

static void check_alltoallv(tutti_group group, int split_phase, int in_place, int gaps) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  layout blocks = make_matrix_row(rank, size, gaps);
  const int64_t* offsets = offsets_of(&blocks, gaps);
  int64_t *in = fresh(blocks.total), *out = fresh(blocks.total);
  const void* given = in_place ? TUTTI_IN_PLACE : in;
  const int64_t* send_counts = in_place ? NULL : blocks.counts;
  tutti_request request;
  int32_t r;
  for (r = 0; r < size; ++r) fill((in_place ? out : in) + blocks.offsets[r], rank, 10 * r, blocks.counts[r]);
  if (split_phase) {
    CHECK_OK(tutti_ialltoallv(group, given, send_counts, offsets, out, blocks.counts, offsets, TUTTI_INT64, &request));
    CHECK_OK(tutti_wait(&request, -1));
  } else {
    CHECK_OK(tutti_alltoallv(group, given, send_counts, offsets, out, blocks.counts, offsets, TUTTI_INT64));
  }
  for (r = 0; r < size; ++r) expect(out + blocks.offsets[r], r, 10 * rank, blocks.counts[r]);
  release(in, blocks.total);
  release(out, blocks.total);
  free_layout(&blocks);
}

/* All ranks are refused alike, before anything is sent. */
static void check_refused_blocks(tutti_group group) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  layout blocks = make_layout(size, 1);
  int64_t *in = fresh(2 * size), *out = fresh(blocks.total + 2 * size), n = 2;
  int32_t r;
  for (r = 0; r < size; ++r) blocks.counts[r] = n;
  for (r = 0; r < size; ++r) blocks.offsets[r] = size - 1 - r; /* one element after the other: blocks of two overlap */
  if (size > 1) {
    CHECK_FAILS(TUTTI_USAGE, tutti_allgatherv(group, in, n, out, blocks.counts, blocks.offsets, TUTTI_INT64));
    CHECK(strstr(tutti_last_error(), "overlap") != NULL);
    CHECK_FAILS(TUTTI_USAGE,
                tutti_alltoallv(group, in, blocks.counts, NULL, out, blocks.counts, blocks.offsets, TUTTI_INT64));
    CHECK(strstr(tutti_last_error(), "overlap") != NULL);
  }
  CHECK_FAILS(TUTTI_USAGE, tutti_gatherv(group, in, n + 1, out, blocks.counts, NULL, TUTTI_INT64, rank));
  CHECK(strstr(tutti_last_error(), "gives itself 3 elements and takes 2") != NULL);
  CHECK_FAILS(TUTTI_USAGE, tutti_scatterv(group, in, blocks.counts, NULL, out, n - 1, TUTTI_INT64, rank));
  CHECK_FAILS(TUTTI_USAGE, tutti_allgatherv(group, NULL, n, out, blocks.counts, NULL, TUTTI_INT64));
  CHECK(strstr(tutti_last_error(), "in is NULL") != NULL);
  CHECK_FAILS(TUTTI_USAGE, tutti_allgatherv(group, in, n, NULL, blocks.counts, NULL, TUTTI_INT64));
  CHECK(strstr(tutti_last_error(), "out is NULL") != NULL);
  blocks.offsets[0] = -1;
  CHECK_FAILS(TUTTI_USAGE, tutti_allgatherv(group, in, n, out, blocks.counts, blocks.offsets, TUTTI_INT64));
  blocks.offsets[0] = INT64_MAX;
  CHECK_FAILS(TUTTI_USAGE, tutti_allgatherv(group, in, n, out, blocks.counts, blocks.offsets, TUTTI_INT64));
  blocks.counts[0] = INT64_MIN;
  CHECK_FAILS(TUTTI_USAGE, tutti_allgatherv(group, in, n, out, blocks.counts, NULL, TUTTI_INT64));
  blocks.counts[0] = n;
  /* Received where it is still read: in begins one element before this rank's block of out. */
  CHECK_FAILS(TUTTI_USAGE, tutti_allgatherv(group, out + 1 + n * rank, n, out + 2, blocks.counts, NULL, TUTTI_INT64));
  CHECK(strstr(tutti_last_error(), "in and out overlap") != NULL);
  CHECK_FAILS(TUTTI_USAGE, tutti_scatterv(group, out, blocks.counts, NULL, out + n * rank + 1, n, TUTTI_INT64, rank));
  CHECK_FAILS(TUTTI_USAGE,
              tutti_alltoallv(group, out, blocks.counts, NULL, out + n * size - 1, blocks.counts, NULL, TUTTI_INT64));
  CHECK_FAILS(TUTTI_USAGE, tutti_reduce_scatter(group, out, out + 1, blocks.counts, TUTTI_INT64, TUTTI_SUM));
  expect_poison(out, blocks.total + 2 * size);
  release(in, 2 * size);
  release(out, blocks.total + 2 * size);
  free_layout(&blocks);
}

void check_varying(tutti_group group) {
  int32_t root;
  int form, in_place, gaps;
  for (form = 0; form < 2; ++form) {
    for (in_place = 0; in_place < 2; ++in_place) {
      for (gaps = 0; gaps < 2; ++gaps) {
        for (root = 0; root < tutti_size(group); ++root) {
          check_gatherv(group, root, form, in_place, gaps);
          check_scatterv(group, root, form, in_place, gaps);
        }
        check_allgatherv(group, form, in_place, gaps);
        check_alltoallv(group, form, in_place, gaps);
      }
    }
  }
  check_refused_blocks(group);
}
