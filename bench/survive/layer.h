/* SPDX-License-Identifier: BSD-3-Clause */
/* What the benchmark needs of a library that goes on without the lost: one implementation by tutti.h (layer/tutti.c),
 * one by MPI with the extensions of its fault tolerance working group, "ULFM" (layer/ulfm.c). */
#ifndef SURVIVE_LAYER_H
#define SURVIVE_LAYER_H

#include <stdbool.h>

/* A group of all ranks. It becomes a smaller one in layer_shrink. */
void layer_start(int* argument_count, char*** arguments);
void layer_end(void);
int layer_rank(void);
int layer_size(void);
/* The library's name and version, in one line. */
const char* layer_version(void);

/* The sum over all ranks; false when one is lost. */
bool layer_sum(double mine, double* sum);
/* Whether all say so. */
bool layer_agree(bool flag);
/* From now on the group is that of the survivors; called by all of them when one has met a loss. */
void layer_shrink(void);

#endif
