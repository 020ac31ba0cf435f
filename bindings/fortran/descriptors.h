/* SPDX-License-Identifier: BSD-3-Clause */
/* What every Fortran subroutine stands on: arrays as Fortran describes them, and how a failure is told. */
#ifndef TUTTI_FORTRAN_DESCRIPTORS_H
#define TUTTI_FORTRAN_DESCRIPTORS_H

#include <ISO_Fortran_binding.h>
#include <stdint.h>

#include "tutti/tutti.h"

/* An array of the user's: its elements lie side by side. */
typedef struct tutti_elements {
  void* data; /* TUTTI_IN_PLACE for tutti_in_place. */
  int64_t count;
  tutti_type type;
} tutti_elements;

/* The call that is checked: what failed first is kept, and the checks after it do nothing. */
typedef struct tutti_checked {
  const char* what; /* "allreduce" */
  tutti_status status;
} tutti_checked;

/* The array behind a descriptor. `element` overrides what its type says, NULL: it does not. Refuses what is not
 * contiguous, has no known length, or no such elements. */
tutti_elements tutti_fortran_view(tutti_checked* call, const char* name, const CFI_cdesc_t* array,
                                  const int64_t* element);
/* Refuses an array of fewer than `needed` elements; TUTTI_IN_PLACE passes. */
void tutti_fortran_expect(tutti_checked* call, const char* name, const tutti_elements* array, int64_t needed);
/* Refuses arrays of different elements; TUTTI_IN_PLACE passes. Returns the type of both. */
tutti_type tutti_fortran_same(tutti_checked* call, const tutti_elements* in, const tutti_elements* out);
/* The largest offset + count of all blocks; offsets NULL: side by side. */
int64_t tutti_fortran_extent(int32_t size, const int64_t* counts, const int64_t* offsets);
int tutti_fortran_is_in_place(const tutti_elements* array);

/* A status of the library's: its message is then the last one. */
tutti_status tutti_fortran_library(tutti_status status);

/* The end of every subroutine: hands the status to ierror. Without one, a failure is printed and ends the program, as
 * Fortran's own statements do without stat=. */
void tutti_fortran_end(tutti_status status, int* ierror);

#endif
