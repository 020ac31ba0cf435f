/* SPDX-License-Identifier: BSD-3-Clause */
/* A persistent collective of which one rank has said something else: those who complete lists of requests are told that
 * a status holds the error, and which. */
#include <mpi.h>
#include <stdio.h>

enum { NOTHING, FAILED, COUNT, MOST = 8 };

static int rank, wrong;

static int class_of(int code) {
  int class = -1;
  MPI_Error_class(code, &class);
  return class;
}

static void expect(int good, const char* what) {
  if (good) return;
  ++wrong;
  printf("rank %d: %s\n", rank, what);
}

/* Open MPI and MPICH would truncate, or not notice; this is what Tutti says. */
static void complete(int way) {
  MPI_Comm copy;
  MPI_Request requests[COUNT] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[COUNT];
  int data[MOST] = {0}, indices[COUNT] = {-1, -1}, done = 0, flag = 0, code = MPI_SUCCESS;
  for (int i = 0; i < COUNT; ++i) statuses[i].MPI_ERROR = MPI_ERR_TAG;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  const int count = rank == 0 ? MOST : MOST / 2;
  MPI_Allreduce_init(MPI_IN_PLACE, data, count, MPI_INT, MPI_SUM, copy, MPI_INFO_NULL, &requests[FAILED]);
  MPI_Start(&requests[FAILED]);
  while (way == 0 && !flag && code == MPI_SUCCESS) code = MPI_Testall(COUNT, requests, &flag, statuses);
  while (way == 1 && done == 0 && code == MPI_SUCCESS) code = MPI_Testsome(COUNT, requests, &done, indices, statuses);
  if (way == 2) code = MPI_Waitsome(COUNT, requests, &done, indices, statuses);
  if (way == 3) code = MPI_Waitall(COUNT, requests, statuses);
  expect(class_of(code) == MPI_ERR_IN_STATUS, "the error is not said to stand in a status");
  const int listed = way == 1 || way == 2, place = listed ? 0 : FAILED;
  expect(!listed || (done == 1 && indices[0] == FAILED), "another request is said to have ended");
  expect(class_of(statuses[place].MPI_ERROR) == MPI_ERR_TRUNCATE, "the failed one's status");
  expect(listed || statuses[NOTHING].MPI_ERROR == MPI_SUCCESS, "the other one's status");
  MPI_Request_free(&requests[FAILED]);
  MPI_Comm_free(&copy);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  for (int way = 0; way < 4; ++way) complete(way);
  printf("rank %d: %d wrong\n", rank, wrong);
  fflush(stdout);
  MPI_Finalize();
  return wrong != 0;
}
