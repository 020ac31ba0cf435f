/* SPDX-License-Identifier: BSD-3-Clause */
/* Memory of the library's own: the same results, and the owner's again as soon as a call is over. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { LENGTH = 40000 };

static int64_t* lent(tutti_group group) {
  void* memory = NULL;
  CHECK_OK(tutti_allocate(group, LENGTH * (int64_t)sizeof(int64_t), &memory));
  for (int i = 0; i < LENGTH; ++i) CHECK(((int64_t*)memory)[i] == 0);
  return memory;
}

static void check_message(tutti_group world, int64_t* in, int64_t* out) {
  const int32_t rank = tutti_rank(world), size = tutti_size(world);
  const int32_t to = (rank + 1) % size, from = (rank + size - 1) % size;
  tutti_request request;
  fill(in, rank, 0, LENGTH);
  CHECK_OK(tutti_irecv(world, out, LENGTH, TUTTI_INT64, from, 5, &request));
  CHECK_OK(tutti_send(world, in, LENGTH, TUTTI_INT64, to, 5));
  memset(in, 0, LENGTH * sizeof *in);
  CHECK_OK(tutti_wait(&request, -1));
  expect(out, from, 0, LENGTH);
}

void check_memory(tutti_group world) {
  const int32_t rank = tutti_rank(world), size = tutti_size(world);
  const int64_t part = LENGTH / size;
  tutti_group copy;
  void* none = &copy;
  CHECK_FAILS(TUTTI_USAGE, tutti_allocate(NULL, 8, &none));
  CHECK_FAILS(TUTTI_USAGE, tutti_allocate(world, -1, &none));
  CHECK_FAILS(TUTTI_USAGE, tutti_allocate(world, 8, NULL));
  CHECK_FAILS(TUTTI_SYSTEM, tutti_allocate(world, INT64_MAX, &none));
  CHECK(none == &copy);
  CHECK_FAILS(TUTTI_USAGE, tutti_release(&copy));
  CHECK_OK(tutti_release(NULL));

  int64_t *in = lent(world), *out = lent(world);
  for (int32_t root = 0; root < size; ++root) {
    for (int i = 0; i < LENGTH; ++i) in[i] = rank == root ? value(root, i) : POISON;
    CHECK_OK(tutti_bcast(world, in, LENGTH, TUTTI_INT64, root));
    expect(in, root, 0, LENGTH);
    memset(in, 0, LENGTH * sizeof *in); /* nobody may see that */
  }
  for (int round = 0; round < 3; ++round) {
    for (int64_t i = 0; i < LENGTH; ++i) in[i] = rank + i + round;
    CHECK_OK(tutti_allreduce(world, in, out, LENGTH, TUTTI_INT64, TUTTI_SUM));
    memset(in, 0, LENGTH * sizeof *in);
    for (int64_t i = 0; i < LENGTH; ++i) CHECK(out[i] == size * (i + round) + (int64_t)size * (size - 1) / 2);
    for (int32_t to = 0; to < size; ++to) fill(in + to * part, rank, to * part, part);
    CHECK_OK(tutti_alltoall(world, in, out, part, TUTTI_INT64));
    memset(in, 0, LENGTH * sizeof *in);
    for (int32_t from = 0; from < size; ++from) expect(out + from * part, from, rank * part, part);
  }
  if (size > 1) check_message(world, in, out);
  CHECK_OK(tutti_release(in));
  CHECK_FAILS(TUTTI_USAGE, tutti_release(in));
  CHECK_OK(tutti_release(out));

  CHECK_OK(tutti_dup(world, &copy));
  in = lent(copy);
  CHECK_OK(tutti_group_free(&copy));
  memset(in, 1, LENGTH * sizeof *in); /* it outlives the group */
  CHECK_OK(tutti_release(in));
}
