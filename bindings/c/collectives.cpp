// SPDX-License-Identifier: BSD-3-Clause
// Every collective of tutti.h as a Call: one maker, two doors.
#include <algorithm>
#include <limits>
#include <utility>

#include "base/names.hpp"
#include "c/calls.hpp"

using namespace tutti;
using namespace tutti::c;

namespace {

/// An argument: where its elements lie, and how many they are, side by side. Nobody has checked this number yet.
struct Elements {
  const void* memory;
  const Layout* layout;
  std::uint64_t count;
};

/// meeting_of where there are layouts. Not inline, for calls without layouts are short.
[[gnu::noinline]] detail::Meeting laid_out(Elements block, Elements buffer, std::uint64_t first, std::size_t element) {
  constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Count>::max()) / 2;
  const auto lying = [element](Elements of) -> detail::Lying {
    const auto count = of.layout == nullptr ? of.count : static_cast<std::uint64_t>(of.layout->size()) / element;
    return {of.memory, of.layout, static_cast<Count>(std::min(count, most / element))};
  };
  if (block.memory == nullptr || buffer.memory == nullptr || first > most / element) return detail::Meeting::apart;
  return detail::meeting(lying(block), lying(buffer), static_cast<Count>(first), element);
}

/// Whether `block` is `buffer` from its element `first` on: the contribution is in place. Throws Error (usage) where
/// they overlap otherwise. The call has its buffers, and the counts of a v-form.
inline bool starts_at(const Call& call, Elements block, Elements buffer, std::uint64_t first) {
  const std::size_t element = call.element;
  detail::Meeting found = detail::Meeting::apart;
  if (block.layout != nullptr || buffer.layout != nullptr)
    found = laid_out(block, buffer, first, element);
  else if (buffer.memory != nullptr)
    found = detail::meeting_side_by_side(block.memory, block.count * element, buffer.memory, buffer.count * element,
                                         first * element);
  if (found == detail::Meeting::apart) return false;
  found = detail::meeting_of_blocks(call, found);
  if (found == detail::Meeting::crossing) detail::refuse_crossing(call.kind);
  return found == detail::Meeting::same;
}

std::uint64_t blocks_before(Rank rank, Count count) {
  return static_cast<std::uint64_t>(rank) * static_cast<std::uint64_t>(count);
}

[[noreturn]] void refuse_in_place(const Call& call) {
  refuse(std::string(name_of(call.kind)) + ": TUTTI_IN_PLACE is for the root alone; pass a buffer on the other ranks");
}

/// Sets input and output, of so many elements. `own`: where this rank's contribution lies in `out` when it is in place.
void put_buffers(Call& call, const void* in, std::uint64_t in_count, void* out, std::uint64_t out_count,
                 std::uint64_t own) {
  call.output = out;
  call.input = in;
  call.in_place = in == TUTTI_IN_PLACE ||
                  starts_at(call, {in, call.input_layout, in_count}, {out, call.output_layout, out_count}, own);
  if (call.in_place) call.input = nullptr;
}

Call barrier_call(tutti_group group) { return made_by(group, Kind::barrier); }

Call bcast_call(tutti_group group, void* buffer, Count count, tutti_type type, Rank root) {
  Call call = typed(group, Kind::bcast, type);
  call.output = buffer;
  call.count = count;
  call.root = root;
  return call;
}

Call reduce_call(tutti_group group, Kind kind, const void* in, void* out, Count count, tutti_type type,
                 const tutti_op& op, Rank root) {
  Call call = typed(group, kind, type);
  call.reduction = reduction_of(op);
  call.count = count;
  call.root = root;
  if (kind != Kind::reduce || group->rank == root) {
    const auto length = static_cast<std::uint64_t>(count);
    const bool scatters = kind == Kind::reduce_scatter_block;
    put_buffers(call, in, scatters ? blocks_before(group->size, count) : length, out, length, 0);
  } else {
    if (in == TUTTI_IN_PLACE) refuse_in_place(call);
    call.input = in;
  }
  return call;
}

