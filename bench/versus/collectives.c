/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "collectives.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"

static const double guard = -2, poison = -1;

/* Different for each rank, block and (within 1021) element; sums over ranks are exact. */
static double value(int rank, int block, long i) {
  return (double)(rank + 1) * 1048576 + (double)block * 1024 + (double)(i % 1021);
}

static double nothing(const struct place* p, int block, long i) {
  (void)p;
  (void)block;
  (void)i;
  return 0;
}
static double roots(const struct place* p, int block, long i) { return value(p->root, block, i); }
static double roots_for_me(const struct place* p, int block, long i) {
  (void)block;
  return value(p->root, p->rank, i);
}
static double each_ranks(const struct place* p, int block, long i) {
  (void)p;
  return value(block, 0, i);
}
static double each_ranks_for_me(const struct place* p, int block, long i) { return value(block, p->rank, i); }
/* Over the ranks below one. */
static double sum_below(int end, int block, long i) {
  double total = 0;
  for (int rank = 0; rank < end; ++rank) total += value(rank, block, i);
  return total;
}
static double sum(const struct place* p, int block, long i) { return sum_below(p->size, block, i); }
static double sum_for_me(const struct place* p, int block, long i) {
  (void)block;
  return sum_below(p->size, p->rank, i);
}
static double sum_up_to_me(const struct place* p, int block, long i) { return sum_below(p->rank + 1, block, i); }
/* The first rank has no result: what was there is left. */
static double sum_before_me(const struct place* p, int block, long i) {
  return p->rank == 0 ? poison : sum_below(p->rank, block, i);
}

static double no_copy(double size) { return 0 * size; }
static double to_all_others(double size) { return size - 1; }
static double to_and_from(double size) { return 2 * (size - 1); }
static double one_each(double size) { return size; }
static double all_to_all(double size) { return size * size; }
static double all_but_own(double size) { return size * (size - 1); }

const struct collective collectives[] = {
    {"barrier", layer_barrier, layer_ibarrier, NOTHING, NOTHING, EVERYBODY, nothing, no_copy},
    {"bcast", layer_bcast, layer_ibcast, NOTHING, ONE_BLOCK, EVERYBODY, roots, to_all_others},
    {"reduce", layer_reduce, layer_ireduce, ONE_BLOCK, ONE_BLOCK, ROOT, sum, to_all_others},
    {"allreduce", layer_allreduce, layer_iallreduce, ONE_BLOCK, ONE_BLOCK, EVERYBODY, sum, to_and_from},
    {"gather", layer_gather, layer_igather, ONE_BLOCK, ALL_BLOCKS, ROOT, each_ranks, one_each},
    {"scatter", layer_scatter, layer_iscatter, ALL_BLOCKS, ONE_BLOCK, EVERYBODY, roots_for_me, one_each},
    {"allgather", layer_allgather, layer_iallgather, ONE_BLOCK, ALL_BLOCKS, EVERYBODY, each_ranks, all_to_all},
    {"alltoall", layer_alltoall, layer_ialltoall, ALL_BLOCKS, ALL_BLOCKS, EVERYBODY, each_ranks_for_me, all_to_all},
    {"reduce_scatter_block", layer_reduce_scatter_block, layer_ireduce_scatter_block, ALL_BLOCKS, ONE_BLOCK, EVERYBODY,
     sum_for_me, all_but_own},
    {"scan", layer_scan, layer_iscan, ONE_BLOCK, ONE_BLOCK, EVERYBODY, sum_up_to_me, to_all_others},
    {"exscan", layer_exscan, layer_iexscan, ONE_BLOCK, ONE_BLOCK, EVERYBODY, sum_before_me, to_all_others},
    {"gatherv", layer_gatherv, layer_igatherv, ONE_BLOCK, ALL_BLOCKS, ROOT, each_ranks, one_each},
    {"scatterv", layer_scatterv, layer_iscatterv, ALL_BLOCKS, ONE_BLOCK, EVERYBODY, roots_for_me, one_each},
    {"allgatherv", layer_allgatherv, layer_iallgatherv, ONE_BLOCK, ALL_BLOCKS, EVERYBODY, each_ranks, all_to_all},
    {"alltoallv", layer_alltoallv, layer_ialltoallv, ALL_BLOCKS, ALL_BLOCKS, EVERYBODY, each_ranks_for_me, all_to_all},
    {"reduce_scatter", layer_reduce_scatter, layer_ireduce_scatter, ALL_BLOCKS, ONE_BLOCK, EVERYBODY, sum_for_me,
     all_but_own},
};
const size_t collectives_count = sizeof collectives / sizeof collectives[0];

const struct collective* find_collective(const char* name) {
  for (size_t i = 0; i < collectives_count; ++i)
    if (strcmp(collectives[i].name, name) == 0) return &collectives[i];
  return NULL;
}

