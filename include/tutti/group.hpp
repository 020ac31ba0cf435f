// SPDX-License-Identifier: BSD-3-Clause
// A group of processes and its collectives.
#pragma once

#include <concepts>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "tutti/buffers.hpp"
#include "tutti/call.hpp"
#include "tutti/error.hpp"
#include "tutti/export.hpp"
#include "tutti/options.hpp"
#include "tutti/parts.hpp"
#include "tutti/persistent.hpp"
#include "tutti/plan.hpp"
#include "tutti/request.hpp"
#include "tutti/types.hpp"

namespace tutti {

namespace job {
class Member;
}

/// A group of processes. A handle: copies refer to the same group, which is released with the last of them.
/// One thread at a time may start operations on a group; any thread may wait. All ranks call collectives in the same
/// order; the blocking, request and persistent forms of one collective match each other.
/// What is sent and what is received share no memory but in place, as each method says; where the elements lie side by
/// side that is refused else.
/// A call throws Error (usage) before anything is sent; a blocking call and a request's wait also throw Mismatch,
/// PeerLost, Timeout and Error (broken, system): docs/errors.md.
class TUTTI_API Group {
 public:
  Group() = default;
  explicit Group(std::shared_ptr<job::Member> member, bool reproducible = false)
      : member_(std::move(member)), reproducible_(reproducible) {}

  Rank rank() const;
  Rank size() const;
  /// A name for messages: "world", "world/0.2" (of its split number 0, colour 2).
  std::string name() const;
  /// How its bytes travel beside memory that is shared, for people: "shm", "shm and mpi (Open MPI 5.0.11)".
  std::string transport() const;
  /// How long a blocking call may take (TUTTI_TIMEOUT); nothing: no limit.
  std::optional<Duration> time_limit() const;

  /// The ranks with the same colour, ordered by key, then by rank here. Collective. A negative colour: no group
  /// (empty).
  Group split(int colour, int key = 0, const void* site = detail::here()) const;
  /// The same ranks, and neighbours if it has some, with an order of operations of their own. Collective.
  Group dup(const void* site = detail::here()) const;
  /// The ranks listed, in that order; collective over this group, with the same list on all. Empty for those not in it.
  /// Throws Mismatch on all ranks when lists differ; the group is as before.
  Group subgroup(std::span<const Rank> ranks, const void* site = detail::here()) const;
  /// The same, but only the ranks listed call it; the others need not know. Lists that share ranks are made in the same
  /// order on those ranks. Throws Error (usage) when this rank is not listed.
  Group create(std::span<const Rank> ranks, const void* site = detail::here()) const;
  // Going on after a loss: all ranks of the group that are left call it. These, rank, size and name work on a broken
  // group too, and nothing else that communicates does. Both throw PeerLost when the others go on without this rank,
  // Timeout, after which they may be called again, Mismatch, and Error: usage when two threads call at once, system.
  // See docs/faults.md.
  /// Whether all survivors say `flag`: the same answer on all of them, also when ranks die meanwhile.
  bool agree(bool flag, const void* site = detail::here()) const;
  /// A new group of the survivors, in the same order; the same on all of them.
  Group shrink(const void* site = detail::here()) const;
  /// The ranks that the last agree or shrink found lost: the same on all survivors. Local.
  std::vector<Rank> lost() const;
  /// The ranks that share this rank's host, and so its memory, ordered by key, then by rank here. Collective.
  Group split_by_host(int key = 0, const void* site = detail::here()) const;
  /// The same group, whose sums of floating-point and complex numbers are rounded once: the same bits whatever the
  /// algorithm, the order and the hosts, in all reductions by `sum` and all their forms. The groups made from it are
  /// like it; they refuse products of such numbers (Error, usage). Local; both may be used in turn, but all ranks use
  /// the same one for a call. See docs/reproducible.md.
  Group reproducible() const;
  bool is_reproducible() const { return reproducible_; }
  explicit operator bool() const { return member_ != nullptr; }

  /// The one door: checks the call and starts it. Throws Error (usage) before anything is sent.
  Request start(const Call& call) const;
  /// start and wait in one, without a request.
  void run(const Call& call) const;
  /// Checks the call and makes it ready for being started again and again; does not communicate.
  Persistent init(const Call& call) const;

