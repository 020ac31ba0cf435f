/* SPDX-License-Identifier: BSD-3-Clause */
/* mpi CASE FILE: cases of sick.cpp that MPI programs have too, and some of their own. */
#include <fcntl.h>
#include <mpi.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { sick = 2, tag = 9 };
static const char* file;
static int rank;
static double total;

/* The callers' names are what `tutti why` shows: their calls must not be their last act. */
__attribute__((noinline)) static int first_step(int root) {
  double data[3] = {1, 1, 1};
  const int code = MPI_Bcast(data, 3, MPI_DOUBLE, root, MPI_COMM_WORLD);
  total = data[0];
  return code;
}
__attribute__((noinline)) static int second_step_in(MPI_Comm comm) {
  const double in[3] = {rank + 1, rank + 1, rank + 1};
  double out[3] = {0};
  const int code = MPI_Allreduce(in, out, 3, MPI_DOUBLE, MPI_SUM, comm);
  total = out[0];
  return code;
}
static int second_step(void) { return second_step_in(MPI_COMM_WORLD); }
__attribute__((noinline)) static void get(int from) {
  double data = 0;
  MPI_Recv(&data, 1, MPI_DOUBLE, from, tag, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  total = data;
}

static void await_file(void) {
  while (access(file, F_OK) != 0) usleep(10000);
}

/* Rank 1 does not send what rank 2 waits for in the MPI. */
static void mpi_recv(void) {
  const double data = 4;
  if (rank == sick) get(1);
  if (rank == 1) {
    await_file();
    MPI_Send(&data, 1, MPI_DOUBLE, sick, tag, MPI_COMM_WORLD);
  }
  second_step();
}

static void late(void) {
  if (rank == sick) await_file();
  second_step();
}

static void io(void) {
  char input = 0;
  if (rank == sick && read(open(file, O_RDWR | O_CLOEXEC), &input, 1) != 1) _exit(1);
  second_step();
}

static void loop(void) {
  if (rank == sick)
    while (access(file, F_OK) != 0)
      for (volatile int i = 0; i < 1000000;) i = i + 1;
  second_step();
}

/* Ranks 0 and 2 by themselves, as are 1 and 3: where ranks are dealt to two hosts, each pair is on one. */
static void pairs(void) {
  MPI_Comm pair;
  MPI_Comm_split(MPI_COMM_WORLD, rank % 2, 0, &pair);
  if (rank == sick) await_file();
  second_step_in(pair);
  MPI_Comm_free(&pair);
  second_step();
}

/* Not sick at all: each pair tells each other until one of them has seen the file. */
static void healthy(void) {
  for (int mine = 0, others = 0; mine == 0 && others == 0;) {
    mine = access(file, F_OK) == 0;
    MPI_Sendrecv(&mine, 1, MPI_INT, rank ^ 1, tag, &others, 1, MPI_INT, rank ^ 1, tag, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
  }
  second_step();
}

/* Found at once; the program goes on without. */
static void root(void) {
  MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
  if (rank == sick) sleep(1); /* the others are there by then */
  if (first_step(rank == sick ? 1 : 0) == MPI_SUCCESS && second_step() == MPI_SUCCESS) printf("nothing was found\n");
  await_file();
}

int main(int words, char** arguments) {
  const struct {
    const char* name;
    void (*run)(void);
  } cases[] = {{"mpi_recv", mpi_recv}, {"late", late},   {"io", io},          {"loop", loop},
               {"root", root},         {"pairs", pairs}, {"healthy", healthy}};
  MPI_Init(&words, &arguments);
  if (words != 3) MPI_Abort(MPI_COMM_WORLD, 2);
  file = arguments[2];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  printf("rank %d is %d\n", rank, getpid());
  fflush(stdout); /* into a file, too */
  first_step(0);
  for (size_t i = 0; i < sizeof cases / sizeof *cases; ++i)
    if (strcmp(cases[i].name, arguments[1]) == 0) cases[i].run();
  printf("rank %d: total %g\n", rank, total);
  MPI_Finalize();
}
