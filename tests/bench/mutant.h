/* SPDX-License-Identifier: BSD-3-Clause */
/* Wrong collectives for the benchmark: the linker puts MUTANT(name) between it and a layer's function. What is wrong,
 * and on which rank, is in the environment. */
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "collectives.h"

static int is(const char* variable, const char* value) {
  const char* found = getenv(variable);
  return found != NULL && strcmp(found, value) == 0;
}

static void mutate(const char* name, void (*real)(const struct call*), const struct call* call) {
  const char* rank = getenv("MUTANT_RANK"); /* or "all" */
  const int chosen = rank != NULL && (strcmp(rank, "all") == 0 || atoi(rank) == layer_rank());
  const int mine = chosen && is("MUTANT_OF", name);
  if (!(mine && is("MUTANT", "skip"))) real(call);
  if (mine && is("MUTANT", "wrong")) call->out[call->count - 1] += 1;
  const enum extent extent = find_collective(name)->output;
  if (mine && is("MUTANT", "beyond")) call->out[call->count * (extent == ALL_BLOCKS ? layer_size() : 1)] = 0;
}

#define MUTANT(name)                                 \
  void __real_layer_##name(const struct call* call); \
  void __wrap_layer_##name(const struct call* call); \
  void __wrap_layer_##name(const struct call* call) { mutate(#name, __real_layer_##name, call); }
