/* SPDX-License-Identifier: BSD-3-Clause */
#include "operation.h"

#include <stdio.h>
#include <stdlib.h>

enum { SMALL_BYTES = 600, LARGE_BYTES = 300000 };

/* What all ranks agree on for one exchange. */
struct agreed {
  const struct form* form;
  struct unit unit;
  int granule;
  int root;
  int in_place;
  int most; /* units of one block, in granules */
  uint64_t sizes;
};

/* Units of the block from one rank to another. The two ends compute it independently. */
static int units_between(const struct agreed* agreed, int from, int to, int symmetric) {
  if (agreed->form != NULL && agreed->form->blocks == EQUAL_BLOCKS) return agreed->most * agreed->granule;
  const int first = symmetric && to < from ? to : from, second = symmetric && to < from ? from : to;
  const uint64_t random = mix(mix(agreed->sizes, (uint64_t)(first + 1)), (uint64_t)(second + 1));
  return random % 5 == 0 ? 0 : (int)(random / 5 % (uint64_t)(agreed->most + 1)) * agreed->granule;
}

static int unit_bytes(const struct unit* unit) {
  int bytes = 0;
  for (int i = 0; i < unit->parts; ++i) bytes += basics[unit->basic[i]].extent;
  return bytes;
}

/* Most blocks are small, some are none, a few take more than one message of any library. */
static int draw_most(struct draw* common, int granule_bytes, int blocks) {
  const int choice = draw_between(common, 0, 99);
  if (choice < 8) return 0;
  const int bytes = choice < 80 ? SMALL_BYTES : choice < 92 ? LARGE_BYTES / 8 : LARGE_BYTES;
  const int most = bytes / granule_bytes / (bytes == SMALL_BYTES ? 1 : blocks);
  return draw_between(common, 1, most < 1 ? 1 : most);
}

static struct agreed agree(const struct form* form, const struct group* group, struct draw* common) {
  static const int granules[] = {1, 1, 2, 4, 6, 12};
  struct agreed agreed = {form, unit_make(common), granules[draw_between(common, 0, 5)], 0, 0, 0, 0};
  /* Some libraries gather them by way of a third rank, and lose parts of them. Pairs are structs, too. */
  if (form != NULL && form->pattern == TO_ROOT && avoids("gathers of structs")) {
    agreed.unit.parts = 1;
    if (basics[agreed.unit.basic[0]].kind == PAIR) agreed.unit.basic[0] = basic_find("INT");
  }
  agreed.root = draw_between(common, 0, group->size - 1);
  agreed.in_place = draw_chance(common, 25) && form != NULL && form->in_place;
  agreed.most = draw_most(common, unit_bytes(&agreed.unit) * agreed.granule, group->size);
  agreed.sizes = draw_next(common);
  return agreed;
}

/* The blocks of one side of this rank: how many, and how many units each. */
static int blocks_of(const struct agreed* agreed, const struct group* group, int sending, int* units) {
  const struct form* form = agreed->form;
  const int me = group->rank, symmetric = agreed->in_place;
  const int many = form->neighbors || form->pattern == ALL_TO_ALL ||
                   (sending ? form->pattern == SCATTERED : form->pattern == TO_ROOT || form->pattern == TO_ALL);
  const int by_sender = form->pattern == TO_ROOT || form->pattern == TO_ALL;
  if (!many || (form->neighbors && sending && form->pattern == TO_ALL)) {
    units[0] = by_sender ? units_between(agreed, me, -1, 0) : units_between(agreed, -1, me, 0);
    return 1;
  }
  int count = group->size;
  if (form->neighbors) count = sending ? group->destinations_count : group->sources_count;
  for (int i = 0; i < count; ++i) {
    const int other = !form->neighbors ? i : sending ? group->destinations[i] : group->sources[i];
    if (by_sender) units[i] = units_between(agreed, other, -1, 0);
    if (form->pattern == SCATTERED) units[i] = units_between(agreed, -1, other, 0);
    if (form->pattern == ALL_TO_ALL) {
      units[i] = sending ? units_between(agreed, me, other, symmetric) : units_between(agreed, other, me, symmetric);
    }
  }
  return count;
}

static enum blocks blocks_on_side(const struct form* form, int sending) {
  const int one =
      (sending && (form->pattern == TO_ROOT || form->pattern == TO_ALL)) || (!sending && form->pattern == SCATTERED);
  return one ? EQUAL_BLOCKS : form->blocks;
}

