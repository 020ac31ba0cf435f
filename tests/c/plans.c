/* SPDX-License-Identifier: BSD-3-Clause */
/* Plans of one's own: a ring that sums up, and a barrier. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "check.h"

static tutti_slice block(int32_t number, int32_t size, int64_t count) {
  const int32_t which = (number % size + size) % size;
  const int64_t begin = count * which / size;
  return tutti_plan_out(begin, count * (which + 1) / size - begin);
}

/* The sum of everybody's elements by a ring; an edge is left out at the rank `spoilt`. */
static tutti_plan ring(int32_t rank, int32_t size, int64_t count, int32_t spoilt) {
  const int32_t next = (rank + 1) % size, previous = (rank + size - 1) % size;
  tutti_plan_builder builder = NULL;
  tutti_plan plan = NULL;
  tutti_step have = -1, send;
  tutti_step* const sent = malloc((size_t)size * sizeof *sent);
  int32_t i;
  CHECK(sent != NULL);
  CHECK_OK(tutti_plan_begin("ring", rank, size, count, count, &builder));
  CHECK_OK(tutti_plan_copy(builder, tutti_plan_in(0, count), tutti_plan_out(0, count), &have));
  CHECK(have == 0);
  for (i = 0; i < size - 1; ++i) {
    CHECK_OK(tutti_plan_send(builder, next, block(rank - i, size, count), &sent[i]));
    CHECK_OK(tutti_plan_after(builder, sent[i], &have, 1));
    CHECK_OK(tutti_plan_recv_reduce(builder, previous, block(rank - i - 1, size, count), TUTTI_LEFT, &send));
    CHECK_OK(tutti_plan_after(builder, send, &have, 1));
    have = send;
  }
  for (i = 0; i < size - 1; ++i) {
    tutti_step before[2];
    before[0] = have;
    before[1] = sent[i];
    CHECK_OK(tutti_plan_send(builder, next, block(rank + 1 - i, size, count), &send));
    CHECK_OK(tutti_plan_after(builder, send, &have, 1));
    CHECK_OK(tutti_plan_recv(builder, previous, block(rank - i, size, count), &have));
    CHECK_OK(tutti_plan_after(builder, have, before, rank == spoilt ? 1 : 2));
  }
  CHECK_OK(tutti_plan_commit(&builder, &plan));
  CHECK(builder == NULL && plan != NULL);
  free(sent);
  return plan;
}

static tutti_status build_ring(int32_t rank, int32_t size, void* context, tutti_plan* plan) {
  *plan = ring(rank, size, *(const int64_t*)context, -1);
  return TUTTI_OK;
}

static tutti_status build_nothing(int32_t rank, int32_t size, void* context, tutti_plan* plan) {
  tutti_plan_builder builder;
  (void)context;
  (void)plan;
  return tutti_plan_begin("no name", rank, size, 0, 0, &builder);
}

/* One of which a check says where it is wrong. */
static tutti_status build_spoilt(int32_t rank, int32_t size, void* context, tutti_plan* plan) {
  tutti_plan* const plans = malloc((size_t)size * sizeof *plans);
  tutti_status status;
  int32_t r;
  (void)rank;
  (void)plan;
  CHECK(plans != NULL);
  for (r = 0; r < size; ++r) plans[r] = ring(r, size, *(const int64_t*)context, 1);
  status = tutti_plan_check(plans, (size_t)size);
  for (r = 0; r < size; ++r) CHECK_OK(tutti_plan_free(&plans[r]));
  free(plans);
  return status;
}

/* Adding up in every form; what is around `out` stays as it was. */
static void check_runs(tutti_group group, int64_t count) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  tutti_plan plan = ring(rank, size, count, -1);
  int64_t* const in = fresh(count);
  int form;
  int64_t i;
  for (i = 0; i < count; ++i) in[i] = value(rank, i);
  for (form = 0; form < 3; ++form) {
    int64_t* const out = fresh(count);
    tutti_request request;
    tutti_persistent again;
    if (form == 0) CHECK_OK(tutti_plan_run(group, plan, in, out, TUTTI_INT64, TUTTI_SUM));
    if (form == 1) {
      CHECK_OK(tutti_plan_start(group, plan, in, out, TUTTI_INT64, TUTTI_SUM, &request));
      CHECK_OK(tutti_wait(&request, -1));
    }
    if (form == 2) {
      CHECK_OK(tutti_plan_init(group, plan, in, out, TUTTI_INT64, TUTTI_SUM, &again));
      CHECK_OK(tutti_run(&again));
      CHECK_OK(tutti_start(&again));
      CHECK_OK(tutti_persistent_wait(&again, -1));
      CHECK_OK(tutti_persistent_free(&again));
    }
    for (i = 0; i < count; ++i) {
      int64_t expected = 0;
      int32_t r;
      for (r = 0; r < size; ++r) expected += value(r, i);
      CHECK(out[i] == expected);
    }
    release(out, count);
  }
  release(in, count);
  CHECK_OK(tutti_plan_free(&plan));
  CHECK(plan == NULL);
}

