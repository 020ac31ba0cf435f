/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids, graphs, the collectives along their edges in all forms, and sparse_exchange. */
#include <string.h>

#include "check.h"

/* Who stands where in a ring. */
static void check_places(tutti_group ring) {
  const int32_t rank = tutti_rank(ring), size = tutti_size(ring);
  const int32_t before = (rank + size - 1) % size, after = (rank + 1) % size;
  int dimensions = 0, got[1] = {0}, periodic[1] = {0}, at[1];
  int32_t sources[2], destinations[2], in_degree, out_degree, other, source;
  CHECK_OK(tutti_grid(ring, &dimensions, got, periodic));
  CHECK(dimensions == 1 && got[0] == size && periodic[0] == 1);
  CHECK_OK(tutti_degrees(ring, &in_degree, &out_degree));
  CHECK(in_degree == 2 && out_degree == 2);
  CHECK_OK(tutti_neighbors(ring, sources, destinations));
  CHECK(sources[0] == before && sources[1] == after && destinations[0] == before && destinations[1] == after);
  CHECK_OK(tutti_coordinates(ring, after, at));
  CHECK(at[0] == after);
  at[0] = -1;
  CHECK_OK(tutti_rank_at(ring, at, &other));
  CHECK(other == size - 1);
  CHECK_OK(tutti_shift(ring, 0, 1, &source, &other));
  CHECK(source == before && other == after);
}

static void check_without_buffers(tutti_group ring, int64_t* in) {
  CHECK_FAILS(TUTTI_USAGE, tutti_neighbor_reduce(ring, in, NULL, 2, TUTTI_INT64, TUTTI_SUM));
  CHECK_FAILS(TUTTI_USAGE, tutti_neighbor_reduce(ring, in, TUTTI_IN_PLACE, 2, TUTTI_INT64, TUTTI_SUM));
  CHECK_FAILS(TUTTI_USAGE, tutti_neighbor_allgather(ring, in, TUTTI_IN_PLACE, 2, TUTTI_INT64));
  CHECK_FAILS(TUTTI_USAGE, tutti_neighbor_alltoall(ring, TUTTI_IN_PLACE, in, 2, TUTTI_INT64));
  CHECK(strstr(tutti_last_error(), "in place") != NULL);
}

/* A ring: what goes in negative direction arrives from positive direction, also on one and on two ranks. */
static void check_ring(tutti_group group) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  const int32_t before = (rank + size - 1) % size, after = (rank + 1) % size;
  const int dims[1] = {size}, around[1] = {1};
  int64_t *in = fresh(4), *out = fresh(4), i;
  tutti_group ring;
  tutti_request request;
  tutti_persistent persistent;
  int step;
  CHECK_OK(tutti_cartesian(group, 1, dims, around, 0, &ring));
  check_places(ring);

  for (step = 0; step < 3; ++step) {
    for (i = 0; i < 4; ++i) in[i] = value(rank, i) + step;
    if (step == 0) CHECK_OK(tutti_neighbor_alltoall(ring, in, out, 2, TUTTI_INT64));
    if (step == 1) {
      CHECK_OK(tutti_ineighbor_alltoall(ring, in, out, 2, TUTTI_INT64, &request));
      CHECK_OK(tutti_wait(&request, -1));
    }
    if (step == 2) {
      CHECK_OK(tutti_neighbor_alltoall_init(ring, in, out, 2, TUTTI_INT64, &persistent));
      CHECK_OK(tutti_run(&persistent));
      CHECK_OK(tutti_persistent_free(&persistent));
    }
    for (i = 0; i < 2; ++i) {
      CHECK(out[i] == value(before, 2 + i) + step);
      CHECK(out[2 + i] == value(after, i) + step);
    }
    if (step == 0) CHECK_OK(tutti_neighbor_allgather(ring, in, out, 2, TUTTI_INT64));
    if (step == 1) {
      CHECK_OK(tutti_ineighbor_allgather(ring, in, out, 2, TUTTI_INT64, &request));
      CHECK_OK(tutti_wait(&request, -1));
    }
    if (step == 2) {
      CHECK_OK(tutti_neighbor_allgather_init(ring, in, out, 2, TUTTI_INT64, &persistent));
      CHECK_OK(tutti_run(&persistent));
      CHECK_OK(tutti_persistent_free(&persistent));
    }
    for (i = 0; i < 2; ++i) CHECK(out[i] == value(before, i) + step && out[2 + i] == value(after, i) + step);
    if (step == 0) CHECK_OK(tutti_neighbor_reduce(ring, in, out, 3, TUTTI_INT64, TUTTI_SUM));
    if (step == 1) {
      CHECK_OK(tutti_ineighbor_reduce(ring, in, out, 3, TUTTI_INT64, TUTTI_SUM, &request));
      CHECK_OK(tutti_wait(&request, -1));
    }
    if (step == 2) {
      CHECK_OK(tutti_neighbor_reduce_init(ring, in, out, 3, TUTTI_INT64, TUTTI_SUM, &persistent));
      CHECK_OK(tutti_run(&persistent));
      CHECK_OK(tutti_persistent_free(&persistent));
    }
    for (i = 0; i < 3; ++i) CHECK(out[i] == value(before, i) + value(after, i) + 2 * step);
    CHECK(out[3] == value(after, 1) + step);
  }
  check_without_buffers(ring, in);
  CHECK_FAILS(TUTTI_USAGE, tutti_neighbor_alltoall(ring, in, in, 2, TUTTI_INT64));
  CHECK_FAILS(TUTTI_USAGE, tutti_neighbor_alltoall(ring, in, NULL, 2, TUTTI_INT64));
  CHECK_FAILS(TUTTI_USAGE, tutti_neighbor_alltoall(group, in, out, 2, TUTTI_INT64));
  release(in, 4);
  release(out, 4);
  CHECK_OK(tutti_group_free(&ring));
}