static void prepare_exchange(struct operation* operation, const struct agreed* agreed, const struct group* group,
                             struct draw* own) {
  const struct form* form = agreed->form;
  const int is_root = group->rank == agreed->root;
  int uses[2] = {form->pattern != FROM_ROOT, 1}; /* out, in */
  void* instead[2] = {NULL, NULL};
  if (form->pattern == FROM_ROOT) uses[0] = 1, uses[1] = 0;
  if (form->pattern == SCATTERED) uses[1] = is_root;
  if (form->pattern == TO_ROOT) uses[0] = is_root;
  if (agreed->in_place && form->pattern == SCATTERED && is_root) uses[0] = 0, instead[0] = MPI_IN_PLACE;
  if (agreed->in_place && form->pattern == TO_ROOT && is_root) uses[1] = 0, instead[1] = MPI_IN_PLACE;
  if (agreed->in_place && (form->pattern == TO_ALL || form->pattern == ALL_TO_ALL)) {
    uses[1] = 0, instead[1] = MPI_IN_PLACE;
  }
  for (int sending = 0; sending < 2; ++sending) {
    struct arguments* arguments = sending ? &operation->call.in : &operation->call.out;
    int units[MOST_PEERS] = {0};
    side_ignore(arguments, instead[sending]);
    if (!uses[sending]) continue;
    const int count = blocks_of(agreed, group, sending, units);
    side_make(arguments, sending ? &operation->in : &operation->out, own, &agreed->unit, agreed->granule,
              blocks_on_side(form, sending), count, units);
  }
}

static int has_gaps(const struct layout* layout) {
  return layout->low != 0 || layout->lower != 0 || layout->high != layout->extent ||
         layout->high != layout->elements_count * (int)sizeof(uint32_t);
}

/* A type for a user's operator. Some libraries lose their way with gaps in it, or before it. */
static struct layout reduced_layout(struct draw layouts, const struct reduction* reduction) {
  if (!reduction->owned) return layout_plain(&reduction->unit);
  for (;;) {
    struct layout layout = layout_make(&layouts, &reduction->unit, reduction->units, 0);
    if (!avoids("reductions of types with gaps") || !has_gaps(&layout)) return layout;
    layout_free(&layout);
  }
}

/* One buffer of a reduction: the instances of a layout that is the same on all ranks; MPI's own operators take basic
 * types only. */
static void reduced_side(struct arguments* arguments, struct buffer* buffer, struct draw layouts,
                         const struct reduction* reduction, int instances) {
  memset(arguments, 0, sizeof *arguments);
  buffer->parts = 1;
  buffer->part[0].instances = instances;
  buffer->part[0].layout = reduced_layout(layouts, reduction);
  arguments->type = buffer->part[0].layout.type;
  buffer_make(buffer);
  arguments->buffer = buffer->origin;
}

static const char* prepare_reduction(struct operation* operation, const struct agreed* agreed,
                                     const struct group* group, struct draw* common) {
  const struct form* form = agreed->form;
  const struct reduction reduction = reduction_make(common);
  const struct draw layouts = {draw_next(common)};
  const int in_parts = form->result == PARTS || form->result == EQUAL_PARTS;
  int counts[MOST_PEERS], total = 0;
  if (group->rank < 0) {
    operation->own_op = reduction.owned ? reduction.op : MPI_OP_NULL;
    return reduction.name;
  }
  for (int i = 0; i < group->size; ++i) {
    counts[i] = units_between(agreed, -1, i, 0);
    total += counts[i];
  }
  const int has_result = form->result != AT_ROOT || group->rank == agreed->root;
  const int in_place = agreed->in_place && has_result;
  const int whole = in_parts ? total : counts[0], mine = in_parts && !in_place ? counts[group->rank] : whole;
  struct call* call = &operation->call;
  side_ignore(&call->in, in_place ? MPI_IN_PLACE : NULL);
  side_ignore(&call->out, NULL);
  if (!in_place) reduced_side(&call->in, &operation->in, layouts, &reduction, whole);
  if (has_result) reduced_side(&call->out, &operation->out, layouts, &reduction, mine);
  /* Behind the result the operands stand, or what came of them on the way: MPI leaves that open. */
  if (in_parts && in_place) operation->out.open = total - counts[group->rank];
  if (!has_result) call->out.type = call->in.type;
  /* Both sides of a call have one type: that of the result, where there is one. */
  call->out.count = form->result == EQUAL_PARTS ? counts[group->rank] : whole;
  memcpy(call->out.counts, counts, sizeof counts);
  side_large(&call->out, group->size);
  call->op = reduction.op;
  operation->own_op = reduction.owned ? reduction.op : MPI_OP_NULL;
  operation->computed = 1;
  operation->hides_result = form->result == NOT_AT_FIRST && group->rank == 0;
  if (reduction.owned) {
    struct buffer* typed = has_result ? &operation->out : &operation->in;
    reduction_register(call->out.type, &typed->part[0].layout);
  }
  return reduction.name;
}

