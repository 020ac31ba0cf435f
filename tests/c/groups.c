/* SPDX-License-Identifier: BSD-3-Clause */
/* Groups made of groups, the choice of algorithms, and what is refused. */
#include <string.h>

#include "check.h"

/* A group works when its ranks add up. */
static void check_works(tutti_group group, int32_t rank, int32_t size) {
  int64_t mine, sum;
  CHECK(tutti_rank(group) == rank);
  CHECK(tutti_size(group) == size);
  mine = rank;
  CHECK_OK(tutti_allreduce(group, &mine, &sum, 1, TUTTI_INT64, TUTTI_SUM));
  CHECK(sum == (int64_t)size * (size - 1) / 2);
}

/* Of a group that has lost nobody. */
static void check_survivors(tutti_group world) {
  const int32_t rank = tutti_rank(world), size = tutti_size(world);
  int all = -1;
  int32_t lost = -1;
  tutti_group same;
  CHECK_OK(tutti_agree(world, 7, &all));
  CHECK(all == 1);
  CHECK_OK(tutti_agree(world, rank != size - 1, &all));
  CHECK(all == 0);
  CHECK_OK(tutti_lost(world, NULL, 0, &lost));
  CHECK(lost == 0);
  CHECK_FAILS(TUTTI_USAGE, tutti_agree(world, 1, NULL));
  CHECK_FAILS(TUTTI_USAGE, tutti_lost(world, NULL, 1, &lost));
  CHECK_FAILS(TUTTI_USAGE, tutti_shrink(NULL, &same));
  CHECK_OK(tutti_shrink(world, &same));
  check_works(same, rank, size);
  CHECK_OK(tutti_group_free(&same));
}

void check_groups(tutti_group world) {
  const int32_t rank = tutti_rank(world), size = tutti_size(world);
  const int32_t listed[] = {size - 1, 0};
  const int32_t listed_count = size > 1 ? 2 : 1;
  tutti_group part, copy, node, list;
  CHECK_OK(tutti_split(world, rank % 2, -rank, &part));
  check_works(part, (size - 1 - rank) / 2, (size + 1 - rank % 2) / 2);
  CHECK_OK(tutti_group_free(&part));
  CHECK_OK(tutti_split(world, rank == 0 ? -1 : 0, 0, &part));
  if (rank == 0)
    CHECK(part == NULL);
  else
    check_works(part, rank - 1, size - 1);
  CHECK_OK(tutti_group_free(&part));

  CHECK_OK(tutti_dup(world, &copy));
  check_works(copy, rank, size);
  CHECK_OK(tutti_split_by_host(copy, 0, &node));
  check_works(node, rank, size); /* one machine */
  CHECK_OK(tutti_group_free(&copy));
  check_works(node, rank, size);
  CHECK_OK(tutti_group_free(&node));

  CHECK_OK(tutti_subgroup(world, listed, listed_count, &list));
  if (rank == size - 1)
    check_works(list, 0, listed_count);
  else if (rank == 0)
    check_works(list, 1, listed_count);
  else
    CHECK(list == NULL);
  CHECK_OK(tutti_group_free(&list));
  if (size > 1) {
    const int32_t turned[2] = {listed[1], listed[0]};
    CHECK_FAILS(TUTTI_MISMATCH, tutti_subgroup(world, rank == size - 1 ? turned : listed, 2, &list));
    CHECK(strstr(tutti_last_error(), "do not pass the same list") != NULL);
    CHECK(tutti_last_error_peer() == (rank == size - 1 ? 0 : size - 1));
    CHECK_FAILS(TUTTI_MISMATCH, tutti_subgroup(world, &rank, 1, &list));
    check_works(world, rank, size); /* all have seen it: nothing is broken */
  }
  check_survivors(world);
}

static void check_choice(tutti_group world) {
  CHECK_OK(tutti_choose(world, "allreduce", "ring"));
  check_works(world, tutti_rank(world), tutti_size(world));
  CHECK_OK(tutti_choose(world, "allreduce", "no such algorithm"));
  {
    int64_t mine = 1, sum;
    CHECK_FAILS(TUTTI_USAGE, tutti_allreduce(world, &mine, &sum, 1, TUTTI_INT64, TUTTI_SUM));
    CHECK(strstr(tutti_last_error(), "no such algorithm") != NULL);
  }
  CHECK_OK(tutti_choose(world, "allreduce", NULL));
  check_works(world, tutti_rank(world), tutti_size(world));
  CHECK_FAILS(TUTTI_USAGE, tutti_choose(world, "gossip", "ring"));
  CHECK(strstr(tutti_last_error(), "gossip") != NULL);
}