/* Rank r gives r + 1 elements to the rank after it, and nothing to an edge that leads nowhere. */
static void check_varying_graph(tutti_group group) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  const int32_t before = (rank + size - 1) % size, after = (rank + 1) % size;
  const int32_t sources[1] = {before}, destinations[2] = {TUTTI_NONE, after};
  const int64_t send[2] = {2, rank + 1}, recv[1] = {before + 1}, at[2] = {0, 3}, to[1] = {1};
  int64_t *in = fresh(size + 3), *out = fresh(size + 1), i;
  tutti_group graph;
  tutti_request request;
  tutti_persistent persistent;
  int step;
  CHECK_OK(tutti_adjacent_graph(group, 1, sources, 2, destinations, &graph));
  for (step = 0; step < 6; ++step) {
    const int gathers = step % 2;
    for (i = 0; i < size + 3; ++i) in[i] = value(rank, i) + step;
    if (step == 0) CHECK_OK(tutti_neighbor_alltoallv(graph, in, send, at, out, recv, to, TUTTI_INT64));
    if (step == 1) CHECK_OK(tutti_neighbor_allgatherv(graph, in, rank + 1, out, recv, to, TUTTI_INT64));
    if (step == 2) CHECK_OK(tutti_ineighbor_alltoallv(graph, in, send, at, out, recv, to, TUTTI_INT64, &request));
    if (step == 3) CHECK_OK(tutti_ineighbor_allgatherv(graph, in, rank + 1, out, recv, to, TUTTI_INT64, &request));
    if (step == 2 || step == 3) CHECK_OK(tutti_wait(&request, -1));
    if (step == 4)
      CHECK_OK(tutti_neighbor_alltoallv_init(graph, in, send, at, out, recv, to, TUTTI_INT64, &persistent));
    if (step == 5)
      CHECK_OK(tutti_neighbor_allgatherv_init(graph, in, rank + 1, out, recv, to, TUTTI_INT64, &persistent));
    if (step > 3) {
      CHECK_OK(tutti_run(&persistent));
      CHECK_OK(tutti_persistent_free(&persistent));
    }
    CHECK(out[0] == POISON);
    for (i = 0; i < before + 1; ++i) CHECK(out[1 + i] == value(before, i + (gathers ? 0 : 3)) + step);
  }
  release(in, size + 3);
  release(out, size + 1);
  CHECK_OK(tutti_group_free(&graph));
}

