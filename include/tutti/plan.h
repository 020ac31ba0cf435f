/* SPDX-License-Identifier: BSD-3-Clause */
/* Tutti for C: plans of your own. What each rank of a group does for one operation, as data that is checked, drawn,
 * kept and started like a collective (docs/plans.md). Included by tutti.h.
 *
 *     tutti_plan_builder builder;            everybody gets its left neighbour's element
 *     tutti_plan plan;
 *     tutti_plan_begin("shift", rank, size, 1, 1, &builder);
 *     tutti_plan_send(builder, (rank + 1) % size, tutti_plan_in(0, 1), NULL);
 *     tutti_plan_recv(builder, (rank + size - 1) % size, tutti_plan_out(0, 1), NULL);
 *     tutti_plan_commit(&builder, &plan);
 *     tutti_plan_run(group, plan, &mine, &theirs, TUTTI_FLOAT64, TUTTI_NO_OP);
 *
 * What holds for every function: a wrong argument is TUTTI_USAGE with a text that names plan, rank and step, and
 * changes nothing. */
#ifndef TUTTI_PLAN_H
#define TUTTI_PLAN_H

#include "tutti/tutti.h"

#ifdef __cplusplus
extern "C" {
#endif

/* ---- Building. All local. ---- */

/* A plan that is being built, by one thread; and one that is finished, which never changes. */
typedef struct tutti_plan_builder_handle* tutti_plan_builder;
typedef struct tutti_plan_handle* tutti_plan;

/* Elements [offset, offset + count) of one of the plan's buffers: `in` is read, `out` read and written, and scratch,
 * which Tutti brings along, is undefined until a step writes it. */
typedef enum tutti_plan_buffer { TUTTI_PLAN_IN = 0, TUTTI_PLAN_OUT = 1, TUTTI_PLAN_SCRATCH = 2 } tutti_plan_buffer;
typedef struct tutti_slice {
  int32_t buffer;
  int64_t offset, count;
} tutti_slice;
static inline tutti_slice tutti_plan_in(int64_t offset, int64_t count) {
  tutti_slice slice = {TUTTI_PLAN_IN, 0, 0};
  slice.offset = offset;
  slice.count = count;
  return slice;
}
static inline tutti_slice tutti_plan_out(int64_t offset, int64_t count) {
  tutti_slice slice = {TUTTI_PLAN_OUT, 0, 0};
  slice.offset = offset;
  slice.count = count;
  return slice;
}

/* Where the incoming operand of a reduction stands: left of what is there (it is of lower ranks), or right of it. */
typedef int32_t tutti_side;
enum { TUTTI_LEFT = 0, TUTTI_RIGHT = 1 };
/* No operation: of plans that combine nothing. */
static const tutti_op TUTTI_NO_OP = {0, 1, NULL, NULL};

/* A step's number in its plan: 0, 1, 2 ... Wherever a step is given back, NULL may stand instead of its place. */
typedef int64_t tutti_step;

/* Begins the plan of one rank. name: 1 to 16 letters, digits, '_', '.' and '-'; ranks that start plans of different
 * names together get TUTTI_MISMATCH. in, out: elements of its buffers, each rank's own. */
TUTTI_C_API tutti_status tutti_plan_begin(const char* name, int32_t rank, int32_t size, int64_t in, int64_t out,
                                          tutti_plan_builder* builder);
/* `count` fresh elements of scratch. */
TUTTI_C_API tutti_status tutti_plan_scratch(tutti_plan_builder builder, int64_t count, tutti_slice* slice);
/* These add a step. Steps without an edge between them run at the same time. Messages from one rank to another match in
 * the order in which both ends add them. recv_reduce and reduce combine into target by the operation of the start. */
TUTTI_C_API tutti_status tutti_plan_send(tutti_plan_builder builder, int32_t to, tutti_slice source, tutti_step* step);
TUTTI_C_API tutti_status tutti_plan_recv(tutti_plan_builder builder, int32_t from, tutti_slice target,
                                         tutti_step* step);
TUTTI_C_API tutti_status tutti_plan_recv_reduce(tutti_plan_builder builder, int32_t from, tutti_slice target,
                                                tutti_side side, tutti_step* step);
TUTTI_C_API tutti_status tutti_plan_reduce(tutti_plan_builder builder, tutti_slice source, tutti_slice target,
                                           tutti_side side, tutti_step* step);
TUTTI_C_API tutti_status tutti_plan_copy(tutti_plan_builder builder, tutti_slice source, tutti_slice target,
                                         tutti_step* step);
/* `step` starts after all of the n steps, which are earlier ones; after_any: after the first, which cancels the others.
 */
TUTTI_C_API tutti_status tutti_plan_after(tutti_plan_builder builder, tutti_step step, const tutti_step* before,
                                          size_t n);
TUTTI_C_API tutti_status tutti_plan_after_any(tutti_plan_builder builder, tutti_step step, const tutti_step* before,
                                              size_t n);
/* Everything added from now on starts after everything added before. */
TUTTI_C_API tutti_status tutti_plan_round(tutti_plan_builder builder);
/* The finished plan; the builder is given back and NULL afterwards. */
TUTTI_C_API tutti_status tutti_plan_commit(tutti_plan_builder* builder, tutti_plan* plan);
/* Gives up a plan that was begun, and sets it to NULL; NULL is allowed. */
TUTTI_C_API tutti_status tutti_plan_builder_free(tutti_plan_builder* builder);
/* Gives a plan back and sets it to NULL; NULL is allowed. What was started by it goes on. */
TUTTI_C_API tutti_status tutti_plan_free(tutti_plan* plan);

/* ---- Looking at plans. Local; plans[r] is rank r's, n is the size of the group. ---- */

/* The plan as text, a step a line; valid as long as the plan; "" for NULL. */
TUTTI_C_API const char* tutti_plan_text(tutti_plan plan);
/* Proves that all ranks' plans fit each other: messages, lengths, no deadlock, no race, nothing undefined read.
 * TUTTI_USAGE: they do not, and tutti_last_error says which rank, which step and why; tutti_last_error_peer: which. */
TUTTI_C_API tutti_status tutti_plan_check(const tutti_plan* plans, size_t n);
/* And that they do what this collective ("allreduce") does, not in place and with an operation that commutes, with that
 * root and `count` elements: a rank's, or, where a rank has blocks for others or from them, of one block. TUTTI_USAGE
 * also for collectives whose ranks have counts of their own, and along edges. */
TUTTI_C_API tutti_status tutti_plan_check_as(const tutti_plan* plans, size_t n, const char* collective, int64_t count,
                                             int32_t root);
/* Writes a picture of them, an SVG, to a file. Errors: as tutti_plan_check; TUTTI_SYSTEM. */
TUTTI_C_API tutti_status tutti_plan_draw(const tutti_plan* plans, size_t n, const char* file);

/* ---- Running. ---- */

/* Builds the plan of one rank. */
typedef tutti_status (*tutti_plan_function)(int32_t rank, int32_t size, void* context, tutti_plan* plan);
/* This rank's plan by `build`, which is called once for each key and kept with the group. The handle is the caller's to
 * give back. What `build` returns as an error is returned, and not kept. Local. */
TUTTI_C_API tutti_status tutti_plan_cached(tutti_group group, const char* key, tutti_plan_function build, void* context,
                                           tutti_plan* plan);
/* in, out: as many elements as the plan was begun with, which do not overlap. Collective: all ranks start plans of one
 * name. Agreed: name, type, op. */
TUTTI_C_API tutti_status tutti_plan_run(tutti_group group, tutti_plan plan, const void* in, void* out, tutti_type type,
                                        tutti_op op);
TUTTI_C_API tutti_status tutti_plan_start(tutti_group group, tutti_plan plan, const void* in, void* out,
                                          tutti_type type, tutti_op op, tutti_request* request);
TUTTI_C_API tutti_status tutti_plan_init(tutti_group group, tutti_plan plan, const void* in, void* out, tutti_type type,
                                         tutti_op op, tutti_persistent* persistent);
/* tutti_plan_check of the plans that the ranks pass, each its own; the same answer on all of them. Collective. */
TUTTI_C_API tutti_status tutti_plan_check_all(tutti_group group, tutti_plan plan);

#ifdef __cplusplus
}
#endif

#endif
