/* SPDX-License-Identifier: BSD-3-Clause */
/* What every Fortran subroutine stands on: arrays as Fortran describes them, and how a failure is told. */
#ifndef TUTTI_FORTRAN_DESCRIPTORS_H
#define TUTTI_FORTRAN_DESCRIPTORS_H

#include <ISO_Fortran_binding.h>
#include <stdint.h>

#include "tutti/tutti.h"

/* An array of the user's. */
typedef struct tutti_elements {
  void* data; /* TUTTI_IN_PLACE for tutti_in_place. */
  int64_t count;
  tutti_type type;
  const CFI_cdesc_t* section; /* Says where the elements lie when there are gaps between them; NULL: side by side. */
} tutti_elements;

/* The call that is checked: what failed first is kept, and the checks after it do nothing. */
typedef struct tutti_checked {
  const char* what; /* "allreduce" */
  tutti_status status;
  tutti_layout in, out; /* Of arrays with gaps; tutti_fortran_finish gives them back. */
} tutti_checked;

/* Keeps the first failure: "allreduce: in has no memory". */
void tutti_fortran_refuse(tutti_checked* call, const char* name, const char* text);

/* The array behind a descriptor. `element` overrides what its type says, NULL: it does not. Refuses what has no known
 * length, or no such elements. */
tutti_elements tutti_fortran_view(tutti_checked* call, const char* name, const CFI_cdesc_t* array,
                                  const int64_t* element);
/* Refuses an array of fewer than `needed` elements; TUTTI_IN_PLACE passes. */
void tutti_fortran_expect(tutti_checked* call, const char* name, const tutti_elements* array, int64_t needed);
/* Refuses arrays of different elements; TUTTI_IN_PLACE passes. Returns the type of both. */
tutti_type tutti_fortran_same(tutti_checked* call, const tutti_elements* in, const tutti_elements* out);
/* Refuses a group that there is not, which has no rank and no size. */
void tutti_fortran_made(tutti_checked* call, tutti_group group);
/* Refuses TUTTI_IN_PLACE. */
void tutti_fortran_no_place(tutti_checked* call, const char* name, const void* data);
/* The type to call the library with: where one of the arrays has gaps, it says where the elements lie, by layouts that
 * belong to the call. NULL for an array that there is not. */
tutti_type tutti_fortran_laid_out(tutti_checked* call, tutti_type type, const tutti_elements* in,
                                  const tutti_elements* out);
/* The first byte of any array, for calls whose layouts say the rest; TUTTI_IN_PLACE. */
void* tutti_fortran_memory(const CFI_cdesc_t* array);
/* The numbers (or handles) of a list, which is refused unless there are `needed`; NULL for an optional list that is not
 * there. */
void* tutti_fortran_list(tutti_checked* call, const char* name, const CFI_cdesc_t* list, int64_t needed);
/* The elements of one block along an edge. `out` has one for each source, `in` one for each destination; a rank without
 * either says it by the length of a column. */
int64_t tutti_fortran_block(const CFI_cdesc_t* in, int32_t destinations, const CFI_cdesc_t* out, int32_t sources);
/* How many edges this rank has; 0 and 0, and a failed call, for a group that is no graph. */
void tutti_fortran_edges(tutti_checked* call, tutti_group group, int32_t* sources, int32_t* destinations);
/* The largest offset + count of all blocks; offsets NULL: side by side. */
int64_t tutti_fortran_extent(int32_t size, const int64_t* counts, const int64_t* offsets);
int tutti_fortran_is_in_place(const tutti_elements* array);

/* A status of the library's: its message is then the last one. */
tutti_status tutti_fortran_library(tutti_status status);

/* The end of every subroutine: hands the status to ierror. Without one, a failure is printed and ends the program, as
 * Fortran's own statements do without stat=. */
void tutti_fortran_end(tutti_status status, int* ierror);
/* The same for a call that was checked; what it made for itself is given back. */
void tutti_fortran_finish(tutti_checked* call, int* ierror);

#endif
