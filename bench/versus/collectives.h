/* SPDX-License-Identifier: BSD-3-Clause */
/* The collectives that are compared: one table, one line each (and two functions in each layer, blocking and not). */
#ifndef VERSUS_COLLECTIVES_H
#define VERSUS_COLLECTIVES_H

#include <stddef.h>

#include "layer.h"

/* Who has a buffer, and how many blocks it holds. */
enum extent { NOTHING, ONE_BLOCK, ALL_BLOCKS };
enum owner { EVERYBODY, ROOT };

struct place {
  int rank, size, root;
};

struct collective {
  const char* name;
  void (*run)(const struct call* call);
  void (*start)(const struct call* call);
  enum extent input, output;
  enum owner has_output;
  /* What must lie at element i of a block of the output. */
  double (*expected)(const struct place* place, int block, long i);
  /* Blocks that have to be copied or combined at least, over all ranks: for the share of the copy floor. */
  double (*copies)(double size);
};

extern const struct collective collectives[];
extern const size_t collectives_count;
const struct collective* find_collective(const char* name);

/* Whose memory the buffers are: the program's own, as malloc's, or the library's. */
enum memory { OF_PROGRAM, OF_LIBRARY };

/* One collective's buffers for blocks of so many elements, with guards behind them. */
struct buffers {
  const struct collective* collective;
  void (*run)(const struct buffers* buffers); /* what `verify` checks: the blocking call, if nobody says otherwise */
  struct place place;
  struct call call;
  double *in, *out;
  layer_count *counts, *offsets;
  enum memory memory;
};

void make_buffers(struct buffers* buffers, const struct collective* collective, long count, enum memory memory);
void free_buffers(struct buffers* buffers);
/* Calls it with poisoned output and compares every element and guard on every rank, for the first and the last root; a
 * collective without data has to keep the order. One wrong element on one rank ends the program. */
void verify(struct buffers* buffers);

#endif
