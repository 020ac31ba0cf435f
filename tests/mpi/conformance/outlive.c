/* SPDX-License-Identifier: BSD-3-Clause */
/* Communicators of a session outlive the world, and so do the requests of their collectives. */
#include <mpi.h>
#include <stdio.h>

enum { COMMS = 5, ROUNDS = 3 };
static int rank, size, wrong;

/* One that the program starts before MPI_Finalize and completes behind it, and one that it prepares before. */
struct Work {
  MPI_Comm comm;
  int size, in, sum, total;
  MPI_Request pending, persistent;
};

static void begin(struct Work* work) {
  if (work->comm == MPI_COMM_NULL) return;
  MPI_Comm_size(work->comm, &work->size);
  work->in = 1;
  MPI_Allreduce_init(&work->in, &work->total, 1, MPI_INT, MPI_SUM, work->comm, MPI_INFO_NULL, &work->persistent);
  MPI_Start(&work->persistent);
  MPI_Wait(&work->persistent, MPI_STATUS_IGNORE);
  wrong += work->total != work->size;
  work->sum = -1;
  MPI_Iallreduce(&work->in, &work->sum, 1, MPI_INT, MPI_SUM, work->comm, &work->pending);
}

static void end(struct Work* work) {
  if (work->comm == MPI_COMM_NULL) return;
  MPI_Wait(&work->pending, MPI_STATUS_IGNORE);
  wrong += work->sum != work->size;
  for (int round = 0; round < ROUNDS; ++round) {
    work->in = round, work->total = -1;
    MPI_Start(&work->persistent);
    MPI_Wait(&work->persistent, MPI_STATUS_IGNORE);
    wrong += work->total != round * work->size;
  }
  MPI_Request_free(&work->persistent);
  MPI_Comm_free(&work->comm);
}

/* While rank 0 alone has a communicator of a session, one of the world is served alike on all ranks. */
static void on_one(MPI_Group first) {
  MPI_Comm own, copy;
  MPI_Request request;
  int sum = -1;
  if (rank == 0) MPI_Comm_create_from_group(first, "first", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &own);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Iallreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  wrong += sum != size * (size - 1) / 2;
  MPI_Comm_free(&copy);
  if (rank == 0) MPI_Comm_free(&own);
}

/* Rank 1 and those behind it meet: what is merged comes from the session, too. */
static MPI_Comm merged(MPI_Group all) {
  const int zero = 0;
  MPI_Group later, second, others;
  MPI_Comm between, made = MPI_COMM_NULL;
  if (rank == 0 || size < 3) return made;
  MPI_Group_excl(all, 1, &zero, &later);
  MPI_Group_incl(later, 1, &zero, &second);
  MPI_Group_excl(later, 1, &zero, &others);
  MPI_Intercomm_create_from_groups(rank == 1 ? second : others, 0, rank == 1 ? others : second, 0, "later",
                                   MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &between);
  MPI_Intercomm_merge(between, rank != 1, &made);
  MPI_Comm_free(&between);
  MPI_Group_free(&others);
  MPI_Group_free(&second);
  MPI_Group_free(&later);
  return made;
}

int main(int argc, char** argv) {
  const int zero = 0;
  MPI_Session session;
  MPI_Group all, first;
  MPI_Request request;
  struct Work works[COMMS];
  MPI_Init(&argc, &argv);
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &all);
  MPI_Group_rank(all, &rank);
  MPI_Group_size(all, &size);
  MPI_Group_incl(all, 1, &zero, &first);
  on_one(first);
  works[0].comm = merged(all);
  MPI_Comm_create_from_group(all, "all", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &works[1].comm);
  MPI_Group_free(&first);
  MPI_Group_free(&all);
  MPI_Comm_dup(works[1].comm, &works[2].comm);
  MPI_Comm_split(works[2].comm, 0, rank, &works[3].comm);
  MPI_Comm_idup(works[3].comm, &works[4].comm, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Barrier(works[4].comm);
  for (int i = 0; i < COMMS; ++i) begin(&works[i]);
  MPI_Finalize();
  for (int i = 0; i < COMMS; ++i) end(&works[i]);
  MPI_Session_finalize(&session);
  printf("rank %d: %d wrong\n", rank, wrong);
  return 0;
}
