/* SPDX-License-Identifier: BSD-3-Clause */
/* Random derived types. Each constructor is applied to a layout and repeats it, so they nest. */
#include "layout.h"

#include <stdlib.h>

enum { MOST_BLOCKS = 16 };

/* Where a constructor puts its blocks: block b is `length[b]` times the inner layout from byte `at[b]` on. */
struct blocks {
  int count;
  int length[MOST_BLOCKS];
  int index[MOST_BLOCKS]; /* in extents of the inner layout */
  MPI_Aint at[MOST_BLOCKS];
};

struct unit unit_make(struct draw* common) {
  struct unit unit = {draw_chance(common, 70) ? 1 : draw_between(common, 2, UNIT_MOST), {0}};
  for (int i = 0; i < unit.parts; ++i) unit.basic[i] = draw_between(common, 0, basics_count - 1);
  return unit;
}

static void measure(struct layout* layout) {
  MPI_Type_get_extent(layout->type, &layout->lower, &layout->extent);
  layout->low = layout->high = layout->elements[0].offset;
  for (int i = 0; i < layout->elements_count; ++i) {
    const struct element* element = &layout->elements[i];
    const MPI_Aint end = element->offset + basics[element->basic].extent;
    if (element->offset < layout->low) layout->low = element->offset;
    if (end > layout->high) layout->high = end;
  }
}

void layout_free_type(struct layout* layout) {
  if (layout->derived && layout->type != MPI_DATATYPE_NULL) MPI_Type_free(&layout->type);
}

void layout_free(struct layout* layout) {
  layout_free_type(layout);
  free(layout->elements);
  layout->elements = NULL;
}

/* One unit: a basic type, or a struct whose parts lie in any order with gaps between them. */
static struct layout single_unit(struct draw* own, const struct unit* unit) {
  struct layout made = {basics[unit->basic[0]].type, 0, 1, unit->parts, NULL, 0, 0, 0, 0};
  made.elements = malloc(sizeof *made.elements * (size_t)unit->parts);
  MPI_Datatype types[UNIT_MOST];
  MPI_Aint places[UNIT_MOST];
  int lengths[UNIT_MOST];
  const int backwards = draw_chance(own, 50);
  for (int i = 0; i < unit->parts; ++i) {
    const int slot = backwards ? unit->parts - 1 - i : i;
    places[i] = unit->parts == 1 ? 0 : 32 * slot + (draw_chance(own, 30) ? 64 * slot : 0);
    types[i] = basics[unit->basic[i]].type;
    lengths[i] = 1;
    const struct element element = {places[i], unit->basic[i]};
    made.elements[i] = element;
  }
  if (unit->parts > 1) {
    MPI_Type_create_struct(unit->parts, lengths, places, types, &made.type);
    made.derived = 1;
  }
  measure(&made);
  return made;
}

/* Cuts `total` into blocks of any length, also none, with gaps between them, and sometimes in another order. */
static struct blocks cut(struct draw* own, int total, int equal) {
  struct blocks blocks = {0};
  int length = equal;
  for (int left = total, place = draw_between(own, -2, 2); left > 0;) {
    const int last = blocks.count == MOST_BLOCKS - 1;
    if (!equal) length = last ? left : draw_between(own, 0, left);
    blocks.length[blocks.count] = length;
    blocks.index[blocks.count++] = place;
    place += length + draw_between(own, 0, 2);
    left -= length;
  }
  if (draw_chance(own, 25) && blocks.count > 1) {
    const int a = draw_between(own, 0, blocks.count - 2);
    const int kept_length = blocks.length[a], kept_index = blocks.index[a];
    blocks.length[a] = blocks.length[a + 1], blocks.index[a] = blocks.index[a + 1];
    blocks.length[a + 1] = kept_length, blocks.index[a + 1] = kept_index;
  }
  return blocks;
}

static int divisor(struct draw* own, int number) {
  int found;
  do {
    found = draw_between(own, 1, number);
  } while (number % found != 0 || number / found > MOST_BLOCKS);
  return found;
}

/* The layout that has the inner one in every place of the blocks; `type` is what MPI made of the same blocks. */
static struct layout repeat(struct layout* inner, const struct blocks* blocks, MPI_Datatype type) {
  int total = 0;
  for (int b = 0; b < blocks->count; ++b) total += blocks->length[b];
  struct layout made = {type, 1, inner->units * total, 0, NULL, 0, 0, 0, 0};
  made.elements = malloc(sizeof *made.elements * (size_t)(inner->elements_count * total));
  for (int b = 0; b < blocks->count; ++b) {
    for (int i = 0; i < blocks->length[b]; ++i) {
      for (int e = 0; e < inner->elements_count; ++e) {
        struct element element = inner->elements[e];
        element.offset += blocks->at[b] + i * inner->extent;
        made.elements[made.elements_count++] = element;
      }
    }
  }
  layout_free(inner);
  measure(&made);
  return made;
}

static void places_in_bytes(struct blocks* blocks, const struct layout* inner) {
  for (int b = 0; b < blocks->count; ++b) blocks->at[b] = blocks->index[b] * inner->extent;
}

static struct layout contiguous(struct draw* own, struct layout inner, int count) {
  (void)own;
  const struct blocks blocks = {1, {count}, {0}, {0}};
  MPI_Datatype type;
  MPI_Type_contiguous(count, inner.type, &type);
  return repeat(&inner, &blocks, type);
}