  /// A plan of one's own (plan.hpp). in, out: of the plan's lengths; op: combines, if the plan does. Collective, like
  /// any other call: all ranks start plans of one name. Agreed: name, type, op.
  template <Elements In = detail::Nothing, Writable Out = detail::Nothing, class Reduce = detail::NoOperation>
  void run(const Plan& plan, const In& in = {}, Out&& out = {}, const Reduce& op = {}, Options options = {}) const {
    run(plan_call(plan, in, out, op, options));
  }
  template <Elements In = detail::Nothing, Writable Out = detail::Nothing, detail::Lasting Reduce = detail::NoOperation>
  Request start(const Plan& plan, const In& in = {}, Out&& out = {}, Reduce&& op = {}, Options options = {}) const {
    return start(plan_call(plan, in, out, op, options));
  }
  template <Elements In = detail::Nothing, Writable Out = detail::Nothing, detail::Lasting Reduce = detail::NoOperation>
  Persistent init(const Plan& plan, const In& in = {}, Out&& out = {}, Reduce&& op = {}, Options options = {}) const {
    return init(plan_call(plan, in, out, op, options));
  }
  /// This rank's plan by `build`, which is called once for each key and kept with the group. Local.
  template <PlanFunction F>
  Plan plan(std::string_view key, const F& build) const {
    const Plan kept = kept_plan(key);
    return kept ? kept : keep_plan(key, build(rank(), size()));
  }
  /// `check` of the plans that all ranks pass, each its own; the same answer on all of them. Collective.
  Verdict check(const Plan& plan, const std::optional<Purpose>& purpose = std::nullopt) const;

  /// Returns when all ranks have called it.
  void barrier(Options options = {}) const { run(call(Kind::barrier, options)); }
  Request ibarrier(Options options = {}) const { return start(call(Kind::barrier, options)); }
  Persistent barrier_init(Options options = {}) const { return init(call(Kind::barrier, options)); }

  /// buffer: the root's is sent, everybody else's filled. Agreed: length, type, root.
  template <Writable B>
  void bcast(B&& buffer, Rank root = 0, Options options = {}) const {
    run(bcast_call(buffer, root, options));
  }
  template <Writable B>
  Request ibcast(B&& buffer, Rank root = 0, Options options = {}) const {
    return start(bcast_call(buffer, root, options));
  }
  template <Writable B>
  Persistent bcast_init(B&& buffer, Rank root = 0, Options options = {}) const {
    return init(bcast_call(buffer, root, options));
  }

  /// out[i] = in[i] of rank 0 op in[i] of rank 1 ... on all ranks. in == out: in place. Agreed: length, type, op.
  template <Elements In, Writable Out, class Reduce>
  void allreduce(const In& in, Out&& out, const Reduce& op, Options options = {}) const {
    run(reduce_call(Kind::allreduce, in, out, op, 0, options));
  }
  template <Elements In, Writable Out, detail::Lasting Reduce>
  Request iallreduce(const In& in, Out&& out, Reduce&& op, Options options = {}) const {
    return start(reduce_call(Kind::allreduce, in, out, op, 0, options));
  }
  template <Elements In, Writable Out, detail::Lasting Reduce>
  Persistent allreduce_init(const In& in, Out&& out, Reduce&& op, Options options = {}) const {
    return init(reduce_call(Kind::allreduce, in, out, op, 0, options));
  }

  /// The same at the root alone; out is not used elsewhere and may be empty there. At the root in == out: in place.
  /// Agreed: length, type, op, root.
  template <Elements In, Writable Out, class Reduce>
  void reduce(const In& in, Out&& out, const Reduce& op, Rank root = 0, Options options = {}) const {
    run(reduce_call(Kind::reduce, in, out, op, root, options));
  }
  template <Elements In, Writable Out, detail::Lasting Reduce>
  Request ireduce(const In& in, Out&& out, Reduce&& op, Rank root = 0, Options options = {}) const {
    return start(reduce_call(Kind::reduce, in, out, op, root, options));
  }
  template <Elements In, Writable Out, detail::Lasting Reduce>
  Persistent reduce_init(const In& in, Out&& out, Reduce&& op, Rank root = 0, Options options = {}) const {
    return init(reduce_call(Kind::reduce, in, out, op, root, options));
  }

