/* SPDX-License-Identifier: BSD-3-Clause */
/* Operators: those of MPI that a type may have, and two functions of a user on types with gaps. The values are unsigned
 * and wrap, so that each function is associative, and one of them does not commute. */
#include <stdlib.h>

#include "operation.h"

enum { MOST_TYPES = 128 };

static struct {
  MPI_Datatype type;
  const struct layout* layout;
} registered[MOST_TYPES];
static int registered_count;
static int confusions;

void reduction_register(MPI_Datatype type, const struct layout* layout) {
  if (registered_count == MOST_TYPES) abort();
  registered[registered_count].type = type;
  registered[registered_count++].layout = layout;
}

void reduction_forget(MPI_Datatype type) {
  for (int i = registered_count - 1; i >= 0; --i) {
    if (registered[i].type == type) {
      registered[i] = registered[--registered_count];
      return;
    }
  }
}

int reduction_confusions(void) { return confusions; }

static const struct layout* layout_of(MPI_Datatype type) {
  for (int i = 0; i < registered_count; ++i) {
    if (registered[i].type == type) return registered[i].layout;
  }
  ++confusions; /* MPI has to hand over the type of the call */
  return NULL;
}

static uint32_t* value_at(void* base, const struct layout* layout, int instance, int element) {
  return (uint32_t*)((char*)base + instance * layout->extent + layout->elements[element].offset);
}

static void add_all(void* in, void* inout, int* length, MPI_Datatype* type) {
  const struct layout* layout = layout_of(*type);
  for (int i = 0; layout != NULL && i < *length; ++i) {
    for (int e = 0; e < layout->elements_count; ++e) *value_at(inout, layout, i, e) += *value_at(in, layout, i, e);
  }
}

/* The composition of x -> a x + b. */
static void compose(void* in, void* inout, int* length, MPI_Datatype* type) {
  const struct layout* layout = layout_of(*type);
  for (int i = 0; layout != NULL && i < *length; ++i) {
    for (int e = 0; e + 1 < layout->elements_count; e += 2) {
      const uint32_t first = *value_at(in, layout, i, e), second = *value_at(in, layout, i, e + 1);
      uint32_t* a = value_at(inout, layout, i, e);
      uint32_t* b = value_at(inout, layout, i, e + 1);
      *b = first * *b + second;
      *a = first * *a;
    }
  }
}

static struct reduction user_reduction(struct draw* common) {
  const int commutes = draw_chance(common, 40);
  struct reduction made = {{1, {basic_find("UINT32_T")}},
                           2 * draw_between(common, 1, 3),
                           MPI_OP_NULL,
                           1,
                           commutes ? "user's sum" : "user's composition"};
  MPI_Op_create(commutes ? add_all : compose, commutes, &made.op);
  return made;
}

struct reduction reduction_make(struct draw* common) {
  static const struct {
    const char* name;
    MPI_Op op;
    unsigned kinds;
  } predefined[] = {
      {"MPI_MAX", MPI_MAX, 1U << SIGNED | 1U << UNSIGNED | 1U << FLOATING},
      {"MPI_MIN", MPI_MIN, 1U << SIGNED | 1U << UNSIGNED | 1U << FLOATING},
      {"MPI_SUM", MPI_SUM, 1U << SIGNED | 1U << UNSIGNED | 1U << FLOATING | 1U << COMPLEX},
      {"MPI_PROD", MPI_PROD, 1U << SIGNED | 1U << UNSIGNED | 1U << FLOATING | 1U << COMPLEX},
      {"MPI_LAND", MPI_LAND, 1U << SIGNED | 1U << UNSIGNED | 1U << LOGICAL},
      {"MPI_LOR", MPI_LOR, 1U << SIGNED | 1U << UNSIGNED | 1U << LOGICAL},
      {"MPI_LXOR", MPI_LXOR, 1U << SIGNED | 1U << UNSIGNED | 1U << LOGICAL},
      {"MPI_BAND", MPI_BAND, 1U << SIGNED | 1U << UNSIGNED | 1U << BYTES},
      {"MPI_BOR", MPI_BOR, 1U << SIGNED | 1U << UNSIGNED | 1U << BYTES},
      {"MPI_BXOR", MPI_BXOR, 1U << SIGNED | 1U << UNSIGNED | 1U << BYTES},
      {"MPI_MINLOC", MPI_MINLOC, 1U << PAIR},
      {"MPI_MAXLOC", MPI_MAXLOC, 1U << PAIR},
  };
  if (draw_chance(common, 25)) return user_reduction(common);
  for (;;) {
    const int op = draw_between(common, 0, (int)(sizeof predefined / sizeof *predefined) - 1);
    const int basic = draw_between(common, 0, basics_count - 1);
    const int fits = (predefined[op].kinds & 1U << basics[basic].kind) != 0;
    if (!fits || (basics[basic].kind == BYTES && strcmp(basics[basic].name, "BYTE") != 0)) continue;
    const struct reduction made = {{1, {basic}}, 1, predefined[op].op, 0, predefined[op].name};
    return made;
  }
}
