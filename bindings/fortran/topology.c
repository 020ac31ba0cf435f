/* SPDX-License-Identifier: BSD-3-Clause */
/* Grids, graphs and sparse_exchange, as far as arrays are handed over; the rest is made from the table. */
#include <stdlib.h>

#include "descriptors.h"

void tutti_fortran_edges(tutti_checked* call, tutti_group group, int32_t* sources, int32_t* destinations) {
  *sources = *destinations = 0;
  call->status = tutti_fortran_library(tutti_degrees(group, sources, destinations));
}

static int64_t length(const CFI_cdesc_t* array, int dimensions) {
  int64_t count = 1;
  int i;
  for (i = 0; i < dimensions; ++i) count *= array->dim[i].extent;
  return count;
}

int64_t tutti_fortran_block(const CFI_cdesc_t* in, int32_t destinations, const CFI_cdesc_t* out, int32_t sources) {
  if (sources > 0) return length(out, out->rank) / sources;
  if (destinations > 0) return length(in, in->rank) / destinations;
  return out->rank > 1 ? length(out, out->rank - 1) : 0;
}

/* Fortran's logicals as C's truths, `needed` of them; free() it. */
static int* truths(tutti_checked* call, const char* name, const CFI_cdesc_t* logicals, int64_t needed) {
  const _Bool* const from = tutti_fortran_list(call, name, logicals, needed);
  int* to = NULL;
  int64_t i;
  if (from == NULL || call->status != TUTTI_OK) return NULL;
  to = malloc((size_t)(needed + 1) * sizeof(int));
  if (to == NULL) tutti_fortran_refuse(call, name, "needs more memory than there is");
  for (i = 0; to != NULL && i < needed; ++i) to[i] = from[i];
  return to;
}

/* The number of a grid's dimensions; a failed call for a group that is no grid. */
static int dimensions_of(tutti_checked* call, tutti_group grid) {
  int dimensions = 0;
  call->status = tutti_fortran_library(tutti_grid(grid, &dimensions, NULL, NULL));
  return dimensions;
}

void tutti_fortran_dims_create(const int32_t* size, const CFI_cdesc_t* dims, int* ierror) {
  tutti_fortran_end(tutti_fortran_library(tutti_dims_create(*size, (int)dims->dim[0].extent, dims->base_addr)), ierror);
}

void tutti_fortran_cartesian(const tutti_group* group, const CFI_cdesc_t* dims, tutti_group* grid, int* ierror,
                             const CFI_cdesc_t* periodic, const _Bool* reorder) {
  tutti_checked call = {.what = "cartesian"};
  const int dimensions = (int)dims->dim[0].extent;
  int* const around = truths(&call, "periodic", periodic, dimensions);
  if (call.status == TUTTI_OK)
    call.status = tutti_fortran_library(
        tutti_cartesian(*group, dimensions, dims->base_addr, around, reorder != NULL && *reorder, grid));
  free(around);
  tutti_fortran_finish(&call, ierror);
}

void tutti_fortran_grid(const tutti_group* grid, int* dimensions, int* ierror, const CFI_cdesc_t* dims,
                        const CFI_cdesc_t* periodic) {
  tutti_checked call = {.what = "grid"};
  const int n = dimensions_of(&call, *grid);
  int* const sizes = tutti_fortran_list(&call, "dims", dims, n);
  int* const around = truths(&call, "periodic", periodic, n);
  int i;
  if (call.status == TUTTI_OK) call.status = tutti_fortran_library(tutti_grid(*grid, dimensions, sizes, around));
  for (i = 0; call.status == TUTTI_OK && around != NULL && i < n; ++i)
    ((_Bool*)periodic->base_addr)[i] = around[i] != 0;
  free(around);
  tutti_fortran_finish(&call, ierror);
}

void tutti_fortran_coordinates(const tutti_group* grid, const int32_t* rank, const CFI_cdesc_t* coordinates,
                               int* ierror) {
  tutti_checked call = {.what = "coordinates"};
  int* const to = tutti_fortran_list(&call, "coordinates", coordinates, dimensions_of(&call, *grid));
  if (call.status == TUTTI_OK) call.status = tutti_fortran_library(tutti_coordinates(*grid, *rank, to));
  tutti_fortran_finish(&call, ierror);
}

void tutti_fortran_rank_at(const tutti_group* grid, const CFI_cdesc_t* coordinates, int32_t* rank, int* ierror) {
  tutti_checked call = {.what = "rank_at"};
  const int* const at = tutti_fortran_list(&call, "coordinates", coordinates, dimensions_of(&call, *grid));
  if (call.status == TUTTI_OK) call.status = tutti_fortran_library(tutti_rank_at(*grid, at, rank));
  tutti_fortran_finish(&call, ierror);
}

