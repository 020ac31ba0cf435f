/* SPDX-License-Identifier: BSD-3-Clause */
/* reduce and allreduce: every operation, located values, functions and elements of one's own. */
#include <math.h>
#include <string.h>

#include "check.h"

/* Element i of rank r, small enough for a product and with bits that differ. */
static int64_t small(int32_t r, int64_t i) { return r % 2 + 1 + i % 2; }

static int64_t combine(int32_t code, int64_t a, int64_t b) {
  if (code == TUTTI_SUM.code) return a + b;
  if (code == TUTTI_PROD.code) return a * b;
  if (code == TUTTI_MIN.code) return a < b ? a : b;
  if (code == TUTTI_MAX.code) return a > b ? a : b;
  if (code == TUTTI_LAND.code) return a && b;
  if (code == TUTTI_LOR.code) return a || b;
  if (code == TUTTI_LXOR.code) return !a != !b;
  if (code == TUTTI_BAND.code) return a & b;
  if (code == TUTTI_BOR.code) return a | b;
  return a ^ b;
}

static int64_t reduced(tutti_op op, int32_t size, int64_t i) {
  const int logical = op.code == TUTTI_LAND.code || op.code == TUTTI_LOR.code || op.code == TUTTI_LXOR.code;
  int64_t result = small(0, i);
  int32_t r;
  if (logical && size > 1) result = result != 0;
  for (r = 1; r < size; ++r) result = combine(op.code, result, small(r, i));
  return result;
}

static void check_built_in(tutti_group group, tutti_op op, int64_t n, int in_place) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group), root = size - 1;
  int64_t *in = fresh(n), *out = fresh(n);
  tutti_request request;
  int64_t i;
  int round;
  for (round = 0; round < 4; ++round) {
    const int rooted = round % 2, split_phase = round / 2;
    const void* given = in_place && (!rooted || rank == root) ? TUTTI_IN_PLACE : in;
    for (i = 0; i < n; ++i) in[i] = small(rank, i), out[i] = in_place ? small(rank, i) : POISON;
    if (rooted && split_phase) CHECK_OK(tutti_ireduce(group, given, out, n, TUTTI_INT64, op, root, &request));
    if (rooted && !split_phase) CHECK_OK(tutti_reduce(group, given, out, n, TUTTI_INT64, op, root));
    if (!rooted && split_phase) CHECK_OK(tutti_iallreduce(group, given, out, n, TUTTI_INT64, op, &request));
    if (!rooted && !split_phase) CHECK_OK(tutti_allreduce(group, given, out, n, TUTTI_INT64, op));
    if (split_phase) CHECK_OK(tutti_wait(&request, -1));
    for (i = 0; i < n; ++i) {
      CHECK(in[i] == small(rank, i));
      if (!rooted || rank == root) CHECK(out[i] == reduced(op, size, i));
    }
  }
  release(in, n);
  release(out, n);
}

static void check_types(tutti_group group) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  float f = (float)rank, f_sum;
  double d = rank == 1 ? nan("") : (double)rank, d_max;
  double z[2], z_product[2];
  uint8_t wraps = 200, wrapped;
  uint8_t truth = rank == 0, all, any;
  z[0] = 0, z[1] = 1; /* i */
  CHECK_OK(tutti_allreduce(group, &f, &f_sum, 1, TUTTI_FLOAT32, TUTTI_SUM));
  CHECK(f_sum == (float)(size * (size - 1) / 2));
  CHECK_OK(tutti_allreduce(group, &d, &d_max, 1, TUTTI_FLOAT64, TUTTI_MAX));
  CHECK(size > 1 ? isnan(d_max) : d_max == 0);
  CHECK_OK(tutti_allreduce(group, z, z_product, 1, TUTTI_COMPLEX128, TUTTI_PROD));
  CHECK(z_product[size % 2 == 0 ? 1 : 0] == 0);
  CHECK(z_product[size % 2] == (size % 4 < 2 ? 1 : -1));
  CHECK_OK(tutti_allreduce(group, &wraps, &wrapped, 1, TUTTI_UINT8, TUTTI_SUM));
  CHECK(wrapped == (uint8_t)(200 * size));
  CHECK_OK(tutti_allreduce(group, &truth, &all, 1, TUTTI_BOOL, TUTTI_LAND));
  CHECK_OK(tutti_allreduce(group, &truth, &any, 1, TUTTI_BOOL, TUTTI_LOR));
  CHECK(all == (size == 1) && any == 1);
}

static void check_located(tutti_group group) {
  struct {
    double value;
    int64_t index;
  } mine, least, most;
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  mine.value = rank / 2;
  mine.index = rank;
  CHECK_OK(tutti_allreduce(group, &mine, &least, 1, TUTTI_LOCATED_FLOAT64, TUTTI_MINLOC));
  CHECK(least.value == 0 && least.index == 0);
  CHECK_OK(tutti_allreduce(group, &mine, &most, 1, TUTTI_LOCATED_FLOAT64, TUTTI_MAXLOC));
  CHECK(most.value == (size - 1) / 2 && most.index == (size - 1) / 2 * 2);
}

/* x -> m x + c, composed: the order of the ranks matters. */
typedef struct affine {
  uint32_t m, c;
} affine;

static void compose(const void* in, void* inout, int64_t n, void* context) {
  const affine* lower = in;
  affine* higher = inout;
  int64_t i;
  *(int*)context += 1;
  for (i = 0; i < n; ++i) {
    higher[i].c = lower[i].c * higher[i].m + higher[i].c;
    higher[i].m = lower[i].m * higher[i].m;
  }
}

static void check_function(tutti_group group) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  const tutti_type type = tutti_type_opaque(sizeof(affine));
  affine mine, all, expected = {1, 0};
  int calls = 0, ignored = 0;
  tutti_op op;
  int32_t r;
  CHECK_OK(tutti_op_create(compose, &calls, 0, &op));
  CHECK(op.commutative == 0 && tutti_type_size(type) == sizeof(affine));
  mine.m = (uint32_t)rank + 2, mine.c = 1;
  CHECK_OK(tutti_allreduce(group, &mine, &all, 1, type, op));
  for (r = 0; r < size; ++r) {
    affine next;
    next.m = (uint32_t)r + 2, next.c = 1;
    compose(&expected, &next, 1, &ignored);
    expected = next;
  }
  CHECK(memcmp(&all, &expected, sizeof all) == 0);
  CHECK_OK(tutti_reduce(group, &mine, &all, 1, type, op, 0));
  if (rank == 0) CHECK(memcmp(&all, &expected, sizeof all) == 0);
  CHECK_FAILS(TUTTI_USAGE, tutti_op_create(NULL, NULL, 1, &op));
}

void check_reductions(tutti_group group) {
  const tutti_op ops[] = {TUTTI_SUM, TUTTI_PROD, TUTTI_MIN,  TUTTI_MAX, TUTTI_LAND,
                          TUTTI_LOR, TUTTI_LXOR, TUTTI_BAND, TUTTI_BOR, TUTTI_BXOR};
  size_t i;
  for (i = 0; i < sizeof ops / sizeof ops[0]; ++i) {
    check_built_in(group, ops[i], 1, 0);
    check_built_in(group, ops[i], 5, 1);
  }
  check_built_in(group, TUTTI_SUM, 0, 0);
  check_built_in(group, TUTTI_SUM, 100000, 0);
  check_built_in(group, TUTTI_SUM, 100000, 1);
  check_types(group);
  check_located(group);
  check_function(group);
}
