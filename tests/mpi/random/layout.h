/* SPDX-License-Identifier: BSD-3-Clause */
/* Data types: the basic ones as a table, and random derived ones together with where their elements lie. */
#ifndef LAYOUT_H
#define LAYOUT_H

#include <mpi.h>

#include "draw.h"

enum kind { SIGNED, UNSIGNED, FLOATING, COMPLEX, LOGICAL, BYTES, PAIR };

struct basic {
  const char* name;
  MPI_Datatype type;
  enum kind kind;
  int extent;
  int value_size;  /* of its first part; what lies between the parts has no meaning */
  int value_holes; /* bytes at the end of each floating-point value that have no meaning */
};

extern const struct basic basics[];
extern const int basics_count;

/* What all ranks agree on: the basic types of one element, in their order. */
#define UNIT_MOST 3
struct unit {
  int parts;
  int basic[UNIT_MOST];
};

struct element {
  MPI_Aint offset;
  int basic;
};

struct layout {
  MPI_Datatype type;
  int derived; /* has to be freed */
  int units;   /* in one instance */
  int elements_count;
  struct element* elements;
  MPI_Aint lower, extent;
  MPI_Aint low, high; /* the bytes that one instance touches */
};

/* A random layout of `units` units, of which up to `instances` follow each other in memory. */
struct layout layout_make(struct draw* own, const struct unit* unit, int units, int instances);
/* A unit of one part as it is. */
struct layout layout_plain(const struct unit* unit);
void layout_free_type(struct layout* layout);
void layout_free(struct layout* layout);

struct unit unit_make(struct draw* common);
int basic_find(const char* name);

/* Zeroes the bytes of one basic value that have no meaning. */
void basic_clear_holes(const struct basic* basic, unsigned char* at);
/* The same, and of a computed value the sign of zero, which depends on the order of operations. */
void basic_settle(const struct basic* basic, unsigned char* at);
/* A small value, with which sums and products of all ranks stay exact. */
void basic_store(const struct basic* basic, unsigned char* at, uint64_t random);

#endif
