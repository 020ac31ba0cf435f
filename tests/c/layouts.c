/* SPDX-License-Identifier: BSD-3-Clause */
/* Buffers whose elements lie apart, and a layout for each pair of ranks. */
#include <stdlib.h>
#include <string.h>

#include "check.h"

enum { rows = 5, columns = 4 };

static void expect_column(const int64_t* matrix, int64_t column, int32_t r, int64_t factor) {
  int64_t i, j;
  for (i = 0; i < rows; ++i)
    for (j = 0; j < columns; ++j) CHECK(matrix[i * columns + j] == (j == column ? factor * value(r, i) : POISON));
}

static void check_columns(tutti_group group) {
  const int32_t rank = tutti_rank(group), last = tutti_size(group) - 1;
  int64_t *matrix = fresh(rows * columns), *line = fresh(rows), i, total = 0;
  int32_t r;
  tutti_layout column = NULL, second = NULL, copy = NULL, dense = NULL;
  tutti_request request;
  tutti_persistent again;
  CHECK_OK(tutti_layout_strided(&column, TUTTI_INT64, rows, 1, columns));
  CHECK_OK(
      tutti_layout_box(&second, TUTTI_INT64, 2, (int64_t[]){rows, columns}, (int64_t[]){rows, 1}, (int64_t[]){0, 2}));
  CHECK(tutti_layout_size(column) == rows * 8 && tutti_layout_size(second) == rows * 8);
  CHECK(tutti_layout_extent(second) == rows * columns * 8);
  CHECK(tutti_type_size(tutti_laid_out(column, second)) == 8);
  /* bcast of a column, then allreduce of a row into another column, in all forms. */
  for (i = 0; i < rows; ++i) matrix[i * columns] = rank == last ? value(last, i) : POISON;
  CHECK_OK(tutti_bcast(group, matrix, rows, tutti_laid_out(NULL, column), last));
  expect_column(matrix, 0, last, 1);
  for (i = 0; i < rows; ++i) matrix[i * columns] = POISON;
  for (r = 0; r <= last; ++r) total += value(r, 0);
  for (i = 0; i < rows; ++i) line[i] = value(rank, 0);
  CHECK_OK(tutti_iallreduce(group, line, matrix, rows, tutti_laid_out(NULL, second), TUTTI_SUM, &request));
  CHECK_OK(tutti_wait(&request, -1));
  for (i = 0; i < rows; ++i) CHECK(matrix[i * columns + 2] == total && matrix[i * columns + 1] == POISON);
  /* In place: the sum of the sums. */
  CHECK_OK(tutti_allreduce_init(group, TUTTI_IN_PLACE, matrix, rows, tutti_laid_out(NULL, second), TUTTI_SUM, &again));
  CHECK_OK(tutti_run(&again));
  CHECK_OK(tutti_persistent_free(&again));
  for (i = 0; i < rows; ++i) CHECK(matrix[i * columns + 2] == total * (last + 1) && matrix[i * columns + 3] == POISON);
  /* From one column into another of the same memory. */
  for (i = 0; i < rows; ++i) matrix[i * columns + 2] = POISON, matrix[i * columns] = value(0, i);
  CHECK_OK(tutti_allreduce(group, matrix, matrix, rows, tutti_laid_out(column, second), TUTTI_MAX));
  for (i = 0; i < rows; ++i)
    CHECK(matrix[i * columns + 2] == matrix[i * columns] && matrix[i * columns] == value(0, i));
  /* Into the first column from a copy of its layout, which is in place; not from one that only begins there. */
  CHECK_OK(tutti_layout_strided(&copy, TUTTI_INT64, rows, 1, columns));
  CHECK_OK(tutti_layout_strided(&dense, TUTTI_INT64, rows, 1, 1));
  for (i = 0; i < rows; ++i) matrix[i * columns] = value(rank, 0), matrix[i * columns + 1] = POISON;
  CHECK_FAILS(TUTTI_USAGE, tutti_allreduce(group, matrix, matrix, rows, tutti_laid_out(column, dense), TUTTI_SUM));
  CHECK_FAILS(TUTTI_USAGE, tutti_allreduce(group, matrix, matrix, rows, tutti_laid_out(NULL, column), TUTTI_SUM));
  CHECK_OK(tutti_allreduce(group, matrix, matrix, rows, tutti_laid_out(column, copy), TUTTI_SUM));
  for (i = 0; i < rows; ++i) CHECK(matrix[i * columns] == total && matrix[i * columns + 1] == POISON);
  CHECK_OK(tutti_layout_free(&copy));
  CHECK_OK(tutti_layout_free(&dense));
  CHECK_OK(tutti_layout_free(&column));
  CHECK_OK(tutti_layout_free(&second));
  CHECK(column == NULL);
  release(matrix, rows * columns);
  release(line, rows);
}

