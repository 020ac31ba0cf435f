/* SPDX-License-Identifier: BSD-3-Clause */
/* One rank calls a collective with a communicator that is gone, whose handle the next one gets. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Comm comm, old;
  int rank, size, wrong = 0, sum = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  old = comm;
  MPI_Comm_free(&comm);
  if (rank == 1) wrong += MPI_Barrier(old) == MPI_SUCCESS;
  MPI_Comm_dup(MPI_COMM_WORLD, &comm);
  wrong += comm != old;
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, comm);
  wrong += sum != size * (size - 1) / 2;
  MPI_Comm_free(&comm);
  printf("rank %d: %d wrong\n", rank, wrong);
  fflush(stdout);
  MPI_Finalize();
  return wrong != 0;
}
