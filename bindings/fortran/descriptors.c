/* SPDX-License-Identifier: BSD-3-Clause */
/* Compiled by the user's C compiler, because descriptors are the Fortran compiler's own. */
#include "descriptors.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Fortran's tutti_in_place: known by its address. */
int tutti_fortran_in_place = 0;

static _Thread_local char own_message[512];
static _Thread_local int message_is_own = 0;

void tutti_fortran_refuse(tutti_checked* call, const char* name, const char* text) {
  if (call->status != TUTTI_OK) return;
  call->status = TUTTI_USAGE;
  message_is_own = 1;
  snprintf(own_message, sizeof own_message, "%s: %s %s", call->what, name, text);
}

static const char* message(void) { return message_is_own ? own_message : tutti_last_error(); }

int tutti_fortran_is_in_place(const tutti_elements* array) { return array->data == TUTTI_IN_PLACE; }

/* Several names have one number. What is of no integer type may have a number of any sort. */
static int is_integer(CFI_type_t type) {
  static const CFI_type_t integers[] = {CFI_type_signed_char, CFI_type_short,   CFI_type_int,      CFI_type_long,
                                        CFI_type_long_long,   CFI_type_size_t,  CFI_type_int8_t,   CFI_type_int16_t,
                                        CFI_type_int32_t,     CFI_type_int64_t, CFI_type_intmax_t, CFI_type_intptr_t,
                                        CFI_type_ptrdiff_t};
  size_t i;
  for (i = 0; i < sizeof integers / sizeof integers[0]; ++i)
    if (type == integers[i]) return 1;
  return 0;
}

static tutti_type type_of(const CFI_cdesc_t* array) {
  const size_t bytes = array->elem_len;
  if (is_integer(array->type)) {
    if (bytes == 1) return TUTTI_INT8;
    if (bytes == 2) return TUTTI_INT16;
    if (bytes == 4) return TUTTI_INT32;
    if (bytes == 8) return TUTTI_INT64;
    return tutti_type_opaque(bytes);
  }
  switch (array->type) {
    case CFI_type_float:
    case CFI_type_double:
    case CFI_type_long_double:
      if (bytes == 4) return TUTTI_FLOAT32;
      if (bytes == 8) return TUTTI_FLOAT64;
      break;
    case CFI_type_float_Complex:
    case CFI_type_double_Complex:
      return bytes == 8 ? TUTTI_COMPLEX64 : TUTTI_COMPLEX128;
    case CFI_type_Bool:
      if (bytes == 1) return TUTTI_BOOL;
      break;
    default: /* Characters, addresses, other logicals, structures. */
      break;
  }
  return tutti_type_opaque(bytes);
}

/* CFI_is_contiguous also refuses sections of one element in some dimension, which lie side by side. */
static int has_gaps(const CFI_cdesc_t* array) {
  CFI_index_t apart = (CFI_index_t)array->elem_len;
  int i;
  for (i = 0; i < array->rank; ++i) {
    if (array->dim[i].extent != 1 && array->dim[i].sm != apart) return 1;
    apart *= array->dim[i].extent;
  }
  return 0;
}

tutti_elements tutti_fortran_view(tutti_checked* call, const char* name, const CFI_cdesc_t* array,
                                  const int64_t* element) {
  tutti_elements view = {array->base_addr, 1, 0, NULL};
  int i;
  if (array->base_addr == &tutti_fortran_in_place) {
    view.data = TUTTI_IN_PLACE;
    return view;
  }
  for (i = 0; i < array->rank; ++i) {
    if (array->dim[i].extent < 0)
      tutti_fortran_refuse(
          call, name, "is of assumed size, so nobody knows how long it is; pass a section with bounds, as in a(1:n)");
    else
      view.count *= array->dim[i].extent;
  }
  if (view.count > 1 && has_gaps(array)) view.section = array;
  view.type = type_of(array);
  if (element != NULL) {
    view.type = (tutti_type)*element;
    if (tutti_type_size(view.type) != array->elem_len)
      tutti_fortran_refuse(call, name, "has elements of another size than the type given by element");
  }
  if (view.type == 0) tutti_fortran_refuse(call, name, "has elements without bytes");
  if (view.data == NULL && view.count > 0) tutti_fortran_refuse(call, name, "is not allocated");
  return view;
}