Call gather_call(tutti_group group, Kind kind, const void* in, void* out, Count count, tutti_type type, Rank root) {
  Call call = typed(group, kind, type);
  call.count = count;
  call.root = root;
  if (kind == Kind::allgather || group->rank == root) {
    put_buffers(call, in, static_cast<std::uint64_t>(count), out, blocks_before(group->size, count),
                blocks_before(group->rank, count));
  } else {
    if (in == TUTTI_IN_PLACE) refuse_in_place(call);
    call.input = in;
  }
  return call;
}

/// scatter and scatterv: `own` is where the root's block lies in `in`.
void put_scattered(Call& call, bool root, const void* in, std::uint64_t in_count, void* out, Count out_count,
                   std::uint64_t own) {
  if (!root) {
    if (out == TUTTI_IN_PLACE) refuse_in_place(call);
    call.output = out;
    return;
  }
  call.input = in;
  call.output = out;
  call.in_place =
      out == TUTTI_IN_PLACE || starts_at(call, {out, call.output_layout, static_cast<std::uint64_t>(out_count)},
                                         {in, call.input_layout, in_count}, own);
  if (call.in_place) call.output = nullptr;
}

Call scatter_call(tutti_group group, const void* in, void* out, Count count, tutti_type type, Rank root) {
  Call call = typed(group, Kind::scatter, type);
  call.count = count;
  call.root = root;
  put_scattered(call, group->rank == root, in, blocks_before(group->size, count), out, count,
                blocks_before(group->rank, count));
  return call;
}

Call alltoall_call(tutti_group group, const void* in, void* out, Count count, tutti_type type) {
  Call call = typed(group, Kind::alltoall, type);
  call.count = count;
  const std::uint64_t length = blocks_before(group->size, count);
  put_buffers(call, in, length, out, length, 0);
  return call;
}

/// One number per rank, or none where the caller gives NULL.
std::span<const Count> per_rank(tutti_group group, const int64_t* numbers) {
  if (numbers == nullptr) return {};
  return {numbers, static_cast<std::size_t>(group->size)};
}

std::span<const Count> needed_per_rank(tutti_group group, const Call& call, const int64_t* counts) {
  if (counts == nullptr) refuse(std::string(name_of(call.kind)) + ": counts is NULL; pass one number per rank");
  return per_rank(group, counts);
}

std::uint64_t own_offset(Rank rank, const int64_t* counts, const int64_t* offsets) {
  if (offsets != nullptr) return static_cast<std::uint64_t>(offsets[rank]);
  std::uint64_t sum = 0;
  for (Rank r = 0; r < rank; ++r) sum += static_cast<std::uint64_t>(counts[r]);
  return sum;
}

/// Up to where the blocks of all ranks reach. What is no count or offset is refused later.
std::uint64_t reach(tutti_group group, const int64_t* counts, const int64_t* offsets) {
  if (offsets == nullptr) return own_offset(group->size, counts, nullptr);
  std::int64_t end = 0;
  for (Rank r = 0; r < group->size; ++r) {
    const auto past = static_cast<std::uint64_t>(offsets[r]) + static_cast<std::uint64_t>(counts[r]);
    if (counts[r] > 0) end = std::max(end, static_cast<std::int64_t>(past));
  }
  return static_cast<std::uint64_t>(end);
}

Call gatherv_call(tutti_group group, Kind kind, const void* in, const int64_t& count, void* out, const int64_t* counts,
                  const int64_t* offsets, tutti_type type, Rank root) {
  Call call = typed(group, kind, type);
  const Rank rank = group->rank;
  call.root = root;
  call.send_counts = {&count, 1};
  if (kind == Kind::gatherv && rank != root) {
    if (in == TUTTI_IN_PLACE) refuse_in_place(call);
    call.input = in;
    return call;
  }
  call.recv_counts = needed_per_rank(group, call, counts);
  call.recv_offsets = per_rank(group, offsets);
  put_buffers(call, in, static_cast<std::uint64_t>(count), out, reach(group, counts, offsets),
              own_offset(rank, counts, offsets));
  if (call.in_place) call.send_counts = {counts + rank, 1};
  return call;
}

