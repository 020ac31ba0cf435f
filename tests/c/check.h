/* SPDX-License-Identifier: BSD-3-Clause */
/* What the parts of this program share. Every rank checks its own memory; the first failure ends the program. */
#ifndef TUTTI_TESTS_C_CHECK_H
#define TUTTI_TESTS_C_CHECK_H

#include <stdint.h>

#include "tutti/tutti.h"

#define CHECK(condition) check_that((condition), #condition, __FILE__, __LINE__)
#define CHECK_OK(call) check_status(TUTTI_OK, (call), #call, __FILE__, __LINE__)
#define CHECK_FAILS(status, call) check_status((status), (call), #call, __FILE__, __LINE__)

void check_that(int condition, const char* text, const char* file, int line);
void check_status(tutti_status expected, tutti_status got, const char* text, const char* file, int line);

/* A buffer of n elements that are all `poison`, with guards on both sides; the caller's checks end with release. */
#define POISON INT64_C(-7777)
int64_t* fresh(int64_t n);
void release(int64_t* buffer, int64_t n);

/* Element i of rank r: different for all. */
int64_t value(int32_t r, int64_t i);
/* n elements of rank r from its `first` on. */
void fill(int64_t* buffer, int32_t r, int64_t first, int64_t n);
void expect(const int64_t* buffer, int32_t r, int64_t first, int64_t n);
void expect_poison(const int64_t* buffer, int64_t n);

/* The parts. */
void check_collectives(tutti_group group);
void check_varying(tutti_group group);
void check_layouts(tutti_group group);
void check_reductions(tutti_group group);
void check_sums(tutti_group group);
void check_scans(tutti_group group);
void check_persistent(tutti_group group);
void check_neighbors(tutti_group group);
void check_plans(tutti_group group);
void check_groups(tutti_group world);
void check_requests(tutti_group group);
void check_memory(tutti_group world);
void check_errors(tutti_group world);

#endif
