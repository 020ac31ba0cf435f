/* SPDX-License-Identifier: BSD-3-Clause */
/* A persistent collective, or an I-collective, of which one rank has said something else: those who complete it hear of
 * it by their communicator's error handler alone, and those who complete lists of requests are told that a status holds
 * the error, and which. */
#include <mpi.h>
#include <stdio.h>

enum { NOTHING, FAILED, COUNT, MOST = 8 };

static int rank, wrong, handled;

static int class_of(int code) {
  int class = -1;
  MPI_Error_class(code, &class);
  return class;
}

static void expect(int good, int persistent, int way, const char* what) {
  if (good) return;
  ++wrong;
  printf("rank %d, %s %d: %s\n", rank, persistent ? "persistent" : "started", way, what);
}

static void count_handled(MPI_Comm* comm, int* code, ...) {
  (void)comm;
  if (class_of(*code) == MPI_ERR_TRUNCATE) ++handled;
}

/* Open MPI and MPICH would truncate, or not notice; this is what Tutti says. */
static void complete(int persistent, int way) {
  MPI_Comm copy;
  MPI_Errhandler handler;
  MPI_Request requests[COUNT] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Status statuses[COUNT];
  int data[MOST] = {0}, indices[COUNT] = {-1, -1}, done = 0, flag = 0, index = -1, code = MPI_SUCCESS;
  for (int i = 0; i < COUNT; ++i) statuses[i].MPI_ERROR = MPI_ERR_TAG;
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_create_errhandler(count_handled, &handler);
  MPI_Comm_set_errhandler(copy, handler);
  handled = 0;
  const int count = rank == 0 ? MOST : MOST / 2;
  if (persistent) {
    MPI_Allreduce_init(MPI_IN_PLACE, data, count, MPI_INT, MPI_SUM, copy, MPI_INFO_NULL, &requests[FAILED]);
    MPI_Start(&requests[FAILED]);
  } else {
    MPI_Iallreduce(MPI_IN_PLACE, data, count, MPI_INT, MPI_SUM, copy, &requests[FAILED]);
  }
  while (way == 0 && !flag && code == MPI_SUCCESS) code = MPI_Testall(COUNT, requests, &flag, statuses);
  while (way == 1 && done == 0 && code == MPI_SUCCESS) code = MPI_Testsome(COUNT, requests, &done, indices, statuses);
  if (way == 2) code = MPI_Waitsome(COUNT, requests, &done, indices, statuses);
  if (way == 3) code = MPI_Waitall(COUNT, requests, statuses);
  if (way == 4) code = MPI_Wait(&requests[FAILED], statuses);
  while (way == 5 && !flag && code == MPI_SUCCESS) code = MPI_Test(&requests[FAILED], &flag, statuses);
  if (way == 6) code = MPI_Waitany(COUNT, requests, &index, statuses);
  expect(handled == 1, persistent, way, "the communicator's handler");
  if (way < 4) {
    expect(class_of(code) == MPI_ERR_IN_STATUS, persistent, way, "the error is not said to stand in a status");
    const int listed = way == 1 || way == 2, place = listed ? 0 : FAILED;
    expect(!listed || (done == 1 && indices[0] == FAILED), persistent, way, "another request is said to have ended");
    expect(class_of(statuses[place].MPI_ERROR) == MPI_ERR_TRUNCATE, persistent, way, "the failed one's status");
    expect(listed || statuses[NOTHING].MPI_ERROR == MPI_SUCCESS, persistent, way, "the other one's status");
  } else {
    expect(class_of(code) == MPI_ERR_TRUNCATE, persistent, way, "what it has failed with");
    expect(way != 6 || index == FAILED, persistent, way, "another request is said to have ended");
  }
  if (persistent)
    MPI_Request_free(&requests[FAILED]);
  else
    expect(requests[FAILED] == MPI_REQUEST_NULL, persistent, way, "the request is still there");
  MPI_Comm_free(&copy);
  MPI_Errhandler_free(&handler);
}

/* Its failure is heard of although its communicator is gone, by the process's own handler. */
static void complete_after_free(void) {
  MPI_Comm copy;
  MPI_Request request;
  int data[MOST] = {0};
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_ARE_FATAL);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  MPI_Iallreduce(MPI_IN_PLACE, data, rank == 0 ? MOST : MOST / 2, MPI_INT, MPI_SUM, copy, &request);
  MPI_Comm_free(&copy);
  expect(class_of(MPI_Wait(&request, MPI_STATUS_IGNORE)) == MPI_ERR_TRUNCATE, 0, -1, "behind its communicator");
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  for (int way = 0; way < 7; ++way) {
    complete(0, way);
    complete(1, way);
  }
  complete_after_free();
  printf("rank %d: %d wrong\n", rank, wrong);
  fflush(stdout);
  MPI_Finalize();
  return wrong != 0;
}