/* All ranks' plans in one place. */
static void check_looks(tutti_group group, int32_t size, int64_t count) {
  tutti_plan* const plans = malloc((size_t)size * sizeof *plans);
  char file[64];
  FILE* picture;
  int32_t r;
  CHECK(plans != NULL);
  for (r = 0; r < size; ++r) plans[r] = ring(r, size, count, -1);
  CHECK(strncmp(tutti_plan_text(plans[0]), "// ring: input ", 15) == 0);
  CHECK_OK(tutti_plan_check(plans, (size_t)size));
  CHECK_OK(tutti_plan_check_as(plans, (size_t)size, "allreduce", count, 0));
  CHECK_FAILS(TUTTI_USAGE, tutti_plan_check_as(plans, (size_t)size, "alltogether", count, 0));
  if (size > 1) CHECK_FAILS(TUTTI_USAGE, tutti_plan_check_as(plans, (size_t)size, "scan", count, 0));
  sprintf(file, "tutti_plan_%ld_%d.svg", (long)getpid(), (int)tutti_rank(group));
  CHECK_OK(tutti_plan_draw(plans, (size_t)size, file));
  picture = fopen(file, "r");
  CHECK(picture != NULL && fgetc(picture) == '<');
  CHECK(fclose(picture) == 0 && remove(file) == 0);
  CHECK_FAILS(TUTTI_SYSTEM, tutti_plan_draw(plans, (size_t)size, "/no/such/folder/plan.svg"));
  CHECK_OK(tutti_plan_check_all(group, plans[tutti_rank(group)]));
  for (r = 0; r < size; ++r) CHECK_OK(tutti_plan_free(&plans[r]));
  if (size > 1) { /* without that edge a block is written while it may still be sent */
    tutti_plan mine = ring(tutti_rank(group), size, count, 1);
    for (r = 0; r < size; ++r) plans[r] = ring(r, size, count, 1);
    CHECK_FAILS(TUTTI_USAGE, tutti_plan_check(plans, (size_t)size));
    CHECK(tutti_last_error_peer() == 1);
    CHECK(strstr(tutti_last_error(), "plan ring, rank 1, step s") != NULL);
    CHECK_FAILS(TUTTI_USAGE, tutti_plan_check_all(group, mine));
    CHECK(strstr(tutti_last_error(), "plan ring, rank 1, step s") != NULL);
    for (r = 0; r < size; ++r) CHECK_OK(tutti_plan_free(&plans[r]));
    CHECK_OK(tutti_plan_free(&mine));
  }
  free(plans);
}

/* By way of scratch and in rounds: everybody gets its left neighbour's element. */
static void check_shift(tutti_group group) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  const int64_t mine = value(rank, 0);
  int64_t theirs = POISON;
  tutti_plan_builder builder;
  tutti_plan plan;
  tutti_slice cell;
  CHECK_OK(tutti_plan_begin("shift", rank, size, 1, 1, &builder));
  CHECK_OK(tutti_plan_scratch(builder, 1, &cell));
  if (size == 1) CHECK_OK(tutti_plan_copy(builder, tutti_plan_in(0, 1), cell, NULL));
  if (size > 1) {
    CHECK_OK(tutti_plan_send(builder, (rank + 1) % size, tutti_plan_in(0, 1), NULL));
    CHECK_OK(tutti_plan_recv(builder, (rank + size - 1) % size, cell, NULL));
  }
  CHECK_OK(tutti_plan_round(builder));
  CHECK_OK(tutti_plan_copy(builder, cell, tutti_plan_out(0, 1), NULL));
  CHECK_OK(tutti_plan_commit(&builder, &plan));
  CHECK_OK(tutti_plan_run(group, plan, &mine, &theirs, TUTTI_INT64, TUTTI_NO_OP));
  CHECK(theirs == value((rank + size - 1) % size, 0));
  CHECK_OK(tutti_plan_free(&plan));
}

