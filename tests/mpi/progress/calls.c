/* SPDX-License-Identifier: BSD-3-Clause */
/* Every call of MPI that can block, and what the other rank does so that it returns. Most are called by both. */
#include <stdio.h>
#include <stdlib.h>

#include "progress.h"

static char large[2 * LARGE];
static int words[4 * WORDS];

static void send(void) { MPI_Send(large, LARGE, MPI_CHAR, 1, TAG, other); }
static void ssend(void) { MPI_Ssend(words, 1, MPI_INT, 1, TAG, other); }
static void recv(void) { MPI_Recv(large, LARGE, MPI_CHAR, MPI_ANY_SOURCE, TAG, other, MPI_STATUS_IGNORE); }
static void answer(void) { MPI_Send(large, LARGE, MPI_CHAR, 0, TAG, other); }

static int rank_of_other(void) {
  int rank;
  MPI_Comm_rank(other, &rank);
  return 1 - rank;
}

static void sendrecv(void) {
  const int peer = rank_of_other();
  MPI_Sendrecv(large, LARGE, MPI_CHAR, peer, TAG, large + LARGE, LARGE, MPI_CHAR, peer, TAG, other, MPI_STATUS_IGNORE);
}

static void sendrecv_replace(void) {
  const int peer = rank_of_other();
  MPI_Sendrecv_replace(large, LARGE, MPI_CHAR, peer, TAG, peer, TAG, other, MPI_STATUS_IGNORE);
}

static void probe(void) {
  MPI_Probe(1, TAG, other, MPI_STATUS_IGNORE);
  recv();
}

static void mprobe(void) {
  MPI_Message message;
  MPI_Mprobe(1, TAG, other, &message, MPI_STATUS_IGNORE);
  MPI_Mrecv(large, LARGE, MPI_CHAR, &message, MPI_STATUS_IGNORE);
}

static void wait_one(void) {
  MPI_Request request;
  MPI_Irecv(large, LARGE, MPI_CHAR, 1, TAG, other, &request);
  MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void wait_all(void) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  MPI_Irecv(large, LARGE, MPI_CHAR, 1, TAG, other, &requests[1]);
  MPI_Waitall(2, requests, MPI_STATUSES_IGNORE);
}

static void wait_any(void) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int index;
  MPI_Irecv(large, LARGE, MPI_CHAR, 1, TAG, other, &requests[1]);
  MPI_Waitany(2, requests, &index, MPI_STATUS_IGNORE);
}

static void wait_some(void) {
  MPI_Request requests[2] = {MPI_REQUEST_NULL, MPI_REQUEST_NULL};
  int count, indices[2];
  MPI_Irecv(large, LARGE, MPI_CHAR, 1, TAG, other, &requests[1]);
  MPI_Waitsome(2, requests, &count, indices, MPI_STATUSES_IGNORE);
}

static void test_until(void) {
  MPI_Request request;
  int flag = 0;
  MPI_Irecv(large, LARGE, MPI_CHAR, 1, TAG, other, &request);
  while (!flag) MPI_Test(&request, &flag, MPI_STATUS_IGNORE);
}

static void iprobe_until(void) {
  int flag = 0;
  while (!flag) MPI_Iprobe(1, TAG, other, &flag, MPI_STATUS_IGNORE);
  recv();
}

static void barrier(void) { MPI_Barrier(other); }
static void bcast(void) { MPI_Bcast(words, WORDS, MPI_INT, 1, other); }
static void gather(void) { MPI_Gather(words, WORDS, MPI_INT, words + WORDS, WORDS, MPI_INT, 0, other); }
static void scatter(void) { MPI_Scatter(words + WORDS, WORDS, MPI_INT, words, WORDS, MPI_INT, 1, other); }
static void allgather(void) { MPI_Allgather(words, WORDS, MPI_INT, words + WORDS, WORDS, MPI_INT, other); }
static void alltoall(void) { MPI_Alltoall(words, WORDS, MPI_INT, words + 2 * WORDS, WORDS, MPI_INT, other); }
static void reduce(void) { MPI_Reduce(words, words + WORDS, WORDS, MPI_INT, MPI_SUM, 0, other); }
static void allreduce(void) { MPI_Allreduce(words, words + WORDS, WORDS, MPI_INT, MPI_SUM, other); }
static void allgatherv(void) {
  const int counts[2] = {WORDS, WORDS}, places[2] = {WORDS, 0};
  MPI_Allgatherv(words, WORDS, MPI_INT, words + WORDS, counts, places, MPI_INT, other);
}
static void reduce_scatter_block(void) {
  MPI_Reduce_scatter_block(words, words + 2 * WORDS, WORDS, MPI_INT, MPI_SUM, other);
}