  /// out[i] = in[i] of rank 0 op ... op in[i] of this rank. in == out: in place. Agreed: length, type, op.
  template <Elements In, Writable Out, class Reduce>
  void scan(const In& in, Out&& out, const Reduce& op, Options options = {}) const {
    run(reduce_call(Kind::scan, in, out, op, 0, options));
  }
  template <Elements In, Writable Out, detail::Lasting Reduce>
  Request iscan(const In& in, Out&& out, Reduce&& op, Options options = {}) const {
    return start(reduce_call(Kind::scan, in, out, op, 0, options));
  }
  template <Elements In, Writable Out, detail::Lasting Reduce>
  Persistent scan_init(const In& in, Out&& out, Reduce&& op, Options options = {}) const {
    return init(reduce_call(Kind::scan, in, out, op, 0, options));
  }

  /// The same without this rank's own in; rank 0's out stays as it is.
  template <Elements In, Writable Out, class Reduce>
  void exscan(const In& in, Out&& out, const Reduce& op, Options options = {}) const {
    run(reduce_call(Kind::exscan, in, out, op, 0, options));
  }
  template <Elements In, Writable Out, detail::Lasting Reduce>
  Request iexscan(const In& in, Out&& out, Reduce&& op, Options options = {}) const {
    return start(reduce_call(Kind::exscan, in, out, op, 0, options));
  }
  template <Elements In, Writable Out, detail::Lasting Reduce>
  Persistent exscan_init(const In& in, Out&& out, Reduce&& op, Options options = {}) const {
    return init(reduce_call(Kind::exscan, in, out, op, 0, options));
  }

  /// The sum of all elements of everybody's in, rounded once: the same bits however the elements are dealt over ranks.
  /// Floating-point or complex elements. in.size() is each rank's own, also 0. Agreed: type.
  template <Elements In>
  auto sum(const In& in, Options options = {}) const {
    detail::Value<In> total;
    run(sum_call(in, total, options));
    return total;
  }
  template <Elements In>
  Request isum(const In& in, detail::Value<In>& total, Options options = {}) const {
    return start(sum_call(in, total, options));
  }

  /// out = block rank() of what everybody's in is combined to; out.size() agreed, in.size() = size() * out.size().
  /// In place: out is the first block of in. Agreed: length, type, op.
  template <Elements In, Writable Out, class Reduce>
  void reduce_scatter_block(const In& in, Out&& out, const Reduce& op, Options options = {}) const {
    run(reduce_scatter_block_call(in, out, op, options));
  }
  template <Elements In, Writable Out, detail::Lasting Reduce>
  Request ireduce_scatter_block(const In& in, Out&& out, Reduce&& op, Options options = {}) const {
    return start(reduce_scatter_block_call(in, out, op, options));
  }
  template <Elements In, Writable Out, detail::Lasting Reduce>
  Persistent reduce_scatter_block_init(const In& in, Out&& out, Reduce&& op, Options options = {}) const {
    return init(reduce_scatter_block_call(in, out, op, options));
  }

  /// The same with counts[r] elements for rank r, side by side in in. In place: out begins where in begins.
  /// Agreed: counts, type, op.
  template <Elements In, Writable Out, class Reduce>
  void reduce_scatter(const In& in, Out&& out, std::span<const Count> counts, const Reduce& op,
                      Options options = {}) const {
    run(reduce_scatter_call(in, out, counts, op, options));
  }
  template <Elements In, Writable Out, detail::Lasting Reduce>
  Request ireduce_scatter(const In& in, Out&& out, std::span<const Count> counts, Reduce&& op,
                          Options options = {}) const {
    return start(reduce_scatter_call(in, out, counts, op, options));
  }
  template <Elements In, Writable Out, detail::Lasting Reduce>
  Persistent reduce_scatter_init(const In& in, Out&& out, std::span<const Count> counts, Reduce&& op,
                                 Options options = {}) const {
    return init(reduce_scatter_call(in, out, counts, op, options));
  }

  /// The root's out = everybody's in, by rank; out.size() = size() * in.size() at the root. In place at the root: in is
  /// out's own block (the root passes that part of out as in). Agreed: in.size(), type, root.
  template <Elements In, Writable Out>
  void gather(const In& in, Out&& out, Rank root = 0, Options options = {}) const {
    run(gather_call(Kind::gather, in, out, root, options));
  }
  template <Elements In, Writable Out>
  Request igather(const In& in, Out&& out, Rank root = 0, Options options = {}) const {
    return start(gather_call(Kind::gather, in, out, root, options));
  }
  template <Elements In, Writable Out>
  Persistent gather_init(const In& in, Out&& out, Rank root = 0, Options options = {}) const {
    return init(gather_call(Kind::gather, in, out, root, options));
  }