static void check_refusals(tutti_group group) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  int64_t in[4] = {0, 0, 0, 0}, out[4];
  tutti_slice nowhere = {7, 0, 1};
  tutti_plan_builder builder = NULL;
  tutti_plan plan = NULL;
  tutti_request request;
  tutti_step later = 5;
  CHECK_FAILS(TUTTI_USAGE, tutti_plan_begin("two words", rank, size, 0, 0, &builder));
  CHECK_FAILS(TUTTI_USAGE, tutti_plan_begin(NULL, rank, size, 0, 0, &builder));
  CHECK_FAILS(TUTTI_USAGE, tutti_plan_begin("x", size, size, 0, 0, &builder));
  CHECK_FAILS(TUTTI_USAGE, tutti_plan_send(NULL, 0, tutti_plan_in(0, 1), NULL));
  CHECK(builder == NULL);
  CHECK_OK(tutti_plan_begin("fold", rank, size, 4, 4, &builder));
  CHECK_FAILS(TUTTI_USAGE, tutti_plan_send(builder, size, tutti_plan_in(0, 1), NULL));
  CHECK(strstr(tutti_last_error(), "plan fold, rank ") != NULL);
  CHECK_FAILS(TUTTI_USAGE, tutti_plan_copy(builder, nowhere, tutti_plan_out(0, 1), NULL));
  CHECK_FAILS(TUTTI_USAGE, tutti_plan_copy(builder, tutti_plan_in(3, 2), tutti_plan_out(0, 2), NULL));
  CHECK_FAILS(TUTTI_USAGE, tutti_plan_reduce(builder, tutti_plan_in(0, 4), tutti_plan_out(0, 4), (tutti_side)9, NULL));
  CHECK_OK(tutti_plan_reduce(builder, tutti_plan_in(0, 4), tutti_plan_out(0, 4), TUTTI_RIGHT, NULL));
  CHECK_FAILS(TUTTI_USAGE, tutti_plan_after(builder, 0, &later, 1));
  CHECK_FAILS(TUTTI_USAGE, tutti_plan_after_any(builder, 1, &later, 1));
  CHECK_OK(tutti_plan_commit(&builder, &plan));
  CHECK_FAILS(TUTTI_USAGE, tutti_plan_commit(&builder, &plan));
  CHECK_FAILS(TUTTI_USAGE, tutti_plan_run(group, plan, in, out, TUTTI_INT64, TUTTI_NO_OP));
  CHECK_FAILS(TUTTI_USAGE, tutti_plan_run(group, plan, NULL, out, TUTTI_INT64, TUTTI_SUM));
  CHECK_FAILS(TUTTI_USAGE, tutti_plan_run(group, plan, TUTTI_IN_PLACE, out, TUTTI_INT64, TUTTI_SUM));
  CHECK_FAILS(TUTTI_USAGE, tutti_plan_run(group, plan, out, out, TUTTI_INT64, TUTTI_SUM));
  CHECK_FAILS(TUTTI_USAGE, tutti_plan_run(group, plan, in, out, 99, TUTTI_SUM));
  CHECK_FAILS(TUTTI_USAGE, tutti_plan_run(group, NULL, in, out, TUTTI_INT64, TUTTI_SUM));
  CHECK_FAILS(TUTTI_USAGE, tutti_plan_start(group, plan, in, out, TUTTI_INT64, TUTTI_SUM, NULL));
  memset(out, 0, sizeof out);
  CHECK_OK(tutti_plan_start(group, plan, in, out, TUTTI_INT64, TUTTI_SUM, &request));
  CHECK_OK(tutti_wait(&request, -1));
  CHECK_OK(tutti_plan_free(&plan));
  CHECK_OK(tutti_plan_free(&plan));
  CHECK_OK(tutti_plan_begin("none", rank, size, 0, 0, &builder));
  CHECK_OK(tutti_plan_builder_free(&builder));
  CHECK_OK(tutti_plan_builder_free(&builder));
}

void check_plans(tutti_group group) {
  const int32_t size = tutti_size(group);
  int64_t count = 3 * size + 1;
  tutti_plan first = NULL, second = NULL;
  check_runs(group, 0);
  check_runs(group, 1);
  check_runs(group, count);
  check_runs(group, 40000);
  check_looks(group, size, count);
  check_shift(group);
  check_refusals(group);
  CHECK_OK(tutti_plan_cached(group, "ring", build_ring, &count, &first));
  CHECK_OK(tutti_plan_cached(group, "ring", build_nothing, NULL, &second));
  CHECK(strcmp(tutti_plan_text(first), tutti_plan_text(second)) == 0);
  CHECK_OK(tutti_plan_free(&first));
  CHECK_OK(tutti_plan_free(&second));
  CHECK_FAILS(TUTTI_USAGE, tutti_plan_cached(group, "nothing", build_nothing, NULL, &first));
  CHECK(strstr(tutti_last_error(), "cannot be the name of a plan") != NULL);
  CHECK(tutti_last_error_peer() == -1);
  if (size > 1) {
    CHECK_FAILS(TUTTI_USAGE, tutti_plan_cached(group, "spoilt", build_spoilt, &count, &first));
    CHECK(tutti_last_error_peer() == 1);
  }
  CHECK_FAILS(TUTTI_USAGE, tutti_plan_cached(group, NULL, build_ring, &count, &first));
  CHECK(first == NULL);
}