Call scatterv_call(tutti_group group, const void* in, const int64_t* counts, const int64_t* offsets, void* out,
                   const int64_t& count, tutti_type type, Rank root) {
  Call call = typed(group, Kind::scatterv, type);
  const Rank rank = group->rank;
  call.root = root;
  call.recv_counts = {&count, 1};
  std::uint64_t own = 0, length = 0;
  if (rank == root) {
    call.send_counts = needed_per_rank(group, call, counts);
    call.send_offsets = per_rank(group, offsets);
    own = own_offset(rank, counts, offsets);
    length = reach(group, counts, offsets);
  }
  put_scattered(call, rank == root, in, length, out, count, own);
  if (call.in_place) call.recv_counts = {counts + rank, 1};
  return call;
}

Call alltoallv_call(tutti_group group, const void* in, const int64_t* send_counts, const int64_t* send_offsets,
                    void* out, const int64_t* recv_counts, const int64_t* recv_offsets, tutti_type type) {
  Call call = typed(group, Kind::alltoallv, type);
  call.recv_counts = needed_per_rank(group, call, recv_counts);
  call.recv_offsets = per_rank(group, recv_offsets);
  const std::uint64_t received = reach(group, recv_counts, recv_offsets);
  const bool by_recv = in == TUTTI_IN_PLACE || send_counts == nullptr;  // or refused
  if (!by_recv) {
    call.send_counts = per_rank(group, send_counts);
    call.send_offsets = per_rank(group, send_offsets);
  }
  put_buffers(call, in, by_recv ? received : reach(group, send_counts, send_offsets), out, received, 0);
  call.send_counts = call.in_place ? call.recv_counts : needed_per_rank(group, call, send_counts);
  call.send_offsets = call.in_place ? call.recv_offsets : per_rank(group, send_offsets);
  return call;
}

Call reduce_scatter_call(tutti_group group, const void* in, void* out, const int64_t* counts, tutti_type type,
                         const tutti_op& op) {
  Call call = typed(group, Kind::reduce_scatter, type);
  call.reduction = reduction_of(op);
  call.recv_counts = needed_per_rank(group, call, counts);
  put_buffers(call, in, reach(group, counts, nullptr), out, static_cast<std::uint64_t>(counts[group->rank]), 0);
  return call;
}

/// Elements of all blocks; what is no count is refused later.
Count total(std::span<const Count> counts) {
  Count sum = 0;
  for (const Count count : counts)
    if (count > 0) sum += count > std::numeric_limits<Count>::max() - sum ? 0 : count;
  return sum;
}

}  // namespace

/// Nobody can know how long a buffer is, but whether there is one.
void tutti::c::check_buffers(const Call& call, tutti_group group) {
  if (call.kind >= Kind::neighbor_allgather) return check_neighbor_buffers(call, group);
  const bool root = group->rank == call.root;
  Count sent = call.send_counts.empty() ? call.count : total(call.send_counts);
  Count received = call.recv_counts.empty() ? call.count : total(call.recv_counts);
  if (call.kind == Kind::reduce_scatter) {
    sent = received;
    if (!call.in_place) received = call.recv_counts[static_cast<std::size_t>(group->rank)];
  }
  bool reads = call.kind != Kind::barrier && call.kind != Kind::bcast, writes = call.kind != Kind::barrier;
  if (call.kind == Kind::scatter || call.kind == Kind::scatterv) {
    reads = root;
    writes = !call.in_place;
  } else if (call.in_place) {
    reads = false;
  }
  if (call.kind == Kind::reduce || call.kind == Kind::gather || call.kind == Kind::gatherv) writes = root;
  expect_buffer(name_of(call.kind), "in", call.input, reads && sent > 0);
  expect_buffer(name_of(call.kind), call.kind == Kind::bcast ? "buffer" : "out", call.output, writes && received > 0);
}