/* A chain: its first rank receives nothing, its last one sends nothing, and one address may stand for both buffers. */
static void check_chain(tutti_group group) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  const int both = rank > 0 && rank + 1 < size;
  const int32_t before[1] = {rank - 1}, after[1] = {rank + 1};
  const int64_t one = 1;
  int64_t in, out, *to = both ? &out : &in;
  tutti_group chain;
  int form;
  CHECK_OK(tutti_adjacent_graph(group, rank > 0, before, rank + 1 < size, after, &chain));
  for (form = 0; form < 5; ++form) {
    in = out = value(rank, form);
    if (form == 0) CHECK_OK(tutti_neighbor_allgather(chain, &in, to, 1, TUTTI_INT64));
    if (form == 1) CHECK_OK(tutti_neighbor_alltoall(chain, &in, to, 1, TUTTI_INT64));
    if (form == 2) CHECK_OK(tutti_neighbor_reduce(chain, &in, to, 1, TUTTI_INT64, TUTTI_SUM));
    if (form == 3) CHECK_OK(tutti_neighbor_allgatherv(chain, &in, 1, to, &one, NULL, TUTTI_INT64));
    if (form == 4) CHECK_OK(tutti_neighbor_alltoallv(chain, &in, &one, NULL, to, &one, NULL, TUTTI_INT64));
    CHECK(*to == value(rank > 0 ? rank - 1 : rank, form));
  }
  if (both) CHECK_FAILS(TUTTI_USAGE, tutti_neighbor_allgather(chain, &in, &in, 1, TUTTI_INT64));
  CHECK_OK(tutti_group_free(&chain));
}

/* A field of 2 x 3 elements with a halo on both sides, around a ring of ranks: columns go where they belong. */
static void check_halo(tutti_group group) {
  enum { rows = 2, columns = 5 };
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  const int32_t before = (rank + size - 1) % size, after = (rank + 1) % size;
  const int dims[1] = {size}, periodic[1] = {1};
  const int64_t inside[2] = {8, 8 * (columns - 2)}, halo[2] = {0, 8 * (columns - 1)};
  int64_t field[rows * columns];
  tutti_layout column = NULL, both[2];
  tutti_group ring;
  tutti_request request;
  tutti_persistent persistent;
  int form, row, at;
  CHECK_OK(tutti_cartesian(group, 1, dims, periodic, 0, &ring));
  CHECK_OK(tutti_layout_strided(&column, TUTTI_INT64, rows, 1, columns));
  both[0] = both[1] = column;
  for (form = 0; form < 3; ++form) {
    for (at = 0; at < rows * columns; ++at) field[at] = value(rank, at) + form;
    if (form == 0) CHECK_OK(tutti_neighbor_alltoallw(ring, field, inside, both, field, halo, both));
    if (form == 1) {
      CHECK_OK(tutti_ineighbor_alltoallw(ring, field, inside, both, field, halo, both, &request));
      CHECK_OK(tutti_wait(&request, -1));
    }
    if (form == 2) {
      CHECK_OK(tutti_neighbor_alltoallw_init(ring, field, inside, both, field, halo, both, &persistent));
      CHECK_OK(tutti_run(&persistent));
      CHECK_OK(tutti_persistent_free(&persistent));
    }
    for (row = 0; row < rows; ++row) {
      CHECK(field[row * columns] == value(before, row * columns + columns - 2) + form);
      CHECK(field[(row + 1) * columns - 1] == value(after, row * columns + 1) + form);
      CHECK(field[row * columns + 2] == value(rank, row * columns + 2) + form);
    }
  }
  CHECK_FAILS(TUTTI_USAGE, tutti_neighbor_alltoallw(ring, TUTTI_IN_PLACE, NULL, NULL, field, halo, both));
  CHECK_FAILS(TUTTI_USAGE, tutti_neighbor_alltoallw(ring, field, inside, NULL, field, halo, both));
  CHECK_FAILS(TUTTI_USAGE, tutti_neighbor_alltoallw(group, field, inside, both, field, halo, both));
  CHECK_OK(tutti_layout_free(&column));
  CHECK_OK(tutti_group_free(&ring));
}

