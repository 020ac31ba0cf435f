/* SPDX-License-Identifier: BSD-3-Clause */
/* Every function of tutti.h, with values checked on every rank: `tutti run -n P c_api`. */
#include <stdio.h>
#include <string.h>

#include "check.h"

int main(void) {
  tutti_group world = NULL;
  CHECK(strcmp(tutti_version(), TUTTI_VERSION) == 0);
  CHECK_FAILS(TUTTI_USAGE, tutti_world(NULL));
  CHECK_OK(tutti_world(&world));
  CHECK(tutti_size(world) >= 1);
  CHECK(tutti_rank(world) >= 0 && tutti_rank(world) < tutti_size(world));
  CHECK(strcmp(tutti_name(world), "world") == 0);
  check_collectives(world);
  check_varying(world);
  check_layouts(world);
  check_reductions(world);
  check_sums(world);
  check_scans(world);
  check_persistent(world);
  check_neighbors(world);
  check_plans(world);
  check_groups(world);
  check_requests(world);
  check_memory(world);
  check_errors(world);
  CHECK_OK(tutti_barrier(world));
  if (tutti_rank(world) == 0) printf("c_api: all right on %d ranks\n", tutti_size(world));
  CHECK_OK(tutti_group_free(&world));
  CHECK(world == NULL);
  return 0;
}