typedef struct record {
  int32_t kind;
  double values[2];
  char hole;
  int16_t mark;
} record;

/* The fields of three records travel, and the holes stay. */
static void check_records(tutti_group group) {
  record records[3], before[3];
  tutti_layout kind = NULL, values = NULL, mark = NULL, one = NULL, sized = NULL, all = NULL;
  const int64_t offsets[3] = {offsetof(record, kind), offsetof(record, values), offsetof(record, mark)};
  tutti_layout fields[3];
  int i;
  CHECK_OK(tutti_layout_strided(&kind, TUTTI_INT32, 1, 1, 1));
  CHECK_OK(tutti_layout_strided(&values, TUTTI_FLOAT64, 1, 2, 2));
  CHECK_OK(tutti_layout_indexed(&mark, tutti_type_opaque(2), 1, (int64_t[]){1}, (int64_t[]){0}));
  fields[0] = kind, fields[1] = values, fields[2] = mark;
  CHECK_OK(tutti_layout_mixed(&one, 3, offsets, fields));
  CHECK_OK(tutti_layout_resized(&sized, one, 0, sizeof(record)));
  CHECK(tutti_layout_extent(sized) == (int64_t)sizeof(record) && tutti_layout_size(sized) == 22);
  CHECK_OK(tutti_layout_nested(&all, sized, 3, sizeof(record)));
  memset(records, 0x11 + tutti_rank(group), sizeof records);
  memcpy(before, records, sizeof records);
  for (i = 0; tutti_rank(group) == 0 && i < 3; ++i) {
    records[i].kind = i, records[i].values[0] = i / 2.0, records[i].values[1] = -i, records[i].mark = (int16_t)(7 * i);
  }
  CHECK_OK(tutti_bcast(group, records, 66, tutti_laid_out(all, all), 0));
  for (i = 0; i < 3; ++i) {
    CHECK(records[i].kind == i && records[i].values[0] == i / 2.0 && records[i].values[1] == -i);
    CHECK(records[i].mark == 7 * i && records[i].hole == before[i].hole);
  }
  CHECK_FAILS(TUTTI_USAGE, tutti_allreduce(group, records, before, 66, tutti_laid_out(all, all), TUTTI_SUM));
  CHECK_OK(tutti_layout_free(&kind));
  CHECK_OK(tutti_layout_free(&values));
  CHECK_OK(tutti_layout_free(&mark));
  CHECK_OK(tutti_layout_free(&one));
  CHECK_OK(tutti_layout_free(&sized));
  CHECK_OK(tutti_layout_free(&all));
}

/* A matrix, whose rows are spread over the ranks, transposed: rank r's block column j goes to rank j's block row. */
static void check_exchange(tutti_group group, int form) {
  const int32_t rank = tutti_rank(group), size = tutti_size(group);
  const size_t n = (size_t)size;
  int64_t *in = fresh(2 * size), *out = fresh(2 * size), *offsets = malloc(n * sizeof(int64_t)), i;
  tutti_layout *send = malloc(n * sizeof(tutti_layout)), *recv = malloc(n * sizeof(tutti_layout));
  tutti_layout pair = NULL, apart = NULL;
  tutti_request request;
  tutti_persistent again;
  CHECK(offsets != NULL && send != NULL && recv != NULL);
  CHECK_OK(tutti_layout_strided(&pair, TUTTI_INT64, 1, 2, 2));
  CHECK_OK(tutti_layout_strided(&apart, TUTTI_INT64, 2, 1, size));
  for (i = 0; i < 2 * size; ++i) in[i] = value(rank, i);
  for (i = 0; i < size; ++i) send[i] = pair, recv[i] = apart, offsets[i] = 16 * i;
  {
    int64_t* to = malloc(n * sizeof(int64_t));
    CHECK(to != NULL);
    for (i = 0; i < size; ++i) to[i] = 8 * i;
    if (form == 0) CHECK_OK(tutti_alltoallw(group, in, offsets, send, out, to, recv));
    if (form == 1) {
      CHECK_OK(tutti_ialltoallw(group, in, offsets, send, out, to, recv, &request));
      CHECK_OK(tutti_wait(&request, -1));
    }
    if (form == 2) {
      CHECK_OK(tutti_alltoallw_init(group, in, offsets, send, out, to, recv, &again));
      CHECK_OK(tutti_run(&again));
      CHECK_OK(tutti_persistent_free(&again));
    }
    for (i = 0; i < size; ++i) {
      CHECK(out[i] == value((int32_t)i, 2 * rank) && out[size + i] == value((int32_t)i, 2 * rank + 1));
    }
    /* And back, in place. */
    CHECK_OK(tutti_alltoallw(group, TUTTI_IN_PLACE, NULL, NULL, out, to, recv));
    for (i = 0; i < size; ++i) CHECK(out[i] == value(rank, 2 * i) && out[size + i] == value(rank, 2 * i + 1));
    if (size > 1) CHECK_FAILS(TUTTI_USAGE, tutti_alltoallw(group, in, offsets, send, out, NULL, recv));
    free(to);
  }
  CHECK_OK(tutti_layout_free(&pair));
  CHECK_OK(tutti_layout_free(&apart));
  free(offsets);
  free(send);
  free(recv);
  release(in, 2 * size);
  release(out, 2 * size);
}