enum { GUARDS = 16 };

static int blocks_in(enum extent extent, int size) { return extent == NOTHING ? 0 : extent == ONE_BLOCK ? 1 : size; }

static void* allocate(size_t bytes) {
  void* memory = NULL;
  if (posix_memalign(&memory, 4096, bytes) == 0) return memory;
  fprintf(stderr, "tutti-versus: no memory for %zu bytes\n", bytes);
  layer_abort();
  return NULL;
}

/* Pages are touched here, not in the first measured call. */
static double* make_blocks(int blocks, long count, enum memory memory) {
  const long elements = blocks * count;
  const size_t bytes = ((size_t)elements + GUARDS) * sizeof(double);
  double* made = memory == OF_LIBRARY ? layer_allocate(bytes) : allocate(bytes);
  for (long i = 0; i < elements; ++i) made[i] = value(layer_rank(), (int)(i / (count > 0 ? count : 1)), i % count);
  for (long i = 0; i < GUARDS; ++i) made[elements + i] = guard;
  return made;
}

static void run_blocking(const struct buffers* b) { b->collective->run(&b->call); }

static void free_blocks(double* blocks, enum memory memory) {
  memory == OF_LIBRARY ? layer_free(blocks) : free(blocks);
}

void make_buffers(struct buffers* b, const struct collective* collective, long count, enum memory memory) {
  b->collective = collective;
  b->run = run_blocking;
  b->place = (struct place){layer_rank(), layer_size(), 0};
  const int size = b->place.size;
  b->memory = memory;
  b->in = make_blocks(blocks_in(collective->input, size), count, memory);
  b->out = make_blocks(blocks_in(collective->output, size), count, memory);
  b->counts = allocate((size_t)size * sizeof(layer_count));
  b->offsets = allocate((size_t)size * sizeof(layer_count));
  for (int rank = 0; rank < size; ++rank) {
    b->counts[rank] = (layer_count)count;
    b->offsets[rank] = (layer_count)(rank * count);
  }
  b->call = (struct call){b->in, b->out, (layer_count)count, 0, b->counts, b->offsets};
}

void free_buffers(struct buffers* b) {
  free_blocks(b->in, b->memory);
  free_blocks(b->out, b->memory);
  free(b->counts);
  free(b->offsets);
}

static void wrong(const struct buffers* b, const char* what, int block, long i, double got, double expected) {
  fprintf(stderr,
          "tutti-versus: wrong result: %s of %ld elements, root %d: rank %d has %.17g at %s block %d element %ld, "
          "which should be %.17g\n",
          b->collective->name, (long)b->call.count, b->place.root, b->place.rank, got, what, block, i, expected);
  layer_abort();
}

static void verify_root(struct buffers* b, int root) {
  const struct collective* collective = b->collective;
  const long count = (long)b->call.count;
  const int blocks = blocks_in(collective->output, b->place.size);
  const int mine = collective->has_output == EVERYBODY || b->place.rank == root;
  b->place.root = b->call.root = root;
  for (long i = 0; i < blocks * count; ++i) b->out[i] = poison;
  if (collective->input == NOTHING && b->place.rank == root)
    for (long i = 0; i < blocks * count; ++i) b->out[i] = value(root, (int)(i / count), i % count);
  b->run(b);
  for (int block = 0; block < blocks && mine; ++block)
    for (long i = 0; i < count; ++i) {
      const double expected = collective->expected(&b->place, block, i), got = b->out[block * count + i];
      if (got != expected) wrong(b, "output", block, i, got, expected);
    }
  for (long i = 0; i < GUARDS; ++i) {
    const double got = b->out[blocks * count + i];
    if (got != guard) wrong(b, "guard behind", blocks, i, got, guard);
  }
}

/* No rank may leave before the last one, which comes two milliseconds late, has come. */
static void verify_order(struct buffers* b, int late) {
  double* all = allocate(2 * (size_t)b->place.size * sizeof *all);
  if (b->place.rank == late) nanosleep(&(struct timespec){0, 2000000}, NULL);
  double times[2] = {now(), 0};
  b->run(b);
  times[1] = now();
  layer_gather(&(struct call){times, all, 2, 0, NULL, NULL});
  for (int rank = 0; rank < b->place.size && b->place.rank == 0; ++rank)
    if (all[2 * rank + 1] < all[2 * late]) {
      fprintf(stderr, "tutti-versus: wrong result: rank %d left the %s before rank %d had come\n", rank,
              b->collective->name, late);
      layer_abort();
    }
  free(all);
}

void verify(struct buffers* b) {
  const int last = b->place.size - 1;
  void (*const check)(struct buffers*, int) = b->collective->output == NOTHING ? verify_order : verify_root;
  check(b, last);
  check(b, 0);
}