  /// Everybody's out = everybody's in, by rank; out.size() = size() * in.size(). In place: in is out's own block.
  /// Agreed: in.size(), type.
  template <Elements In, Writable Out>
  void allgather(const In& in, Out&& out, Options options = {}) const {
    run(gather_call(Kind::allgather, in, out, 0, options));
  }
  template <Elements In, Writable Out>
  Request iallgather(const In& in, Out&& out, Options options = {}) const {
    return start(gather_call(Kind::allgather, in, out, 0, options));
  }
  template <Elements In, Writable Out>
  Persistent allgather_init(const In& in, Out&& out, Options options = {}) const {
    return init(gather_call(Kind::allgather, in, out, 0, options));
  }

  /// out = the root's block for this rank; in.size() = size() * out.size() at the root. In place at the root: out is
  /// in's own block. Agreed: out.size(), type, root.
  template <Elements In, Writable Out>
  void scatter(const In& in, Out&& out, Rank root = 0, Options options = {}) const {
    run(scatter_call(in, out, root, options));
  }
  template <Elements In, Writable Out>
  Request iscatter(const In& in, Out&& out, Rank root = 0, Options options = {}) const {
    return start(scatter_call(in, out, root, options));
  }
  template <Elements In, Writable Out>
  Persistent scatter_init(const In& in, Out&& out, Rank root = 0, Options options = {}) const {
    return init(scatter_call(in, out, root, options));
  }

  /// Block j of in goes to rank j, block i of out comes from rank i; both have size() blocks of one length.
  /// in == out: in place, on all ranks. Agreed: length, type.
  template <Elements In, Writable Out>
  void alltoall(const In& in, Out&& out, Options options = {}) const {
    run(alltoall_call(in, out, options));
  }
  template <Elements In, Writable Out>
  Request ialltoall(const In& in, Out&& out, Options options = {}) const {
    return start(alltoall_call(in, out, options));
  }
  template <Elements In, Writable Out>
  Persistent alltoall_init(const In& in, Out&& out, Options options = {}) const {
    return init(alltoall_call(in, out, options));
  }

  /// The root's out = everybody's in, counts[r] elements from rank r at offsets[r] (empty: side by side).
  /// counts and offsets matter at the root alone and are copied. In place at the root: in is out's own block.
  /// Agreed: type, root.
  template <Elements In, Writable Out>
  void gatherv(const In& in, Out&& out, std::span<const Count> counts, std::span<const Count> offsets = {},
               Rank root = 0, Options options = {}) const {
    const Count mine = length(in);
    run(varying_call(Kind::gatherv, in, out, {&mine, 1}, {}, counts, offsets, root, options));
  }
  template <Elements In, Writable Out>
  Request igatherv(const In& in, Out&& out, std::span<const Count> counts, std::span<const Count> offsets = {},
                   Rank root = 0, Options options = {}) const {
    const Count mine = length(in);
    return start(varying_call(Kind::gatherv, in, out, {&mine, 1}, {}, counts, offsets, root, options));
  }
  template <Elements In, Writable Out>
  Persistent gatherv_init(const In& in, Out&& out, std::span<const Count> counts, std::span<const Count> offsets = {},
                          Rank root = 0, Options options = {}) const {
    const Count mine = length(in);
    return init(varying_call(Kind::gatherv, in, out, {&mine, 1}, {}, counts, offsets, root, options));
  }

  /// out = counts[rank()] elements of the root's in at offsets[rank()]; counts and offsets matter at the root alone.
  /// In place at the root: out is in's own block. Agreed: type, root.
  template <Elements In, Writable Out>
  void scatterv(const In& in, Out&& out, std::span<const Count> counts, std::span<const Count> offsets = {},
                Rank root = 0, Options options = {}) const {
    const Count mine = length(out);
    run(varying_call(Kind::scatterv, in, out, counts, offsets, {&mine, 1}, {}, root, options));
  }
  template <Elements In, Writable Out>
  Request iscatterv(const In& in, Out&& out, std::span<const Count> counts, std::span<const Count> offsets = {},
                    Rank root = 0, Options options = {}) const {
    const Count mine = length(out);
    return start(varying_call(Kind::scatterv, in, out, counts, offsets, {&mine, 1}, {}, root, options));
  }
  template <Elements In, Writable Out>
  Persistent scatterv_init(const In& in, Out&& out, std::span<const Count> counts, std::span<const Count> offsets = {},
                           Rank root = 0, Options options = {}) const {
    const Count mine = length(out);
    return init(varying_call(Kind::scatterv, in, out, counts, offsets, {&mine, 1}, {}, root, options));
  }

