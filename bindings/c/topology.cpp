// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <string>
#include <vector>

#include "base/names.hpp"
#include "c/calls.hpp"
#include "tutti/topology.hpp"

using namespace tutti;
using namespace tutti::c;

namespace {

Grid grid_of(tutti_group group) { return Grid(handle_of(group).group); }

template <class T>
std::span<const T> some(const T* array, std::int64_t count, const char* name) {
  if (count < 0 || (count > 0 && array == nullptr))
    refuse(std::string(name) + ": the array is NULL or its length negative");
  return {array, static_cast<std::size_t>(count)};
}

std::vector<bool> words(std::span<const int> numbers) { return {numbers.begin(), numbers.end()}; }

template <class T, class From>
void put(const From& from, T* to) {
  if (to != nullptr) std::ranges::copy(from, to);
}

template <class T>
T& place(T* pointer, const char* name) {
  if (pointer == nullptr) refuse(std::string(name) + ": nowhere to put the answer; pass an address");
  return *pointer;
}

bool some_positive(std::span<const Count> counts) {
  return std::ranges::any_of(counts, [](Count count) { return count > 0; });
}

/// Whether this rank has anything to send, and to receive, along its edges.
struct Traffic {
  bool sends, receives;
};
Traffic traffic_of(const Call& call, tutti_group group) {
  const Graph graph(handle_of(group).group);
  return {graph.outdegree() > 0 && (call.count > 0 || some_positive(call.send_counts)),
          graph.indegree() > 0 && (call.count > 0 || some_positive(call.recv_counts))};
}

/// For calls that have their counts. Which is refused later; one address may stand for what is empty.
void find_in_place(Call& call, tutti_group group, const void* in) {
  call.in_place = in == TUTTI_IN_PLACE;
  const bool alike = call.input_layout == call.output_layout;  // else one memory may hold both, side by side
  if (call.in_place || in == nullptr || in != call.output || !alike) return;
  const auto [sends, receives] = traffic_of(call, group);
  call.in_place = sends && receives;
}

/// Without counts.
Call edges_call(tutti_group group, Kind kind, const void* in, void* out, tutti_type type) {
  Call call = typed(group, kind, type);
  if (in != TUTTI_IN_PLACE) call.input = in;
  call.output = out;
  return call;
}

Call neighbor_call(tutti_group group, Kind kind, const void* in, void* out, Count count, tutti_type type) {
  Call call = edges_call(group, kind, in, out, type);
  call.count = count;
  find_in_place(call, group, in);
  return call;
}

/// One number per edge, or none where the caller gives NULL.
std::span<const Count> per_edge(Count edges, const int64_t* numbers) {
  return numbers == nullptr ? std::span<const Count>() : std::span(numbers, static_cast<std::size_t>(edges));
}

Call allgatherv_call(tutti_group group, const void* in, const int64_t& count, void* out, const int64_t* counts,
                     const int64_t* offsets, tutti_type type) {
  Call call = edges_call(group, Kind::neighbor_allgatherv, in, out, type);
  const Count sources = Graph(handle_of(group).group).indegree();
  call.send_counts = {&count, 1};
  call.recv_counts = per_edge(sources, counts);
  call.recv_offsets = per_edge(sources, offsets);
  find_in_place(call, group, in);
  return call;
}

Call neighbor_alltoallv_call(tutti_group group, const void* in, const int64_t* send_counts, const int64_t* send_offsets,
                             void* out, const int64_t* recv_counts, const int64_t* recv_offsets, tutti_type type) {
  Call call = edges_call(group, Kind::neighbor_alltoallv, in, out, type);
  const Graph graph(handle_of(group).group);
  call.send_counts = per_edge(graph.outdegree(), send_counts);
  call.send_offsets = per_edge(graph.outdegree(), send_offsets);
  call.recv_counts = per_edge(graph.indegree(), recv_counts);
  call.recv_offsets = per_edge(graph.indegree(), recv_offsets);
  find_in_place(call, group, in);
  return call;
}

Call neighbor_reduce_call(tutti_group group, const void* in, void* out, Count count, tutti_type type,
                          const tutti_op& op) {
  Call call = neighbor_call(group, Kind::neighbor_reduce, in, out, count, type);
  call.reduction = reduction_of(op);
  return call;
}

}  // namespace

void tutti::c::check_neighbor_buffers(const Call& call, tutti_group group) {
  const auto [sends, receives] = traffic_of(call, group);
  expect_buffer(name_of(call.kind), "in", call.input, sends && !call.in_place);  // in place is refused later
  expect_buffer(name_of(call.kind), "out", call.output, receives);
}