static void wrong_length(tutti_checked* call, const char* name, int64_t count, int64_t needed) {
  char text[96];
  snprintf(text, sizeof text, "has %lld elements and must have %lld", (long long)count, (long long)needed);
  tutti_fortran_refuse(call, name, text);
}

void tutti_fortran_expect(tutti_checked* call, const char* name, const tutti_elements* array, int64_t needed) {
  if (!tutti_fortran_is_in_place(array) && array->count < needed) wrong_length(call, name, array->count, needed);
}

tutti_type tutti_fortran_same(tutti_checked* call, const tutti_elements* in, const tutti_elements* out) {
  if (tutti_fortran_is_in_place(in)) return out->type;
  if (!tutti_fortran_is_in_place(out) && in->type != out->type)
    tutti_fortran_refuse(call, "in", "has elements of another type than out; make them equal");
  return in->type;
}

void* tutti_fortran_memory(const CFI_cdesc_t* array) {
  return array->base_addr == &tutti_fortran_in_place ? TUTTI_IN_PLACE : array->base_addr;
}

void* tutti_fortran_list(tutti_checked* call, const char* name, const CFI_cdesc_t* list, int64_t needed) {
  if (list == NULL) return NULL;
  if (list->dim[0].extent != needed) wrong_length(call, name, list->dim[0].extent, needed);
  return list->base_addr;
}

void tutti_fortran_made(tutti_checked* call, tutti_group group) {
  if (group == NULL)
    tutti_fortran_refuse(call, "the group",
                         "is NULL; pass one from tutti_world, tutti_split, tutti_dup or tutti_subgroup");
}

void tutti_fortran_no_place(tutti_checked* call, const char* name, const void* data) {
  if (data == TUTTI_IN_PLACE)
    tutti_fortran_refuse(call, name,
                         "is tutti_in_place, which can stand for in alone (in scatter and scatterv: for out)");
}

int64_t tutti_fortran_extent(int32_t size, const int64_t* counts, const int64_t* offsets) {
  int64_t end = 0;
  int32_t r;
  for (r = 0; r < size; ++r) {
    if (offsets == NULL)
      end += counts[r] > 0 ? counts[r] : 0;
    else if (counts[r] > 0 && offsets[r] >= 0 && offsets[r] + counts[r] > end)
      end = offsets[r] + counts[r];
  }
  return end;
}

void tutti_fortran_end(tutti_status status, int* ierror) {
  if (status != TUTTI_OK && ierror == NULL) {
    fprintf(stderr, "tutti: %s\n", message());
    exit(EXIT_FAILURE);
  }
  if (ierror != NULL) *ierror = (int)status;
}

void tutti_fortran_finish(tutti_checked* call, int* ierror) {
  tutti_layout_free(&call->in);
  tutti_layout_free(&call->out);
  tutti_fortran_end(call->status, ierror);
}

tutti_status tutti_fortran_library(tutti_status status) {
  if (status != TUTTI_OK) message_is_own = 0;
  return status;
}

static void give_text(const char* text, CFI_cdesc_t* to) {
  const size_t room = to->elem_len, length = strlen(text);
  memset(to->base_addr, ' ', room);
  memcpy(to->base_addr, text, length < room ? length : room);
}

void tutti_fortran_error_message(CFI_cdesc_t* text, int32_t* peer) {
  give_text(message(), text);
  if (peer != NULL) *peer = message_is_own ? -1 : tutti_last_error_peer();
}

void tutti_fortran_name(const tutti_group* group, CFI_cdesc_t* text) { give_text(tutti_name(*group), text); }

void tutti_fortran_version(CFI_cdesc_t* text) { give_text(tutti_version(), text); }

/* Fortran's text without its trailing blanks; free() it. */
static char* text_of(const CFI_cdesc_t* text) {
  size_t length = text->elem_len;
  char* copy;
  while (length > 0 && ((const char*)text->base_addr)[length - 1] == ' ') --length;
  copy = malloc(length + 1);
  if (copy == NULL) return NULL;
  memcpy(copy, text->base_addr, length);
  copy[length] = 0;
  return copy;
}

