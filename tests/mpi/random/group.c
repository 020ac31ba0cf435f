/* SPDX-License-Identifier: BSD-3-Clause */
#include "group.h"

#include <stdlib.h>

enum { MOST_EDGES = 12 };

static int world_rank(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

static struct group* free_slot(struct group* groups) {
  for (int i = 1; i < MOST_GROUPS; ++i) {
    if (!groups[i].live) return &groups[i];
  }
  abort();
}

int group_free_slots(const struct group* groups) {
  int count = 0;
  for (int i = 1; i < MOST_GROUPS; ++i) count += !groups[i].live;
  return count;
}

/* Asks MPI for this rank's neighbours, in the order in which their blocks lie. */
static void ask_neighbors(struct group* group) {
  int topology;
  MPI_Topo_test(group->handle, &topology);
  group->sources_count = group->destinations_count = 0;
  if (topology == MPI_CART) {
    int dimensions;
    MPI_Cartdim_get(group->handle, &dimensions);
    for (int d = 0; d < dimensions; ++d) {
      MPI_Cart_shift(group->handle, d, 1, &group->sources[2 * d], &group->sources[2 * d + 1]);
    }
    group->sources_count = group->destinations_count = 2 * dimensions;
  } else if (topology == MPI_GRAPH) {
    MPI_Graph_neighbors_count(group->handle, group->rank, &group->sources_count);
    MPI_Graph_neighbors(group->handle, group->rank, group->sources_count, group->sources);
    group->destinations_count = group->sources_count;
  } else if (topology == MPI_DIST_GRAPH) {
    int weighted, ignored[MOST_PEERS];
    MPI_Dist_graph_neighbors_count(group->handle, &group->sources_count, &group->destinations_count, &weighted);
    MPI_Dist_graph_neighbors(group->handle, group->sources_count, group->sources, weighted ? ignored : MPI_UNWEIGHTED,
                             group->destinations_count, group->destinations, weighted ? ignored : MPI_UNWEIGHTED);
    return;
  }
  memcpy(group->destinations, group->sources, sizeof group->sources);
}

/* Fills a slot with those members of the parent that `chosen` names, in that order. */
static struct group* take(struct group* groups, const struct group* parent, int count, const int* chosen,
                          MPI_Comm handle, int has_neighbors) {
  if (count == 0) return NULL;
  struct group* made = free_slot(groups);
  memset(made, 0, sizeof *made);
  made->live = 1;
  made->size = count;
  made->rank = -1;
  made->has_neighbors = has_neighbors;
  made->handle = MPI_COMM_NULL;
  for (int i = 0; i < count; ++i) {
    made->members[i] = parent->members[chosen[i]];
    if (made->members[i] == world_rank()) made->rank = i, made->handle = handle;
  }
  if (made->rank >= 0) ask_neighbors(made);
  return made;
}

static void everybody(const struct group* parent, int* chosen) {
  for (int i = 0; i < parent->size; ++i) chosen[i] = i;
}

void groups_begin(struct group* groups) {
  struct group whole = {1, MPI_COMM_WORLD, 0, 0, {0}, 0, 0, 0, {0}, {0}};
  memset(groups, 0, sizeof *groups * MOST_GROUPS);
  MPI_Comm_size(MPI_COMM_WORLD, &whole.size);
  whole.rank = world_rank();
  everybody(&whole, whole.members);
  groups[0] = whole;
}

static const char* make_dup(struct group* groups, const struct group* parent, struct draw* common) {
  int chosen[MOST_PEERS];
  MPI_Comm handle = MPI_COMM_NULL;
  const int idle = draw_chance(common, 40);
  if (parent->rank >= 0 && idle) {
    MPI_Request request;
    MPI_Comm_idup(parent->handle, &handle, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  } else if (parent->rank >= 0) {
    MPI_Comm_dup(parent->handle, &handle);
  }
  everybody(parent, chosen);
  take(groups, parent, parent->size, chosen, handle, parent->has_neighbors);
  return idle ? "idup" : "dup";
}

static const char* make_split(struct group* groups, const struct group* parent, struct draw* common) {
  int color[MOST_PEERS], key[MOST_PEERS];
  MPI_Comm handle = MPI_COMM_NULL;
  const int colors = group_free_slots(groups) > 1 ? 2 : 1;
  for (int i = 0; i < parent->size; ++i) {
    color[i] = draw_between(common, 0, 4) % (colors + 1);
    key[i] = draw_between(common, -2, 2);
  }
  if (parent->rank >= 0) {
    const int mine = color[parent->rank];
    MPI_Comm_split(parent->handle, mine == colors ? MPI_UNDEFINED : mine, key[parent->rank], &handle);
  }
  for (int c = 0; c < colors; ++c) {
    int chosen[MOST_PEERS], count = 0;
    for (int k = -2; k <= 2; ++k) {
      for (int i = 0; i < parent->size; ++i) {
        if (color[i] == c && key[i] == k) chosen[count++] = i;
      }
    }
    take(groups, parent, count, chosen, handle, 0);
  }
  return "split";
}

/* From a group of some members in any order, on all of the parent or on the members only. */
static const char* make_create(struct group* groups, const struct group* parent, struct draw* common) {
  int chosen[MOST_PEERS], count = 0, is_chosen = 0;
  const int only_members = draw_chance(common, 50);
  MPI_Comm handle = MPI_COMM_NULL;
  for (int i = 0; i < parent->size; ++i) {
    if (draw_chance(common, 75)) chosen[count++] = i;
  }
  if (count > 1 && draw_chance(common, 50)) {
    const int kept = chosen[0];
    chosen[0] = chosen[count - 1], chosen[count - 1] = kept;
  }
  for (int i = 0; i < count; ++i) is_chosen |= chosen[i] == parent->rank;
  if (parent->rank >= 0) {
    MPI_Group whole, some;
    MPI_Comm_group(parent->handle, &whole);
    MPI_Group_incl(whole, count, chosen, &some);
    if (!only_members) MPI_Comm_create(parent->handle, some, &handle);
    if (only_members && is_chosen) MPI_Comm_create_group(parent->handle, some, 77, &handle);
    MPI_Group_free(&some);
    MPI_Group_free(&whole);
  }
  take(groups, parent, count, chosen, handle, 0);
  return only_members ? "create_group" : "create";
}

static const char* make_cart(struct group* groups, const struct group* parent, struct draw* common) {
  int chosen[MOST_PEERS];
  MPI_Comm handle = MPI_COMM_NULL;
  const int first = draw_between(common, 1, parent->size);
  const int sizes[2] = {first, draw_chance(common, 50) ? parent->size / first : 1};
  const int periods[2] = {draw_chance(common, 60), draw_chance(common, 60)};
  const int dimensions = draw_chance(common, 60) ? 2 : 1;
  const int count = dimensions == 2 ? sizes[0] * sizes[1] : sizes[0];
  if (parent->rank >= 0) MPI_Cart_create(parent->handle, dimensions, sizes, periods, 0, &handle);
  everybody(parent, chosen);
  take(groups, parent, count, chosen, handle, 1);
  return dimensions == 2 ? "cart of 2" : "cart of 1";
}

static const char* make_graph(struct group* groups, const struct group* parent, struct draw* common) {
  int chosen[MOST_PEERS], edges[MOST_PEERS * MOST_PEERS], index[MOST_PEERS], count = 0;
  int linked[MOST_PEERS][MOST_PEERS] = {{0}};
  MPI_Comm handle = MPI_COMM_NULL;
  for (int i = 0; i < parent->size; ++i) {
    for (int j = i; j < parent->size; ++j) linked[i][j] = linked[j][i] = draw_chance(common, 50);
  }
  for (int i = 0; i < parent->size; ++i) {
    for (int j = 0; j < parent->size; ++j) {
      if (linked[i][j]) edges[count++] = j;
    }
    index[i] = count;
  }
  if (parent->rank >= 0) MPI_Graph_create(parent->handle, parent->size, index, edges, 0, &handle);
  everybody(parent, chosen);
  take(groups, parent, parent->size, chosen, handle, 1);
  return "graph";
}

/* The edges are made of pairs that may occur twice; a rank may be its own neighbour, or have none. */
static const char* make_dist_graph(struct group* groups, const struct group* parent, struct draw* common) {
  int from[MOST_EDGES], to[MOST_EDGES], chosen[MOST_PEERS];
  int sources[MOST_EDGES], targets[MOST_EDGES], sources_count = 0, targets_count = 0, given = 0;
  int givers[MOST_EDGES], ends[MOST_EDGES], ones[MOST_EDGES];
  const int adjacent = draw_chance(common, 60), edges = draw_between(common, 0, MOST_EDGES);
  /* Edges that came from several ranks would be neighbours in the order in which they happened to arrive. */
  const int giver = draw_between(common, 0, parent->size - 1);
  MPI_Comm handle = MPI_COMM_NULL;
  for (int e = 0; e < edges; ++e) {
    from[e] = draw_between(common, 0, parent->size - 1);
    to[e] = draw_between(common, 0, parent->size - 1);
    if (to[e] == parent->rank) sources[sources_count++] = from[e];
    if (from[e] == parent->rank) targets[targets_count++] = to[e];
    if (parent->rank == giver) givers[given] = from[e], ones[given] = 1, ends[given++] = to[e];
  }
  if (parent->rank >= 0 && adjacent) {
    MPI_Dist_graph_create_adjacent(parent->handle, sources_count, sources, MPI_UNWEIGHTED, targets_count, targets,
                                   MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &handle);
  } else if (parent->rank >= 0) {
    MPI_Dist_graph_create(parent->handle, given, givers, ones, ends, MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &handle);
  }
  everybody(parent, chosen);
  take(groups, parent, parent->size, chosen, handle, 1);
  return adjacent ? "dist_graph_adjacent" : "dist_graph";
}

const char* group_make(struct group* groups, int parent, struct draw* common) {
  static const char* (*const makers[])(struct group*, const struct group*, struct draw*) = {
      make_dup, make_split, make_create, make_cart, make_cart, make_graph, make_dist_graph, make_dist_graph};
  const int last = (int)(sizeof makers / sizeof *makers) - 1;
  const struct group from =
      groups[groups[parent].has_neighbors && avoids("groups of groups with neighbours") ? 0 : parent];
  return makers[draw_between(common, 0, last)](groups, &from, common);
}

void group_free(struct group* group) {
  if (group->handle != MPI_COMM_NULL) MPI_Comm_free(&group->handle);
  group->live = 0;
}