static struct layout vector(struct draw* own, struct layout inner, int count) {
  struct blocks blocks = {0};
  const int length = divisor(own, count), stride = length + draw_between(own, 0, 3);
  const int in_bytes = draw_chance(own, 50);
  blocks.count = count / length;
  for (int b = 0; b < blocks.count; ++b) blocks.length[b] = length, blocks.index[b] = b * stride;
  places_in_bytes(&blocks, &inner);
  MPI_Datatype type;
  if (in_bytes) MPI_Type_create_hvector(blocks.count, length, stride * inner.extent, inner.type, &type);
  if (!in_bytes) MPI_Type_vector(blocks.count, length, stride, inner.type, &type);
  return repeat(&inner, &blocks, type);
}

static struct layout indexed(struct draw* own, struct layout inner, int count) {
  struct blocks blocks = cut(own, count, 0);
  places_in_bytes(&blocks, &inner);
  MPI_Datatype type;
  if (draw_chance(own, 50)) {
    MPI_Type_create_hindexed(blocks.count, blocks.length, blocks.at, inner.type, &type);
  } else {
    MPI_Type_indexed(blocks.count, blocks.length, blocks.index, inner.type, &type);
  }
  return repeat(&inner, &blocks, type);
}

static struct layout indexed_block(struct draw* own, struct layout inner, int count) {
  struct blocks blocks = cut(own, count, divisor(own, count));
  places_in_bytes(&blocks, &inner);
  MPI_Datatype type;
  if (draw_chance(own, 50)) {
    MPI_Type_create_hindexed_block(blocks.count, blocks.length[0], blocks.at, inner.type, &type);
  } else {
    MPI_Type_create_indexed_block(blocks.count, blocks.length[0], blocks.index, inner.type, &type);
  }
  return repeat(&inner, &blocks, type);
}

static struct layout structure(struct draw* own, struct layout inner, int count) {
  struct blocks blocks = cut(own, count, 0);
  places_in_bytes(&blocks, &inner);
  MPI_Datatype types[MOST_BLOCKS], type;
  for (int b = 0; b < blocks.count; ++b) types[b] = inner.type;
  MPI_Type_create_struct(blocks.count, blocks.length, blocks.at, types, &type);
  return repeat(&inner, &blocks, type);
}

static struct layout subarray(struct draw* own, struct layout inner, int count) {
  const int columns = divisor(own, count), rows = count / columns;
  const int before[2] = {draw_between(own, 0, 2), draw_between(own, 0, 2)};
  const int whole[2] = {rows + before[0] + draw_between(own, 0, 1), columns + before[1] + draw_between(own, 0, 1)};
  const int part[2] = {rows, columns};
  struct blocks blocks = {0};
  blocks.count = rows;
  for (int r = 0; r < rows; ++r) blocks.length[r] = columns, blocks.index[r] = (r + before[0]) * whole[1] + before[1];
  places_in_bytes(&blocks, &inner);
  const int backwards[3][2] = {{whole[1], whole[0]}, {part[1], part[0]}, {before[1], before[0]}};
  MPI_Datatype type;
  if (draw_chance(own, 50)) {
    MPI_Type_create_subarray(2, whole, part, before, MPI_ORDER_C, inner.type, &type);
  } else {
    MPI_Type_create_subarray(2, backwards[0], backwards[1], backwards[2], MPI_ORDER_FORTRAN, inner.type, &type);
  }
  return repeat(&inner, &blocks, type);
}

/* Not a repetition, but a larger extent, with a lower bound before or behind the data. */
static struct layout resized(struct draw* own, struct layout inner, int count) {
  struct layout many = contiguous(own, inner, count);
  const struct blocks blocks = {1, {1}, {0}, {0}};
  const MPI_Aint extent = many.extent + 16 * draw_between(own, 0, 2);
  MPI_Datatype type;
  MPI_Type_create_resized(many.type, 16 * draw_between(own, -2, 2), extent, &type);
  return repeat(&many, &blocks, type);
}

static struct layout duplicate(struct draw* own, struct layout inner, int count) {
  struct layout many = contiguous(own, inner, count);
  const struct blocks blocks = {1, {1}, {0}, {0}};
  MPI_Datatype type;
  MPI_Type_dup(many.type, &type);
  return repeat(&many, &blocks, type);
}

/* A column of a matrix with a row for every unit: the next instance begins one unit later, inside this one. */
static struct layout column(struct layout inner, int count, int instances) {
  struct blocks blocks = {0};
  blocks.count = count;
  for (int b = 0; b < count; ++b) blocks.length[b] = 1, blocks.index[b] = b * instances;
  places_in_bytes(&blocks, &inner);
  const MPI_Aint extent = inner.extent;
  MPI_Datatype vector_type, type;
  MPI_Type_vector(count, 1, instances, inner.type, &vector_type);
  MPI_Type_create_resized(vector_type, 0, extent, &type);
  MPI_Type_free(&vector_type);
  return repeat(&inner, &blocks, type);
}

struct layout layout_plain(const struct unit* unit) {
  struct draw unused = {0};
  return single_unit(&unused, unit);
}

struct layout layout_make(struct draw* own, const struct unit* unit, int units, int instances) {
  static struct layout (*const constructors[])(struct draw*, struct layout, int) = {
      contiguous, vector, indexed, indexed_block, structure, subarray, resized, duplicate};
  const int last = (int)(sizeof constructors / sizeof *constructors) - 1;
  struct layout layout = single_unit(own, unit);
  if (units == 1 && draw_chance(own, 50)) {
    if (layout.derived) MPI_Type_commit(&layout.type);
    return layout;
  }
  if (units <= MOST_BLOCKS && instances > 0 && draw_chance(own, 15)) {
    layout = column(layout, units, instances);
  } else {
    const int inner = divisor(own, units);
    if (inner > 1 || draw_chance(own, 20)) layout = constructors[draw_between(own, 0, last)](own, layout, inner);
    layout = constructors[draw_between(own, 0, last)](own, layout, units / inner);
  }
  MPI_Type_commit(&layout.type);
  return layout;
}