tutti_status tutti_dims_create(int32_t size, int dimensions, int* dims) {
  return guarded([&] {
    const auto given = some(static_cast<const int*>(dims), dimensions, "tutti_dims_create");
    put(dims_create(size, {given.begin(), given.end()}), dims);
  });
}

tutti_status tutti_cartesian(tutti_group group, int dimensions, const int* dims, const int* periodic, int reorder,
                             tutti_group* grid) {
  return give(grid, [&, caller = TUTTI_CALLER] {
    const auto sizes = some(dims, dimensions, "tutti_cartesian");
    const std::vector<bool> around = periodic == nullptr ? std::vector<bool>() : words({periodic, sizes.size()});
    return cartesian(handle_of(group).group, {sizes.begin(), sizes.end()}, around, reorder != 0, caller);
  });
}

tutti_status tutti_grid(tutti_group grid, int* dimensions, int* dims, int* periodic) {
  return guarded([&] {
    const Grid it = grid_of(grid);
    place(dimensions, "tutti_grid") = static_cast<int>(it.dims().size());
    put(it.dims(), dims);
    put(it.periodic(), periodic);
  });
}

tutti_status tutti_coordinates(tutti_group grid, int32_t rank, int* coordinates) {
  return guarded([&] { put(grid_of(grid).coordinates(rank), &place(coordinates, "tutti_coordinates")); });
}

tutti_status tutti_rank_at(tutti_group grid, const int* coordinates, int32_t* rank) {
  return guarded([&] {
    const Grid it = grid_of(grid);
    const auto dimensions = static_cast<std::int64_t>(it.dims().size());
    place(rank, "tutti_rank_at") = it.rank_at(some(coordinates, dimensions, "tutti_rank_at"));
  });
}

tutti_status tutti_shift(tutti_group grid, int dimension, int by, int32_t* source, int32_t* destination) {
  return guarded([&] {
    int32_t &from = place(source, "tutti_shift"), &to = place(destination, "tutti_shift");
    const Grid::Shift shift = grid_of(grid).shift(dimension, by);
    from = shift.source;
    to = shift.destination;
  });
}

tutti_status tutti_sub_grid(tutti_group grid, const int* keep, tutti_group* part) {
  return give(part, [&, caller = TUTTI_CALLER] {
    const Grid it = grid_of(grid);
    return it.sub(words(some(keep, static_cast<std::int64_t>(it.dims().size()), "tutti_sub_grid")), caller);
  });
}

tutti_status tutti_adjacent_graph(tutti_group group, int32_t source_count, const int32_t* sources,
                                  int32_t destination_count, const int32_t* destinations, tutti_group* graph) {
  return give(graph, [&, caller = TUTTI_CALLER] {
    return adjacent_graph(handle_of(group).group, some(sources, source_count, "tutti_adjacent_graph"),
                          some(destinations, destination_count, "tutti_adjacent_graph"), caller);
  });
}

tutti_status tutti_graph(tutti_group group, const tutti_edge* edges, size_t n, tutti_group* graph) {
  return give(graph, [&, caller = TUTTI_CALLER] {
    std::vector<GraphEdge> all;
    for (const tutti_edge& edge : some(edges, static_cast<std::int64_t>(n), "tutti_graph"))
      all.push_back({edge.source, edge.destination});
    return tutti::graph(handle_of(group).group, all, caller);
  });
}

tutti_status tutti_degrees(tutti_group graph, int32_t* sources, int32_t* destinations) {
  return guarded([&] {
    int32_t &in = place(sources, "tutti_degrees"), &out = place(destinations, "tutti_degrees");
    const Graph it(handle_of(graph).group);
    in = static_cast<int32_t>(it.indegree());
    out = static_cast<int32_t>(it.outdegree());
  });
}

tutti_status tutti_neighbors(tutti_group graph, int32_t* sources, int32_t* destinations) {
  return guarded([&] {
    const Graph it(handle_of(graph).group);
    put(it.sources(), sources);
    put(it.destinations(), destinations);
  });
}

