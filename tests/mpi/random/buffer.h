/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory that is handed to MPI: guards on both sides, and a pattern in every byte, also in the gaps of the types. */
#ifndef BUFFER_H
#define BUFFER_H

#include "forms.h"
#include "layout.h"

struct part {
  struct layout layout;
  int instances;
  MPI_Aint offset; /* of the first instance, from the origin */
};

struct buffer {
  unsigned char* memory;
  size_t size;
  unsigned char* origin;
  int parts;
  struct part part[MOST_PEERS];
  int open;              /* instances at the end of the first part in which MPI may leave anything */
  MPI_Datatype absolute; /* the only part's type with addresses inside, for MPI_BOTTOM */
};

/* Gives memory to the parts, whose layouts and instances are set. */
void buffer_make(struct buffer* buffer);
/* Fills all of it; `computed` with values that may be reduced, otherwise with any bytes. */
void buffer_fill(struct buffer* buffer, uint64_t content, int computed);
uint64_t buffer_hash(struct buffer* buffer, int computed);
/* MPI keeps a type for as long as a request needs it. */
void buffer_free_types(struct buffer* buffer);
void buffer_free(struct buffer* buffer);

/* One side of an exchange in which blocks of `units[i]` units go to or come from somewhere; `granule` divides each. */
void side_make(struct arguments* arguments, struct buffer* buffer, struct draw* own, const struct unit* unit,
               int granule, enum blocks blocks, int count, const int* units);
/* A side that MPI must not look at. */
void side_ignore(struct arguments* arguments, void* address);
void side_large(struct arguments* arguments, int blocks);

#endif
