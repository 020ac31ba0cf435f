/* SPDX-License-Identifier: BSD-3-Clause */
/* What Tutti must not touch: arguments that mean nothing where they are given, a communicator that the program's error
 * handler has freed, a thread that the program does not know of, error handlers of other communicators. */
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

enum { MANY = 100000, ROUNDS = 20, CALLS = 4 };

#ifdef OPEN_MPI
enum { is_standard = 0 };
#else
enum { is_standard = sizeof(MPI_Datatype) != sizeof(int) };
#endif

static int rank, size, wrong, strangers;
static pthread_t first;

static void expect(int good, const char* what) {
  if (good) return;
  ++wrong;
  printf("rank %d: %s\n", rank, what);
}

static int class_of(int code) {
  int class = -1;
  MPI_Error_class(code, &class);
  return class;
}

static void add(void* in, void* inout, int* count, MPI_Datatype* type) {
  (void)type;
  if (!pthread_equal(pthread_self(), first)) ++strangers;
  for (int i = 0; i < *count; ++i) ((int*)inout)[i] += ((int*)in)[i];
}

/* While the sums are open, this rank is inside functions of the MPI that may wait. */
static void function_of_the_program(void) {
  static int mine[MANY], sums[MANY];
  MPI_Op sum;
  MPI_Op_create(add, 1, &sum);
  for (int i = 0; i < MANY; ++i) mine[i] = rank + i;
  for (int round = 0; round < ROUNDS; ++round) {
    MPI_Request request;
    MPI_Comm copy;
    MPI_Iallreduce(mine, sums, MANY, MPI_INT, sum, MPI_COMM_WORLD, &request);
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_free(&copy);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    expect(sums[MANY - 1] == size * (size - 1) / 2 + size * (MANY - 1), "a sum by the program's function");
  }
  MPI_Op_free(&sum);
  expect(strangers == 0, "the program's function was called by a thread that it has not made");
}

/* At the root of an intercommunicator one side's arguments are not significant. */
static void between_groups(void) {
  MPI_Comm half, both;
  MPI_Datatype nonsense;
  int got[CALLS] = {0}, mine = rank;
  memset(&nonsense, 0x11, sizeof nonsense);
  if (is_standard) nonsense = MPI_DATATYPE_NULL;
  const int side = rank % 2, there = size / 2, root = rank == 0 ? MPI_ROOT : MPI_PROC_NULL;
  MPI_Comm_split(MPI_COMM_WORLD, side, rank, &half);
  MPI_Intercomm_create(half, 0, MPI_COMM_WORLD, 1 - side, 3, &both);
  for (int call = 0; call < CALLS; ++call) {
    if (side == 1) {
      MPI_Gather(&mine, 1, MPI_INT, NULL, 1, nonsense, 0, both);
      MPI_Scatter(NULL, 1, nonsense, &mine, 1, MPI_INT, 0, both);
      expect(mine == rank + call, "what the other group's root has scattered");
    } else {
      MPI_Gather(NULL, 1, nonsense, got, 1, MPI_INT, root, both);
      for (int i = 0; rank == 0 && i < there; ++i) expect(got[i] == 2 * i + 1 + (call == 0 ? 0 : call - 1), "a gather");
      for (int i = 0; i < there; ++i) got[i] = 2 * i + 1 + call;
      MPI_Scatter(got, 1, MPI_INT, NULL, 1, nonsense, root, both);
    }
  }
  MPI_Comm_free(&both);
  MPI_Comm_free(&half);
}

#ifdef OPEN_MPI
static void free_it(MPI_Comm* comm, int* code, ...) {
  MPI_Comm gone = *comm;
  (void)code;
  MPI_Comm_free(&gone);
}

/* (MPICH says that such a call has succeeded.) */
static void freed_by_its_handler(void) {
  MPI_Errhandler handler;
  MPI_Comm copy;
  int data = 0;
  MPI_Comm_create_errhandler(free_it, &handler);
  for (int round = 0; round < ROUNDS; ++round) {
    MPI_Comm_dup(MPI_COMM_WORLD, &copy);
    MPI_Comm_set_errhandler(copy, handler);
    expect(class_of(MPI_Bcast(&data, -1, MPI_INT, 0, copy)) == MPI_ERR_COUNT, "a negative count");
  }
  MPI_Errhandler_free(&handler);
}
#else
/* (Open MPI and the standard ABI's library go where a wrong handle points.) */
static void wrong_handles(void) {
  MPI_Comm copy;
  MPI_Datatype no_type;
  MPI_Op no_op;
  int data = 0, sum = 0;
  memset(&no_type, 0x11, sizeof no_type);
  memset(&no_op, 0x11, sizeof no_op);
  MPI_Comm_dup(MPI_COMM_WORLD, &copy);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  expect(class_of(MPI_Bcast(&data, 1, no_type, 0, copy)) == MPI_ERR_TYPE, "no datatype");
  expect(class_of(MPI_Allreduce(&data, &sum, 1, MPI_INT, no_op, copy)) == MPI_ERR_OP, "no operation");
  MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy);
  expect(sum == size * (size - 1) / 2, "the next sum");
  MPI_Comm_free(&copy);
}
#endif

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  first = pthread_self();
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  function_of_the_program();
  between_groups();
#ifdef OPEN_MPI
  freed_by_its_handler();
#else
  if (!is_standard) wrong_handles();
#endif
  printf("rank %d: %d wrong\n", rank, wrong);
  fflush(stdout);
  MPI_Finalize();
  return wrong != 0;
}