static void check_making(tutti_group group) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  int dims[2] = {0, 0}, wrong[1] = {size + 1};
  const int keep[2] = {1, 0};
  const int32_t me[1] = {rank};
  tutti_edge star[1] = {{0, 0}};
  int32_t in_degree, out_degree;
  int64_t from = 42, to = 0;
  tutti_group grid, column, graph, alone;
  CHECK_OK(tutti_dims_create(size, 2, dims));
  CHECK(dims[0] * dims[1] == size && dims[0] >= dims[1]);
  CHECK_FAILS(TUTTI_USAGE, tutti_dims_create(size, 1, wrong));
  CHECK_OK(tutti_cartesian(group, 2, dims, NULL, 1, &grid));
  CHECK_OK(tutti_sub_grid(grid, keep, &column));
  CHECK(tutti_size(column) == dims[0]);
  CHECK_FAILS(TUTTI_USAGE, tutti_cartesian(group, 1, wrong, NULL, 0, &graph));
  /* Everybody wants to be told by rank 0. */
  star[0].destination = rank;
  CHECK_OK(tutti_graph(group, star, 1, &graph));
  CHECK_OK(tutti_degrees(graph, &in_degree, &out_degree));
  CHECK(in_degree == 1 && out_degree == (rank == 0 ? size : 0));
  CHECK_OK(tutti_neighbor_allgather(graph, &from, &to, 1, TUTTI_INT64));
  CHECK(to == 42);
  CHECK_FAILS(TUTTI_USAGE, tutti_shift(graph, 0, 1, &in_degree, &out_degree));
  CHECK_OK(tutti_create(group, me, 1, &alone));
  CHECK(tutti_size(alone) == 1);
  CHECK_OK(tutti_group_free(&alone));
  CHECK_OK(tutti_group_free(&graph));
  CHECK_OK(tutti_group_free(&column));
  CHECK_OK(tutti_group_free(&grid));
}

/* Everybody sends its rank + 1 elements to rank 0, and nothing to itself. */
static void check_exchange(tutti_group group) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  int64_t *data = fresh(size), i;
  const tutti_parcel parcels[2] = {{0, rank + 1, data}, {rank, 0, NULL}}, beyond[1] = {{size, 0, NULL}};
  const tutti_parcel* came = NULL;
  tutti_exchange exchange = NULL;
  size_t n = 0, k = 0;
  int32_t r;
  int form;
  for (i = 0; i < size; ++i) data[i] = value(rank, i);
  for (form = 0; form < 2; ++form) {
    if (form == 0) CHECK_OK(tutti_sparse_exchange(group, parcels, 2, TUTTI_INT64, &exchange));
    if (form == 1) {
      CHECK_OK(tutti_isparse_exchange(group, parcels, 2, TUTTI_INT64, &exchange));
      CHECK_OK(tutti_wait(tutti_exchange_request(exchange), -1));
    }
    CHECK_OK(tutti_deliveries(exchange, &came, &n));
    CHECK(n == (rank == 0 ? (size_t)size + 1 : 1));
    for (r = 0, k = 0; rank == 0 && r < size; ++r, ++k) {
      CHECK(came[k].rank == r && came[k].count == r + 1);
      for (i = 0; i < r + 1; ++i) CHECK(((const int64_t*)came[k].data)[i] == value(r, i));
      if (r == 0) CHECK(came[++k].rank == 0 && came[k].count == 0);
    }
    CHECK_OK(tutti_deliveries(exchange, &came, &n));
    CHECK(n == (rank == 0 ? (size_t)size + 1 : 1));
    CHECK_OK(tutti_exchange_free(&exchange));
    CHECK(exchange == NULL);
  }
  CHECK_FAILS(TUTTI_USAGE, tutti_sparse_exchange(group, beyond, 1, TUTTI_INT64, &exchange));
  release(data, size);
}

void check_neighbors(tutti_group group) {
  check_ring(group);
  check_varying_graph(group);
  check_chain(group);
  check_halo(group);
  check_making(group);
  check_exchange(group);
}
