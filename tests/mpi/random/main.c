/* SPDX-License-Identifier: BSD-3-Clause */
/* Plays random programs: random-programs FIRST COUNT FOLDER [trace]. A seed makes a program that all ranks know. Rank r
 * writes FOLDER/r: a line "seed operations hash" for each, or with `trace` what each operation was and what it left in
 * memory. Two runs, with and without a library in between, have to write the same. */
#include <stdio.h>
#include <stdlib.h>

#include "complete.h"

enum { STEPS = 30, MOST_KEPT = 4, MOST_ACTIVE = 12, LATER = 4, COMMON = 1000000 };

struct program {
  uint64_t seed;
  int rank;
  int number; /* of the last operation */
  uint64_t hash;
  FILE* file;
  int trace;
  struct group groups[MOST_GROUPS];
  int started_count;
  struct operation* started[MOST_OPERATIONS];
  int kept_count; /* persistent ones; all ranks have the same here */
  struct operation* kept[MOST_KEPT];
  int later_count; /* complete, and looked at again before their memory goes */
  struct {
    struct operation* operation;
    uint64_t hash;
  } later[LATER];
};

static void note(struct program* program, const char* kind, int number, uint64_t value, const char* text) {
  program->hash += mix(mix(program->seed, (uint64_t)number), value);
  if (program->trace) fprintf(program->file, "%d %s %016llx %s\n", number, kind, (unsigned long long)value, text);
  if (program->trace) fflush(program->file);
}

static void say(struct program* program, const char* text) {
  if (program->trace) fprintf(program->file, "%d is 0 %s\n", program->number, text);
  if (program->trace) fflush(program->file);
}

/* Nothing may have been written since the operation was complete. */
static void look_again(struct program* program) {
  for (int i = 0; i < program->later_count; ++i) {
    struct operation* operation = program->later[i].operation;
    if (operation_hash(operation) != program->later[i].hash)
      note(program, "late", operation->number, 1, "written late");
    operation_free(operation);
  }
  program->later_count = 0;
}

static void finish(struct program* program, struct operation* operation) {
  char text[32];
  snprintf(text, sizeof text, "start %d", operation->starts);
  const uint64_t hash = operation_hash(operation);
  note(program, "left", operation->number, hash, text);
  if (operation->mode == PERSISTENT) return;
  if (program->later_count == LATER) look_again(program);
  program->later[program->later_count].operation = operation;
  program->later[program->later_count++].hash = hash;
}

/* Completes some of what is started, or all of it, and looks at the memory of what is complete. */
static void complete_some(struct program* program, struct draw* own, int percent) {
  struct operation* chosen[MOST_OPERATIONS];
  int count = 0;
  for (int i = 0; i < program->started_count; ++i) {
    if (draw_chance(own, percent)) chosen[count++] = program->started[i];
  }
  complete(chosen, count, own);
  int left = 0;
  for (int i = 0; i < program->started_count; ++i) {
    struct operation* operation = program->started[i];
    if (operation->active)
      program->started[left++] = operation;
    else
      finish(program, operation);
  }
  program->started_count = left;
}

/* Starts the operation and gives it to those who have to see to it afterwards. */
static void launch(struct program* program, struct operation* operation, struct draw* own) {
  operation_start(operation, program->seed, own);
  const int takes_part = operation->rank >= 0 && (operation->form != NULL || operation->peer >= 0);
  if (operation->active)
    program->started[program->started_count++] = operation;
  else if (takes_part)
    finish(program, operation);
  else if (operation->mode != PERSISTENT)
    operation_free(operation);
}

static void drop_kept(struct program* program, int index, struct draw* own) {
  if (program->kept[index]->active) complete_some(program, own, 100);
  operation_free(program->kept[index]);
  program->kept[index] = program->kept[--program->kept_count];
}

static int pick_group(struct program* program, struct draw* common) {
  int slot;
  do {
    slot = draw_between(common, 0, MOST_GROUPS - 1);
  } while (!program->groups[slot].live);
  return slot;
}

static void step_operation(struct program* program, struct draw* common, struct draw* own, int message) {
  static const enum mode modes[] = {BLOCKING, BLOCKING, NONBLOCKING, NONBLOCKING, PERSISTENT};
  char text[200];
  const enum mode drawn = modes[draw_between(common, 0, 4)];
  const enum mode mode = drawn == PERSISTENT && !HAS_PERSISTENT ? NONBLOCKING : drawn;
  const int slot = pick_group(program, common);
  const struct group* group = &program->groups[slot];
  if (mode == PERSISTENT && program->kept_count == MOST_KEPT) drop_kept(program, 0, own);
  const int number = ++program->number;
  struct operation* made = message ? operation_make_message(number, group, mode, common, own, text, sizeof text)
                                   : operation_make_collective(number, group, mode, common, own, text, sizeof text);
  made->group_slot = slot;
  say(program, text);
  if (mode == PERSISTENT) program->kept[program->kept_count++] = made;
  launch(program, made, own);
}

