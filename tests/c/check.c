/* SPDX-License-Identifier: BSD-3-Clause */
#include "check.h"

#include <stdio.h>
#include <stdlib.h>

enum { guards = 4 };
static const int64_t guard = INT64_C(0x5afe5afe5afe5afe);

void check_that(int condition, const char* text, const char* file, int line) {
  if (condition) return;
  fprintf(stderr, "%s:%d: not true: %s (last error: %s)\n", file, line, text, tutti_last_error());
  exit(1);
}

void check_status(tutti_status expected, tutti_status got, const char* text, const char* file, int line) {
  if (got == expected) return;
  fprintf(stderr, "%s:%d: %s returned %s instead of %s: %s\n", file, line, text, tutti_status_name(got),
          tutti_status_name(expected), tutti_last_error());
  exit(1);
}

int64_t* fresh(int64_t n) {
  int64_t* whole = malloc((size_t)(n + 2 * guards) * sizeof *whole);
  int64_t i;
  CHECK(whole != NULL);
  for (i = 0; i < guards; ++i) whole[i] = whole[guards + n + i] = guard;
  for (i = 0; i < n; ++i) whole[guards + i] = POISON;
  return whole + guards;
}

void release(int64_t* buffer, int64_t n) {
  int64_t i;
  for (i = 0; i < guards; ++i) {
    CHECK(buffer[-1 - i] == guard);
    CHECK(buffer[n + i] == guard);
  }
  free(buffer - guards);
}

int64_t value(int32_t r, int64_t i) { return (int64_t)(r + 1) * 100000 + i; }

void fill(int64_t* buffer, int32_t r, int64_t first, int64_t n) {
  int64_t i;
  for (i = 0; i < n; ++i) buffer[i] = value(r, first + i);
}

void expect(const int64_t* buffer, int32_t r, int64_t first, int64_t n) {
  int64_t i;
  for (i = 0; i < n; ++i) CHECK(buffer[i] == value(r, first + i));
}

void expect_poison(const int64_t* buffer, int64_t n) {
  int64_t i;
  for (i = 0; i < n; ++i) CHECK(buffer[i] == POISON);
}
