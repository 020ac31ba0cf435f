/* SPDX-License-Identifier: BSD-3-Clause */
#define _GNU_SOURCE
#include "measure.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "clock.h"
#include "load.h"

enum { MOST_STAMPS = 400, MOST_BATCHES = 256 };

double now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

double from_root(double value) {
  double shared = value;
  layer_bcast(&(struct call){NULL, &shared, 1, 0, NULL, NULL});
  return shared;
}

void to_root(const double* mine, double* all, int count) {
  layer_gather(&(struct call){mine, all, (layer_count)count, 0, NULL, NULL});
}

double largest(const double* values, int count, int stride) {
  double found = values[0];
  for (int i = 1; i < count; ++i)
    if (values[i * stride] > found) found = values[i * stride];
  return found;
}

static double smallest(const double* values, int count, int stride) {
  double found = values[0];
  for (int i = 1; i < count; ++i)
    if (values[i * stride] < found) found = values[i * stride];
  return found;
}

static int ascending(const void* left, const void* right) {
  const double a = *(const double*)left, b = *(const double*)right;
  return (a > b) - (a < b);
}

double quantile(double* values, int count, double q) {
  if (count == 0) return 0;
  qsort(values, (size_t)count, sizeof *values, ascending);
  return values[(int)(q * (count - 1) + 0.5)];
}

/* What one point collects. `times` and `stamps` have this rank's numbers, the `all_` ones rank 0's of all ranks. */
struct point {
  struct buffers buffers;
  const struct plan* plan;
  double estimate; /* seconds of a call */
  double* rank_times;
  double run_time, calls;
  double batches[MOST_BATCHES];
  int batch_count, late;
  double start[MOST_STAMPS], end[MOST_STAMPS];
  double *all_start, *all_end; /* MOST_STAMPS for each rank */
  double *durations, *skews, *spans;
  int duration_count, call_count;
  double busy; /* the share of the machine's cores, while it was measured */
};

/* Seconds that this rank needs for so many calls, one after the other. */
static double run_calls(struct point* p, long calls) {
  const struct collective* collective = p->buffers.collective;
  const struct call* call = &p->buffers.call;
  layer_barrier(call);
  const double start = now();
  for (long i = 0; i < calls; ++i) collective->run(call);
  return now() - start;
}

/* Warms up, with more and more calls, until the time of a call is known; agreed. */
static double warm_up(struct point* p) {
  const double enough = p->plan->seconds / 10 < 5e-3 ? p->plan->seconds / 10 : 5e-3;
  for (long calls = 1;; calls *= 2) {
    const double took = from_root(run_calls(p, calls));
    if (took >= enough) return took / (double)calls;
  }
}

static long calls_for(const struct point* p, double seconds) {
  const double calls = from_root(seconds / p->estimate);
  return calls < 1 ? 1 : (long)calls;
}

/* Batches without a clock inside, of a millisecond at least; rank 0 decides for all when to stop. */
static void run_batches(struct point* p, double seconds) {
  const int size = p->buffers.place.size, root = p->buffers.place.rank == 0;
  const double batch = seconds / 40 > 1e-3 ? seconds / 40 : 1e-3;
  const long calls = calls_for(p, batch);
  const double begin = now();
  double times[1], more = 1;
  double* all = malloc((size_t)size * sizeof *all);
  while (more > 0) {
    times[0] = run_calls(p, calls);
    to_root(times, all, 1);
    if (root) {
      for (int rank = 0; rank < size; ++rank) p->rank_times[rank] += all[rank];
      const double slowest = largest(all, size, 1);
      p->run_time += slowest;
      p->calls += (double)calls;
      if (p->batch_count < MOST_BATCHES) p->batches[p->batch_count++] = slowest / (double)calls;
      more = now() - begin < seconds ? 1 : 0;
    }
    more = from_root(more);
  }
  free(all);
}

void wait_until(double time) {
  while (now() < time) sched_yield();
}

/* One batch in which every rank notes the start and the end of every call. */
static void stamp(struct point* p, int calls, double window) {
  const struct collective* collective = p->buffers.collective;
  const struct call* call = &p->buffers.call;
  const enum scheme scheme = p->plan->scheme;
  layer_barrier(call);
  const double first = scheme == WINDOW ? from_root(now() + 2 * window) : 0;
  double before = now();
  for (int i = 0; i < calls; ++i) {
    if (scheme == BARRIER) {
      layer_barrier(call);
      before = now();
    } else if (scheme == WINDOW) {
      wait_until(first + i * window);
      before = now();
    }
    p->start[i] = before;
    collective->run(call);
    p->end[i] = before = now();
  }
}

