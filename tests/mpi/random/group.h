/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators. All ranks know the members of all of them, also of those that they are not in. */
#ifndef GROUP_H
#define GROUP_H

#include "forms.h"
#include "layout.h"

struct group {
  int live;
  MPI_Comm handle; /* MPI_COMM_NULL where this rank is no member */
  int size;
  int rank;                /* -1 where this rank is no member */
  int members[MOST_PEERS]; /* ranks in the world */
  int has_neighbors;       /* on all members or on none */
  int sources_count, destinations_count;
  int sources[MOST_PEERS], destinations[MOST_PEERS];
};

enum { MOST_GROUPS = 8 };

void groups_begin(struct group* groups);
/* Makes one or two communicators from a parent; returns what was done. */
const char* group_make(struct group* groups, int parent, struct draw* common);
void group_free(struct group* group);
int group_free_slots(const struct group* groups);

#endif
