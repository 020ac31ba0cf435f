/* SPDX-License-Identifier: BSD-3-Clause */
/* Looking at several requests without completing them, MPI 4.1's functions, which older headers do not declare; and
 * that whoever only tests a collective moves the messages of the MPI on. */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>

enum { MESSAGE, STARTED, KEPT, NOTHING, IDLE, COUNT };
enum { LARGE = 200000, PEEKS = 50 };

typedef int all_function(int, const MPI_Request*, int*, MPI_Status*);
typedef int list_function(int, const MPI_Request*, int*, int*, MPI_Status*);

static all_function* look_at_all;
static list_function *look_at_any, *look_at_some;
static int rank, size, wrong;

static void expect(int good, const char* what) {
  if (good) return;
  ++wrong;
  printf("rank %d: %s\n", rank, what);
}

static int is_empty(const MPI_Status* status) {
  int count = -1, cancelled = 1;
  MPI_Get_count(status, MPI_BYTE, &count);
  MPI_Test_cancelled(status, &cancelled);
  return status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG && count == 0 && !cancelled;
}

static void* find(const char* name) {
  void* found = dlsym(RTLD_DEFAULT, name);
  if (found != NULL) return found;
  printf("rank %d: there is no %s\n", rank, name);
  exit(3);
}

/* Nothing of it is complete: rank 0 has yet to send and to come to the collectives. */
static void peek(const MPI_Request* requests) {
  MPI_Status statuses[COUNT];
  int flag = 1, index = 0, done = 7, indices[COUNT];
  look_at_all(COUNT, requests, &flag, statuses);
  expect(!flag, "all are complete before they can be");
  look_at_any(COUNT, requests, &index, &flag, statuses);
  expect(!flag, "one is complete before it can be");
  look_at_some(COUNT, requests, &done, indices, statuses);
  expect(done == 0, "some are complete before they can be");
}

static void expect_right(int which, const MPI_Status* status) {
  if (which != MESSAGE) return expect(is_empty(status), "the status of a collective is not empty");
  int count = 0;
  MPI_Get_count(status, MPI_INT, &count);
  expect(status->MPI_SOURCE == 0 && status->MPI_TAG == 5 && count == LARGE, "a message's status");
}

/* One way to look until everything is complete; what is seen again and again stays as it is. */
static void look(const MPI_Request* requests, int way) {
  MPI_Status statuses[COUNT];
  int flag = 0, index = -1, done = 0, indices[COUNT];
  while (way == 0 && !flag) {
    look_at_all(COUNT, requests, &flag, statuses);
    if (!flag) sched_yield();
  }
  for (int i = 0; way == 0 && i < COUNT; ++i) expect_right(i, &statuses[i]);
  while (way == 1 && !flag) {
    look_at_any(COUNT, requests, &index, &flag, &statuses[0]);
    if (!flag) sched_yield();
  }
  if (way == 1) expect(index == MESSAGE || index == STARTED || index == KEPT, "what any says is none of those");
  if (way == 1) expect_right(index, &statuses[0]);
  while (way == 2 && done < 3) {
    look_at_some(COUNT, requests, &done, indices, statuses);
    if (done < 3) sched_yield();
  }
  int seen = 0;
  for (int i = 0; way == 2 && i < done; ++i) {
    seen |= 1 << indices[i];
    expect_right(indices[i], &statuses[i]);
  }
  expect(way != 2 || (done == 3 && seen == (1 << MESSAGE | 1 << STARTED | 1 << KEPT)), "what some says is other");
}

static void expect_inactive(const MPI_Request* requests, int count) {
  MPI_Status statuses[COUNT];
  int flag = 0, index = 0, done = 0, indices[COUNT];
  look_at_all(count, requests, &flag, statuses);
  expect(flag, "what is inactive is not complete");
  for (int i = 0; i < count; ++i) expect(is_empty(&statuses[i]), "an inactive one's status is not empty");
  flag = 0;
  statuses[0].MPI_ERROR = MPI_ERR_TAG;
  look_at_any(count, requests, &index, &flag, &statuses[0]);
  expect(flag && index == MPI_UNDEFINED, "any of nothing active");
  expect(is_empty(&statuses[0]) && statuses[0].MPI_ERROR == MPI_SUCCESS, "the status of none is not empty");
  look_at_any(count, requests, &index, &flag, MPI_STATUS_IGNORE);
  look_at_some(count, requests, &done, indices, MPI_STATUSES_IGNORE);
  expect(done == MPI_UNDEFINED, "some of nothing active");
}