/* Rank 0 looks at the stamps of all ranks. A call that some rank began late is no synchronised call. */
static void look(struct point* p, int calls, double window) {
  const int size = p->buffers.place.size;
  to_root(p->start, p->all_start, MOST_STAMPS);
  to_root(p->end, p->all_end, MOST_STAMPS);
  if (p->buffers.place.rank != 0) return;
  p->duration_count = 0;
  for (int i = 0; i < calls; ++i) {
    const double last = largest(p->all_end + i, size, MOST_STAMPS);
    const double began = smallest(p->all_start + i, size, MOST_STAMPS);
    double slowest = 0;
    for (int rank = 0; rank < size; ++rank) {
      const double took = p->all_end[rank * MOST_STAMPS + i] - p->all_start[rank * MOST_STAMPS + i];
      p->durations[p->duration_count++] = took;
      if (took > slowest) slowest = took;
    }
    p->skews[i] = last - smallest(p->all_end + i, size, MOST_STAMPS);
    if (p->plan->scheme != WINDOW)
      p->spans[p->call_count++] = slowest;
    else if (largest(p->all_start + i, size, MOST_STAMPS) - began < window / 8)
      p->spans[p->call_count++] = last - began;
    else
      ++p->late;
  }
}

static void write_batches(FILE* file, double* batches, int count) {
  fprintf(file, ", \"batches\": %d", count);
  if (count == 0) return;
  fprintf(file, ", \"batch_best_us\": %.6g", quantile(batches, count, 0) * 1e6);
  fprintf(file, ", \"batch_median_us\": %.6g", quantile(batches, count, 0.5) * 1e6);
}

static void write_numbers(FILE* file, const char* name, const double* values, int count, double scale) {
  fprintf(file, ", \"%s\": [", name);
  for (int i = 0; i < count; ++i) fprintf(file, "%s%.4g", i > 0 ? ", " : "", values[i] * scale);
  fprintf(file, "]");
}

/* In microseconds. Without a synchronised call the time of a call is null. */
static void write_point(struct point* p, int stamped, FILE* file) {
  const struct buffers* b = &p->buffers;
  const int size = b->place.size;
  fprintf(file, "{\"collective\": \"%s\", \"bytes\": %ld, \"copied\": %g", b->collective->name,
          (long)b->call.count * (long)sizeof(double), b->collective->copies(size));
  if (p->plan->scheme == LOOP)
    fprintf(file, ", \"us\": %.6g", p->run_time / p->calls * 1e6);
  else if (p->call_count > 0)
    fprintf(file, ", \"us\": %.6g", quantile(p->spans, p->call_count, 0.5) * 1e6);
  else
    fprintf(file, ", \"us\": null");
  fprintf(file, ", \"calls\": %.0f, \"stamped\": %d, \"late\": %d, \"skew_us\": %.4g", p->calls, stamped, p->late,
          quantile(p->skews, stamped, 0.5) * 1e6);
  const int count = p->duration_count;
  fprintf(file, ", \"p50_us\": %.4g, \"p99_us\": %.4g, \"max_us\": %.4g", quantile(p->durations, count, 0.5) * 1e6,
          quantile(p->durations, count, 0.99) * 1e6, quantile(p->durations, count, 1) * 1e6);
  write_batches(file, p->batches, p->batch_count);
  p->busy >= 0 ? fprintf(file, ", \"busy\": %.3f", p->busy) : fprintf(file, ", \"busy\": null");
  write_numbers(file, "ranks_us", p->rank_times, size, p->calls > 0 ? 1e6 / p->calls : 0);
  fprintf(file, "}\n");
  fflush(file);
}

/* In scheme loop most of the time goes to batches without a clock; the stamps say how calls and ranks differ. */
static int measure_calls(struct point* p) {
  const double seconds = p->plan->seconds;
  const enum scheme scheme = p->plan->scheme;
  if (scheme == LOOP) run_batches(p, seconds * 0.85);
  const double window = from_root(scheme == WINDOW ? 4 * p->estimate + 20e-6 : 0);
  const double each = scheme == WINDOW ? window : p->estimate;
  const double share = scheme == LOOP ? 0.15 : 1;
  int calls = (int)from_root(share * seconds / each < MOST_STAMPS ? share * seconds / each : MOST_STAMPS);
  if (calls < 3) calls = 3;
  stamp(p, calls, window);
  look(p, calls, window);
  return calls;
}

void measure(const struct collective* collective, long bytes, const struct plan* plan, FILE* file) {
  struct point* p = calloc(1, sizeof *p);
  make_buffers(&p->buffers, collective, bytes / (long)sizeof(double), plan->memory);
  p->plan = plan;
  const size_t size = (size_t)p->buffers.place.size;
  double* memory = calloc(size * (3 * MOST_STAMPS + 1) + 2 * (size_t)MOST_STAMPS, sizeof *memory);
  if (memory == NULL) {
    fprintf(stderr, "tutti-versus: no memory\n");
    layer_abort();
  }
  p->all_start = memory;
  p->all_end = p->all_start + size * MOST_STAMPS;
  p->durations = p->all_end + size * MOST_STAMPS;
  p->rank_times = p->durations + size * MOST_STAMPS;
  p->skews = p->rank_times + size;
  p->spans = p->skews + MOST_STAMPS;
  verify(&p->buffers);
  p->estimate = warm_up(p);
  const struct load before = load_now();
  const int stamped = measure_calls(p);
  p->busy = busy_since(&before);
  if (p->buffers.place.rank == 0) write_point(p, stamped, file);
  free(memory);
  free_buffers(&p->buffers);
  free(p);
}
