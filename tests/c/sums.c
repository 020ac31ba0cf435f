/* SPDX-License-Identifier: BSD-3-Clause */
/* Sums that are rounded once. */
#include "check.h"

/* 2^-70 on every rank, hidden between numbers that cancel when there are two ranks or more. */
static double hidden(int32_t rank, int32_t size) {
  const double tiny = 1.0 / 1073741824 / 1073741824 / 1024;
  if (size == 1 || rank > 1) return tiny;
  return rank == 0 ? 1e300 : -1e300;
}

void check_sums(tutti_group group) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  const double tiny = hidden(2, 3), expected = size == 1 ? tiny : tiny * (size - 2);
  const double mine = hidden(rank, size), parts[3] = {1, tiny, -1};
  double total = 0, folded = 0;
  tutti_group exact = NULL;
  tutti_request request;
  CHECK_OK(tutti_reproducible(group, &exact));
  CHECK_OK(tutti_allreduce(exact, &mine, &total, 1, TUTTI_FLOAT64, TUTTI_SUM));
  CHECK(total == expected);
  CHECK_FAILS(TUTTI_USAGE, tutti_allreduce(exact, &mine, &total, 1, TUTTI_FLOAT64, TUTTI_PROD));
  CHECK_OK(tutti_group_free(&exact));
  CHECK_OK(tutti_sum(group, parts, rank == 0 ? 3 : 0, TUTTI_FLOAT64, &folded));
  CHECK(folded == tiny);
  CHECK_OK(tutti_isum(group, &mine, 1, TUTTI_FLOAT64, &folded, &request));
  CHECK_OK(tutti_wait(&request, -1));
  CHECK(folded == expected);
  CHECK_FAILS(TUTTI_USAGE, tutti_sum(group, NULL, 1, TUTTI_FLOAT64, &folded));
  CHECK_FAILS(TUTTI_USAGE, tutti_sum(group, parts, 1, TUTTI_INT64, &folded));
  CHECK_FAILS(TUTTI_USAGE, tutti_sum(group, parts, -1, TUTTI_FLOAT64, &folded));
  CHECK_FAILS(TUTTI_USAGE, tutti_sum(group, parts, 1, TUTTI_FLOAT64, NULL));
}