/* Messages of more elements than their layout names. */
static void check_long_messages(tutti_group group) {
  const int32_t size = tutti_size(group), peer = (tutti_rank(group) + 1) % size;
  int64_t* matrix = fresh(2 * rows * columns);
  tutti_layout column = NULL;
  tutti_request request;
  if (size > 1) {
    CHECK_OK(tutti_layout_strided(&column, TUTTI_INT64, rows, 1, columns));
    CHECK_FAILS(TUTTI_USAGE, tutti_isend(group, matrix, rows + 1, tutti_laid_out(column, NULL), peer, 7, &request));
    CHECK(strstr(tutti_last_error(), "48 bytes") != NULL);
    CHECK_FAILS(TUTTI_USAGE, tutti_irecv(group, matrix, rows + 1, tutti_laid_out(NULL, column), peer, 7, &request));
    CHECK(strstr(tutti_last_error(), "48 bytes") != NULL);
    CHECK_OK(tutti_layout_free(&column));
  }
  release(matrix, 2 * rows * columns);
}

static void check_refused(tutti_group group) {
  int64_t* data = fresh(10);
  tutti_layout layout = NULL, other = NULL, nested = NULL;
  tutti_type type;
  CHECK_FAILS(TUTTI_USAGE, tutti_layout_strided(&layout, TUTTI_INT64, -1, 1, 1));
  CHECK_FAILS(TUTTI_USAGE, tutti_layout_strided(NULL, TUTTI_INT64, 1, 1, 1));
  CHECK_FAILS(TUTTI_USAGE, tutti_layout_strided(&layout, 99, 1, 1, 1));
  CHECK_FAILS(TUTTI_USAGE, tutti_layout_nested(&layout, NULL, 1, 1));
  CHECK_FAILS(TUTTI_USAGE, tutti_layout_indexed(&layout, TUTTI_INT64, 1, NULL, NULL));
  CHECK(layout == NULL && tutti_layout_size(NULL) == -1 && tutti_layout_extent(NULL) == -1);
  CHECK(tutti_laid_out(NULL, NULL) == 0);
  CHECK_OK(tutti_layout_strided(&layout, TUTTI_INT64, 2, 2, 1)); /* each block overlaps the next */
  CHECK_OK(tutti_layout_strided(&other, TUTTI_INT32, 2, 2, 1));
  CHECK(tutti_laid_out(layout, other) == 0);
  type = tutti_laid_out(NULL, layout);
  CHECK_FAILS(TUTTI_USAGE, tutti_layout_strided(&nested, type, 3, 1, 10));
  CHECK(strstr(tutti_last_error(), "tutti_layout_nested") != NULL);
  CHECK_FAILS(TUTTI_USAGE, tutti_allreduce(group, data, data + 4, 4, type, TUTTI_SUM));
  CHECK(strstr(tutti_last_error(), "overlap") != NULL);
  CHECK_FAILS(TUTTI_USAGE, tutti_allreduce(group, data, data + 5, 5, type, TUTTI_SUM)); /* it has 4 */
  CHECK(strstr(tutti_last_error(), "40 bytes") != NULL);
  check_long_messages(group);
  CHECK_OK(tutti_barrier(group)); /* ranks that are threads share the numbers: nobody takes this one meanwhile */
  CHECK_OK(tutti_layout_free(&layout));
  CHECK_FAILS(TUTTI_USAGE, tutti_allreduce(group, data, data + 4, 4, type, TUTTI_SUM));
  CHECK(strstr(tutti_last_error(), "freed") != NULL);
  CHECK_OK(tutti_barrier(group));
  CHECK_OK(tutti_layout_free(&layout));
  CHECK_OK(tutti_layout_free(&other));
  release(data, 10);
}

void check_layouts(tutti_group group) {
  int form;
  check_columns(group);
  check_records(group);
  for (form = 0; form < 3; ++form) check_exchange(group, form);
  check_refused(group);
}