static struct operation* operation_new(int number, const struct group* group, enum mode mode) {
  struct operation* made = calloc(1, sizeof *made);
  made->number = number;
  made->mode = mode == PERSISTENT && !HAS_PERSISTENT ? NONBLOCKING : mode;
  made->group = made->call.group = group->handle;
  made->group_size = group->size;
  made->rank = group->rank;
  made->own_op = MPI_OP_NULL;
  made->call.request = MPI_REQUEST_NULL;
  made->in.absolute = made->out.absolute = MPI_DATATYPE_NULL;
  made->peer = -1;
  return made;
}

struct operation* operation_make_collective(int number, const struct group* group, enum mode mode, struct draw* common,
                                            struct draw* own, char* text, size_t room) {
  static const char* const modes[] = {"blocking", "nonblocking", "persistent"};
  struct operation* made = operation_new(number, group, mode);
  const struct form* form;
  do {
    form = &forms[draw_between(common, 0, forms_count - 1)];
  } while (form->neighbors && (!group->has_neighbors || avoids("collectives along edges")));
  const struct agreed agreed = agree(form, group, common);
  const char* op = "";
  made->form = form;
  made->call.root = agreed.root;
  made->large = draw_chance(own, 40);
  if (form->pattern == REDUCED) {
    op = prepare_reduction(made, &agreed, group, common);
  } else if (form->pattern != NOTHING && group->rank >= 0) {
    prepare_exchange(made, &agreed, group, own);
  }
  snprintf(text, room, "%s %s of %d ranks, root %d, up to %d units of %s%s%s%s %s", modes[made->mode], form->name,
           group->size, agreed.root, agreed.most * agreed.granule, basics[agreed.unit.basic[0]].name,
           agreed.unit.parts > 1 ? " and others" : "", agreed.in_place ? ", in place" : "",
           made->large ? ", large form here" : "", op);
  return made;
}

struct operation* operation_make_message(int number, const struct group* group, enum mode mode, struct draw* common,
                                         struct draw* own, char* text, size_t room) {
  struct operation* made = operation_new(number, group, mode);
  struct agreed agreed = agree(NULL, group, common);
  const int from = draw_between(common, 0, group->size - 1);
  const int to = (from + draw_between(common, 1, group->size)) % group->size;
  const int units = agreed.most * agreed.granule;
  /* A rank that sends to itself would need two requests. */
  if (from != to && (group->rank == from || group->rank == to)) {
    made->sends = group->rank == from;
    made->peer = made->sends ? to : from;
    side_make(made->sends ? &made->call.in : &made->call.out, made->sends ? &made->in : &made->out, own, &agreed.unit,
              agreed.granule, EQUAL_BLOCKS, 1, &units);
  }
  snprintf(text, room, "message from %d to %d of %d ranks, %d units of %d bytes", from, to, group->size, units,
           unit_bytes(&agreed.unit));
  return made;
}

uint64_t operation_hash(struct operation* operation) {
  uint64_t hash = mix((uint64_t)operation->number, (uint64_t)operation->starts);
  hash = mix(hash, buffer_hash(&operation->in, operation->computed));
  if (!operation->hides_result) hash = mix(hash, buffer_hash(&operation->out, operation->computed));
  if (operation->form == NULL && operation->peer >= 0 && !operation->sends) {
    int count = 0;
    MPI_Get_count(&operation->status, operation->call.out.type, &count);
    hash = mix(mix(hash, (uint64_t)operation->status.MPI_SOURCE), (uint64_t)operation->status.MPI_TAG);
    hash = mix(hash, (uint64_t)count);
  }
  const int is_kept = operation->mode == PERSISTENT;
  return mix(hash, (uint64_t)(is_kept || operation->call.request == MPI_REQUEST_NULL));
}

void operation_free(struct operation* operation) {
  if (operation->own_op != MPI_OP_NULL) {
    reduction_forget(operation->call.out.type);
    MPI_Op_free(&operation->own_op);
  }
  if (operation->call.request != MPI_REQUEST_NULL) MPI_Request_free(&operation->call.request);
  buffer_free(&operation->in);
  buffer_free(&operation->out);
  free(operation);
}