static void dup(void) {
  MPI_Comm made;
  MPI_Comm_dup(other, &made);
  MPI_Comm_free(&made);
}

static void split(void) {
  MPI_Comm made;
  MPI_Comm_split(other, 0, 0, &made);
  MPI_Comm_free(&made);
}

static void split_type(void) {
  MPI_Comm made;
  MPI_Comm_split_type(other, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &made);
  MPI_Comm_free(&made);
}

static void create(void) {
  MPI_Comm made;
  MPI_Group group;
  MPI_Comm_group(other, &group);
  MPI_Comm_create(other, group, &made);
  MPI_Group_free(&group);
  MPI_Comm_free(&made);
}

static void create_group(void) {
  MPI_Comm made;
  MPI_Group group;
  MPI_Comm_group(other, &group);
  MPI_Comm_create_group(other, group, TAG, &made);
  MPI_Group_free(&group);
  MPI_Comm_free(&made);
}

#if MPI_VERSION >= 4 || defined(OMPI_MAJOR_VERSION) && OMPI_MAJOR_VERSION >= 5
#define HAS_SESSIONS
static void create_from_group(void) {
  MPI_Comm made;
  MPI_Group group;
  MPI_Comm_group(other, &group);
  MPI_Comm_create_from_group(group, "progress", MPI_INFO_NULL, MPI_ERRORS_ARE_FATAL, &made);
  MPI_Group_free(&group);
  MPI_Comm_free(&made);
}
#endif

static void cart_create(void) {
  MPI_Comm made;
  const int sizes[1] = {2}, periods[1] = {1};
  MPI_Cart_create(other, 1, sizes, periods, 0, &made);
  MPI_Comm_free(&made);
}

static void dist_graph_create(void) {
  MPI_Comm made;
  const int neighbor = rank_of_other(), weight = 1;
  MPI_Dist_graph_create_adjacent(other, 1, &neighbor, &weight, 1, &neighbor, &weight, MPI_INFO_NULL, 0, &made);
  MPI_Comm_free(&made);
}

static void intercomm_create(void) {
  MPI_Comm made;
  MPI_Intercomm_create(MPI_COMM_SELF, 0, other, rank_of_other(), TAG, &made);
  MPI_Comm_free(&made);
}

static void intercomm_merge(void) {
  MPI_Comm made, merged;
  MPI_Intercomm_create(MPI_COMM_SELF, 0, other, rank_of_other(), TAG, &made);
  MPI_Intercomm_merge(made, 0, &merged);
  MPI_Comm_free(&merged);
  MPI_Comm_free(&made);
}

static void win_create(void) {
  MPI_Win window;
  MPI_Win_create(words, sizeof words, 1, MPI_INFO_NULL, other, &window);
  MPI_Win_free(&window);
}

static void win_allocate_shared(void) {
  MPI_Win window;
  void* base;
  MPI_Win_allocate_shared(4096, 1, MPI_INFO_NULL, other, &base, &window);
  MPI_Win_free(&window);
}

static void win_fence(void) {
  MPI_Win window;
  MPI_Win_create(words, sizeof words, 1, MPI_INFO_NULL, other, &window);
  MPI_Win_fence(0, window);
  MPI_Put(words, 1, MPI_INT, rank_of_other(), 64, 1, MPI_INT, window);
  MPI_Win_fence(0, window);
  MPI_Win_free(&window);
}

static void win_lock(void) {
  MPI_Win window;
  MPI_Win_create(words, sizeof words, 1, MPI_INFO_NULL, other, &window);
  MPI_Win_lock(MPI_LOCK_EXCLUSIVE, rank_of_other(), 0, window);
  MPI_Put(words, 1, MPI_INT, rank_of_other(), 64, 1, MPI_INT, window);
  MPI_Win_unlock(rank_of_other(), window);
  MPI_Win_free(&window);
}

