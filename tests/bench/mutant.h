/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong collectives for the benchmark: the linker puts MUTANT(name) between it and a layer's functions. What is wrong,
 * and on which rank, is in the environment: MUTANT_OF names a blocking form, or with an i before it a started one. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collectives.h"

static int is(const char* variable, const char* value) {
  const char* found = getenv(variable);
  return found != NULL && strcmp(found, value) == 0;
}

static int is_mine(const char* name) {
  const char* rank = getenv("MUTANT_RANK"); /* or "all" */
  const int chosen = rank != NULL && (strcmp(rank, "all") == 0 || atoi(rank) == layer_rank());
  return chosen && is("MUTANT_OF", name);
}

static void spoil(const char* name, const struct call* call) {
  if (is("MUTANT", "wrong")) call->out[call->count - 1] += 1;
  const enum extent extent = find_collective(name)->output;
  if (is("MUTANT", "beyond")) call->out[call->count * (extent == ALL_BLOCKS ? layer_size() : 1)] = 0;
}

static void mutate(const char* name, void (*real)(const struct call*), const struct call* call) {
  const int mine = is_mine(name);
  if (!(mine && is("MUTANT", "skip"))) real(call);
  if (mine) spoil(name, call);
}

/* The started form is spoilt when it has been waited for. */
static const char* started;
static const struct call* started_call;

static void mutate_start(const char* i_name, void (*real)(const struct call*), const struct call* call) {
  const int mine = is_mine(i_name);
  if (!(mine && is("MUTANT", "skip"))) real(call);
  started = mine ? i_name + 1 : NULL;
  started_call = call;
}

void __real_layer_wait(void);
void __wrap_layer_wait(void);
void __wrap_layer_wait(void) {
  __real_layer_wait();
  if (started != NULL) spoil(started, started_call);
  started = NULL;
}

#define MUTANT(name)                                                                              \
  void __real_layer_##name(const struct call* call);                                              \
  void __wrap_layer_##name(const struct call* call);                                              \
  void __wrap_layer_##name(const struct call* call) { mutate(#name, __real_layer_##name, call); } \
  void __real_layer_i##name(const struct call* call);                                             \
  void __wrap_layer_i##name(const struct call* call);                                             \
  void __wrap_layer_i##name(const struct call* call) { mutate_start("i" #name, __real_layer_i##name, call); }