tutti_status tutti_neighbor_allgather(tutti_group graph, const void* in, void* out, int64_t count, tutti_type type) {
  return run(TUTTI_CALLER, graph, neighbor_call, Kind::neighbor_allgather, in, out, count, type);
}
tutti_status tutti_ineighbor_allgather(tutti_group graph, const void* in, void* out, int64_t count, tutti_type type,
                                       tutti_request* request) {
  return start(TUTTI_CALLER, graph, request, neighbor_call, Kind::neighbor_allgather, in, out, count, type);
}
tutti_status tutti_neighbor_allgather_init(tutti_group graph, const void* in, void* out, int64_t count, tutti_type type,
                                           tutti_persistent* persistent) {
  return init(TUTTI_CALLER, graph, persistent, neighbor_call, Kind::neighbor_allgather, in, out, count, type);
}

tutti_status tutti_neighbor_alltoall(tutti_group graph, const void* in, void* out, int64_t count, tutti_type type) {
  return run(TUTTI_CALLER, graph, neighbor_call, Kind::neighbor_alltoall, in, out, count, type);
}
tutti_status tutti_ineighbor_alltoall(tutti_group graph, const void* in, void* out, int64_t count, tutti_type type,
                                      tutti_request* request) {
  return start(TUTTI_CALLER, graph, request, neighbor_call, Kind::neighbor_alltoall, in, out, count, type);
}
tutti_status tutti_neighbor_alltoall_init(tutti_group graph, const void* in, void* out, int64_t count, tutti_type type,
                                          tutti_persistent* persistent) {
  return init(TUTTI_CALLER, graph, persistent, neighbor_call, Kind::neighbor_alltoall, in, out, count, type);
}

tutti_status tutti_neighbor_reduce(tutti_group graph, const void* in, void* out, int64_t count, tutti_type type,
                                   tutti_op op) {
  return run(TUTTI_CALLER, graph, neighbor_reduce_call, in, out, count, type, op);
}
tutti_status tutti_ineighbor_reduce(tutti_group graph, const void* in, void* out, int64_t count, tutti_type type,
                                    tutti_op op, tutti_request* request) {
  return start(TUTTI_CALLER, graph, request, neighbor_reduce_call, in, out, count, type, op);
}
tutti_status tutti_neighbor_reduce_init(tutti_group graph, const void* in, void* out, int64_t count, tutti_type type,
                                        tutti_op op, tutti_persistent* persistent) {
  return init(TUTTI_CALLER, graph, persistent, neighbor_reduce_call, in, out, count, type, op);
}

tutti_status tutti_neighbor_allgatherv(tutti_group graph, const void* in, int64_t count, void* out,
                                       const int64_t* counts, const int64_t* offsets, tutti_type type) {
  return run(TUTTI_CALLER, graph, allgatherv_call, in, count, out, counts, offsets, type);
}
tutti_status tutti_ineighbor_allgatherv(tutti_group graph, const void* in, int64_t count, void* out,
                                        const int64_t* counts, const int64_t* offsets, tutti_type type,
                                        tutti_request* request) {
  return start(TUTTI_CALLER, graph, request, allgatherv_call, in, count, out, counts, offsets, type);
}
tutti_status tutti_neighbor_allgatherv_init(tutti_group graph, const void* in, int64_t count, void* out,
                                            const int64_t* counts, const int64_t* offsets, tutti_type type,
                                            tutti_persistent* persistent) {
  return init(TUTTI_CALLER, graph, persistent, allgatherv_call, in, count, out, counts, offsets, type);
}

tutti_status tutti_neighbor_alltoallv(tutti_group graph, const void* in, const int64_t* send_counts,
                                      const int64_t* send_offsets, void* out, const int64_t* recv_counts,
                                      const int64_t* recv_offsets, tutti_type type) {
  return run(TUTTI_CALLER, graph, neighbor_alltoallv_call, in, send_counts, send_offsets, out, recv_counts,
             recv_offsets, type);
}
tutti_status tutti_ineighbor_alltoallv(tutti_group graph, const void* in, const int64_t* send_counts,
                                       const int64_t* send_offsets, void* out, const int64_t* recv_counts,
                                       const int64_t* recv_offsets, tutti_type type, tutti_request* request) {
  return start(TUTTI_CALLER, graph, request, neighbor_alltoallv_call, in, send_counts, send_offsets, out, recv_counts,
               recv_offsets, type);
}
tutti_status tutti_neighbor_alltoallv_init(tutti_group graph, const void* in, const int64_t* send_counts,
                                           const int64_t* send_offsets, void* out, const int64_t* recv_counts,
                                           const int64_t* recv_offsets, tutti_type type, tutti_persistent* persistent) {
  return init(TUTTI_CALLER, graph, persistent, neighbor_alltoallv_call, in, send_counts, send_offsets, out, recv_counts,
              recv_offsets, type);
}
