/* SPDX-License-Identifier: BSD-3-Clause */
/* One operation of the program: a collective, or a message between two ranks. */
#ifndef OPERATION_H
#define OPERATION_H

#include "buffer.h"
#include "group.h"

struct operation {
  int number;              /* the same on all ranks */
  const struct form* form; /* NULL for a message */
  enum mode mode;
  MPI_Comm group;
  int group_slot;
  int group_size;
  int rank; /* -1 where this rank takes no part */
  int starts;
  int active;
  int large; /* MPI_Count; each rank decides for itself */
  struct call call;
  struct buffer in, out;
  int computed;     /* values that are reduced */
  int hides_result; /* which MPI leaves undefined on this rank */
  MPI_Op own_op;
  int peer; /* of a message; -1 where this rank is neither end */
  int sends;
  MPI_Status status; /* of a message received */
};

/* Chooses and prepares a collective or a message; writes what it is to `text`. */
struct operation* operation_make_collective(int number, const struct group* group, enum mode mode, struct draw* common,
                                            struct draw* own, char* text, size_t room);
struct operation* operation_make_message(int number, const struct group* group, enum mode mode, struct draw* common,
                                         struct draw* own, char* text, size_t room);
/* Fills the buffers and starts, or runs it as a whole where it blocks. */
void operation_start(struct operation* operation, uint64_t seed, struct draw* own);
uint64_t operation_hash(struct operation* operation);
void operation_free(struct operation* operation);

/* Reductions (reduction.c). */
struct reduction {
  struct unit unit;
  int units;
  MPI_Op op;
  int owned;
  const char* name;
};
struct reduction reduction_make(struct draw* common);
/* Tells the user's functions where the elements of a type lie, for as long as a reduction needs it. */
void reduction_register(MPI_Datatype type, const struct layout* layout);
void reduction_forget(MPI_Datatype type);
int reduction_confusions(void);

#endif