tutti_status tutti_barrier(tutti_group group) { return run(TUTTI_CALLER, group, barrier_call); }
tutti_status tutti_ibarrier(tutti_group group, tutti_request* request) {
  return start(TUTTI_CALLER, group, request, barrier_call);
}
tutti_status tutti_barrier_init(tutti_group group, tutti_persistent* persistent) {
  return init(TUTTI_CALLER, group, persistent, barrier_call);
}

tutti_status tutti_bcast(tutti_group group, void* buffer, int64_t count, tutti_type type, int32_t root) {
  return run(TUTTI_CALLER, group, bcast_call, buffer, count, type, root);
}
tutti_status tutti_ibcast(tutti_group group, void* buffer, int64_t count, tutti_type type, int32_t root,
                          tutti_request* request) {
  return start(TUTTI_CALLER, group, request, bcast_call, buffer, count, type, root);
}
tutti_status tutti_bcast_init(tutti_group group, void* buffer, int64_t count, tutti_type type, int32_t root,
                              tutti_persistent* persistent) {
  return init(TUTTI_CALLER, group, persistent, bcast_call, buffer, count, type, root);
}

tutti_status tutti_reduce(tutti_group group, const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                          int32_t root) {
  return run(TUTTI_CALLER, group, reduce_call, Kind::reduce, in, out, count, type, op, root);
}
tutti_status tutti_ireduce(tutti_group group, const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                           int32_t root, tutti_request* request) {
  return start(TUTTI_CALLER, group, request, reduce_call, Kind::reduce, in, out, count, type, op, root);
}
tutti_status tutti_reduce_init(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                               tutti_op op, int32_t root, tutti_persistent* persistent) {
  return init(TUTTI_CALLER, group, persistent, reduce_call, Kind::reduce, in, out, count, type, op, root);
}

tutti_status tutti_allreduce(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                             tutti_op op) {
  return run(TUTTI_CALLER, group, reduce_call, Kind::allreduce, in, out, count, type, op, 0);
}
tutti_status tutti_iallreduce(tutti_group group, const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                              tutti_request* request) {
  return start(TUTTI_CALLER, group, request, reduce_call, Kind::allreduce, in, out, count, type, op, 0);
}
tutti_status tutti_allreduce_init(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                  tutti_op op, tutti_persistent* persistent) {
  return init(TUTTI_CALLER, group, persistent, reduce_call, Kind::allreduce, in, out, count, type, op, 0);
}

tutti_status tutti_scan(tutti_group group, const void* in, void* out, int64_t count, tutti_type type, tutti_op op) {
  return run(TUTTI_CALLER, group, reduce_call, Kind::scan, in, out, count, type, op, 0);
}
tutti_status tutti_iscan(tutti_group group, const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                         tutti_request* request) {
  return start(TUTTI_CALLER, group, request, reduce_call, Kind::scan, in, out, count, type, op, 0);
}
tutti_status tutti_scan_init(tutti_group group, const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                             tutti_persistent* persistent) {
  return init(TUTTI_CALLER, group, persistent, reduce_call, Kind::scan, in, out, count, type, op, 0);
}

tutti_status tutti_exscan(tutti_group group, const void* in, void* out, int64_t count, tutti_type type, tutti_op op) {
  return run(TUTTI_CALLER, group, reduce_call, Kind::exscan, in, out, count, type, op, 0);
}
tutti_status tutti_iexscan(tutti_group group, const void* in, void* out, int64_t count, tutti_type type, tutti_op op,
                           tutti_request* request) {
  return start(TUTTI_CALLER, group, request, reduce_call, Kind::exscan, in, out, count, type, op, 0);
}
tutti_status tutti_exscan_init(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                               tutti_op op, tutti_persistent* persistent) {
  return init(TUTTI_CALLER, group, persistent, reduce_call, Kind::exscan, in, out, count, type, op, 0);
}

