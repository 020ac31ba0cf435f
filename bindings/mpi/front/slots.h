/* SPDX-License-Identifier: BSD-3-Clause */
/* What front and back end have in common: one slot for each MPI function that the front exports. */
#ifndef TUTTI_MPI_SLOTS_H
#define TUTTI_MPI_SLOTS_H

#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

struct tutti_mpi_slot {
  void* target;     /* Where calls of it go. */
  const char* name; /* "MPI_Barrier" */
};

/* Answers the call of a function that the program's MPI lacks: an error as MPI's are, whose code it returns. */
typedef int tutti_mpi_absent_function(const char* name);

/* The one function of a back end: fills the slots with its own functions, else with what `find` returns, which looks a
 * name up in the program's MPI (null: it has none). Returns who answers for the rest, or null. */
typedef tutti_mpi_absent_function* tutti_mpi_fill_function(struct tutti_mpi_slot* slots, size_t count,
                                                           void* (*find)(const char* name));

#ifdef __cplusplus
}
#endif

#endif
