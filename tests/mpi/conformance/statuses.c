/* SPDX-License-Identifier: BSD-3-Clause */
/* The three families that complete requests, on lists in which messages and collectives, null and inactive requests
 * are mixed; what they say is printed. */
#include <mpi.h>
#include <stdio.h>
#include <string.h>

enum { REQUESTS = 6, COUNT = 1000 };

static int rank, size;
static int sums[COUNT], ones[COUNT], inbox[COUNT], outbox[COUNT], shared[COUNT];

/* Null, receive, allreduce, send, barrier, bcast. */
static void start(MPI_Request* requests) {
  for (int i = 0; i < COUNT; ++i) ones[i] = rank + i, outbox[i] = rank * 7 + i, shared[i] = rank == 0 ? i : -1;
  requests[0] = MPI_REQUEST_NULL;
  MPI_Irecv(inbox, COUNT, MPI_INT, (rank + size - 1) % size, 3, MPI_COMM_WORLD, &requests[1]);
  MPI_Iallreduce(ones, sums, COUNT, MPI_INT, MPI_SUM, MPI_COMM_WORLD, &requests[2]);
  MPI_Isend(outbox, 10 + rank, MPI_INT, (rank + 1) % size, 3, MPI_COMM_WORLD, &requests[3]);
  MPI_Ibarrier(MPI_COMM_WORLD, &requests[4]);
  MPI_Ibcast(shared, COUNT, MPI_INT, 0, MPI_COMM_WORLD, &requests[5]);
}

static void print_status(const char* how, int index, const MPI_Status* status) {
  int count = -1, cancelled = -1;
  MPI_Get_count(status, MPI_INT, &count);
  MPI_Test_cancelled(status, &cancelled);
  if (index == 1) {
    printf("%s: the receive has source %d, tag %d, count %d, cancelled %d\n", how, status->MPI_SOURCE, status->MPI_TAG,
           count, cancelled);
  } else if (index == 0) {
    printf("%s: the null request is empty %d\n", how,
           status->MPI_SOURCE == MPI_ANY_SOURCE && status->MPI_TAG == MPI_ANY_TAG && count == 0 && !cancelled);
  } else {
    printf("%s: request %d cancelled %d\n", how, index, cancelled);
  }
}

static void print_data(const char* how, const MPI_Request* requests) {
  int nulls = 0;
  for (int i = 0; i < REQUESTS; ++i) nulls += requests[i] == MPI_REQUEST_NULL;
  printf("%s: %d null, sum %d and %d, message %d, bcast %d\n", how, nulls, sums[0], sums[COUNT - 1], inbox[5],
         shared[COUNT - 1]);
  memset(sums, 0, sizeof sums);
  memset(inbox, 0, sizeof inbox);
}

static void one_at_a_time(int waits) {
  const char* how = waits ? "Wait" : "Test";
  MPI_Request requests[REQUESTS];
  start(requests);
  for (int i = REQUESTS - 1; i >= 0; --i) {
    MPI_Status status;
    int flag = waits;
    if (waits) MPI_Wait(&requests[i], &status);
    while (!flag) MPI_Test(&requests[i], &flag, &status);
    print_status(how, i, &status);
  }
  print_data(how, requests);
}

static void all_at_once(int waits) {
  const char* how = waits ? "Waitall" : "Testall";
  MPI_Request requests[REQUESTS];
  MPI_Status statuses[REQUESTS];
  int flag = waits;
  start(requests);
  if (waits) MPI_Waitall(REQUESTS, requests, statuses);
  while (!flag) MPI_Testall(REQUESTS, requests, &flag, statuses);
  for (int i = 0; i < REQUESTS; ++i) print_status(how, i, &statuses[i]);
  print_data(how, requests);
}

static void any_one(int waits) {
  const char* how = waits ? "Waitany" : "Testany";
  MPI_Request requests[REQUESTS];
  MPI_Status kept[REQUESTS], status;
  int seen[REQUESTS] = {0}, index = 0;
  start(requests);
  for (int done = 0; done < REQUESTS - 1;) {
    int flag = 1;
    if (waits)
      MPI_Waitany(REQUESTS, requests, &index, &status);
    else
      MPI_Testany(REQUESTS, requests, &index, &flag, &status);
    if (!flag) continue;
    kept[index] = status;
    ++seen[index];
    ++done;
  }
  if (waits) MPI_Waitany(REQUESTS, requests, &index, &status);
  printf("%s: at the end the index is undefined: %d\n", how, !waits || index == MPI_UNDEFINED);
  for (int i = 1; i < REQUESTS; ++i) printf("%s: request %d seen %d times\n", how, i, seen[i]);
  print_status(how, 1, &kept[1]);
  print_data(how, requests);
}

static void some_of_them(int waits) {
  const char* how = waits ? "Waitsome" : "Testsome";
  MPI_Request requests[REQUESTS];
  MPI_Status statuses[REQUESTS], kept[REQUESTS];
  int seen[REQUESTS] = {0}, indices[REQUESTS], count = 0;
  start(requests);
  for (int done = 0; done < REQUESTS - 1; done += count) {
    if (waits)
      MPI_Waitsome(REQUESTS, requests, &count, indices, statuses);
    else
      MPI_Testsome(REQUESTS, requests, &count, indices, statuses);
    for (int i = 0; i < count; ++i) ++seen[indices[i]], kept[indices[i]] = statuses[i];
  }
  if (waits)
    MPI_Waitsome(REQUESTS, requests, &count, indices, statuses);
  else
    MPI_Testsome(REQUESTS, requests, &count, indices, statuses);
  printf("%s: at the end the count is undefined: %d\n", how, count == MPI_UNDEFINED);
  for (int i = 1; i < REQUESTS; ++i) printf("%s: request %d seen %d times\n", how, i, seen[i]);
  print_status(how, 1, &kept[1]);
  print_data(how, requests);
}

static void look_first(void) {
  MPI_Request requests[REQUESTS];
  MPI_Status status;
  start(requests);
  for (int i = 0; i < REQUESTS; ++i) {
    int flag = 0;
    while (!flag) MPI_Request_get_status(requests[i], &flag, &status);
    printf("get_status: request %d still there %d\n", i, requests[i] != MPI_REQUEST_NULL);
    print_status("get_status", i, &status);
  }
  MPI_Waitall(REQUESTS, requests, MPI_STATUSES_IGNORE);
  print_data("get_status", requests);
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  char name[32];
  snprintf(name, sizeof name, "statuses.%d", rank);
  if (freopen(name, "w", stdout) == NULL) return 2;
  for (int waits = 0; waits < 2; ++waits) {
    one_at_a_time(waits);
    all_at_once(waits);
    any_one(waits);
    some_of_them(waits);
  }
  look_first();
  MPI_Finalize();
  return 0;
}