tutti_status tutti_reduce_scatter_block(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                        tutti_op op) {
  return run(TUTTI_CALLER, group, reduce_call, Kind::reduce_scatter_block, in, out, count, type, op, 0);
}
tutti_status tutti_ireduce_scatter_block(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                         tutti_op op, tutti_request* request) {
  return start(TUTTI_CALLER, group, request, reduce_call, Kind::reduce_scatter_block, in, out, count, type, op, 0);
}
tutti_status tutti_reduce_scatter_block_init(tutti_group group, const void* in, void* out, int64_t count,
                                             tutti_type type, tutti_op op, tutti_persistent* persistent) {
  return init(TUTTI_CALLER, group, persistent, reduce_call, Kind::reduce_scatter_block, in, out, count, type, op, 0);
}

tutti_status tutti_gather(tutti_group group, const void* in, void* out, int64_t count, tutti_type type, int32_t root) {
  return run(TUTTI_CALLER, group, gather_call, Kind::gather, in, out, count, type, root);
}
tutti_status tutti_igather(tutti_group group, const void* in, void* out, int64_t count, tutti_type type, int32_t root,
                           tutti_request* request) {
  return start(TUTTI_CALLER, group, request, gather_call, Kind::gather, in, out, count, type, root);
}
tutti_status tutti_gather_init(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                               int32_t root, tutti_persistent* persistent) {
  return init(TUTTI_CALLER, group, persistent, gather_call, Kind::gather, in, out, count, type, root);
}

tutti_status tutti_scatter(tutti_group group, const void* in, void* out, int64_t count, tutti_type type, int32_t root) {
  return run(TUTTI_CALLER, group, scatter_call, in, out, count, type, root);
}
tutti_status tutti_iscatter(tutti_group group, const void* in, void* out, int64_t count, tutti_type type, int32_t root,
                            tutti_request* request) {
  return start(TUTTI_CALLER, group, request, scatter_call, in, out, count, type, root);
}
tutti_status tutti_scatter_init(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                int32_t root, tutti_persistent* persistent) {
  return init(TUTTI_CALLER, group, persistent, scatter_call, in, out, count, type, root);
}

tutti_status tutti_allgather(tutti_group group, const void* in, void* out, int64_t count, tutti_type type) {
  return run(TUTTI_CALLER, group, gather_call, Kind::allgather, in, out, count, type, 0);
}
tutti_status tutti_iallgather(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                              tutti_request* request) {
  return start(TUTTI_CALLER, group, request, gather_call, Kind::allgather, in, out, count, type, 0);
}
tutti_status tutti_allgather_init(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                  tutti_persistent* persistent) {
  return init(TUTTI_CALLER, group, persistent, gather_call, Kind::allgather, in, out, count, type, 0);
}

tutti_status tutti_alltoall(tutti_group group, const void* in, void* out, int64_t count, tutti_type type) {
  return run(TUTTI_CALLER, group, alltoall_call, in, out, count, type);
}
tutti_status tutti_ialltoall(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                             tutti_request* request) {
  return start(TUTTI_CALLER, group, request, alltoall_call, in, out, count, type);
}
tutti_status tutti_alltoall_init(tutti_group group, const void* in, void* out, int64_t count, tutti_type type,
                                 tutti_persistent* persistent) {
  return init(TUTTI_CALLER, group, persistent, alltoall_call, in, out, count, type);
}

tutti_status tutti_gatherv(tutti_group group, const void* in, int64_t count, void* out, const int64_t* counts,
                           const int64_t* offsets, tutti_type type, int32_t root) {
  return run(TUTTI_CALLER, group, gatherv_call, Kind::gatherv, in, count, out, counts, offsets, type, root);
}
tutti_status tutti_igatherv(tutti_group group, const void* in, int64_t count, void* out, const int64_t* counts,
                            const int64_t* offsets, tutti_type type, int32_t root, tutti_request* request) {
  return start(TUTTI_CALLER, group, request, gatherv_call, Kind::gatherv, in, count, out, counts, offsets, type, root);
}
tutti_status tutti_gatherv_init(tutti_group group, const void* in, int64_t count, void* out, const int64_t* counts,
                                const int64_t* offsets, tutti_type type, int32_t root, tutti_persistent* persistent) {
  return init(TUTTI_CALLER, group, persistent, gatherv_call, Kind::gatherv, in, count, out, counts, offsets, type,
              root);
}

