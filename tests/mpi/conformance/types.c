/* SPDX-License-Identifier: BSD-3-Clause */
/* Datatypes made with counts of 64 bits, which MPI 4's own functions alone take apart, alone and
 * inside each other: what a broadcast with them leaves. */
#include <mpi.h>
#include <stdio.h>

enum { WORDS = 64 };
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

int main(int argc, char** argv) {
  char name[32];
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  snprintf(name, sizeof name, "types.%d", rank);
  out = fopen(name, "w");
  large_counts();
  fclose(out);
  MPI_Finalize();
  return 0;
}
