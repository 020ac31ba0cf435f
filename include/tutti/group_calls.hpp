// SPDX-License-Identifier: BSD-3-Clause
// How Group's typed methods become calls. Included by group.hpp.
#pragma once

#include <numeric>

#include "tutti/group.hpp"

namespace tutti {

namespace detail {

template <class T>
Reduction reduction(const BuiltIn& op) {
  static_assert(Number<T>, "tutti: this element type has no arithmetic; pass a function with tutti::op(f)");
  return {op.op, true, nullptr, nullptr};
}

template <class T, class F>
Reduction reduction(const Function<F>& op) {
  static_assert(std::is_invocable_r_v<T, const F&, const T&, const T&>,
                "tutti: a reduction function takes two elements and returns one");
  const auto apply = [](const void* in, void* inout, Count n, void* context) {
    const T* left = static_cast<const T*>(in);
    T* right = static_cast<T*>(inout);
    // A function without state is made anew here, so that no object needs to outlive an i-form's call.
    if constexpr (Stateless<F>) {
      for (Count i = 0; i < n; ++i) right[i] = F{}(left[i], right[i]);
    } else {
      const auto& f = *static_cast<const F*>(context);
      for (Count i = 0; i < n; ++i) right[i] = f(left[i], right[i]);
    }
  };
  return {Op::user, op.commutative, apply, const_cast<void*>(static_cast<const void*>(&op.f))};
}

/// Throws Error (usage) when a block does not lie in its buffer. `blocks`: how many there must be; where there are not
/// so many counts or offsets, nothing is looked at, and the call is refused when it starts.
TUTTI_API void expect_blocks(Kind kind, const char* which, Count length, Count blocks, std::span<const Count> counts,
                             std::span<const Count> offsets);

/// How what is sent and what is received lie to each other in a call whose buffers meet so. Blocks of both may lie
/// between each other's, as the rows of a field do whose edges are exchanged. An alltoallv is in place where what is
/// sent lies where what is received does, or where nothing says what is sent.
TUTTI_API Meeting meeting_of_blocks(const Call& call, Meeting of_buffers);

/// in_place of a v-form.
template <class Inner, class Outer>
bool in_place_among_blocks(const Call& call, const Inner& inner, const Outer& outer, Count index) {
  const Meeting found = meeting_of_blocks(call, meeting_of(inner, outer, index));
  if (found == Meeting::crossing) refuse_crossing(call.kind);
  return found == Meeting::same;
}

/// Of a call whose result is one block: in place the whole is the output, since the operands are taken from there.
template <class In, class Out>
void put_block(Call& made, const In& in, const Out& out) {
  made.in_place = length(in) > 0 && in_place(made.kind, out, in, 0);
  if (!made.in_place) return;
  made.output = const_cast<void*>(made.input);  // it begins where `out` does, which is writable
  made.output_layout = made.input_layout;
}

/// Where the block of rank `own` begins; -1 where there are too few numbers, which is refused later.
inline Count block_offset(std::span<const Count> counts, std::span<const Count> offsets, std::size_t own) {
  if (counts.size() <= own || (!offsets.empty() && offsets.size() <= own)) return -1;
  if (!offsets.empty()) return offsets[own];
  return std::accumulate(counts.begin(), counts.begin() + static_cast<std::ptrdiff_t>(own), Count{0});
}

}  // namespace detail

template <class B>
Call Group::bcast_call(B&& buffer, Rank root, const Options& options) {
  Call made = typed<detail::Value<B>>(Kind::bcast, options);
  made.output = detail::address_of(buffer);
  made.output_layout = detail::layout_of(buffer);
  made.count = length(buffer);
  made.root = root;
  return made;
}

template <class In, class Out>
Call Group::two_buffers(Kind kind, const In& in, Out&& out, const Options& options) {
  using T = detail::Value<In>;
  static_assert(std::is_same_v<T, detail::Value<Out>>, "tutti: in and out must have the same element type");
  Call made = typed<T>(kind, options);
  made.input = detail::address_of(in);
  made.output = detail::address_of(out);
  made.input_layout = detail::layout_of(in);
  made.output_layout = detail::layout_of(out);
  return made;
}

template <class In, class Out, class Reduce>
Call Group::plan_call(const Plan& plan, const In& in, Out&& out, const Reduce& op, const Options& options) {
  constexpr bool any_in = !std::is_same_v<In, detail::Nothing>;
  constexpr bool any_out = !std::is_same_v<std::remove_cvref_t<Out>, detail::Nothing>;
  using T = std::conditional_t<any_in, detail::Value<In>, detail::Value<Out>>;
  static_assert(!any_in || !any_out || std::is_same_v<T, detail::Value<Out>>,
                "tutti: in and out must have the same element type");
  Call made = call(Kind::plan, options);
  if constexpr (any_in || any_out) {
    made.type = type_of<T>;
    made.element = sizeof(T);
  }
  plan.expect_length("in", length(in));
  plan.expect_length("out", length(out));
  made.input = detail::address_of(in);
  made.output = detail::address_of(out);
  made.input_layout = detail::layout_of(in);
  made.output_layout = detail::layout_of(out);
  if constexpr (!std::is_same_v<Reduce, detail::NoOperation>) made.reduction = detail::reduction<T>(op);
  return plan.call(made);
}

template <class In, class Out, class Reduce>
Call Group::reduce_call(Kind kind, const In& in, Out&& out, const Reduce& op, Rank root, const Options& options) const {
  Call made = two_buffers(kind, in, out, options);
  made.reduction = detail::reduction<detail::Value<In>>(op);
  made.count = length(in);
  made.root = root;
  const bool writes = kind != Kind::reduce || rank() == root;
  if (writes) expect_length(kind, "out", length(out), made.count);
  made.in_place = writes && detail::in_place(made.kind, in, out, 0);
  return made;
}

template <class In, class T>
Call Group::sum_call(const In& in, T& total, const Options& options) {
  static_assert(type_of<T> == Type::float32 || type_of<T> == Type::float64 || type_of<T> == Type::complex64 ||
                    type_of<T> == Type::complex128,
                "tutti: sum is for float, double and complex elements");
  Call made = typed<T>(Kind::allreduce, options);
  made.input = detail::address_of(in);
  made.input_layout = detail::layout_of(in);
  made.output = &total;
  made.reduction = detail::reduction<T>(BuiltIn{Op::sum});
  made.count = 1;
  made.exact = Exactness::folded;
  made.own = length(in);
  return made;
}

template <class In, class Out, class Reduce>
Call Group::reduce_scatter_block_call(const In& in, Out&& out, const Reduce& op, const Options& options) const {
  Call made = two_buffers(Kind::reduce_scatter_block, in, out, options);
  made.reduction = detail::reduction<detail::Value<In>>(op);
  made.count = length(out);
  expect_length(made.kind, "in", length(in), made.count * size());
  detail::put_block(made, in, out);
  return made;
}

template <class In, class Out, class Reduce>
Call Group::reduce_scatter_call(const In& in, Out&& out, std::span<const Count> counts, const Reduce& op,
                                const Options& options) const {
  Call made = two_buffers(Kind::reduce_scatter, in, out, options);
  made.reduction = detail::reduction<detail::Value<In>>(op);
  made.recv_counts = counts;
  detail::expect_blocks(made.kind, "in", length(in), size(), counts, {});
  const auto own = static_cast<std::size_t>(rank());
  if (own < counts.size()) expect_length(made.kind, "out", length(out), counts[own]);
  detail::put_block(made, in, out);
  return made;
}

template <class In, class Out>
Call Group::gather_call(Kind kind, const In& in, Out&& out, Rank root, const Options& options) const {
  Call made = two_buffers(kind, in, out, options);
  made.count = length(in);
  made.root = root;
  const bool writes = kind == Kind::allgather || rank() == root;
  if (writes) expect_length(kind, "out", length(out), made.count * size());
  made.in_place = writes && made.count > 0 && detail::in_place(made.kind, in, out, rank() * made.count);
  return made;
}

template <class In, class Out>
Call Group::scatter_call(const In& in, Out&& out, Rank root, const Options& options) const {
  Call made = two_buffers(Kind::scatter, in, out, options);
  made.count = length(out);
  made.root = root;
  if (rank() == root) expect_length(Kind::scatter, "in", length(in), made.count * size());
  made.in_place = rank() == root && made.count > 0 && detail::in_place(made.kind, out, in, rank() * made.count);
  return made;
}

template <class In, class Out>
Call Group::alltoall_call(const In& in, Out&& out, const Options& options) const {
  Call made = two_buffers(Kind::alltoall, in, out, options);
  made.count = length(out) / size();
  expect_length(Kind::alltoall, "in", length(in), length(out));
  expect_length(Kind::alltoall, "out", length(out), made.count * size());
  made.in_place = detail::in_place(made.kind, in, out, 0);
  return made;
}

/// In place a block is copied to where it already lies, which does no harm.
template <class In, class Out>
void Group::expect_no_crossing(const Call& made, const In& in, const Out& out) const {
  const bool root = rank() == made.root;
  const auto own = static_cast<std::size_t>(rank());
  if (made.kind == Kind::allgatherv || (made.kind == Kind::gatherv && root)) {
    const Count offset = detail::block_offset(made.recv_counts, made.recv_offsets, own);
    if (offset >= 0) static_cast<void>(detail::in_place_among_blocks(made, in, out, offset));
  }
  if (made.kind == Kind::scatterv && root) {
    const Count offset = detail::block_offset(made.send_counts, made.send_offsets, own);
    if (offset >= 0) static_cast<void>(detail::in_place_among_blocks(made, out, in, offset));
  }
}

template <class In, class Out>
Call Group::varying_call(Kind kind, const In& in, Out&& out, std::span<const Count> send_counts,
                         std::span<const Count> send_offsets, std::span<const Count> recv_counts,
                         std::span<const Count> recv_offsets, Rank root, const Options& options) const {
  Call made = two_buffers(kind, in, out, options);
  made.root = root;
  made.send_counts = send_counts;
  made.send_offsets = send_offsets;
  made.recv_counts = recv_counts;
  made.recv_offsets = recv_offsets;
  if (kind == Kind::alltoallv && length(out) > 0 && detail::in_place_among_blocks(made, in, out, 0)) {
    made.in_place = true;
    made.send_counts = recv_counts;
    made.send_offsets = recv_offsets;
  }
  if (kind == Kind::alltoallv || (kind == Kind::scatterv && rank() == root))
    detail::expect_blocks(kind, "in", length(in), size(), made.send_counts, made.send_offsets);
  if (kind == Kind::alltoallv || kind == Kind::allgatherv || (kind == Kind::gatherv && rank() == root))
    detail::expect_blocks(kind, "out", length(out), size(), recv_counts, recv_offsets);
  expect_no_crossing(made, in, out);
  return made;
}

}  // namespace tutti
