/* SPDX-License-Identifier: BSD-3-Clause */
/* Two schemes, after NBCBench. In both, a request is started, this rank computes for as long as the blocking call
 * takes, tests the request at equidistant points of that, and waits. time   computes until the clock says so; overhead
 * = the time inside start, test and wait. fixed  computes a fixed amount of work; overhead = the time of everything -
 * the time of the work alone. This one sees what no call shows: a thread that takes the core away, caches that are cold
 * afterwards. Every sample is one start of all ranks together. One round has one sample of everything, so that whatever
 * changes while the point is measured changes all of them. */
#define _GNU_SOURCE
#include "overlap.h"

#include <stdint.h>
#include <stdlib.h>

#include "clock.h"
#include "load.h"

enum { MOST_ROUNDS = 200, LEAST_ROUNDS = 7, CALIBRATIONS = 9, MOST_COLUMNS = 2 + 2 * MOST_VARIANTS };
enum { LATE = -1 }; /* a sample that some rank began late: less than any time */

enum kind { CALL, WORK, BY_TIME, BY_WORK };

struct overlap {
  struct buffers buffers;
  const struct plan* plan;
  const struct tests* tests;
  enum scheme scheme; /* how the next sample is started */
  double latency;     /* of the blocking call, agreed */
  double busy;        /* the share of the machine's cores that it keeps busy; -1 where it is too short to tell */
  uint64_t turns;     /* of work that take as long, agreed */
  int columns;        /* samples of a round: CALL, WORK, then for each number of tests BY_TIME and BY_WORK */
  int rounds, late;
  double *samples, *all; /* this rank's, by column and round; rank 0's of all ranks, by rank */
};

static volatile uint64_t kept;

/* Work that touches no memory. */
static void work(uint64_t turns) {
  uint64_t value = turns;
  for (uint64_t i = 0; i < turns; ++i) value = value * 6364136223846793005u + 1442695040888963407u;
  kept = value;
}

static void run_started(const struct buffers* b) {
  b->collective->start(&b->call);
  while (!layer_test())
    ;
  layer_wait();
}

/* All ranks begin what follows together. Whether this one is in time. */
static int begin_together(const struct overlap* o) {
  if (o->scheme != WINDOW) {
    layer_barrier(&o->buffers.call);
    return 1;
  }
  const double allowed = o->latency / 8 + 1e-6;
  const double at = from_root(now() + 2 * o->latency + 20e-6);
  wait_until(at);
  return now() < at + allowed;
}

static double by_time(const struct overlap* o, int tests) {
  const double begin = now();
  o->buffers.collective->start(&o->buffers.call);
  const double started = now();
  double inside = started - begin;
  for (int i = 1; i <= tests + 1; ++i) {
    const double until = started + o->latency * i / (tests + 1);
    double time = now();
    while (time < until) time = now();
    i <= tests ? (void)layer_test() : layer_wait();
    inside += now() - time;
  }
  return inside;
}

static double by_work(const struct overlap* o, int tests) {
  const uint64_t pieces = (uint64_t)tests + 1;
  const double begin = now();
  o->buffers.collective->start(&o->buffers.call);
  for (uint64_t i = 0; i < pieces; ++i) {
    work(o->turns * (i + 1) / pieces - o->turns * i / pieces);
    i < pieces - 1 ? (void)layer_test() : layer_wait();
  }
  return now() - begin;
}

static double sample(const struct overlap* o, enum kind kind, int tests) {
  const int in_time = begin_together(o);
  double took = 0;
  if (kind == BY_TIME) {
    took = by_time(o, tests);
  } else if (kind == BY_WORK) {
    took = by_work(o, tests);
  } else {
    const double begin = now();
    kind == CALL ? o->buffers.collective->run(&o->buffers.call) : work(o->turns);
    took = now() - begin;
  }
  return in_time ? took : LATE;
}

static double median_of_some(const struct overlap* o, enum kind kind) {
  double times[CALIBRATIONS], all[CALIBRATIONS];
  const int size = o->buffers.place.size;
  double* of_ranks = malloc((size_t)size * sizeof *of_ranks);
  for (int i = 0; i < CALIBRATIONS; ++i) {
    times[i] = sample(o, kind, 0);
    to_root(&times[i], of_ranks, 1);
    all[i] = o->buffers.place.rank == 0 ? largest(of_ranks, size, 1) : 0;
  }
  free(of_ranks);
  return from_root(quantile(all, CALIBRATIONS, 0.5));
}

/* The latency of the blocking call, and the work that takes as long: more and more of it until its time can be
 * measured. */
static void calibrate(struct overlap* o) {
  o->scheme = BARRIER; /* how long a window has to be is not known yet */
  median_of_some(o, CALL);
  const struct load before = load_now();
  o->latency = median_of_some(o, CALL);
  o->busy = busy_since(&before);
  double took = 0;
  for (o->turns = 1000;; o->turns *= 2) {
    took = median_of_some(o, WORK);
    if (took > 20e-6 && took > o->latency / 4) break;
  }
  o->turns = (uint64_t)((double)o->turns * o->latency / took) + 1;
}

static double* samples_of(const struct overlap* o, double* of_rank, int column) {
  return of_rank + (long)column * o->rounds;
}

/* The columns in an order that all ranks draw alike: everything comes behind everything else. */
static void shuffle(int* order, int columns, uint64_t* state) {
  for (int i = 0; i < columns; ++i) order[i] = i;
  for (int i = columns - 1; i > 0; --i) {
    *state = *state * 6364136223846793005u + 1442695040888963407u;
    const int other = (int)((*state >> 33) % (uint64_t)(i + 1)), kept = order[i];
    order[i] = order[other];
    order[other] = kept;
  }
}