static void round_of(int way) {
  static int sent[LARGE], got[LARGE];
  int one = 1, sum = 0, kept = 0;
  MPI_Request requests[COUNT];
  for (int i = 0; i < COUNT; ++i) requests[i] = MPI_REQUEST_NULL;
  for (int i = 0; i < LARGE; ++i) sent[i] = i + way, got[i] = -1;
  MPI_Allreduce_init(&one, &kept, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, MPI_INFO_NULL, &requests[KEPT]);
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &requests[IDLE]);
  expect_inactive(requests, COUNT);
  if (rank != 0) {
    MPI_Irecv(got, LARGE, MPI_INT, 0, 5, MPI_COMM_WORLD, &requests[MESSAGE]);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[STARTED]);
    MPI_Start(&requests[KEPT]);
    for (int i = 0; i < PEEKS; ++i) peek(requests);
    MPI_Send(NULL, 0, MPI_INT, 0, 6, MPI_COMM_WORLD);
    look(requests, way);
  } else {
    for (int other = 1; other < size; ++other) MPI_Recv(NULL, 0, MPI_INT, other, 6, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Iallreduce(&one, &sum, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[STARTED]);
    MPI_Start(&requests[KEPT]);
    for (int other = 1; other < size; ++other) MPI_Send(sent, LARGE, MPI_INT, other, 5, MPI_COMM_WORLD);
  }
  for (int i = 0; i < COUNT; ++i) MPI_Wait(&requests[i], MPI_STATUS_IGNORE);
  expect(sum == size && kept == size, "a sum is wrong");
  for (int i = 0; i < LARGE && rank != 0; ++i) expect(got[i] == i + way, "a message is wrong");
  expect_inactive(requests, COUNT);
  expect_inactive(requests, 0);
  MPI_Request_free(&requests[KEPT]);
  MPI_Request_free(&requests[IDLE]);
}

/* A message that was sent is complete, though its status says nothing of it: MPICH writes neither source nor tag, and
 * its own function of MPI 4.1 finds none. */
static void expect_sent(const MPI_Request* request) {
  int flag = 0, index = -1, done = 0, got = 0;
  MPI_Recv(&got, 1, MPI_INT, 0, 8, MPI_COMM_SELF, MPI_STATUS_IGNORE);
  while (done == 0) look_at_some(1, request, &done, &index, MPI_STATUSES_IGNORE);
  expect(done == 1 && index == 0, "some of a message that was sent");
  index = -1;
  look_at_any(1, request, &index, &flag, MPI_STATUS_IGNORE);
  expect(flag && index == 0, "any of a message that was sent");
}

static void sends(void) {
  MPI_Request request;
  MPI_Isend(&rank, 1, MPI_INT, 0, 8, MPI_COMM_SELF, &request);
  expect_sent(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  MPI_Send_init(&rank, 1, MPI_INT, 0, 8, MPI_COMM_SELF, &request);
  MPI_Start(&request);
  expect_sent(&request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
  expect_inactive(&request, 1);
  MPI_Request_free(&request);
}

/* Rank 0 comes to the collective only when its message has arrived, which takes the others' help, and they do nothing
 * but test the collective. */
static void test_alone(int way) {
  static int sent[LARGE], got[LARGE];
  MPI_Request message = MPI_REQUEST_NULL, barrier;
  MPI_Barrier_init(MPI_COMM_WORLD, MPI_INFO_NULL, &barrier);
  if (rank != 0) MPI_Irecv(got, LARGE, MPI_INT, 0, 7, MPI_COMM_WORLD, &message);
  for (int other = 1; rank == 0 && other < size; ++other) MPI_Ssend(sent, LARGE, MPI_INT, other, 7, MPI_COMM_WORLD);
  MPI_Start(&barrier);
  int flag = 0, index = 0, done = 0;
  for (;;) {
    if (way == 0) MPI_Testany(1, &barrier, &index, &flag, MPI_STATUS_IGNORE);
    if (way == 1) MPI_Testsome(1, &barrier, &done, &index, MPI_STATUSES_IGNORE);
    if (way == 2) look_at_any(1, &barrier, &index, &flag, MPI_STATUS_IGNORE);
    if (way == 3) look_at_some(1, &barrier, &done, &index, MPI_STATUSES_IGNORE);
    if (way == 4) look_at_all(1, &barrier, &flag, MPI_STATUSES_IGNORE);
    if (flag || done) break;
    sched_yield();
  }
  MPI_Wait(&barrier, MPI_STATUS_IGNORE);
  MPI_Wait(&message, MPI_STATUS_IGNORE);
  MPI_Request_free(&barrier);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  look_at_all = (all_function*)find("MPI_Request_get_status_all");
  look_at_any = (list_function*)find("MPI_Request_get_status_any");
  look_at_some = (list_function*)find("MPI_Request_get_status_some");
  for (int way = 0; way < 3; ++way) round_of(way);
  for (int way = 0; way < 5; ++way) test_alone(way);
  if (argc > 1) sends();
  printf("rank %d: %d wrong\n", rank, wrong);
  fflush(stdout);
  MPI_Finalize();
  return wrong != 0;
}
