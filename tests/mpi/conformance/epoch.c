/* SPDX-License-Identifier: BSD-3-Clause */
/* The end of an epoch lies before a barrier, so that the first MPI_Win_test behind it has to say yes. (Bare MPICH 5
 * does not always, so this program knows what is right.) */
#include <mpi.h>
#include <stdio.h>

static int rank, size;

static int epoch_is_wrong(void) {
  MPI_Win window;
  MPI_Group all, others;
  int *memory, zero = 0, value = 7, flag = -1;
  MPI_Comm_group(MPI_COMM_WORLD, &all);
  MPI_Win_allocate(sizeof *memory, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &memory, &window);
  *memory = rank;
  MPI_Barrier(MPI_COMM_WORLD);
  if (rank == 0) {
    MPI_Group_excl(all, 1, &zero, &others);
    MPI_Win_start(others, 0, window);
    for (int to = 1; to < size; ++to) MPI_Put(&value, 1, MPI_INT, to, 0, 1, MPI_INT, window);
    MPI_Win_complete(window);
    MPI_Barrier(MPI_COMM_WORLD);
  } else {
    MPI_Group_incl(all, 1, &zero, &others);
    MPI_Win_post(others, 0, window);
    MPI_Barrier(MPI_COMM_WORLD);
    MPI_Win_test(window, &flag);
    if (flag == 0) MPI_Win_wait(window);
  }
  const int wrong = flag == 0 || *memory != (rank == 0 ? 0 : value);
  MPI_Group_free(&others);
  MPI_Group_free(&all);
  MPI_Win_free(&window);
  return wrong;
}

int main(int argc, char** argv) {
  int wrong = 0;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  for (int round = 0; round < 20; ++round) wrong += epoch_is_wrong();
  printf("rank %d: %d wrong\n", rank, wrong);
  fflush(stdout);
  MPI_Finalize();
  return wrong != 0;
}
