/* SPDX-License-Identifier: BSD-3-Clause */
#include <stdio.h>

#include "../layer.h"
#include "world.h"

static tutti_group world;
static tutti_request request;

void check(tutti_status status) {
  if (status == TUTTI_OK) return;
  fprintf(stderr, "tutti-versus: %s\n", tutti_last_error());
  world_abort();
}

void layer_start(int* argument_count, char*** arguments) { world_start(argument_count, arguments, &world); }
void layer_end(void) { world_end(&world); }
void layer_abort(void) { world_abort(); }
int layer_rank(void) { return tutti_rank(world); }
int layer_size(void) { return tutti_size(world); }

void* layer_allocate(size_t bytes) {
  void* memory = NULL;
  check(tutti_allocate(world, (int64_t)bytes, &memory));
  return memory;
}

void layer_free(void* memory) { check(tutti_release(memory)); }

const char* layer_version(void) {
  static char text[64];
  snprintf(text, sizeof text, "Tutti %s", tutti_version());
  return text;
}

void layer_barrier(const struct call* c) {
  (void)c;
  check(tutti_barrier(world));
}

void layer_bcast(const struct call* c) { check(tutti_bcast(world, c->out, c->count, TUTTI_FLOAT64, c->root)); }

void layer_reduce(const struct call* c) {
  check(tutti_reduce(world, c->in, c->out, c->count, TUTTI_FLOAT64, TUTTI_SUM, c->root));
}

void layer_allreduce(const struct call* c) {
  check(tutti_allreduce(world, c->in, c->out, c->count, TUTTI_FLOAT64, TUTTI_SUM));
}

void layer_gather(const struct call* c) { check(tutti_gather(world, c->in, c->out, c->count, TUTTI_FLOAT64, c->root)); }

void layer_scatter(const struct call* c) {
  check(tutti_scatter(world, c->in, c->out, c->count, TUTTI_FLOAT64, c->root));
}

void layer_allgather(const struct call* c) { check(tutti_allgather(world, c->in, c->out, c->count, TUTTI_FLOAT64)); }

void layer_alltoall(const struct call* c) { check(tutti_alltoall(world, c->in, c->out, c->count, TUTTI_FLOAT64)); }

void layer_reduce_scatter_block(const struct call* c) {
  check(tutti_reduce_scatter_block(world, c->in, c->out, c->count, TUTTI_FLOAT64, TUTTI_SUM));
}

void layer_scan(const struct call* c) { check(tutti_scan(world, c->in, c->out, c->count, TUTTI_FLOAT64, TUTTI_SUM)); }

void layer_exscan(const struct call* c) {
  check(tutti_exscan(world, c->in, c->out, c->count, TUTTI_FLOAT64, TUTTI_SUM));
}

void layer_gatherv(const struct call* c) {
  check(tutti_gatherv(world, c->in, c->count, c->out, c->counts, c->offsets, TUTTI_FLOAT64, c->root));
}

void layer_scatterv(const struct call* c) {
  check(tutti_scatterv(world, c->in, c->counts, c->offsets, c->out, c->count, TUTTI_FLOAT64, c->root));
}

void layer_allgatherv(const struct call* c) {
  check(tutti_allgatherv(world, c->in, c->count, c->out, c->counts, c->offsets, TUTTI_FLOAT64));
}

void layer_alltoallv(const struct call* c) {
  check(tutti_alltoallv(world, c->in, c->counts, c->offsets, c->out, c->counts, c->offsets, TUTTI_FLOAT64));
}

void layer_reduce_scatter(const struct call* c) {
  check(tutti_reduce_scatter(world, c->in, c->out, c->counts, TUTTI_FLOAT64, TUTTI_SUM));
}

void layer_ibarrier(const struct call* c) {
  (void)c;
  check(tutti_ibarrier(world, &request));
}

void layer_ibcast(const struct call* c) {
  check(tutti_ibcast(world, c->out, c->count, TUTTI_FLOAT64, c->root, &request));
}

void layer_ireduce(const struct call* c) {
  check(tutti_ireduce(world, c->in, c->out, c->count, TUTTI_FLOAT64, TUTTI_SUM, c->root, &request));
}

void layer_iallreduce(const struct call* c) {
  check(tutti_iallreduce(world, c->in, c->out, c->count, TUTTI_FLOAT64, TUTTI_SUM, &request));
}

void layer_igather(const struct call* c) {
  check(tutti_igather(world, c->in, c->out, c->count, TUTTI_FLOAT64, c->root, &request));
}

void layer_iscatter(const struct call* c) {
  check(tutti_iscatter(world, c->in, c->out, c->count, TUTTI_FLOAT64, c->root, &request));
}

void layer_iallgather(const struct call* c) {
  check(tutti_iallgather(world, c->in, c->out, c->count, TUTTI_FLOAT64, &request));
}

void layer_ialltoall(const struct call* c) {
  check(tutti_ialltoall(world, c->in, c->out, c->count, TUTTI_FLOAT64, &request));
}

void layer_ireduce_scatter_block(const struct call* c) {
  check(tutti_ireduce_scatter_block(world, c->in, c->out, c->count, TUTTI_FLOAT64, TUTTI_SUM, &request));
}

void layer_iscan(const struct call* c) {
  check(tutti_iscan(world, c->in, c->out, c->count, TUTTI_FLOAT64, TUTTI_SUM, &request));
}

void layer_iexscan(const struct call* c) {
  check(tutti_iexscan(world, c->in, c->out, c->count, TUTTI_FLOAT64, TUTTI_SUM, &request));
}

void layer_igatherv(const struct call* c) {
  check(tutti_igatherv(world, c->in, c->count, c->out, c->counts, c->offsets, TUTTI_FLOAT64, c->root, &request));
}

void layer_iscatterv(const struct call* c) {
  check(tutti_iscatterv(world, c->in, c->counts, c->offsets, c->out, c->count, TUTTI_FLOAT64, c->root, &request));
}

void layer_iallgatherv(const struct call* c) {
  check(tutti_iallgatherv(world, c->in, c->count, c->out, c->counts, c->offsets, TUTTI_FLOAT64, &request));
}

void layer_ialltoallv(const struct call* c) {
  check(tutti_ialltoallv(world, c->in, c->counts, c->offsets, c->out, c->counts, c->offsets, TUTTI_FLOAT64, &request));
}

void layer_ireduce_scatter(const struct call* c) {
  check(tutti_ireduce_scatter(world, c->in, c->out, c->counts, TUTTI_FLOAT64, TUTTI_SUM, &request));
}

int layer_test(void) {
  int done = 0;
  check(tutti_test(&request, &done));
  return done;
}

void layer_wait(void) { check(tutti_wait(&request, -1)); }
