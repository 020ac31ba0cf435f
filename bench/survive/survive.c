/* SPDX-License-Identifier: BSD-3-Clause */
/* survive FILE DEATHS: how long a group needs to agree, and to go on when the last of its ranks has died.
 *
 * Rank 0 writes lines of JSON to FILE: {"library", "ranks", "agree"}, then for each death {"left", "noticed", "shrink",
 * "together"}, all in microseconds: from the death until rank 0 has met it, its call of shrink, and from the death
 * until the survivors have computed a sum. The clock is the machine's, which all ranks share. */
#include <math.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "layer.h"

enum { AGREEMENTS = 200, STEPS = 50 };

static double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec * 1e6 + (double)time.tv_nsec / 1e3;
}

static void fail(const char* what) {
  fprintf(stderr, "survive: %s\n", what);
  exit(1);
}

/* The sum over the ranks that are left is right. */
static bool sums(void) {
  const int size = layer_size();
  double sum = 0;
  if (!layer_sum(layer_rank() + 1, &sum)) return false;
  if (fabs(sum - size * (size + 1) / 2.0) > 0.5) fail("a sum is wrong");
  return true;
}

static double agree(void) {
  if (!layer_agree(true) || layer_agree(layer_rank() != 0)) fail("an agreement is wrong");
  const double start = now();
  for (int i = 0; i < AGREEMENTS; ++i) layer_agree(true);
  return (now() - start) / AGREEMENTS;
}

/* When it died, a rank has left at the place of its death in a file. */
static void die(const char* path) {
  FILE* file = fopen(path, "w");
  if (file == NULL || fprintf(file, "%.3f", now()) < 0 || fclose(file) != 0) fail("the time of a death cannot be kept");
  kill(getpid(), SIGKILL);
}

static double death(const char* path) {
  double when = 0;
  FILE* file = fopen(path, "r");
  if (file == NULL || fscanf(file, "%lf", &when) != 1) fail("nobody knows when it died");
  fclose(file);
  return when;
}

int main(int count, char** words) {
  layer_start(&count, &words);
  if (count != 3) fail("wanted: FILE DEATHS");
  FILE* out = layer_rank() == 0 ? fopen(words[1], "w") : NULL;
  if (layer_rank() == 0 && out == NULL) fail("the results cannot be written");
  const double agreement = agree();
  if (out != NULL)
    fprintf(out, "{\"library\": \"%s\", \"ranks\": %d, \"agree\": %.3f}\n", layer_version(), layer_size(), agreement);
  for (int i = 0; i < atoi(words[2]); ++i) {
    const int size = layer_size();
    char path[4096];
    snprintf(path, sizeof path, "%s.death%d", words[1], i);
    for (int step = 0; step < STEPS; ++step) sums();
    if (layer_rank() == layer_size() - 1) die(path);
    while (sums()) continue;
    const double met = now();
    layer_shrink();
    const double shrunk = now();
    if (!sums()) fail("a further rank is lost");
    const double done = now(), died = out != NULL ? death(path) : 0;
    /* A rank whose sum was wrong has ended, and is missed in the next one: a line is written when all is well. */
    if (!sums() || layer_size() != size - 1) fail("more ranks were lost than have died");
    if (out != NULL)
      fprintf(out, "{\"left\": %d, \"noticed\": %.1f, \"shrink\": %.1f, \"together\": %.1f}\n", layer_size(),
              met - died, shrunk - met, done - died);
  }
  if (out != NULL && fclose(out) != 0) fail("the results cannot be written");
  layer_end();
  return 0;
}
