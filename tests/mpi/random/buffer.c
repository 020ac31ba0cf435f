/* SPDX-License-Identifier: BSD-3-Clause */
#include "buffer.h"

#include <stdlib.h>

enum { GUARD = 64, ALIGNMENT = 32 };

static MPI_Aint round_up(MPI_Aint value) { return (value + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT; }

static void extent_of(const struct part* part, MPI_Aint* low, MPI_Aint* high) {
  *low = part->layout.low;
  *high = part->layout.high + (part->instances - 1) * part->layout.extent;
}

void buffer_make(struct buffer* buffer) {
  MPI_Aint end = 0, start = 0;
  for (int p = 0; p < buffer->parts; ++p) {
    struct part* part = &buffer->part[p];
    MPI_Aint low, high;
    if (part->instances == 0) continue;
    extent_of(part, &low, &high);
    part->offset = p == 0 ? 0 : round_up(end - low) + ALIGNMENT;
    if (part->offset + low < start) start = part->offset + low;
    if (part->offset + high > end) end = part->offset + high;
  }
  const MPI_Aint before = GUARD + round_up(-start);
  buffer->size = (size_t)(before + end + GUARD);
  buffer->memory = aligned_alloc(ALIGNMENT, (size_t)round_up((MPI_Aint)buffer->size));
  buffer->origin = buffer->memory + before;
}

typedef void on_value(const struct basic* basic, unsigned char* at, struct draw* content);

static void store(const struct basic* basic, unsigned char* at, struct draw* content) {
  basic_store(basic, at, draw_next(content));
}

static void clear_holes(const struct basic* basic, unsigned char* at, struct draw* content) {
  (void)content;
  basic_clear_holes(basic, at);
}

static void settle(const struct basic* basic, unsigned char* at, struct draw* content) {
  (void)content;
  basic_settle(basic, at);
}

static void forget(const struct basic* basic, unsigned char* at, struct draw* content) {
  (void)content;
  memset(at, 0, (size_t)basic->extent);
}

static void for_values_of(struct buffer* buffer, const struct part* part, int first, on_value* act,
                          struct draw* content) {
  for (int i = first; i < part->instances; ++i) {
    unsigned char* at = buffer->origin + part->offset + i * part->layout.extent;
    for (int e = 0; e < part->layout.elements_count; ++e) {
      const struct element* element = &part->layout.elements[e];
      act(&basics[element->basic], at + element->offset, content);
    }
  }
}

static void for_each_value(struct buffer* buffer, on_value* act, struct draw* content) {
  for (int p = 0; p < buffer->parts; ++p) for_values_of(buffer, &buffer->part[p], 0, act, content);
}

void buffer_fill(struct buffer* buffer, uint64_t content, int computed) {
  struct draw bytes = {content};
  for (size_t i = 0; i < buffer->size; i += sizeof(uint64_t)) {
    const uint64_t word = draw_next(&bytes);
    const size_t left = buffer->size - i;
    memcpy(buffer->memory + i, &word, left < sizeof word ? left : sizeof word);
  }
  for_each_value(buffer, computed ? store : clear_holes, &bytes);
}

uint64_t buffer_hash(struct buffer* buffer, int computed) {
  if (buffer->memory == NULL) return 0;
  for_each_value(buffer, computed ? settle : clear_holes, NULL);
  for_values_of(buffer, buffer->part, buffer->part[0].instances - buffer->open, forget, NULL);
  return hash_bytes(buffer->memory, buffer->size);
}

void buffer_free_types(struct buffer* buffer) {
  for (int p = 0; p < buffer->parts; ++p) layout_free_type(&buffer->part[p].layout);
  if (buffer->absolute != MPI_DATATYPE_NULL) MPI_Type_free(&buffer->absolute);
}

void buffer_free(struct buffer* buffer) {
  if (buffer->memory == NULL) return;
  buffer_free_types(buffer);
  for (int p = 0; p < buffer->parts; ++p) layout_free(&buffer->part[p].layout);
  free(buffer->memory);
  buffer->memory = NULL;
}

void side_ignore(struct arguments* arguments, void* address) {
  memset(arguments, 0, sizeof *arguments);
  arguments->buffer = address;
  arguments->type = MPI_DATATYPE_NULL;
  for (int i = 0; i < MOST_PEERS; ++i) arguments->types[i] = MPI_DATATYPE_NULL;
}

void side_large(struct arguments* arguments, int blocks) {
  for (int i = 0; i < blocks; ++i) {
    arguments->large_counts[i] = arguments->counts[i];
    arguments->large_places[i] = arguments->places[i];
  }
}

static int units_per_instance(struct draw* own, int granule) {
  int found;
  do {
    found = draw_between(own, 1, granule);
  } while (granule % found != 0);
  return found;
}

/* Every block with a type and a place in bytes of its own. */
static void typed_blocks(struct arguments* arguments, struct buffer* buffer, struct draw* own, const struct unit* unit,
                         int granule, int count, const int* units) {
  buffer->parts = count;
  for (int i = 0; i < count; ++i) {
    const int each = units_per_instance(own, granule);
    struct part* part = &buffer->part[i];
    part->instances = arguments->counts[i] = units[i] / each;
    part->layout = layout_make(own, unit, each, part->instances);
    arguments->types[i] = part->layout.type;
  }
  buffer_make(buffer);
  for (int i = 0; i < count; ++i) arguments->places[i] = (int)buffer->part[i].offset;
  arguments->buffer = buffer->origin;
}

/* Puts blocks one behind the other in a random order, with gaps; returns the instances that they span. */
static int place_blocks(struct arguments* arguments, struct draw* own, int count) {
  int order[MOST_PEERS], span = 0;
  for (int i = 0; i < count; ++i) order[i] = i;
  for (int i = count - 1; i > 0 && draw_chance(own, 60); --i) {
    const int j = draw_between(own, 0, i), kept = order[i];
    order[i] = order[j], order[j] = kept;
  }
  for (int i = 0; i < count; ++i) {
    span += draw_between(own, 0, 1);
    arguments->places[order[i]] = span;
    span += arguments->counts[order[i]];
  }
  return span;
}

/* The same memory with the address inside the type. */
static void make_absolute(struct arguments* arguments, struct buffer* buffer) {
  MPI_Aint address;
  const int one = 1;
  MPI_Get_address(buffer->origin, &address);
  MPI_Type_create_hindexed(1, &one, &address, arguments->type, &buffer->absolute);
  MPI_Type_commit(&buffer->absolute);
  arguments->type = buffer->absolute;
  arguments->buffer = MPI_BOTTOM;
}

void side_make(struct arguments* arguments, struct buffer* buffer, struct draw* own, const struct unit* unit,
               int granule, enum blocks blocks, int count, const int* units) {
  memset(arguments, 0, sizeof *arguments);
  if (blocks == TYPED_BLOCKS) {
    typed_blocks(arguments, buffer, own, unit, granule, count, units);
    side_large(arguments, count);
    return;
  }
  const int each = units_per_instance(own, granule);
  buffer->parts = 1;
  struct part* part = &buffer->part[0];
  arguments->count = count > 0 ? units[0] / each : 0;
  for (int i = 0; i < count; ++i) arguments->counts[i] = units[i] / each;
  part->instances = blocks == UNEQUAL_BLOCKS ? place_blocks(arguments, own, count) : count * arguments->count;
  part->layout = layout_make(own, unit, each, part->instances);
  arguments->type = part->layout.type;
  buffer_make(buffer);
  arguments->buffer = buffer->origin;
  side_large(arguments, count);
  if (draw_chance(own, 10)) make_absolute(arguments, buffer);
}