static void take_samples(struct overlap* o) {
  uint64_t state = 1;
  int order[MOST_COLUMNS];
  o->scheme = o->plan->scheme;
  for (int round = 0; round < o->rounds; ++round) {
    shuffle(order, o->columns, &state);
    for (int i = 0; i < o->columns; ++i) {
      const int column = order[i];
      const enum kind kind = column < 2 ? (enum kind)column : column % 2 == 0 ? BY_TIME : BY_WORK;
      const int tests = column < 2 ? 0 : o->tests->counts[column / 2 - 1];
      samples_of(o, o->samples, column)[round] = sample(o, kind, tests);
    }
  }
}

/* Rank 0: the slowest rank's of each round, without rounds that some rank began late. Their number. `alone`: of the
 * rank's work, to be taken away; may be NULL. */
static int slowest(struct overlap* o, int column, const double* alone, double* found) {
  const int size = o->buffers.place.size;
  int count = 0;
  for (int round = 0; round < o->rounds; ++round) {
    double most = LATE;
    int in_time = 1;
    for (int rank = 0; rank < size; ++rank) {
      const double took = samples_of(o, o->all + (long)rank * o->columns * o->rounds, column)[round];
      const double counts = took - (alone != NULL ? alone[rank] : 0);
      if (took == LATE) in_time = 0;
      if (rank == 0 || counts > most) most = counts;
    }
    if (in_time)
      found[count++] = most;
    else
      ++o->late;
  }
  return count;
}

static void work_alone(struct overlap* o, double* alone) {
  double found[MOST_ROUNDS];
  for (int rank = 0; rank < o->buffers.place.size; ++rank) {
    const double* samples = samples_of(o, o->all + (long)rank * o->columns * o->rounds, WORK);
    int count = 0;
    for (int round = 0; round < o->rounds; ++round)
      if (samples[round] != LATE) found[count++] = samples[round];
    alone[rank] = quantile(found, count, 0.5);
  }
}

/* The quartiles of one scheme, for each number of tests; null where every sample began late. */
static void write_scheme(struct overlap* o, FILE* file, const char* name, int first, const double* alone) {
  const char* const names[] = {"low", "median", "high"};
  for (int quartile = 0; quartile < 3; ++quartile) {
    fprintf(file, ", \"%s_%s_us\": [", name, names[quartile]);
    for (int i = 0; i < o->tests->variants; ++i) {
      double found[MOST_ROUNDS];
      const int late = o->late, count = slowest(o, first + 2 * i, alone, found);
      if (quartile > 0) o->late = late; /* counted once */
      if (i > 0) fprintf(file, ", ");
      count > 0 ? fprintf(file, "%.5g", quantile(found, count, 0.25 * (quartile + 1)) * 1e6) : fprintf(file, "null");
    }
    fprintf(file, "]");
  }
}

static void write_overlap(struct overlap* o, FILE* file) {
  const struct buffers* b = &o->buffers;
  double found[MOST_ROUNDS];
  double* alone = malloc((size_t)b->place.size * sizeof *alone);
  work_alone(o, alone);
  fprintf(file, "{\"collective\": \"%s\", \"bytes\": %ld, \"copied\": 0, \"calls\": %d", b->collective->name,
          (long)b->call.count * (long)sizeof(double), o->rounds);
  int count = slowest(o, CALL, NULL, found);
  count > 0 ? fprintf(file, ", \"us\": %.5g", quantile(found, count, 0.5) * 1e6) : fprintf(file, ", \"us\": null");
  o->busy >= 0 ? fprintf(file, ", \"busy\": %.3f", o->busy) : fprintf(file, ", \"busy\": null");
  fprintf(file, ", \"work_us\": %.5g, \"tests\": [", largest(alone, b->place.size, 1) * 1e6);
  for (int i = 0; i < o->tests->variants; ++i) fprintf(file, "%s%d", i > 0 ? ", " : "", o->tests->counts[i]);
  fprintf(file, "]");
  write_scheme(o, file, "time", 2, NULL);
  write_scheme(o, file, "fixed", 3, alone);
  fprintf(file, ", \"late\": %d, \"skew_us\": 0}\n", o->late);
  fflush(file);
  free(alone);
}

static int rounds_for(const struct overlap* o) {
  const double each = o->columns * (2.5 * o->latency + 5e-6 + (o->plan->scheme == WINDOW ? 2 * o->latency + 20e-6 : 0));
  const double rounds = from_root(o->plan->seconds / each);
  return rounds < LEAST_ROUNDS ? LEAST_ROUNDS : rounds > MOST_ROUNDS ? MOST_ROUNDS : (int)rounds;
}

void measure_overlap(const struct collective* collective, long bytes, const struct plan* plan,
                     const struct tests* tests, FILE* file) {
  struct overlap o = {.plan = plan, .tests = tests, .columns = 2 + 2 * tests->variants};
  make_buffers(&o.buffers, collective, bytes / (long)sizeof(double), plan->memory);
  verify(&o.buffers);
  o.buffers.run = run_started;
  verify(&o.buffers);
  calibrate(&o);
  o.rounds = rounds_for(&o);
  const size_t each = (size_t)o.columns * (size_t)o.rounds;
  o.samples = malloc(each * sizeof(double));
  o.all = malloc((size_t)o.buffers.place.size * each * sizeof(double));
  if (o.samples == NULL || o.all == NULL) {
    fprintf(stderr, "tutti-versus: no memory\n");
    layer_abort();
  }
  take_samples(&o);
  to_root(o.samples, o.all, (int)each);
  if (o.buffers.place.rank == 0) write_overlap(&o, file);
  free(o.samples);
  free(o.all);
  free_buffers(&o.buffers);
}
