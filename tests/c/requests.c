/* SPDX-License-Identifier: BSD-3-Clause */
/* Requests: waiting with and without limits, for any and for all, descriptors, messages between two ranks. */
#include <poll.h>

#include "check.h"

enum { in_flight = 40 };
static const int64_t short_time = 20 * 1000 * 1000; /* 20 ms */

static void check_wait_all(tutti_group group) {
  const int32_t size = tutti_size(group);
  tutti_request requests[in_flight];
  int64_t mine[in_flight], sums[in_flight];
  int i;
  for (i = 0; i < in_flight; ++i) {
    mine[i] = i;
    CHECK_OK(tutti_iallreduce(group, &mine[i], &sums[i], 1, TUTTI_INT64, TUTTI_SUM, &requests[i]));
  }
  CHECK_OK(tutti_wait_all(requests, in_flight, -1));
  for (i = 0; i < in_flight; ++i) {
    CHECK(requests[i].operation == NULL);
    CHECK(sums[i] == (int64_t)i * size);
  }
  CHECK_OK(tutti_wait_all(requests, in_flight, 0)); /* empty ones are complete */
  CHECK_OK(tutti_wait_all(NULL, 0, -1));
}

static void check_wait_any(tutti_group group) {
  tutti_request requests[in_flight];
  int seen[in_flight] = {0};
  size_t index;
  int i;
  for (i = 0; i < in_flight; ++i) CHECK_OK(tutti_ibarrier(group, &requests[i]));
  for (i = 0; i < in_flight; ++i) {
    CHECK_OK(tutti_wait_any(requests, in_flight, &index, -1));
    CHECK(index < in_flight && requests[index].operation == NULL && !seen[index]);
    seen[index] = 1;
  }
  CHECK_OK(tutti_wait_any(requests, in_flight, &index, -1));
  CHECK(index == in_flight);
}

static void check_test_and_descriptor(tutti_group group) {
  tutti_request request;
  struct pollfd waiting;
  int done = 0;
  CHECK_OK(tutti_ibarrier(group, &request));
  while (!done) CHECK_OK(tutti_test(&request, &done));
  CHECK(request.operation == NULL);

  CHECK_OK(tutti_ibarrier(group, &request));
  CHECK_OK(tutti_request_fd(&request, &waiting.fd));
  waiting.events = POLLIN;
  CHECK(poll(&waiting, 1, 60 * 1000) == 1);
  CHECK_OK(tutti_test(&request, &done));
  CHECK(done);
  CHECK_OK(tutti_ibarrier(group, &request));
  CHECK_OK(tutti_request_free(&request)); /* waits */
  CHECK(request.operation == NULL);
}

/* Rank 0 keeps the others waiting until they have told it that their time ran out. */
static void check_time_out(tutti_group group) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  tutti_request request;
  size_t index;
  char word = 'x';
  int32_t r;
  if (rank == 0) {
    for (r = 1; r < size; ++r) CHECK_OK(tutti_recv(group, &word, 1, tutti_type_opaque(1), r, 5));
    CHECK_OK(tutti_barrier(group));
    return;
  }
  CHECK_OK(tutti_ibarrier(group, &request));
  CHECK_FAILS(TUTTI_TIMEOUT, tutti_wait(&request, short_time));
  CHECK(request.operation != NULL);
  CHECK_FAILS(TUTTI_TIMEOUT, tutti_wait_any(&request, 1, &index, short_time));
  CHECK_FAILS(TUTTI_TIMEOUT, tutti_wait_all(&request, 1, 0));
  CHECK_OK(tutti_send(group, &word, 1, tutti_type_opaque(1), 0, 5));
  CHECK_OK(tutti_wait(&request, -1));
}

static void check_messages(tutti_group group) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  const int32_t next = (rank + 1) % size, previous = (rank + size - 1) % size;
  tutti_request requests[4];
  double sent[2], received[2];
  int i;
  if (size == 1) return;
  for (i = 0; i < 2; ++i) {
    sent[i] = 10 * rank + i;
    CHECK_OK(tutti_irecv(group, &received[i], 1, TUTTI_FLOAT64, previous, 7, &requests[i]));
    CHECK_OK(tutti_isend(group, &sent[i], 1, TUTTI_FLOAT64, next, 7, &requests[2 + i]));
  }
  CHECK_OK(tutti_wait_all(requests, 4, -1));
  for (i = 0; i < 2; ++i) CHECK(received[i] == 10 * previous + i);

  if (rank == 0) {
    CHECK_OK(tutti_send(group, sent, 2, TUTTI_FLOAT64, 1, 9));
    CHECK_OK(tutti_recv(group, received, 2, TUTTI_FLOAT64, 1, 9));
    CHECK(received[0] == 10 && received[1] == 11);
  } else if (rank == 1) {
    CHECK_OK(tutti_recv(group, received, 2, TUTTI_FLOAT64, 0, 9));
    CHECK(received[0] == 0 && received[1] == 1);
    CHECK_OK(tutti_send(group, sent, 2, TUTTI_FLOAT64, 0, 9));
  }
}

void check_requests(tutti_group group) {
  check_wait_all(group);
  check_wait_any(group);
  check_test_and_descriptor(group);
  check_time_out(group);
  check_messages(group);
}