static void step_again(struct program* program, struct draw* common, struct draw* own) {
  if (program->kept_count == 0) return;
  struct operation* kept = program->kept[draw_between(common, 0, program->kept_count - 1)];
  if (kept->active) complete_some(program, own, 100);
  if (program->trace) fprintf(program->file, "%d is 0 starts again\n", kept->number);
  launch(program, kept, own);
}

static void step_group(struct program* program, struct draw* common, struct draw* own) {
  const int slot = pick_group(program, common);
  if (slot == 0 || group_free_slots(program->groups) >= 4) {
    if (group_free_slots(program->groups) < 2) return;
    const char* what = group_make(program->groups, slot, common);
    ++program->number;
    say(program, what);
    return;
  }
  for (int i = program->kept_count - 1; i >= 0; --i) {
    if (program->kept[i]->group_slot == slot) drop_kept(program, i, own);
  }
  if (avoids("groups freed early")) complete_some(program, own, 100);
  group_free(&program->groups[slot]);
}

/* Every rank hands a large block to the next one. Its tag is of no other operation: a receive from any source is not
 * to take it. */
static void step_ring(struct program* program, struct draw* common) {
  const struct group* group = &program->groups[pick_group(program, common)];
  const int count = draw_chance(common, 30) ? 40000 : draw_between(common, 0, 100), replace = draw_chance(common, 50);
  const int number = ++program->number;
  say(program, "sendrecv in a ring");
  if (group->rank < 0) return;
  const int to = (group->rank + 1) % group->size, from = (group->rank + group->size - 1) % group->size;
  int* values = malloc(sizeof *values * (size_t)(2 * count + 1));
  MPI_Status status;
  for (int i = 0; i < 2 * count; ++i) values[i] = group->rank * 1000003 + i;
  if (replace)
    MPI_Sendrecv_replace(values, count, MPI_INT, to, number, from, number, group->handle, &status);
  else
    MPI_Sendrecv(values, count, MPI_INT, to, number, values + count, count, MPI_INT, from, number, group->handle,
                 &status);
  note(program, "left", number, hash_bytes((unsigned char*)values, sizeof *values * (size_t)(2 * count)), "");
  free(values);
}

static void play_step(struct program* program, int step) {
  struct draw common = draw_from(program->seed, (uint64_t)step, COMMON);
  struct draw own = draw_from(program->seed, (uint64_t)step, (uint64_t)program->rank);
  const int choice = draw_between(&common, 0, 99);
  if (choice < 50)
    step_operation(program, &common, &own, 0);
  else if (choice < 64)
    step_operation(program, &common, &own, 1);
  else if (choice < 76)
    step_again(program, &common, &own);
  else if (choice < 90)
    step_group(program, &common, &own);
  else if (choice < 94)
    step_ring(program, &common);
  if (program->started_count >= MOST_ACTIVE)
    complete_some(program, &own, 100);
  else if (draw_chance(&own, 25))
    complete_some(program, &own, draw_between(&own, 20, 100));
}

static void play(uint64_t seed, FILE* file, int trace) {
  static struct program program;
  memset(&program, 0, sizeof program);
  program.seed = seed;
  program.file = file;
  program.trace = trace;
  MPI_Comm_rank(MPI_COMM_WORLD, &program.rank);
  groups_begin(program.groups);
  struct draw own = draw_from(seed, STEPS, (uint64_t)program.rank);
  for (int step = 0; step < STEPS; ++step) play_step(&program, step);
  complete_some(&program, &own, 100);
  while (program.kept_count > 0) drop_kept(&program, 0, &own);
  look_again(&program);
  for (int slot = 1; slot < MOST_GROUPS; ++slot) {
    if (program.groups[slot].live) group_free(&program.groups[slot]);
  }
  note(&program, "confusions", 0, (uint64_t)reduction_confusions(), "of a user's operator about its type");
  if (!trace)
    fprintf(file, "%llu %d %016llx\n", (unsigned long long)seed, program.number, (unsigned long long)program.hash);
  fflush(file);
}

int main(int argc, char** argv) {
  int provided;
  if (getenv("RANDOM_THREADS") != NULL)
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  else
    MPI_Init(&argc, &argv);
  if (argc < 4) {
    fputs("usage: random-programs FIRST COUNT FOLDER [trace]\n", stderr);
    return 2;
  }
  int rank;
  char path[4096];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(path, sizeof path, "%s/%d", argv[3], rank);
  FILE* file = fopen(path, "w");
  if (file == NULL) {
    perror(path);
    return 2;
  }
  const uint64_t first = strtoull(argv[1], NULL, 10), count = strtoull(argv[2], NULL, 10);
  for (uint64_t seed = first; seed < first + count; ++seed) play(seed, file, argc > 4);
  fclose(file);
  MPI_Finalize();
  return 0;
}
