/* SPDX-License-Identifier: BSD-3-Clause */
/* Two worlds of different sizes, one of which has started the other, do collectives together: one of them may have a
 * single rank, for which there is nothing to share. argv[1]: how many ranks are started. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>

static void add_up(const char* who, MPI_Comm comm) {
  int rank, size, sum = 0;
  MPI_Comm_rank(comm, &rank);
  MPI_Comm_size(comm, &size);
  const int mine = rank + 1;
  MPI_Allreduce(&mine, &sum, 1, MPI_INT, MPI_SUM, comm);
  MPI_Barrier(comm);
  printf("%s %d of %d: %s\n", who, rank, size, sum == size * (size + 1) / 2 ? "right" : "wrong");
}

int main(int argc, char** argv) {
  MPI_Comm parent, between, both;
  MPI_Init(&argc, &argv);
  MPI_Comm_get_parent(&parent);
  const int started = parent != MPI_COMM_NULL;
  if (started)
    between = parent;
  else
    MPI_Comm_spawn(argv[0], MPI_ARGV_NULL, atoi(argv[1]), MPI_INFO_NULL, 0, MPI_COMM_WORLD, &between,
                   MPI_ERRCODES_IGNORE);
  MPI_Intercomm_merge(between, started, &both);
  add_up(started ? "child" : "parent", both);
  MPI_Comm_free(&both);
  MPI_Comm_disconnect(&between);
  add_up(started ? "alone" : "start", MPI_COMM_WORLD);
  MPI_Finalize();
  return 0;
}