  /// Everybody's out = everybody's in, counts[r] elements from rank r at offsets[r] (empty: side by side). In place: in
  /// is out's own block. Agreed: counts, type.
  template <Elements In, Writable Out>
  void allgatherv(const In& in, Out&& out, std::span<const Count> counts, std::span<const Count> offsets = {},
                  Options options = {}) const {
    const Count mine = length(in);
    run(varying_call(Kind::allgatherv, in, out, {&mine, 1}, {}, counts, offsets, 0, options));
  }
  template <Elements In, Writable Out>
  Request iallgatherv(const In& in, Out&& out, std::span<const Count> counts, std::span<const Count> offsets = {},
                      Options options = {}) const {
    const Count mine = length(in);
    return start(varying_call(Kind::allgatherv, in, out, {&mine, 1}, {}, counts, offsets, 0, options));
  }
  template <Elements In, Writable Out>
  Persistent allgatherv_init(const In& in, Out&& out, std::span<const Count> counts,
                             std::span<const Count> offsets = {}, Options options = {}) const {
    const Count mine = length(in);
    return init(varying_call(Kind::allgatherv, in, out, {&mine, 1}, {}, counts, offsets, 0, options));
  }

  /// send_counts[j] elements of in at send_offsets[j] go to rank j; recv_counts[i] come from rank i to recv_offsets[i]
  /// (empty offsets: side by side). in == out with the same counts and offsets, or without send_ ones: in place. Each
  /// send count is its receiver's recv count. Agreed: type.
  template <Elements In, Writable Out>
  void alltoallv(const In& in, std::span<const Count> send_counts, std::span<const Count> send_offsets, Out&& out,
                 std::span<const Count> recv_counts, std::span<const Count> recv_offsets, Options options = {}) const {
    run(varying_call(Kind::alltoallv, in, out, send_counts, send_offsets, recv_counts, recv_offsets, 0, options));
  }
  template <Elements In, Writable Out>
  Request ialltoallv(const In& in, std::span<const Count> send_counts, std::span<const Count> send_offsets, Out&& out,
                     std::span<const Count> recv_counts, std::span<const Count> recv_offsets,
                     Options options = {}) const {
    return start(
        varying_call(Kind::alltoallv, in, out, send_counts, send_offsets, recv_counts, recv_offsets, 0, options));
  }
  template <Elements In, Writable Out>
  Persistent alltoallv_init(const In& in, std::span<const Count> send_counts, std::span<const Count> send_offsets,
                            Out&& out, std::span<const Count> recv_counts, std::span<const Count> recv_offsets,
                            Options options = {}) const {
    return init(
        varying_call(Kind::alltoallv, in, out, send_counts, send_offsets, recv_counts, recv_offsets, 0, options));
  }

  /// send[j] names what of in goes to rank j, recv[i] where in out lies what comes from rank i: layouts and types of
  /// each pair's own, in which both ends have the same number of bytes. Throws Error (usage) for what reaches outside
  /// in or out, and where parts of recv overlap. In place: an empty in and send: out is also what is sent, by recv.
  template <SideBySide In, SideBySide Out>
  void alltoallw(const In& in, std::span<const Part> send, Out&& out, std::span<const Part> recv,
                 Options options = {}) const {
    run(PartsCall(Kind::alltoallw, in, send, out, recv).call(options.algorithm, options.site));
  }
  template <SideBySide In, SideBySide Out>
  Request ialltoallw(const In& in, std::span<const Part> send, Out&& out, std::span<const Part> recv,
                     Options options = {}) const {
    return start(PartsCall(Kind::alltoallw, in, send, out, recv).call(options.algorithm, options.site));
  }
  template <SideBySide In, SideBySide Out>
  Persistent alltoallw_init(const In& in, std::span<const Part> send, Out&& out, std::span<const Part> recv,
                            Options options = {}) const {
    return init(PartsCall(Kind::alltoallw, in, send, out, recv).call(options.algorithm, options.site));
  }

