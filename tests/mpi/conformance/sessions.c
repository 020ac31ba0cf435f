/* SPDX-License-Identifier: BSD-3-Clause */
/* A program of MPI 4's sessions alone: without MPI_Init, and so without the drop-in, but it has to run. */
#include <mpi.h>
#include <stdio.h>

int main(void) {
  MPI_Session session;
  MPI_Group group;
  MPI_Comm comm;
  char name[32];
  int rank, size, sum = -1;
  MPI_Session_init(MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &session);
  MPI_Group_from_session_pset(session, "mpi://WORLD", &group);
  MPI_Comm_create_from_group(group, "sessions", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &comm);
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  snprintf(name, sizeof name, "sessions.%d", rank);
  FILE* out = fopen(name, "w");
  fprintf(out, "%d of %d: %d\n", rank, size, sum);
  fclose(out);
  MPI_Comm_free(&comm);
  MPI_Group_free(&group);
  MPI_Session_finalize(&session);
  return 0;
}