/* Nothing of this is sent: the group works afterwards. */
static void check_refused(tutti_group world) {
  const int32_t rank = tutti_rank(world), size = tutti_size(world);
  tutti_op no_op = TUTTI_SUM;
  tutti_request request = {NULL};
  double number = 1, other;
  int done, fd;
  no_op.code = 77;
  CHECK_FAILS(TUTTI_USAGE, tutti_barrier(NULL));
  CHECK(strstr(tutti_last_error(), "NULL") != NULL);
  CHECK(tutti_last_error_peer() == -1);
  CHECK_FAILS(TUTTI_USAGE, tutti_bcast(world, &number, 1, TUTTI_FLOAT64, size));
  CHECK_FAILS(TUTTI_USAGE, tutti_bcast(world, &number, -1, TUTTI_FLOAT64, 0));
  CHECK_FAILS(TUTTI_USAGE, tutti_bcast(world, &number, 1, (tutti_type)200, 0));
  CHECK_FAILS(TUTTI_USAGE, tutti_bcast(world, &number, 1, tutti_type_opaque(0), 0));
  CHECK_FAILS(TUTTI_USAGE, tutti_allreduce(world, &number, &other, 1, TUTTI_FLOAT64, TUTTI_BAND));
  CHECK_FAILS(TUTTI_USAGE, tutti_allreduce(world, &number, &other, 1, TUTTI_FLOAT64, no_op));
  CHECK_FAILS(TUTTI_USAGE, tutti_allreduce(world, &number, &other, 1, tutti_type_opaque(8), TUTTI_SUM));
  CHECK_FAILS(TUTTI_USAGE, tutti_allgatherv(world, &number, 1, &other, NULL, NULL, TUTTI_FLOAT64));
  CHECK_FAILS(TUTTI_USAGE, tutti_ibarrier(world, NULL));
  CHECK_FAILS(TUTTI_USAGE, tutti_bcast(world, NULL, 1, TUTTI_FLOAT64, 0));
  CHECK_FAILS(TUTTI_USAGE, tutti_allreduce(world, NULL, &other, 1, TUTTI_FLOAT64, TUTTI_SUM));
  CHECK_FAILS(TUTTI_USAGE, tutti_allreduce(world, &number, NULL, 1, TUTTI_FLOAT64, TUTTI_SUM));
  CHECK_FAILS(TUTTI_USAGE, tutti_reduce(world, &number, NULL, 1, TUTTI_FLOAT64, TUTTI_SUM, rank));
  CHECK_FAILS(TUTTI_USAGE, tutti_scatter(world, NULL, &other, 1, TUTTI_FLOAT64, rank));
  CHECK_FAILS(TUTTI_USAGE, tutti_send(world, NULL, 1, TUTTI_FLOAT64, (rank + 1) % size, 0));
  CHECK_OK(tutti_bcast(world, NULL, 0, TUTTI_FLOAT64, 0)); /* nothing needs no place */
  CHECK_OK(tutti_allreduce(world, NULL, NULL, 0, TUTTI_FLOAT64, TUTTI_SUM));
  CHECK_FAILS(TUTTI_USAGE, tutti_send(world, &number, 1, TUTTI_FLOAT64, size, 0));
  CHECK_FAILS(TUTTI_USAGE, tutti_dup(world, NULL));
  CHECK_FAILS(TUTTI_USAGE, tutti_test(&request, NULL));
  CHECK_FAILS(TUTTI_USAGE, tutti_request_fd(&request, &fd));
  CHECK_FAILS(TUTTI_USAGE, tutti_wait(NULL, -1));
  if (rank != 0) {
    CHECK_FAILS(TUTTI_USAGE, tutti_gather(world, TUTTI_IN_PLACE, &other, 1, TUTTI_FLOAT64, 0));
    CHECK_FAILS(TUTTI_USAGE, tutti_scatter(world, &number, TUTTI_IN_PLACE, 1, TUTTI_FLOAT64, 0));
  }
  CHECK_OK(tutti_test(&request, &done)); /* an empty request is complete */
  CHECK(done == 1);
  CHECK(tutti_rank(NULL) == -1 && tutti_size(NULL) == -1);
  CHECK(strcmp(tutti_name(NULL), "") == 0);
  CHECK(tutti_type_size(TUTTI_COMPLEX64) == 8 && tutti_type_size((tutti_type)200) == 0);
  CHECK(strcmp(tutti_status_name(TUTTI_PEER_LOST), "peer lost") == 0);
  check_works(world, rank, size);
}

/* Ranks that disagree on the root learn it, and their group is broken; the world is not. */
static void check_mismatch(tutti_group world) {
  int64_t number = 1;
  tutti_group copy;
  tutti_status status;
  if (tutti_size(world) < 2) return;
  CHECK_OK(tutti_dup(world, &copy));
  status = tutti_rank(copy) == 0 ? tutti_barrier(copy) : tutti_bcast(copy, &number, 1, TUTTI_INT64, 0);
  CHECK(status == TUTTI_MISMATCH || status == TUTTI_BROKEN);
  CHECK(strlen(tutti_last_error()) > 0);
  status = tutti_barrier(copy);
  CHECK(status == TUTTI_MISMATCH || status == TUTTI_BROKEN);
  CHECK_OK(tutti_group_free(&copy));
  check_works(world, tutti_rank(world), tutti_size(world));
}

void check_errors(tutti_group world) {
  check_choice(world);
  check_refused(world);
  check_mismatch(world);
}
