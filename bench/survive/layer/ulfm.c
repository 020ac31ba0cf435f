/* SPDX-License-Identifier: BSD-3-Clause */
#include <mpi.h>

/* It needs what mpi.h declares. */
#include <mpi-ext.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../layer.h"

static MPI_Comm group;

static void check(int status) {
  if (status == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING] = "";
  int length = 0;
  MPI_Error_string(status, text, &length);
  fprintf(stderr, "survive: %s\n", text);
  exit(1);
}

void layer_start(int* argument_count, char*** arguments) {
  check(MPI_Init(argument_count, arguments));
  check(MPI_Comm_dup(MPI_COMM_WORLD, &group));
  check(MPI_Comm_set_errhandler(group, MPI_ERRORS_RETURN));
}

void layer_end(void) {
  check(MPI_Comm_free(&group));
  check(MPI_Finalize());
}

int layer_rank(void) {
  int rank = 0;
  MPI_Comm_rank(group, &rank);
  return rank;
}

int layer_size(void) {
  int size = 0;
  MPI_Comm_size(group, &size);
  return size;
}

const char* layer_version(void) {
  static char text[MPI_MAX_LIBRARY_VERSION_STRING];
  int length = 0;
  MPI_Get_library_version(text, &length);
  text[strcspn(text, ",\n")] = '\0';
  return text;
}

bool layer_sum(double mine, double* sum) {
  const int status = MPI_Allreduce(&mine, sum, 1, MPI_DOUBLE, MPI_SUM, group);
  int kind = MPI_SUCCESS;
  MPI_Error_class(status, &kind);
  if (kind == MPIX_ERR_PROC_FAILED || kind == MPIX_ERR_REVOKED) return false;
  check(status);
  return true;
}

bool layer_agree(bool flag) {
  int all = flag;
  check(MPIX_Comm_agree(group, &all));
  return all != 0;
}

void layer_shrink(void) {
  MPI_Comm survivors;
  /* Those that have not met the loss leave what they wait in. */
  check(MPIX_Comm_revoke(group));
  check(MPIX_Comm_shrink(group, &survivors));
  check(MPI_Comm_set_errhandler(survivors, MPI_ERRORS_RETURN));
  check(MPI_Comm_free(&group));
  group = survivors;
}
