/* SPDX-License-Identifier: BSD-3-Clause */
/* Five reductions, to the third of which rank 1 comes late, and a broadcast; then a smaller reduction by each second
 * rank and one by the others. */
#include <mpi.h>
#include <unistd.h>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  double in[128] = {1}, out[128];
  for (int i = 0; i < 5; ++i) {
    if (i == 2 && rank == 1) usleep(200000);
    MPI_Allreduce(in, out, 128, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
  }
  MPI_Bcast(out, 128, MPI_DOUBLE, 1, MPI_COMM_WORLD);
  MPI_Comm half;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &half);
  MPI_Allreduce(in, out, 64, MPI_DOUBLE, MPI_SUM, half);
  MPI_Comm_free(&half);
  MPI_Finalize();
  return 0;
}
