/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures how much of a collective's time can be hidden behind work: the overhead of its started form. */
#ifndef VERSUS_OVERLAP_H
#define VERSUS_OVERLAP_H

#include <stdio.h>

#include "measure.h"

enum { MOST_VARIANTS = 16 };

/* How many times the request is tested during the work: each number is measured. */
struct tests {
  int variants;
  int counts[MOST_VARIANTS];
};

/* All ranks call it; rank 0 writes one line of JSON. The scheme says how each sample is started together: WINDOW at an
 * agreed time, else behind a barrier. */
void measure_overlap(const struct collective* collective, long bytes, const struct plan* plan,
                     const struct tests* tests, FILE* file);

#endif
