/* SPDX-License-Identifier: BSD-3-Clause */
/* All forms of all collectives behind one signature. */
#ifndef FORMS_H
#define FORMS_H

#include <mpi.h>

#ifdef WITHOUT_PERSISTENT
#define HAS_PERSISTENT 0
#elif MPI_VERSION >= 4 || (defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5)
#define HAS_PERSISTENT 1
#else
#define HAS_PERSISTENT 0
#endif
#define HAS_LARGE (MPI_VERSION >= 4)

enum { MOST_PEERS = 32 }; /* ranks of a group, or neighbours of a rank */

/* One side of an exchange, as MPI takes it. The large forms read the same numbers from other arrays. */
struct arguments {
  void* buffer;
  int count;
  MPI_Datatype type;
  int counts[MOST_PEERS];
  int places[MOST_PEERS];
  MPI_Count large_counts[MOST_PEERS];
  MPI_Aint large_places[MOST_PEERS];
  MPI_Datatype types[MOST_PEERS];
};

struct call {
  struct arguments in, out;
  MPI_Op op;
  int root;
  MPI_Comm group;
  MPI_Request request;
};

enum mode { BLOCKING, NONBLOCKING, PERSISTENT };

/* What a collective moves, from which its arguments follow. */
enum pattern { NOTHING, FROM_ROOT, TO_ROOT, SCATTERED, TO_ALL, ALL_TO_ALL, REDUCED };
/* How many blocks of which sizes: one size for all, a size for each, or also a type for each. */
enum blocks { EQUAL_BLOCKS, UNEQUAL_BLOCKS, TYPED_BLOCKS };
enum result { AT_ROOT, AT_ALL, NOT_AT_FIRST, PARTS, EQUAL_PARTS };

struct form {
  const char* name;
  enum pattern pattern;
  enum blocks blocks;
  enum result result; /* of reductions */
  int neighbors;
  int in_place; /* MPI has it */
  int (*run[3])(struct call*);
  int (*run_large[3])(struct call*);
};

extern const struct form forms[];
extern const int forms_count;

#endif
