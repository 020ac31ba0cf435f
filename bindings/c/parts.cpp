// SPDX-License-Identifier: BSD-3-Clause
// Collectives in which every pair of ranks has layouts of its own.
#include "tutti/parts.hpp"

#include <vector>

#include "base/names.hpp"
#include "c/calls.hpp"
#include "c/layout.hpp"
#include "tutti/topology.hpp"

using namespace tutti;
using namespace tutti::c;

namespace {

/// One side of such a call.
struct Side {
  const int64_t* offsets;
  const tutti_layout* layouts;
};

/// How many blocks are sent and received.
struct Partners {
  std::size_t to, from;
};

Partners partners_of(const Group& group, Kind kind) {
  const auto count = [](Count number) { return static_cast<std::size_t>(number); };
  if (kind == Kind::alltoallw) return {count(group.size()), count(group.size())};
  const Graph graph(group);
  return {count(graph.outdegree()), count(graph.indegree())};
}

std::vector<Part> parts_of(Kind kind, const Side& side, std::size_t partners) {
  if (side.layouts == nullptr && partners > 0)
    refuse(std::string(name_of(kind)) + ": the layouts are NULL; pass one for each block");
  std::vector<Part> parts(partners);
  for (std::size_t i = 0; i < partners; ++i) {
    if (side.offsets != nullptr) parts[i].offset = side.offsets[i];
    if (side.layouts[i] != nullptr) parts[i].layout = side.layouts[i]->layout;
  }
  return parts;
}

/// Describes the call and has `work(group, call)` do it.
template <class Work>
tutti_status with_parts(const void* caller, tutti_group group, Kind kind, const void* in, const Side& send, void* out,
                        const Side& recv, Work work) {
  return guarded([&] {
    const tutti_group_handle& handle = handle_of(group);
    const Partners partners = partners_of(handle.group, kind);
    std::vector<Part> sent;
    const bool in_place = in == TUTTI_IN_PLACE;
    if (in_place && kind != Kind::alltoallw)
      refuse(std::string(name_of(kind)) + ": it cannot work in place; pass separate buffers");
    expect_buffer(name_of(kind), "out", out, false);  // NULL may be what offsets count from
    if (!in_place) sent = parts_of(kind, send, partners.to);
    PartsCall made(kind, in_place ? nullptr : in, sent, out, parts_of(kind, recv, partners.from));
    work(handle.group, made.call(handle.algorithms[static_cast<std::size_t>(kind)], caller));
  });
}

tutti_status run_parts(const void* caller, tutti_group group, Kind kind, const void* in, const Side& send, void* out,
                       const Side& recv) {
  return with_parts(caller, group, kind, in, send, out, recv, [](const Group& on, const Call& call) { on.run(call); });
}

tutti_status start_parts(const void* caller, tutti_group group, Kind kind, const void* in, const Side& send, void* out,
                         const Side& recv, tutti_request* request) {
  return with_parts(caller, group, kind, in, send, out, recv, [request](const Group& on, const Call& call) {
    void* const place = place_of(request);
    new (place) Request(on.start(call));
  });
}

tutti_status init_parts(const void* caller, tutti_group group, Kind kind, const void* in, const Side& send, void* out,
                        const Side& recv, tutti_persistent* persistent) {
  return with_parts(caller, group, kind, in, send, out, recv, [persistent](const Group& on, const Call& call) {
    void* const place = place_of(persistent);
    new (place) Persistent(on.init(call));
  });
}

}  // namespace

tutti_status tutti_alltoallw(tutti_group group, const void* in, const int64_t* send_offsets, const tutti_layout* send,
                             void* out, const int64_t* recv_offsets, const tutti_layout* recv) {
  return run_parts(TUTTI_CALLER, group, Kind::alltoallw, in, {send_offsets, send}, out, {recv_offsets, recv});
}

tutti_status tutti_ialltoallw(tutti_group group, const void* in, const int64_t* send_offsets, const tutti_layout* send,
                              void* out, const int64_t* recv_offsets, const tutti_layout* recv,
                              tutti_request* request) {
  return start_parts(TUTTI_CALLER, group, Kind::alltoallw, in, {send_offsets, send}, out, {recv_offsets, recv},
                     request);
}

tutti_status tutti_alltoallw_init(tutti_group group, const void* in, const int64_t* send_offsets,
                                  const tutti_layout* send, void* out, const int64_t* recv_offsets,
                                  const tutti_layout* recv, tutti_persistent* persistent) {
  return init_parts(TUTTI_CALLER, group, Kind::alltoallw, in, {send_offsets, send}, out, {recv_offsets, recv},
                    persistent);
}

tutti_status tutti_neighbor_alltoallw(tutti_group graph, const void* in, const int64_t* send_offsets,
                                      const tutti_layout* send, void* out, const int64_t* recv_offsets,
                                      const tutti_layout* recv) {
  return run_parts(TUTTI_CALLER, graph, Kind::neighbor_alltoallw, in, {send_offsets, send}, out, {recv_offsets, recv});
}

tutti_status tutti_ineighbor_alltoallw(tutti_group graph, const void* in, const int64_t* send_offsets,
                                       const tutti_layout* send, void* out, const int64_t* recv_offsets,
                                       const tutti_layout* recv, tutti_request* request) {
  return start_parts(TUTTI_CALLER, graph, Kind::neighbor_alltoallw, in, {send_offsets, send}, out, {recv_offsets, recv},
                     request);
}

tutti_status tutti_neighbor_alltoallw_init(tutti_group graph, const void* in, const int64_t* send_offsets,
                                           const tutti_layout* send, void* out, const int64_t* recv_offsets,
                                           const tutti_layout* recv, tutti_persistent* persistent) {
  return init_parts(TUTTI_CALLER, graph, Kind::neighbor_alltoallw, in, {send_offsets, send}, out, {recv_offsets, recv},
                    persistent);
}