static void win_start(void) {
  MPI_Win window;
  MPI_Group everybody, peer;
  const int rank = rank_of_other();
  MPI_Comm_group(other, &everybody);
  MPI_Group_incl(everybody, 1, &rank, &peer);
  MPI_Win_create(words, sizeof words, 1, MPI_INFO_NULL, other, &window);
  MPI_Win_post(peer, 0, window);
  MPI_Win_start(peer, 0, window);
  MPI_Put(words, 1, MPI_INT, rank, 64, 1, MPI_INT, window);
  MPI_Win_complete(window);
  MPI_Win_wait(window);
  MPI_Win_free(&window);
  MPI_Group_free(&peer);
  MPI_Group_free(&everybody);
}

static MPI_File open_file(void) {
  char name[sizeof folder + 16];
  MPI_File file;
  snprintf(name, sizeof name, "%s/shared", folder);
  MPI_File_open(other, name, MPI_MODE_CREATE | MPI_MODE_RDWR, MPI_INFO_NULL, &file);
  return file;
}

static void file_open(void) {
  MPI_File file = open_file();
  MPI_File_close(&file);
}

static void file_write(void) {
  MPI_File file = open_file();
  MPI_File_write_at_all(file, (MPI_Offset)(rank_of_other() * (int)sizeof words), words, WORDS, MPI_INT,
                        MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}

#if MPI_VERSION >= 4
static void win_allocate_large(void) {
  MPI_Win window;
  void* base;
  MPI_Win_allocate_c(4096, 1, MPI_INFO_NULL, other, &base, &window);
  MPI_Win_free(&window);
}

static void file_write_large(void) {
  MPI_File file = open_file();
  MPI_File_write_at_all_c(file, (MPI_Offset)(rank_of_other() * (int)sizeof words), words, WORDS, MPI_INT,
                          MPI_STATUS_IGNORE);
  MPI_File_close(&file);
}
#endif

static void file_read(void) {
  MPI_File file = open_file();
  MPI_File_set_size(file, 4096);
  MPI_File_read_at_all(file, 0, words, WORDS, MPI_INT, MPI_STATUS_IGNORE);
  MPI_File_sync(file);
  MPI_File_close(&file);
}

const struct blocked blocked_calls[] = {
    {"Send", send, recv},
    {"Ssend", ssend, recv},
    {"Recv", recv, answer},
    {"Sendrecv", sendrecv, sendrecv},
    {"Sendrecv_replace", sendrecv_replace, sendrecv_replace},
    {"Probe", probe, answer},
    {"Mprobe", mprobe, answer},
    {"Wait", wait_one, answer},
    {"Waitall", wait_all, answer},
    {"Waitany", wait_any, answer},
    {"Waitsome", wait_some, answer},
    {"Test", test_until, answer},
    {"Iprobe", iprobe_until, answer},
    {"Barrier", barrier, barrier},
    {"Bcast", bcast, bcast},
    {"Gather", gather, gather},
    {"Scatter", scatter, scatter},
    {"Allgather", allgather, allgather},
    {"Alltoall", alltoall, alltoall},
    {"Reduce", reduce, reduce},
    {"Allreduce", allreduce, allreduce},
    {"Allgatherv", allgatherv, allgatherv},
    {"Reduce_scatter_block", reduce_scatter_block, reduce_scatter_block},
    {"Comm_dup", dup, dup},
    {"Comm_split", split, split},
    {"Comm_split_type", split_type, split_type},
    {"Comm_create", create, create},
    {"Comm_create_group", create_group, create_group},
    {"Cart_create", cart_create, cart_create},
    {"Dist_graph_create_adjacent", dist_graph_create, dist_graph_create},
    {"Intercomm_create", intercomm_create, intercomm_create},
    {"Intercomm_merge", intercomm_merge, intercomm_merge},
    {"Win_create", win_create, win_create},
    {"Win_allocate_shared", win_allocate_shared, win_allocate_shared},
    {"Win_fence", win_fence, win_fence},
    {"Win_lock", win_lock, win_lock},
    {"Win_start", win_start, win_start},
    {"File_open", file_open, file_open},
    {"File_write_at_all", file_write, file_write},
    {"File_read_at_all", file_read, file_read},
#ifdef HAS_SESSIONS
    {"Comm_create_from_group", create_from_group, create_from_group},
#endif
#if MPI_VERSION >= 4
    {"Win_allocate_c", win_allocate_large, win_allocate_large},
    {"File_write_at_all_c", file_write_large, file_write_large},
#endif
};
const int blocked_count = sizeof blocked_calls / sizeof *blocked_calls;