void tutti_fortran_choose(const tutti_group* group, const CFI_cdesc_t* collective, const CFI_cdesc_t* algorithm,
                          int* ierror) {
  char *kind = text_of(collective), *name = text_of(algorithm);
  tutti_status status = kind == NULL || name == NULL ? TUTTI_SYSTEM : TUTTI_OK;
  if (status == TUTTI_OK) status = tutti_fortran_library(tutti_choose(*group, kind, name));
  free(kind);
  free(name);
  tutti_fortran_end(status, ierror);
}

int32_t tutti_fortran_rank(const tutti_group* group) { return tutti_rank(*group); }
int32_t tutti_fortran_size(const tutti_group* group) { return tutti_size(*group); }

/* Both functions that make a group of a list of ranks. */
typedef tutti_status (*made_of_ranks)(tutti_group, const int32_t*, int32_t, tutti_group*);

static void of_ranks(made_of_ranks make, const tutti_group* group, const CFI_cdesc_t* ranks, tutti_group* part,
                     int* ierror) {
  const tutti_status status = make(*group, ranks->base_addr, (int32_t)ranks->dim[0].extent, part);
  tutti_fortran_end(tutti_fortran_library(status), ierror);
}

void tutti_fortran_subgroup(const tutti_group* group, const CFI_cdesc_t* ranks, tutti_group* part, int* ierror) {
  of_ranks(tutti_subgroup, group, ranks, part, ierror);
}

void tutti_fortran_create(const tutti_group* group, const CFI_cdesc_t* ranks, tutti_group* part, int* ierror) {
  of_ranks(tutti_create, group, ranks, part, ierror);
}

void tutti_fortran_allocate(const tutti_group* group, int64_t bytes, void** memory, int* ierror) {
  tutti_fortran_end(tutti_fortran_library(tutti_allocate(*group, bytes, memory)), ierror);
}

void tutti_fortran_release(void* memory, int* ierror) {
  tutti_fortran_end(tutti_fortran_library(tutti_release(memory)), ierror);
}

void tutti_fortran_wait(tutti_request* request, int* ierror, const int64_t* timeout_ns) {
  tutti_fortran_end(tutti_fortran_library(tutti_wait(request, timeout_ns == NULL ? -1 : *timeout_ns)), ierror);
}

void tutti_fortran_wait_all(const CFI_cdesc_t* requests, int* ierror, const int64_t* timeout_ns) {
  tutti_fortran_end(tutti_fortran_library(tutti_wait_all(requests->base_addr, (size_t)requests->dim[0].extent,
                                                         timeout_ns == NULL ? -1 : *timeout_ns)),
                    ierror);
}

/* Places count from 1; 0 when all requests are empty. */
void tutti_fortran_wait_any(const CFI_cdesc_t* requests, int32_t* place, int* ierror, const int64_t* timeout_ns) {
  const size_t n = (size_t)requests->dim[0].extent;
  size_t index = n;
  const tutti_status status =
      tutti_fortran_library(tutti_wait_any(requests->base_addr, n, &index, timeout_ns == NULL ? -1 : *timeout_ns));
  *place = index < n ? (int32_t)index + 1 : 0;
  tutti_fortran_end(status, ierror);
}

void tutti_fortran_persistent_wait(tutti_persistent* persistent, int* ierror, const int64_t* timeout_ns) {
  tutti_fortran_end(tutti_fortran_library(tutti_persistent_wait(persistent, timeout_ns == NULL ? -1 : *timeout_ns)),
                    ierror);
}

void tutti_fortran_test(tutti_request* request, _Bool* done, int* ierror) {
  int is = 0;
  const tutti_status status = tutti_fortran_library(tutti_test(request, &is));
  *done = is != 0;
  tutti_fortran_end(status, ierror);
}

void tutti_fortran_persistent_test(tutti_persistent* persistent, _Bool* done, int* ierror) {
  int is = 0;
  const tutti_status status = tutti_fortran_library(tutti_persistent_test(persistent, &is));
  *done = is != 0;
  tutti_fortran_end(status, ierror);
}
