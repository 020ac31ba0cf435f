/* SPDX-License-Identifier: BSD-3-Clause */
/* What a call along edges says of a block that has no partner, MPI neither reads nor writes: where it lies, how long it
 * is and what its type is. What one rank says there, no other knows. */
#include <mpi.h>
#include <stdio.h>

#ifdef OPEN_MPI
enum { NULL_IS_REFUSED = 0 };
#else
enum { NULL_IS_REFUSED = 1 }; /* for buffers and types, wherever they are */
#endif
enum { MOST = 8, UNTOUCHED = -1 };
static int rank, size, wrong;
static MPI_Datatype pairs; /* an int and room for another */

/* A rank's neighbours on an open line: below and above. */
static int has(int edge) { return edge == 0 ? rank > 0 : rank + 1 < size; }
static int at(int edge) { return edge == 0 ? rank - 1 : rank + 1; }

/* Blocks of those that are there are packed, and the others' lie where the first does. */
static void packed(MPI_Comm line) {
  int in[4], out[4] = {UNTOUCHED, UNTOUCHED, UNTOUCHED, UNTOUCHED};
  int counts[2] = {1, 1}, places[2] = {0, 0};
  MPI_Aint bytes[2] = {0, 0};
  MPI_Datatype types[2] = {pairs, pairs};
  if (has(0) && has(1)) places[1] = 1, bytes[1] = 2 * sizeof(int);
  for (int edge = 0; edge < 2; ++edge)
    if (has(edge)) in[2 * places[edge]] = 10 * rank + edge;
  for (int which = 0; which < 3; ++which) {
    for (int i = 0; i < 4; ++i) out[i] = UNTOUCHED;
    if (which == 0) MPI_Neighbor_alltoallw(in, counts, bytes, types, out, counts, bytes, types, line);
    if (which == 1) MPI_Neighbor_alltoallv(in, counts, places, pairs, out, counts, places, pairs, line);
    if (which == 2) MPI_Neighbor_allgatherv(&rank, 1, MPI_INT, out, counts, places, pairs, line);
    for (int edge = 0; edge < 2; ++edge)
      if (has(edge)) wrong += out[2 * places[edge]] != (which == 2 ? at(edge) : 10 * at(edge) + 1 - edge);
    wrong += out[1] != UNTOUCHED || out[3] != UNTOUCHED;
    wrong += !(has(0) && has(1)) && out[2] != UNTOUCHED;
  }
}

/* Absolute addresses; where the MPI takes that, none for who is not there. */
static void absolute(MPI_Comm line) {
  int in[2], out[2] = {UNTOUCHED, UNTOUCHED}, counts[2] = {1, 1};
  MPI_Aint from[2] = {0, 0}, to[2] = {0, 0};
  MPI_Datatype types[2] = {MPI_INT, MPI_INT};
  for (int edge = 0; edge < 2; ++edge) {
    in[edge] = 10 * rank + edge;
    if (has(edge) || NULL_IS_REFUSED) MPI_Get_address(&in[edge], &from[edge]), MPI_Get_address(&out[edge], &to[edge]);
  }
  MPI_Neighbor_alltoallw(MPI_BOTTOM, counts, from, types, MPI_BOTTOM, counts, to, types, line);
  for (int edge = 0; edge < 2; ++edge) wrong += out[edge] != (has(edge) ? 10 * at(edge) + 1 - edge : UNTOUCHED);
}

/* Rank 0 hears from all others and tells nobody: neither it nor they have anything on the other side. */
static void one_way(MPI_Comm star) {
  const int sources = rank == 0 ? size - 1 : 0;
  int out[MOST], ones[MOST], places[MOST];
  const MPI_Datatype none = NULL_IS_REFUSED ? MPI_INT : MPI_DATATYPE_NULL;
  const MPI_Datatype sent = rank == 0 ? none : MPI_INT, got = rank == 0 ? MPI_INT : none;
  const int* in = rank == 0 && !NULL_IS_REFUSED ? NULL : &rank;
  for (int i = 0; i < MOST; ++i) ones[i] = 1, places[i] = i;
  for (int which = 0; which < 4; ++which) {
    for (int i = 0; i < MOST; ++i) out[i] = UNTOUCHED;
    if (which == 0) MPI_Neighbor_allgather(in, 1, MPI_INT, out, 1, MPI_INT, star);
    if (which == 1) MPI_Neighbor_allgatherv(in, 1, MPI_INT, out, ones, places, MPI_INT, star);
    if (which == 2) MPI_Neighbor_alltoall(in, 1, MPI_INT, out, 1, MPI_INT, star);
    if (which == 3) MPI_Neighbor_alltoallv(in, ones, places, sent, out, ones, places, got, star);
    for (int i = 0; i < MOST; ++i) wrong += out[i] != (i < sources ? i + 1 : UNTOUCHED);
  }
}

int main(int argc, char** argv) {
  MPI_Comm line, star;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int shape[1] = {size}, round[1] = {0}, root = 0;
  int others[MOST];
  for (int i = 1; i < size; ++i) others[i - 1] = i;
  MPI_Cart_create(MPI_COMM_WORLD, 1, shape, round, 0, &line);
  MPI_Dist_graph_create_adjacent(MPI_COMM_WORLD, rank == 0 ? size - 1 : 0, others, MPI_UNWEIGHTED, rank != 0, &root,
                                 MPI_UNWEIGHTED, MPI_INFO_NULL, 0, &star);
  MPI_Type_create_resized(MPI_INT, 0, 2 * sizeof(int), &pairs);
  MPI_Type_commit(&pairs);
  for (int i = 0; i < 20; ++i) {
    packed(line);
    absolute(line);
    one_way(star);
  }
  MPI_Type_free(&pairs);
  MPI_Comm_free(&star);
  MPI_Comm_free(&line);
  printf("rank %d: %d wrong\n", rank, wrong);
  MPI_Finalize();
  return 0;
}
