/* SPDX-License-Identifier: BSD-3-Clause */
/* Measures one point: one collective at one size. */
#ifndef VERSUS_MEASURE_H
#define VERSUS_MEASURE_H

#include <stdio.h>

#include "collectives.h"

enum scheme {
  LOOP,    /* call after call, no clock in between; a point = run time / calls (the slowest rank's) */
  BARRIER, /* a barrier before each call; a point = the median over calls of the slowest rank's time */
  WINDOW   /* all ranks start each call at one agreed time; a point = the median over calls of the last rank's end */
};

struct plan {
  enum scheme scheme;
  double seconds; /* for one point, after checks and warm-up */
  enum memory memory;
};

/* Rank 0's value, on all ranks. */
double from_root(double value);
/* Rank 0 gets every rank's numbers, by rank. */
void to_root(const double* mine, double* all, int count);
/* Of so many values that lie `stride` apart. */
double largest(const double* values, int count, int stride);
/* Sorts them. */
double quantile(double* values, int count, double q);
/* Of the clock `now`; gives the core to others meanwhile. */
void wait_until(double time);
/* All ranks call it; rank 0 writes one line of JSON. */
void measure(const struct collective* collective, long bytes, const struct plan* plan, FILE* file);

#endif
