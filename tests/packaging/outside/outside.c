/* SPDX-License-Identifier: BSD-3-Clause */
/* A stranger's program in C99. */
#include <stdio.h>
#include <tutti/tutti.h>

static int fail(void) {
  fprintf(stderr, "%s\n", tutti_last_error());
  return 1;
}

int main(void) {
  const int32_t mine[2] = {1, 42};
  int32_t sums[2];
  tutti_group world;
  if (tutti_world(&world) != TUTTI_OK) return fail();
  if (tutti_allreduce(world, mine, sums, 2, TUTTI_INT32, TUTTI_SUM) != TUTTI_OK) return fail();
  if (tutti_bcast(world, sums, 2, TUTTI_INT32, 1000000) != TUTTI_USAGE) return 2;
  if (tutti_rank(world) == 0) printf("tutti %s: the sum over %d is %d\n", TUTTI_VERSION, (int)sums[0], (int)sums[1]);
  tutti_group_free(&world);
  return 0;
}
