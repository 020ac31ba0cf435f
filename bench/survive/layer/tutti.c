/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>
#include <stdlib.h>

#include "../layer.h"
#include "tutti/tutti.h"

static tutti_group group;

static void check(tutti_status status) {
  if (status == TUTTI_OK) return;
  fprintf(stderr, "tutti-survive: %s\n", tutti_last_error());
  exit(1);
}

void layer_start(int* argument_count, char*** arguments) {
  (void)argument_count;
  (void)arguments;
  check(tutti_world(&group));
}

void layer_end(void) { check(tutti_group_free(&group)); }
int layer_rank(void) { return tutti_rank(group); }
int layer_size(void) { return tutti_size(group); }

const char* layer_version(void) {
  static char text[64];
  snprintf(text, sizeof text, "Tutti %s", tutti_version());
  return text;
}

bool layer_sum(double mine, double* sum) {
  const tutti_status status = tutti_allreduce(group, &mine, sum, 1, TUTTI_FLOAT64, TUTTI_SUM);
  if (status == TUTTI_PEER_LOST) return false;
  check(status);
  return true;
}

bool layer_agree(bool flag) {
  int all = 0;
  check(tutti_agree(group, flag, &all));
  return all != 0;
}

void layer_shrink(void) {
  tutti_group survivors;
  check(tutti_shrink(group, &survivors));
  check(tutti_group_free(&group));
  group = survivors;
}
