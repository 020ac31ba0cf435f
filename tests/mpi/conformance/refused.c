/* SPDX-License-Identifier: BSD-3-Clause */
/* Calls whose buffers or displacements cannot be right, on all ranks: what each returns, and that the next one works.
 * Every MPI refuses those in `everywhere`; others end some MPI's program, which the others refuse. */
#include <mpi.h>
#include <stdio.h>

enum { MOST = 16 };
static int rank, size, in[MOST], out[MOST], counts[MOST], places[MOST];
static MPI_Datatype types[MOST];
static FILE* file;

static void say(const char* what, int code) {
  int class = 0, sum = 0;
  MPI_Error_class(code, &class);
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
  fprintf(file, "%s: class %d, then %s\n", what, class, sum == size * (size - 1) / 2 ? "right" : "wrong");
}

static void everywhere(void) {
  const MPI_Comm all = MPI_COMM_WORLD;
  say("allreduce into in place", MPI_Allreduce(in, MPI_IN_PLACE, 2, MPI_INT, MPI_SUM, all));
  say("allreduce in one place", MPI_Allreduce(in, in, 2, MPI_INT, MPI_SUM, all));
  say("allgather into in place", MPI_Allgather(in, 1, MPI_INT, MPI_IN_PLACE, 1, MPI_INT, all));
  say("reduce_scatter_block into in place", MPI_Reduce_scatter_block(in, MPI_IN_PLACE, 1, MPI_INT, MPI_SUM, all));
}

static void by_open_mpi(void) {
  const MPI_Comm all = MPI_COMM_WORLD;
  say("bcast in place", MPI_Bcast(MPI_IN_PLACE, 2, MPI_INT, 0, all));
  say("allgatherv without displacements", MPI_Allgatherv(in, 1, MPI_INT, out, counts, NULL, MPI_INT, all));
  say("alltoallv without displacements", MPI_Alltoallv(in, counts, places, MPI_INT, out, counts, NULL, MPI_INT, all));
  say("alltoallw without displacements", MPI_Alltoallw(in, counts, places, types, out, counts, NULL, types, all));
}

static void by_mpich(void) {
  const MPI_Comm all = MPI_COMM_WORLD;
  say("bcast of nothing", MPI_Bcast(NULL, 2, MPI_INT, 0, all));
  say("allreduce of nothing", MPI_Allreduce(NULL, out, 2, MPI_INT, MPI_SUM, all));
  say("allreduce into nothing", MPI_Allreduce(in, NULL, 2, MPI_INT, MPI_SUM, all));
  say("scan in one place", MPI_Scan(in, in, 1, MPI_INT, MPI_SUM, all));
  say("allgather into nothing", MPI_Allgather(in, 1, MPI_INT, NULL, 1, MPI_INT, all));
}

/* What looks like it, and is right. */
static void allowed(void) {
  MPI_Aint address;
  MPI_Datatype absolute;
  const int one = 1, root = rank == 0;
  int data = root ? 5 : 0;
  MPI_Get_address(&data, &address);
  MPI_Type_create_hindexed(1, &one, &address, MPI_INT, &absolute);
  MPI_Type_commit(&absolute);
  say("bottom", MPI_Bcast(MPI_BOTTOM, 1, absolute, 0, MPI_COMM_WORLD));
  fprintf(file, "%d\n", data);
  MPI_Type_free(&absolute);
  say("no data", MPI_Bcast(NULL, 0, MPI_INT, 0, MPI_COMM_WORLD));
  say("reduce", MPI_Reduce(in, root ? out : NULL, 1, MPI_INT, MPI_SUM, 0, MPI_COMM_WORLD));
  say("gather", MPI_Gather(root ? MPI_IN_PLACE : in, 1, MPI_INT, root ? out : NULL, 1, MPI_INT, 0, MPI_COMM_WORLD));
}

int main(int argc, char** argv) {
  char name[32];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  for (int i = 0; i < MOST; ++i) counts[i] = 1, places[i] = i, types[i] = MPI_INT;
  snprintf(name, sizeof name, "refused.%d", rank);
  file = fopen(name, "w");
  everywhere();
#ifdef OPEN_MPI
  by_open_mpi();
#else
  by_mpich();
#endif
  allowed();
  fclose(file);
  MPI_Finalize();
  return 0;
}