void tutti_fortran_sub_grid(const tutti_group* grid, const CFI_cdesc_t* keep, tutti_group* part, int* ierror) {
  tutti_checked call = {.what = "sub_grid"};
  int* const kept = truths(&call, "keep", keep, dimensions_of(&call, *grid));
  if (call.status == TUTTI_OK) call.status = tutti_fortran_library(tutti_sub_grid(*grid, kept, part));
  free(kept);
  tutti_fortran_finish(&call, ierror);
}

void tutti_fortran_adjacent_graph(const tutti_group* group, const CFI_cdesc_t* sources, const CFI_cdesc_t* destinations,
                                  tutti_group* graph, int* ierror) {
  tutti_fortran_end(
      tutti_fortran_library(tutti_adjacent_graph(*group, (int32_t)sources->dim[0].extent, sources->base_addr,
                                                 (int32_t)destinations->dim[0].extent, destinations->base_addr, graph)),
      ierror);
}

void tutti_fortran_graph(const tutti_group* group, const CFI_cdesc_t* edges, tutti_group* graph, int* ierror) {
  tutti_checked call = {.what = "graph"};
  if (edges->dim[0].extent != 2)
    tutti_fortran_refuse(&call, "edges", "must have 2 rows: sources, and destinations; pass edges(2, n)");
  if (call.status == TUTTI_OK)
    call.status = tutti_fortran_library(tutti_graph(*group, edges->base_addr, (size_t)edges->dim[1].extent, graph));
  tutti_fortran_finish(&call, ierror);
}

void tutti_fortran_neighbors(const tutti_group* graph, const CFI_cdesc_t* sources, const CFI_cdesc_t* destinations,
                             int* ierror) {
  tutti_checked call = {.what = "neighbors"};
  int32_t from, to, *sources_list, *destinations_list;
  tutti_fortran_edges(&call, *graph, &from, &to);
  sources_list = tutti_fortran_list(&call, "sources", sources, from);
  destinations_list = tutti_fortran_list(&call, "destinations", destinations, to);
  if (call.status == TUTTI_OK)
    call.status = tutti_fortran_library(tutti_neighbors(*graph, sources_list, destinations_list));
  tutti_fortran_finish(&call, ierror);
}

void tutti_fortran_lost(const tutti_group* group, const CFI_cdesc_t* ranks, int32_t* count, int* ierror) {
  tutti_fortran_end(tutti_fortran_library(tutti_lost(*group, ranks->base_addr, (int32_t)ranks->dim[0].extent, count)),
                    ierror);
}

/* Both functions that start an exchange. */
typedef tutti_status (*exchanges)(tutti_group, const tutti_parcel*, size_t, tutti_type, tutti_exchange*);

static void exchange_by(exchanges start, const tutti_group* group, const CFI_cdesc_t* parcels, const int64_t* element,
                        tutti_exchange* exchange, int* ierror) {
  const size_t n = (size_t)parcels->dim[0].extent;
  tutti_fortran_end(tutti_fortran_library(start(*group, parcels->base_addr, n, (tutti_type)*element, exchange)),
                    ierror);
}

void tutti_fortran_sparse_exchange(const tutti_group* group, const CFI_cdesc_t* parcels, const int64_t* element,
                                   tutti_exchange* exchange, int* ierror) {
  exchange_by(tutti_sparse_exchange, group, parcels, element, exchange, ierror);
}

void tutti_fortran_isparse_exchange(const tutti_group* group, const CFI_cdesc_t* parcels, const int64_t* element,
                                    tutti_exchange* exchange, int* ierror) {
  exchange_by(tutti_isparse_exchange, group, parcels, element, exchange, ierror);
}

/* The module makes Fortran's pointers of these. */
void* tutti_fortran_exchange_request(const tutti_exchange* exchange) { return tutti_exchange_request(*exchange); }

void tutti_fortran_deliveries(const tutti_exchange* exchange, const void** first, int64_t* n, int* ierror) {
  static const tutti_parcel none; /* A list of none is no null pointer, which says that there is no list. */
  const tutti_parcel* deliveries = NULL;
  size_t count = 0;
  const tutti_status status = tutti_fortran_library(tutti_deliveries(*exchange, &deliveries, &count));
  *first = status != TUTTI_OK ? NULL : count > 0 ? deliveries : &none;
  *n = (int64_t)count;
  tutti_fortran_end(status, ierror);
}
