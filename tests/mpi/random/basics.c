/* SPDX-License-Identifier: BSD-3-Clause */
/* The basic types: what they are called, what they may be reduced with, and values for them. */
#include <complex.h>
#include <stdbool.h>
#include <stdlib.h>
#include <wchar.h>

#include "layout.h"

#define PLAIN(name, type, kind) \
  { #name, MPI_##name, kind, sizeof(type), sizeof(type), 0 }
#define OF_PAIR(name, type, holes)           \
  {                                          \
    #name, MPI_##name, PAIR, sizeof(struct { \
      type value;                            \
      int index;                             \
    }),                                      \
        sizeof(type), holes                  \
  }

enum { LONG_DOUBLE_HOLES = 6 };

const struct basic basics[] = {
    PLAIN(CHAR, char, BYTES),
    PLAIN(BYTE, char, BYTES),
    PLAIN(WCHAR, wchar_t, BYTES),
    PLAIN(C_BOOL, bool, LOGICAL),
    PLAIN(SIGNED_CHAR, signed char, SIGNED),
    PLAIN(SHORT, short, SIGNED),
    PLAIN(INT, int, SIGNED),
    PLAIN(LONG, long, SIGNED),
    PLAIN(LONG_LONG, long long, SIGNED),
    PLAIN(INT8_T, int8_t, SIGNED),
    PLAIN(INT16_T, int16_t, SIGNED),
    PLAIN(INT32_T, int32_t, SIGNED),
    PLAIN(INT64_T, int64_t, SIGNED),
    PLAIN(AINT, MPI_Aint, SIGNED),
    PLAIN(OFFSET, MPI_Offset, SIGNED),
    PLAIN(COUNT, MPI_Count, SIGNED),
    PLAIN(UNSIGNED_CHAR, unsigned char, UNSIGNED),
    PLAIN(UNSIGNED_SHORT, unsigned short, UNSIGNED),
    PLAIN(UNSIGNED, unsigned, UNSIGNED),
    PLAIN(UNSIGNED_LONG, unsigned long, UNSIGNED),
    PLAIN(UNSIGNED_LONG_LONG, unsigned long long, UNSIGNED),
    PLAIN(UINT8_T, uint8_t, UNSIGNED),
    PLAIN(UINT16_T, uint16_t, UNSIGNED),
    PLAIN(UINT32_T, uint32_t, UNSIGNED),
    PLAIN(UINT64_T, uint64_t, UNSIGNED),
    PLAIN(FLOAT, float, FLOATING),
    PLAIN(DOUBLE, double, FLOATING),
    {"LONG_DOUBLE", MPI_LONG_DOUBLE, FLOATING, sizeof(long double), sizeof(long double), LONG_DOUBLE_HOLES},
    PLAIN(C_FLOAT_COMPLEX, float complex, COMPLEX),
    PLAIN(C_DOUBLE_COMPLEX, double complex, COMPLEX),
    {"C_LONG_DOUBLE_COMPLEX", MPI_C_LONG_DOUBLE_COMPLEX, COMPLEX, sizeof(long double complex),
     sizeof(long double complex), LONG_DOUBLE_HOLES},
    OF_PAIR(2INT, int, 0),
    OF_PAIR(SHORT_INT, short, 0),
    OF_PAIR(LONG_INT, long, 0),
    OF_PAIR(FLOAT_INT, float, 0),
    OF_PAIR(DOUBLE_INT, double, 0),
    OF_PAIR(LONG_DOUBLE_INT, long double, LONG_DOUBLE_HOLES),
};
const int basics_count = sizeof basics / sizeof *basics;

int basic_find(const char* name) {
  for (int i = 0; i < basics_count; ++i) {
    if (strcmp(basics[i].name, name) == 0) return i;
  }
  abort();
}

static int pair_index_offset(const struct basic* basic) {
  return basic->value_size < (int)sizeof(int) ? (int)sizeof(int) : basic->value_size;
}

void basic_clear_holes(const struct basic* basic, unsigned char* at) {
  if (basic->value_holes > 0) {
    const int end = basic->kind == COMPLEX ? basic->value_size / 2 : basic->value_size;
    memset(at + end - basic->value_holes, 0, (size_t)basic->value_holes);
    if (basic->kind == COMPLEX) memset(at + 2 * end - basic->value_holes, 0, (size_t)basic->value_holes);
  }
  if (basic->kind == PAIR) {
    const int index = pair_index_offset(basic);
    const int end = index + (int)sizeof(int);
    memset(at + basic->value_size, 0, (size_t)(index - basic->value_size));
    memset(at + end, 0, (size_t)(basic->extent - end));
  }
  if (basic->kind == LOGICAL) *at &= 1;
}

static void store_integer(unsigned char* at, int size, int64_t value) { memcpy(at, &value, (size_t)size); }

static void store_floating(unsigned char* at, int size, int value) {
  const float single = (float)value;
  const double twice = (double)value;
  const long double extended = (long double)value;
  if (size == (int)sizeof single) memcpy(at, &single, sizeof single);
  if (size == (int)sizeof twice) memcpy(at, &twice, sizeof twice);
  if (size == (int)sizeof extended) memcpy(at, &extended, sizeof extended);
}

static int is_floating_pair(const struct basic* basic) {
  return strstr(basic->name, "FLOAT") != NULL || strstr(basic->name, "DOUBLE") != NULL;
}

/* Zero has two signs, and which one a product of complex numbers has depends on the order of the factors. */
static void drop_sign_of_zero(unsigned char* at, int size) {
  unsigned char others = 0;
  const int top = size == (int)sizeof(long double) ? size - LONG_DOUBLE_HOLES - 1 : size - 1;
  for (int i = 0; i < top; ++i) others |= at[i];
  if (others == 0 && at[top] == 0x80) at[top] = 0;
}

void basic_settle(const struct basic* basic, unsigned char* at) {
  const int part = basic->kind == COMPLEX ? basic->value_size / 2 : basic->value_size;
  basic_clear_holes(basic, at);
  if (basic->kind == FLOATING || basic->kind == COMPLEX) drop_sign_of_zero(at, part);
  if (basic->kind == COMPLEX) drop_sign_of_zero(at + part, part);
}

void basic_store(const struct basic* basic, unsigned char* at, uint64_t random) {
  const int small = (int)(random % 7) - 3;
  const int half = basic->value_size / 2;
  switch (basic->kind) {
    case FLOATING:
      store_floating(at, basic->value_size, small);
      break;
    case COMPLEX:
      store_floating(at, half, small);
      store_floating(at + half, half, (int)(random / 7 % 3) - 1);
      break;
    case LOGICAL:
      *at = random % 3 != 0;
      break;
    case PAIR:
      if (is_floating_pair(basic)) store_floating(at, basic->value_size, small);
      if (!is_floating_pair(basic)) store_integer(at, basic->value_size, small);
      store_integer(at + pair_index_offset(basic), (int)sizeof(int), (int64_t)(random / 7 % 5));
      break;
    case SIGNED:
      store_integer(at, basic->value_size, small);
      break;
    default:
      store_integer(at, basic->value_size, random % 5 == 0 ? 0 : (int64_t)(random >> 8));
      break;
  }
  basic_clear_holes(basic, at);
}