  /// Sends elements to another rank. Messages from one rank to another with the same tag arrive in order; lengths and
  /// types of both ends are the same. Returns when the buffer may be used again, for which a large message waits for
  /// its receiver. Throws Error (usage) for this rank itself, or one that is not in the group.
  template <Elements B>
  void send(const B& buffer, Rank to, std::uint32_t tag = 0, const void* site = detail::here()) const {
    finish(isend(buffer, to, tag, site));
  }
  template <Elements B>
  Request isend(const B& buffer, Rank to, std::uint32_t tag = 0, const void* site = detail::here()) const {
    using T = detail::Value<B>;
    return start_send(detail::address_of(buffer), length(buffer), type_of<T>, sizeof(T), to, tag, site,
                      detail::layout_of(buffer));
  }
  template <Writable B>
  void recv(B&& buffer, Rank from, std::uint32_t tag = 0, const void* site = detail::here()) const {
    finish(irecv(buffer, from, tag, site));
  }
  template <Writable B>
  Request irecv(B&& buffer, Rank from, std::uint32_t tag = 0, const void* site = detail::here()) const {
    using T = detail::Value<B>;
    return start_recv(detail::address_of(buffer), length(buffer), type_of<T>, sizeof(T), from, tag, site,
                      detail::layout_of(buffer));
  }
  Request start_send(const void* data, Count count, Type type, std::size_t element, Rank to, std::uint32_t tag,
                     const void* site = detail::here(), const Layout* layout = nullptr) const;
  Request start_recv(void* data, Count count, Type type, std::size_t element, Rank from, std::uint32_t tag,
                     const void* site = detail::here(), const Layout* layout = nullptr) const;
  /// Waits as a blocking call does: no longer than `time_limit`, then gives the operation up.
  void finish(Request request) const;

  const std::shared_ptr<job::Member>& member() const { return member_; }

 protected:
  template <class B>
  static Count length(const B& buffer) {
    return detail::length(buffer);
  }
  static Call call(Kind kind, const Options& options) {
    Call made;
    made.kind = kind;
    made.algorithm = options.algorithm;
    made.site = options.site;
    return made;
  }
  template <class T>
  static Call typed(Kind kind, const Options& options) {
    Call made = call(kind, options);
    made.type = type_of<T>;
    made.element = sizeof(T);
    return made;
  }
  template <class B>
  static Call bcast_call(B&& buffer, Rank root, const Options& options);
  template <class In, class Out>
  static Call two_buffers(Kind kind, const In& in, Out&& out, const Options& options);
  template <class In, class Out, class Reduce>
  static Call plan_call(const Plan& plan, const In& in, Out&& out, const Reduce& op, const Options& options);
  Plan kept_plan(std::string_view key) const;
  Plan keep_plan(std::string_view key, const Plan& plan) const;
  template <class In, class Out, class Reduce>
  Call reduce_call(Kind kind, const In& in, Out&& out, const Reduce& op, Rank root, const Options& options) const;
  template <class In, class T>
  static Call sum_call(const In& in, T& total, const Options& options);
  template <class In, class Out, class Reduce>
  Call reduce_scatter_block_call(const In& in, Out&& out, const Reduce& op, const Options& options) const;
  template <class In, class Out, class Reduce>
  Call reduce_scatter_call(const In& in, Out&& out, std::span<const Count> counts, const Reduce& op,
                           const Options& options) const;
  template <class In, class Out>
  Call gather_call(Kind kind, const In& in, Out&& out, Rank root, const Options& options) const;
  template <class In, class Out>
  Call scatter_call(const In& in, Out&& out, Rank root, const Options& options) const;
  template <class In, class Out>
  Call alltoall_call(const In& in, Out&& out, const Options& options) const;
  template <class In, class Out>
  Call varying_call(Kind kind, const In& in, Out&& out, std::span<const Count> send_counts,
                    std::span<const Count> send_offsets, std::span<const Count> recv_counts,
                    std::span<const Count> recv_offsets, Rank root, const Options& options) const;
  template <class In, class Out>
  void expect_no_crossing(const Call& made, const In& in, const Out& out) const;
  /// Throws Error (usage) when a buffer has another length than the collective needs.
  static void expect_length(Kind kind, const char* which, Count length, Count needed);
  /// The same when a rank is listed twice or is none of the group.
  void expect_members(std::span<const Rank> ranks) const;

 private:
  std::shared_ptr<job::Member> member_;
  bool reproducible_ = false;
};

/// All processes of the job, from first use until the program ends. A program that was started alone is a world of one.
/// The first call finds the other processes, all of which call it (communicates); throws Error (usage) for a wrong
/// environment, Timeout (TUTTI_TIMEOUT; between hosts ten minutes without it), PeerLost, Error (system).
TUTTI_API Group world();

}  // namespace tutti

#include "tutti/group_calls.hpp"
