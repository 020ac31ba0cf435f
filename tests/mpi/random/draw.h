/* SPDX-License-Identifier: BSD-3-Clause */
/* Random numbers and hashes. What all ranks have to know is drawn from a stream that all ranks have in common; what a
 * rank decides alone is drawn from a stream of its own. */
#ifndef DRAW_H
#define DRAW_H

#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct draw {
  uint64_t state;
};

static inline uint64_t mix(uint64_t hash, uint64_t value) {
  hash ^= value + 0x9e3779b97f4a7c15ULL + (hash << 6) + (hash >> 2);
  hash = (hash ^ (hash >> 30)) * 0xbf58476d1ce4e5b9ULL;
  hash = (hash ^ (hash >> 27)) * 0x94d049bb133111ebULL;
  return hash ^ (hash >> 31);
}

static inline struct draw draw_from(uint64_t seed, uint64_t step, uint64_t rank) {
  const struct draw stream = {mix(mix(mix(1, seed), step), rank)};
  return stream;
}

static inline uint64_t draw_next(struct draw* stream) {
  stream->state += 0x9e3779b97f4a7c15ULL;
  return mix(stream->state, 7);
}

/* In [first, last]. */
static inline int draw_between(struct draw* stream, int first, int last) {
  return first + (int)(draw_next(stream) % (uint64_t)(last - first + 1));
}

static inline int draw_chance(struct draw* stream, int percent) { return draw_between(stream, 0, 99) < percent; }

static inline uint64_t hash_bytes(const unsigned char* bytes, size_t size) {
  uint64_t hash = size;
  for (; size >= 8; bytes += 8, size -= 8) {
    uint64_t word;
    memcpy(&word, bytes, 8);
    hash = (hash ^ word) * 0x9fb21c651e98df25ULL;
    hash ^= hash >> 32;
  }
  for (size_t i = 0; i < size; ++i) hash = (hash ^ bytes[i]) * 0x100000001b3ULL;
  return mix(hash, 3);
}

/* What an MPI library is known to do wrong is listed in RANDOM_AVOIDS. */
static inline int avoids(const char* what) {
  const char* list = getenv("RANDOM_AVOIDS");
  return list != NULL && strstr(list, what) != NULL;
}

#endif
