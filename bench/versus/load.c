/* SPDX-License-Identifier: BSD-3-Clause */
#include "load.h"

#include <stdio.h>

/* /proc/stat: user, nice, system, idle, iowait, irq, softirq, steal. What was stolen is not there for anybody. */
enum { FIELDS = 8, IDLE = 3, IOWAIT = 4 };

struct load load_now(void) {
  struct load found = {0, 0};
  FILE* file = fopen("/proc/stat", "r");
  if (file == NULL) return found;
  double ticks = 0;
  for (int i = 0; i < FIELDS && fscanf(file, i == 0 ? "cpu %lf" : "%lf", &ticks) == 1; ++i) {
    found.all += ticks;
    if (i != IDLE && i != IOWAIT) found.busy += ticks;
  }
  fclose(file);
  return found;
}

double busy_since(const struct load* begin) {
  const struct load end = load_now();
  if (end.all <= begin->all) return -1;
  /* The time of idle cores may run backwards by a tick. */
  const double busy = (end.busy - begin->busy) / (end.all - begin->all);
  return busy < 1 ? busy : 1;
}
