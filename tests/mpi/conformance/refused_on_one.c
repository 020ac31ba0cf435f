/* SPDX-License-Identifier: BSD-3-Clause */
/* What the MPI refuses on one rank: it says so, and the other ranks, whose calls are right, notice nothing. */
#include <mpi.h>
#include <stdio.h>

enum { CALLS = 200, COUNT = 8 };

static int rank, size, wrong, deleted;

static int is(int code, int expected) {
  int found = -1;
  MPI_Error_class(code, &found);
  return found == expected;
}

/* Whoever counts calls, to try both sides in turn, must not count these. */
static void collectives(void) {
  int in[COUNT] = {0}, out[COUNT];
  if (rank == 1) {
    wrong += !is(MPI_Bcast(in, -1, MPI_INT, 0, MPI_COMM_WORLD), MPI_ERR_COUNT);
    wrong += !is(MPI_Bcast(in, COUNT, MPI_DATATYPE_NULL, 0, MPI_COMM_WORLD), MPI_ERR_TYPE);
    wrong += !is(MPI_Bcast(in, COUNT, MPI_INT, size, MPI_COMM_WORLD), MPI_ERR_ROOT);
    wrong += !is(MPI_Allreduce(in, out, COUNT, MPI_INT, MPI_OP_NULL, MPI_COMM_WORLD), MPI_ERR_OP);
  }
  for (int i = 0; i < CALLS; ++i) {
    in[0] = i;
    MPI_Allreduce(in, out, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    wrong += out[0] != i * size;
    out[0] = rank == i % size ? i : -1;
    MPI_Bcast(out, COUNT, MPI_INT, i % size, MPI_COMM_WORLD);
    wrong += out[0] != i;
  }
}

/* The very first call, with a communicator whose constructor was no blocking one. The others come later. */
static void first_call(void) {
  MPI_Comm copy;
  MPI_Request request;
  int data[COUNT] = {0}, sum = 0;
  MPI_Comm_idup(MPI_COMM_WORLD, &copy, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Comm_set_errhandler(copy, MPI_ERRORS_RETURN);
  if (rank == 1) {
    wrong += !is(MPI_Bcast(data, -1, MPI_INT, 0, copy), MPI_ERR_COUNT);
    MPI_Send(data, 1, MPI_INT, 0, 5, MPI_COMM_WORLD);
  }
  if (rank == 0) MPI_Recv(data, 1, MPI_INT, 1, 5, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  for (int i = 0; i < 3; ++i) {
    MPI_Allreduce(&rank, &sum, 1, MPI_INT, MPI_SUM, copy);
    wrong += sum != size * (size - 1) / 2;
  }
  MPI_Comm_free(&copy);
}

/* While an I-collective is open: rank 0 comes to it when the others have been refused. */
static void exchange(void) {
  MPI_Request request;
  int out = 1, in = 0;
  for (int from = 1; rank == 0 && from < size; ++from)
    MPI_Recv(&in, 1, MPI_INT, from, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  MPI_Ibarrier(MPI_COMM_WORLD, &request);
  if (rank != 0) {
    const int code = MPI_Sendrecv(&out, 1, MPI_INT, 1000, 0, &in, 1, MPI_INT, 0, 77, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    wrong += !is(code, MPI_ERR_RANK);
    MPI_Send(&out, 1, MPI_INT, 0, 6, MPI_COMM_WORLD);
  }
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static int delete_it(MPI_Datatype type, int key, void* value, void* more) {
  (void)type, (void)key, (void)value, (void)more;
  ++deleted;
  return MPI_SUCCESS;
}

/* What nobody uses is freed at once, and what is the MPI's not at all. */
static void frees(void) {
  MPI_Datatype type = MPI_INT;
  MPI_Op op = MPI_SUM;
  int key;
  wrong += MPI_Type_free(&type) == MPI_SUCCESS;
  wrong += MPI_Op_free(&op) == MPI_SUCCESS;
  MPI_Type_create_keyval(MPI_TYPE_NULL_COPY_FN, delete_it, &key, NULL);
  MPI_Type_contiguous(2, MPI_INT, &type);
  MPI_Type_set_attr(type, key, NULL);
  MPI_Type_free(&type);
  wrong += deleted != 1;
  MPI_Type_free_keyval(&key);
}

static void lists(void) {
  MPI_Request barrier;
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &barrier);
  frees();
  MPI_Start(&barrier);
  wrong += !is(MPI_Start(&barrier), MPI_ERR_REQUEST);
  wrong += MPI_Waitall(-1, &barrier, MPI_STATUSES_IGNORE) == MPI_SUCCESS;
  wrong += MPI_Waitall(1, NULL, MPI_STATUSES_IGNORE) == MPI_SUCCESS;
  wrong += MPI_Startall(-1, &barrier) == MPI_SUCCESS;
  wrong += MPI_Startall(1, NULL) == MPI_SUCCESS;
  MPI_Wait(&barrier, MPI_STATUS_IGNORE);
  MPI_Start(&barrier);
  MPI_Wait(&barrier, MPI_STATUS_IGNORE);
  MPI_Request_free(&barrier);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  MPI_Comm_set_errhandler(MPI_COMM_SELF, MPI_ERRORS_RETURN);
  first_call();
  collectives();
  exchange();
  lists();
  printf("rank %d: %d wrong\n", rank, wrong);
  fflush(stdout);
  MPI_Finalize();
  return wrong != 0;
}
