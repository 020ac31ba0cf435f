/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes made with counts of 64 bits, which MPI 4's own functions alone take apart, inside each other and alone; and
 * one that no function takes apart, which is large: what a broadcast with them leaves, and whether it needs much more
 * memory than the data. */
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum { WORDS = 64, SIDE = 2048 };
static int rank;
static FILE* out;

static void broadcast(const char* what, MPI_Datatype type) {
  int words[WORDS];
  for (int i = 0; i < WORDS; ++i) words[i] = rank == 0 ? i : -1;
  MPI_Type_commit(&type);
  MPI_Bcast(words, 1, type, 0, MPI_COMM_WORLD);
  fprintf(out, "%s:", what);
  for (int i = 0; i < WORDS; ++i) fprintf(out, " %d", words[i]);
  fprintf(out, "\n");
  MPI_Type_free(&type);
}

#if MPI_VERSION >= 4
static void large_counts(void) {
  const MPI_Count some[2] = {2, 3}, places[2] = {7, 1}, bytes[2] = {40, 4};
  const MPI_Count whole[2] = {5, 6}, part[2] = {2, 3}, first[2] = {1, 2};
  const MPI_Datatype both[2] = {MPI_INT, MPI_FLOAT};
  MPI_Datatype made[13], nested[2];
  MPI_Type_contiguous_c(3, MPI_INT, &made[0]);
  MPI_Type_vector_c(3, 2, 4, MPI_INT, &made[1]);
  MPI_Type_create_hvector_c(3, 2, 20, MPI_INT, &made[2]);
  MPI_Type_indexed_c(2, some, places, MPI_INT, &made[3]);
  MPI_Type_create_hindexed_c(2, some, bytes, MPI_INT, &made[4]);
  MPI_Type_create_indexed_block_c(2, 3, places, MPI_INT, &made[5]);
  MPI_Type_create_hindexed_block_c(2, 3, bytes, MPI_INT, &made[6]);
  MPI_Type_create_struct_c(2, some, bytes, both, &made[7]);
  MPI_Type_create_subarray_c(2, whole, part, first, MPI_ORDER_C, MPI_INT, &made[8]);
  MPI_Type_create_subarray_c(2, whole, part, first, MPI_ORDER_FORTRAN, MPI_INT, &made[9]);
  MPI_Type_create_resized_c(made[1], 0, 64, &nested[0]);
  MPI_Type_contiguous(2, nested[0], &made[10]);
  MPI_Type_vector(2, 1, 3, MPI_INT, &nested[1]);
  MPI_Type_create_hvector_c(2, 1, 48, nested[1], &made[11]);
  MPI_Type_dup(made[4], &made[12]);
  for (int i = 0; i < 2; ++i) MPI_Type_free(&nested[i]);
  for (int i = 0; i < 13; ++i) {
    char name[16];
    snprintf(name, sizeof name, "large %d", i);
    broadcast(name, made[i]);
  }
}
#else
static void large_counts(void) {
  MPI_Datatype type;
  MPI_Type_vector(3, 2, 4, MPI_INT, &type);
  broadcast("older", type);
}
#endif

static MPI_Datatype half_of_each_row(int side) {
  const int sizes[2] = {side, side}, grid[2] = {1, 2};
  const int distributions[2] = {MPI_DISTRIBUTE_BLOCK, MPI_DISTRIBUTE_BLOCK};
  const int arguments[2] = {MPI_DISTRIBUTE_DFLT_DARG, MPI_DISTRIBUTE_DFLT_DARG};
  MPI_Datatype made;
  MPI_Type_create_darray(2, 1, 2, sizes, distributions, arguments, grid, MPI_ORDER_C, MPI_INT, &made);
  return made;
}

static long most_memory(void) {
  struct rusage used;
  getrusage(RUSAGE_SELF, &used);
  return used.ru_maxrss / 1024;
}

static void much(void) {
  const size_t words = (size_t)SIDE * SIDE;
  int* data = malloc(words * sizeof *data);
  for (size_t i = 0; i < words; ++i) data[i] = rank == 0 ? (int)i : -1;
  MPI_Datatype type = half_of_each_row(SIDE);
  MPI_Type_commit(&type);
  const long before = most_memory();
  MPI_Bcast(data, 1, type, 0, MPI_COMM_WORLD);
  const long more = most_memory() - before;
  size_t wrong = 0;
  for (size_t i = 0; i < words; ++i) wrong += data[i] != (rank == 0 || i % SIDE >= SIDE / 2 ? (int)i : -1);
  fprintf(out, "much: %zu wrong, ", wrong);
  fprintf(out, more < 60 ? "little memory\n" : "%ld MiB\n", more);  // of which 8 are the data's
  MPI_Type_free(&type);
  free(data);
}

int main(int argc, char** argv) {
  char name[32];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(name, sizeof name, "types.%d", rank);
  out = fopen(name, "w");
  large_counts();
  broadcast("row halves", half_of_each_row(8));
  much();
  fclose(out);
  MPI_Finalize();
  return 0;
}
