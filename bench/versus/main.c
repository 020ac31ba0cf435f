/* SPDX-License-Identifier: BSD-3-Clause */
/* tutti-versus: times collectives; the same source for Tutti and for each MPI library. All ranks run
 *     tutti-versus FILE SCHEME SECONDS LIMIT CORES MEMORY TESTS COLLECTIVE SIZES [COLLECTIVE SIZES]...
 *     tutti-versus --list
 * rank 0 writes FILE: a line about the library, then one line for each size of each collective (a library that is so
 * slow that the LIMIT in seconds is over leaves out the last ones). SCHEME: loop, barrier or window; SECONDS: for each
 * point; CORES, SIZES and TESTS: numbers with commas between. Rank r is bound to the r-th of the cores, or to none of
 * them: any. MEMORY: whose the buffers are, the program's or the library's. With TESTS, unless they are none, it
 * measures how much of the collective's time is hidden behind work (overlap.h). bench/versus/driver starts it. */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "clock.h"
#include "collectives.h"
#include "measure.h"
#include "overlap.h"

static void fail(const char* what, const char* which) {
  fprintf(stderr, "tutti-versus: %s: %s; see the first lines of bench/versus/main.c\n", what, which);
  layer_abort();
}

static int list(void) {
  for (size_t i = 0; i < collectives_count; ++i)
    printf("%s%s\n", collectives[i].name, collectives[i].output == NOTHING ? " without data" : "");
  return 0;
}

static long number_at(const char* text, int index) {
  for (; index > 0; --index) text = strchr(text, ',') + 1;
  return strtol(text, NULL, 10);
}

static int numbers_in(const char* text) {
  int count = 1;
  for (; *text != '\0'; ++text) count += *text == ',';
  return count;
}

static struct tests read_tests(const char* text) {
  struct tests tests = {strcmp(text, "none") == 0 ? 0 : numbers_in(text), {0}};
  if (tests.variants > MOST_VARIANTS) fail("too many numbers of tests", text);
  for (int i = 0; i < tests.variants; ++i) tests.counts[i] = (int)number_at(text, i);
  return tests;
}

/* The same for every library, and after its start: each sees the whole machine when it chooses how to wait. */
static void pin(const char* cores) {
  if (strcmp(cores, "any") == 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET((size_t)number_at(cores, layer_rank() % numbers_in(cores)), &set);
  if (sched_setaffinity(0, sizeof set, &set) != 0) fail("cannot run on one of the cores", cores);
}

static enum scheme scheme_named(const char* name) {
  const char* const names[] = {"loop", "barrier", "window"};
  for (int i = 0; i < 3; ++i)
    if (strcmp(name, names[i]) == 0) return (enum scheme)i;
  fail("no such scheme", name);
  return LOOP;
}

static enum memory memory_named(const char* name) {
  if (strcmp(name, "program") == 0) return OF_PROGRAM;
  if (strcmp(name, "library") != 0) fail("no such memory", name);
  return OF_LIBRARY;
}

/* One collective, at each of the sizes that are begun in time. */
static void measure_sizes(const char* name, const char* sizes, double end, const struct plan* plan,
                          const struct tests* tests, FILE* file) {
  const struct collective* collective = find_collective(name);
  if (collective == NULL) fail("no such collective", name);
  for (int i = 0; i < numbers_in(sizes) && from_root(now() < end ? 1 : 0) > 0; ++i) {
    const long bytes = number_at(sizes, i);
    tests->variants > 0 ? measure_overlap(collective, bytes, plan, tests, file)
                        : measure(collective, bytes, plan, file);
  }
}

static void run(char** arguments) {
  const struct plan plan = {scheme_named(arguments[1]), strtod(arguments[2], NULL), memory_named(arguments[5])};
  pin(arguments[4]);
  const struct tests tests = read_tests(arguments[6]);
  FILE* file = layer_rank() == 0 ? fopen(arguments[0], "w") : NULL;
  if (layer_rank() == 0) {
    if (file == NULL) fail("cannot write", arguments[0]);
    fprintf(file, "{\"library\": \"%s\", \"ranks\": %d}\n", layer_version(), layer_size());
  }
  const double end = now() + strtod(arguments[3], NULL);
  for (char** pair = arguments + 7; *pair != NULL; pair += 2) measure_sizes(pair[0], pair[1], end, &plan, &tests, file);
  if (file != NULL && fclose(file) != 0) fail("cannot write", arguments[0]);
}

int main(int argument_count, char** arguments) {
  if (argument_count == 2 && strcmp(arguments[1], "--list") == 0) return list();
  layer_start(&argument_count, &arguments);
  if (argument_count < 10 || argument_count % 2 != 0)
    fail("wrong arguments", "FILE SCHEME SECONDS LIMIT CORES MEMORY TESTS COLLECTIVE SIZES [COLLECTIVE SIZES]...");
  run(arguments + 1);
  layer_end();
  return 0;
}
