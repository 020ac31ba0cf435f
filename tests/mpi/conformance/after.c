/* SPDX-License-Identifier: BSD-3-Clause */
/* A communicator that was not freed is used when the MPI has ended: an error of the program that the MPI names. */
#include <mpi.h>
#include <stdio.h>

int main(int argc, char** argv) {
  MPI_Comm copy;
  MPI_Init(&argc, &argv);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Barrier(copy);
  MPI_Finalize();
  MPI_Barrier(copy);
  printf("a barrier after the end\n");
  return 0;
}
