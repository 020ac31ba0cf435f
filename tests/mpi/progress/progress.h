/* SPDX-License-Identifier: BSD-3-Clause */
/* Two ranks and a rule of MPI: who is inside one of its calls moves everything on that is started. */
#ifndef PROGRESS_H
#define PROGRESS_H

#include <mpi.h>

enum { LARGE = 1 << 20, WORDS = 256, TAG = 5 };

/* Rank 0 calls `blocks`, which returns when rank 1 has called `answers`. */
struct blocked {
  const char* name;
  void (*blocks)(void);
  void (*answers)(void);
};

extern const struct blocked blocked_calls[];
extern const int blocked_count;

extern MPI_Comm other; /* a communicator that the pending collective is not on */
extern char folder[4096];

#endif
