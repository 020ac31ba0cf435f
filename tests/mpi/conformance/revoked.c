/* SPDX-License-Identifier: BSD-3-Clause */
/* Every rank has revoked a communicator (MPIX_Comm_revoke of ULFM): from then on its blocking
 * collectives say so, whoever served those before. (Open MPI's own I-collectives on it never end.) */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <stdio.h>

static int rank, wrong;

static int class_of(int code) {
  int class;
  MPI_Error_class(code, &class);
  return class;
}

static void expect(int is, int shall, const char* what) {
  if (is == shall) return;
  ++wrong;
  printf("rank %d: %s: class %d, not %d\n", rank, what, is, shall);
}

int main(int argc, char** argv) {
  MPI_Comm revoked;
  int value = 0, sum = 0, size;
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  int (*revoke)(MPI_Comm) = (int (*)(MPI_Comm))dlsym(RTLD_DEFAULT, "MPIX_Comm_revoke");
  if (revoke == NULL) return printf("there is no MPIX_Comm_revoke\n"), 1;
  MPI_Comm_dup(MPI_COMM_WORLD, &revoked);
  MPI_Comm_set_errhandler(revoked, MPI_ERRORS_RETURN);
  for (int call = 0; call < 20; ++call) expect(MPI_Bcast(&value, 1, MPI_INT, 0, revoked), MPI_SUCCESS, "before");
  MPI_Barrier(MPI_COMM_WORLD);
  revoke(revoked);
  /* What the MPI itself says of a message. */
  const int shall = class_of(MPI_Send(&value, 0, MPI_INT, (rank + 1) % size, 0, revoked));
  expect(shall == MPI_SUCCESS, 0, "send");
  for (int call = 0; call < 70; ++call) {
    expect(class_of(MPI_Bcast(&value, 1, MPI_INT, 0, revoked)), shall, "bcast");
    expect(class_of(MPI_Allreduce(&value, &sum, 1, MPI_INT, MPI_SUM, revoked)), shall, "allreduce");
  }
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  expect(sum, size * (size - 1) / 2, "the world's sum");
  MPI_Comm_free(&revoked);
  printf("rank %d: %d wrong\n", rank, wrong);
  MPI_Finalize();
  return wrong != 0;
}
