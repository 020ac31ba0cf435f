/* SPDX-License-Identifier: BSD-3-Clause */
#include "../world.h"

#include <stdlib.h>

void world_start(int* argument_count, char*** arguments, tutti_group* world) {
  (void)argument_count;
  (void)arguments;
  check(tutti_world(world));
}

void world_end(tutti_group* world) { check(tutti_group_free(world)); }
void world_abort(void) { exit(1); }
