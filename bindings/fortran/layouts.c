/* SPDX-License-Identifier: BSD-3-Clause */
/* Layouts: those of array sections, which nobody sees, and those that a program makes. */
#include <stdlib.h>

#include "descriptors.h"

/* Puts a layout around another one, which is given back. */
static tutti_status repeat(tutti_layout* layout, int64_t count, int64_t stride_bytes) {
  tutti_layout inner = *layout;
  const tutti_status status = tutti_layout_nested(layout, inner, count, stride_bytes);
  if (status == TUTTI_OK) tutti_layout_free(&inner);
  return status;
}

/* Fortran's first dimension runs fastest, and so it is the innermost one. */
static tutti_layout layout_of(tutti_checked* call, tutti_type type, const CFI_cdesc_t* section) {
  tutti_layout layout = NULL;
  tutti_status status = tutti_layout_strided(&layout, type, 1, 1, 1);
  int i;
  for (i = 0; status == TUTTI_OK && i < section->rank; ++i)
    status = repeat(&layout, section->dim[i].extent, section->dim[i].sm);
  if (status != TUTTI_OK) call->status = tutti_fortran_library(status);
  return layout;
}

tutti_type tutti_fortran_laid_out(tutti_checked* call, tutti_type type, const tutti_elements* in,
                                  const tutti_elements* out) {
  if (call->status == TUTTI_OK && in != NULL && in->section != NULL) call->in = layout_of(call, type, in->section);
  if (call->status == TUTTI_OK && out != NULL && out->section != NULL) call->out = layout_of(call, type, out->section);
  return call->in == NULL && call->out == NULL ? type : tutti_laid_out(call->in, call->out);
}

void tutti_fortran_layout_indexed(tutti_layout* layout, const int64_t* element, const CFI_cdesc_t* counts,
                                  const CFI_cdesc_t* offsets, int* ierror) {
  tutti_checked call = {.what = "layout_indexed"};
  const int64_t n = counts->dim[0].extent;
  const int64_t* from = tutti_fortran_list(&call, "offsets", offsets, n);
  if (call.status == TUTTI_OK)
    call.status = tutti_fortran_library(tutti_layout_indexed(layout, (tutti_type)*element, n, counts->base_addr, from));
  tutti_fortran_finish(&call, ierror);
}

static void reverse(const int64_t* from, int64_t n, int64_t* to) {
  int64_t i;
  for (i = 0; i < n; ++i) to[i] = from[n - 1 - i];
}

/* C's arrays are stored with the last dimension running fastest. */
void tutti_fortran_layout_box(tutti_layout* layout, const int64_t* element, const CFI_cdesc_t* whole,
                              const CFI_cdesc_t* part, const CFI_cdesc_t* first, int* ierror) {
  tutti_checked call = {.what = "layout_box"};
  const int64_t n = whole->dim[0].extent;
  const int64_t* const given[3] = {whole->base_addr, tutti_fortran_list(&call, "part", part, n),
                                   tutti_fortran_list(&call, "first", first, n)};
  int64_t* const turned = malloc((size_t)(3 * n + 1) * sizeof(int64_t));
  int i;
  if (turned == NULL) tutti_fortran_refuse(&call, "whole", "needs more memory than there is");
  if (call.status == TUTTI_OK) {
    for (i = 0; i < 3; ++i) reverse(given[i], n, turned + i * n);
    call.status = tutti_fortran_library(
        tutti_layout_box(layout, (tutti_type)*element, (int32_t)n, turned, turned + n, turned + 2 * n));
  }
  free(turned);
  tutti_fortran_finish(&call, ierror);
}

void tutti_fortran_layout_mixed(tutti_layout* layout, const CFI_cdesc_t* offsets_bytes, const CFI_cdesc_t* parts,
                                int* ierror) {
  tutti_checked call = {.what = "layout_mixed"};
  const int64_t n = offsets_bytes->dim[0].extent;
  const tutti_layout* inner = tutti_fortran_list(&call, "parts", parts, n);
  if (call.status == TUTTI_OK)
    call.status = tutti_fortran_library(tutti_layout_mixed(layout, n, offsets_bytes->base_addr, inner));
  tutti_fortran_finish(&call, ierror);
}

int64_t tutti_fortran_layout_size(const tutti_layout* layout) { return tutti_layout_size(*layout); }
int64_t tutti_fortran_layout_extent(const tutti_layout* layout) { return tutti_layout_extent(*layout); }