tutti_status tutti_scatterv(tutti_group group, const void* in, const int64_t* counts, const int64_t* offsets, void* out,
                            int64_t count, tutti_type type, int32_t root) {
  return run(TUTTI_CALLER, group, scatterv_call, in, counts, offsets, out, count, type, root);
}
tutti_status tutti_iscatterv(tutti_group group, const void* in, const int64_t* counts, const int64_t* offsets,
                             void* out, int64_t count, tutti_type type, int32_t root, tutti_request* request) {
  return start(TUTTI_CALLER, group, request, scatterv_call, in, counts, offsets, out, count, type, root);
}
tutti_status tutti_scatterv_init(tutti_group group, const void* in, const int64_t* counts, const int64_t* offsets,
                                 void* out, int64_t count, tutti_type type, int32_t root,
                                 tutti_persistent* persistent) {
  return init(TUTTI_CALLER, group, persistent, scatterv_call, in, counts, offsets, out, count, type, root);
}

tutti_status tutti_allgatherv(tutti_group group, const void* in, int64_t count, void* out, const int64_t* counts,
                              const int64_t* offsets, tutti_type type) {
  return run(TUTTI_CALLER, group, gatherv_call, Kind::allgatherv, in, count, out, counts, offsets, type, 0);
}
tutti_status tutti_iallgatherv(tutti_group group, const void* in, int64_t count, void* out, const int64_t* counts,
                               const int64_t* offsets, tutti_type type, tutti_request* request) {
  return start(TUTTI_CALLER, group, request, gatherv_call, Kind::allgatherv, in, count, out, counts, offsets, type, 0);
}
tutti_status tutti_allgatherv_init(tutti_group group, const void* in, int64_t count, void* out, const int64_t* counts,
                                   const int64_t* offsets, tutti_type type, tutti_persistent* persistent) {
  return init(TUTTI_CALLER, group, persistent, gatherv_call, Kind::allgatherv, in, count, out, counts, offsets, type,
              0);
}

tutti_status tutti_alltoallv(tutti_group group, const void* in, const int64_t* send_counts, const int64_t* send_offsets,
                             void* out, const int64_t* recv_counts, const int64_t* recv_offsets, tutti_type type) {
  return run(TUTTI_CALLER, group, alltoallv_call, in, send_counts, send_offsets, out, recv_counts, recv_offsets, type);
}
tutti_status tutti_ialltoallv(tutti_group group, const void* in, const int64_t* send_counts,
                              const int64_t* send_offsets, void* out, const int64_t* recv_counts,
                              const int64_t* recv_offsets, tutti_type type, tutti_request* request) {
  return start(TUTTI_CALLER, group, request, alltoallv_call, in, send_counts, send_offsets, out, recv_counts,
               recv_offsets, type);
}
tutti_status tutti_alltoallv_init(tutti_group group, const void* in, const int64_t* send_counts,
                                  const int64_t* send_offsets, void* out, const int64_t* recv_counts,
                                  const int64_t* recv_offsets, tutti_type type, tutti_persistent* persistent) {
  return init(TUTTI_CALLER, group, persistent, alltoallv_call, in, send_counts, send_offsets, out, recv_counts,
              recv_offsets, type);
}

tutti_status tutti_reduce_scatter(tutti_group group, const void* in, void* out, const int64_t* counts, tutti_type type,
                                  tutti_op op) {
  return run(TUTTI_CALLER, group, reduce_scatter_call, in, out, counts, type, op);
}
tutti_status tutti_ireduce_scatter(tutti_group group, const void* in, void* out, const int64_t* counts, tutti_type type,
                                   tutti_op op, tutti_request* request) {
  return start(TUTTI_CALLER, group, request, reduce_scatter_call, in, out, counts, type, op);
}
tutti_status tutti_reduce_scatter_init(tutti_group group, const void* in, void* out, const int64_t* counts,
                                       tutti_type type, tutti_op op, tutti_persistent* persistent) {
  return init(TUTTI_CALLER, group, persistent, reduce_scatter_call, in, out, counts, type, op);
}
