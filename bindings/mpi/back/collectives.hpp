// SPDX-License-Identifier: BSD-3-Clause
// MPI's collectives: how the arguments of each become Tutti's call. `describe` has the arguments of the blocking form
// but for the communicator; N is the type of its counts and D that of its displacements, which are int in the plain
// forms and 64 bits wide in the _c forms.
#pragma once

#include "datatypes.hpp"
#include "translation.hpp"

namespace tutti::mpi::collectives {

/// The size of a call: what all ranks know alike. The bytes of one block, or of all where they differ.
struct Sizes {
  static constexpr Count unknown = -1;  ///< Each rank knows its own part.
  static Count of(Count count, MPI_Datatype type) {
    const Datatype* what = count <= 0 ? nullptr : datatype(type);
    return what == nullptr ? 0 : count * what->size;
  }
  template <class N>
  static Count all(const N* counts, int blocks, MPI_Datatype type) {
    Count sum = 0;
    if (counts != nullptr)
      for (int i = 0; i < blocks; ++i) sum += counts[i];
    return of(sum, type);
  }
};

/// For collectives that only move data.
struct Plain {
  static constexpr bool along_edges = false;
  template <class... Arguments>
  static Count size(const Place&, const Arguments&...) {
    return Sizes::unknown;
  }
};

struct Barrier : Plain {
  static constexpr Kind kind = Kind::barrier;
  template <class N, class D>
  static bool describe(Translation&) {
    return true;
  }
  static Count size(const Place&) { return 0; }
};

struct Bcast : Plain {
  static constexpr Kind kind = Kind::bcast;
  template <class N, class D>
  static bool describe(Translation& t, void* buffer, N count, MPI_Datatype type, int root) {
    return t.at(root) && t.output(buffer, count, type, t.call.count);
  }
  template <class N>
  static Count size(const Place&, const void*, N count, MPI_Datatype type, int) {
    return Sizes::of(count, type);
  }
};

struct Gather : Plain {
  static constexpr Kind kind = Kind::gather;
  template <class N, class D>
  static bool describe(Translation& t, const void* in, N send_count, MPI_Datatype send_type, void* out, N receive_count,
                       MPI_Datatype receive_type, int root) {
    if (!t.at(root)) return false;
    t.call.in_place = in == MPI_IN_PLACE;
    if (t.call.in_place && !t.is_root()) return false;
    if (!t.call.in_place && !t.input(in, send_count, send_type, t.call.count)) return false;
    return !t.is_root() || receive_blocks(t, out, receive_count, receive_type);
  }
  /// One block from each rank, side by side.
  static bool receive_blocks(Translation& t, void* out, Count count, MPI_Datatype type) {
    Count all = 0;
    if (!t.output(out, count < 0 ? count : count * t.place().size, type, all)) return false;
    t.call.count = all / t.place().size;
    return true;
  }
  template <class N>
  static Count size(const Place&, const void* in, N send_count, MPI_Datatype send_type, void*, N receive_count,
                    MPI_Datatype receive_type, int) {
    return in == MPI_IN_PLACE ? Sizes::of(receive_count, receive_type) : Sizes::of(send_count, send_type);
  }
};

struct Allgather : Plain {
  static constexpr Kind kind = Kind::allgather;
  template <class N, class D>
  static bool describe(Translation& t, const void* in, N send_count, MPI_Datatype send_type, void* out, N receive_count,
                       MPI_Datatype receive_type) {
    t.call.in_place = in == MPI_IN_PLACE;
    return (t.call.in_place || t.input(in, send_count, send_type, t.call.count)) &&
           Gather::receive_blocks(t, out, receive_count, receive_type);
  }
  template <class N>
  static Count size(const Place&, const void*, N, MPI_Datatype, void*, N receive_count, MPI_Datatype receive_type) {
    return Sizes::of(receive_count, receive_type);
  }
};

struct Scatter : Plain {
  static constexpr Kind kind = Kind::scatter;
  template <class N, class D>
  static bool describe(Translation& t, const void* in, N send_count, MPI_Datatype send_type, void* out, N receive_count,
                       MPI_Datatype receive_type, int root) {
    if (!t.at(root)) return false;
    t.call.in_place = out == MPI_IN_PLACE;
    if (t.call.in_place && !t.is_root()) return false;
    if (!t.call.in_place && !t.output(out, receive_count, receive_type, t.call.count)) return false;
    if (!t.is_root()) return true;
    Count all = 0;
    if (!t.input(in, send_count < 0 ? -1 : static_cast<Count>(send_count) * t.place().size, send_type, all))
      return false;
    t.call.count = all / t.place().size;
    return true;
  }
  template <class N>
  static Count size(const Place&, const void*, N send_count, MPI_Datatype send_type, void* out, N receive_count,
                    MPI_Datatype receive_type, int) {
    return out == MPI_IN_PLACE ? Sizes::of(send_count, send_type) : Sizes::of(receive_count, receive_type);
  }
};

struct Alltoall : Plain {
  static constexpr Kind kind = Kind::alltoall;
  template <class N, class D>
  static bool describe(Translation& t, const void* in, N send_count, MPI_Datatype send_type, void* out, N receive_count,
                       MPI_Datatype receive_type) {
    t.call.in_place = in == MPI_IN_PLACE;
    Count all = 0;
    const Count sent = t.call.in_place || send_count < 0 ? 0 : static_cast<Count>(send_count) * t.place().size;
    return send_count_fits(t, send_count) && (t.call.in_place || t.input(in, sent, send_type, all)) &&
           Gather::receive_blocks(t, out, receive_count, receive_type);
  }
  static bool send_count_fits(const Translation& t, Count count) { return t.call.in_place || count >= 0; }
  template <class N>
  static Count size(const Place&, const void*, N, MPI_Datatype, void*, N receive_count, MPI_Datatype receive_type) {
    return Sizes::of(receive_count, receive_type);
  }
};

struct Gatherv : Plain {
  static constexpr Kind kind = Kind::gatherv;
  template <class N, class D>
  static bool describe(Translation& t, const void* in, N send_count, MPI_Datatype send_type, void* out, const N* counts,
                       const D* displacements, MPI_Datatype receive_type, int root) {
    if (!t.at(root)) return false;
    t.call.in_place = in == MPI_IN_PLACE;
    if (t.call.in_place && !t.is_root()) return false;
    if (!t.call.in_place && !t.input_block(in, send_count, send_type)) return false;
    if (!t.is_root()) return true;
    if (!t.output_blocks(out, t.place().everybody(), counts, displacements, receive_type)) return false;
    if (t.call.in_place) t.call.send_counts = t.call.recv_counts.subspan(static_cast<std::size_t>(root), 1);
    return true;
  }
};

struct Scatterv : Plain {
  static constexpr Kind kind = Kind::scatterv;
  template <class N, class D>
  static bool describe(Translation& t, const void* in, const N* counts, const D* displacements, MPI_Datatype send_type,
                       void* out, N receive_count, MPI_Datatype receive_type, int root) {
    if (!t.at(root)) return false;
    t.call.in_place = out == MPI_IN_PLACE;
    if (t.call.in_place && !t.is_root()) return false;
    if (!t.call.in_place && !t.output_block(out, receive_count, receive_type)) return false;
    if (!t.is_root()) return true;
    if (!t.input_blocks(in, t.place().everybody(), counts, displacements, send_type)) return false;
    if (t.call.in_place) t.call.recv_counts = t.call.send_counts.subspan(static_cast<std::size_t>(root), 1);
    return true;
  }
};

struct Allgatherv : Plain {
  static constexpr Kind kind = Kind::allgatherv;
  template <class N, class D>
  static bool describe(Translation& t, const void* in, N send_count, MPI_Datatype send_type, void* out, const N* counts,
                       const D* displacements, MPI_Datatype receive_type) {
    t.call.in_place = in == MPI_IN_PLACE;
    if (!t.call.in_place && !t.input_block(in, send_count, send_type)) return false;
    if (!t.output_blocks(out, t.place().everybody(), counts, displacements, receive_type)) return false;
    if (t.call.in_place) t.call.send_counts = t.call.recv_counts.subspan(static_cast<std::size_t>(t.place().rank), 1);
    return true;
  }
  template <class N, class D>
  static Count size(const Place& place, const void*, N, MPI_Datatype, void*, const N* counts, const D*,
                    MPI_Datatype receive_type) {
    return Sizes::all(counts, place.size, receive_type);
  }
};

struct Alltoallv : Plain {
  static constexpr Kind kind = Kind::alltoallv;
  template <class N, class D>
  static bool describe(Translation& t, const void* in, const N* send_counts, const D* send_displacements,
                       MPI_Datatype send_type, void* out, const N* receive_counts, const D* receive_displacements,
                       MPI_Datatype receive_type) {
    t.call.in_place = in == MPI_IN_PLACE;
    if (!t.call.in_place && !t.input_blocks(in, t.place().everybody(), send_counts, send_displacements, send_type))
      return false;
    if (!t.output_blocks(out, t.place().everybody(), receive_counts, receive_displacements, receive_type)) return false;
    if (t.call.in_place) t.call.send_counts = t.call.recv_counts;
    return true;
  }
};

struct Alltoallw : Plain {
  static constexpr Kind kind = Kind::alltoallw;
  template <class N, class D>
  static bool describe(Translation& t, const void* in, const N* send_counts, const D* send_displacements,
                       const MPI_Datatype* send_types, void* out, const N* receive_counts,
                       const D* receive_displacements, const MPI_Datatype* receive_types) {
    const Partners all = t.place().everybody();
    return t.parts(in, all, send_counts, send_displacements, send_types, out, all, receive_counts,
                   receive_displacements, receive_types);
  }
};

/// Reductions; `how`: they combine.
template <Kind which>
struct Reducing {
  static constexpr bool along_edges = false;
  static constexpr Kind kind = which;
  template <class N, class D>
  static bool describe(Translation& t, const void* in, void* out, N count, MPI_Datatype type, MPI_Op op) {
    return t.reduce(combining(op, type), in, out, count);
  }
  template <class N>
  static const Combining& how(const void*, void*, N, MPI_Datatype type, MPI_Op op) {
    return combining(op, type);
  }
  template <class N>
  static Count size(const Place&, const void*, void*, N count, MPI_Datatype type, MPI_Op) {
    return Sizes::of(count, type);
  }
};
using Allreduce = Reducing<Kind::allreduce>;
using Scan = Reducing<Kind::scan>;
using Exscan = Reducing<Kind::exscan>;
using ReduceScatterBlock = Reducing<Kind::reduce_scatter_block>;

struct Reduce {
  static constexpr bool along_edges = false;
  static constexpr Kind kind = Kind::reduce;
  template <class N, class D>
  static bool describe(Translation& t, const void* in, void* out, N count, MPI_Datatype type, MPI_Op op, int root) {
    if (!t.at(root) || (in == MPI_IN_PLACE && !t.is_root())) return false;
    return t.reduce(combining(op, type), in, out, count);
  }
  template <class N>
  static const Combining& how(const void*, void*, N, MPI_Datatype type, MPI_Op op, int) {
    return combining(op, type);
  }
  template <class N>
  static Count size(const Place&, const void*, void*, N count, MPI_Datatype type, MPI_Op, int) {
    return Sizes::of(count, type);
  }
};

struct ReduceScatter {
  static constexpr bool along_edges = false;
  static constexpr Kind kind = Kind::reduce_scatter;
  template <class N, class D>
  static bool describe(Translation& t, const void* in, void* out, const N* counts, MPI_Datatype type, MPI_Op op) {
    return t.reduce_counts(counts) && t.reduce(combining(op, type), in, out, 0);
  }
  template <class N>
  static const Combining& how(const void*, void*, const N*, MPI_Datatype type, MPI_Op op) {
    return combining(op, type);
  }
  template <class N>
  static Count size(const Place& place, const void*, void*, const N* counts, MPI_Datatype type, MPI_Op) {
    return Sizes::all(counts, place.size, type);
  }
};

/// Collectives along edges: of communicators with neighbours.
struct Edges : Plain {
  static constexpr bool along_edges = true;
};

/// Counts agree along each edge, and need not elsewhere: a rank without destinations may name any. So these two are
/// their v-forms with equal blocks.
struct NeighborAllgather : Edges {
  static constexpr Kind kind = Kind::neighbor_allgather, carrier = Kind::neighbor_allgatherv;
  template <class N, class D>
  static bool describe(Translation& t, const void* in, N send_count, MPI_Datatype send_type, void* out, N receive_count,
                       MPI_Datatype receive_type) {
    return t.input_block_along_edges(in, send_count, send_type) &&
           t.output_equal_blocks(out, t.place().sources(), receive_count, receive_type);
  }
};

struct NeighborAlltoall : Edges {
  static constexpr Kind kind = Kind::neighbor_alltoall, carrier = Kind::neighbor_alltoallv;
  template <class N, class D>
  static bool describe(Translation& t, const void* in, N send_count, MPI_Datatype send_type, void* out, N receive_count,
                       MPI_Datatype receive_type) {
    return t.input_equal_blocks(in, t.place().destinations(), send_count, send_type) &&
           t.output_equal_blocks(out, t.place().sources(), receive_count, receive_type);
  }
};

struct NeighborAllgatherv : Edges {
  static constexpr Kind kind = Kind::neighbor_allgatherv;
  template <class N, class D>
  static bool describe(Translation& t, const void* in, N send_count, MPI_Datatype send_type, void* out, const N* counts,
                       const D* displacements, MPI_Datatype receive_type) {
    return t.input_block_along_edges(in, send_count, send_type) &&
           t.output_blocks(out, t.place().sources(), counts, displacements, receive_type);
  }
};

struct NeighborAlltoallv : Edges {
  static constexpr Kind kind = Kind::neighbor_alltoallv;
  template <class N, class D>
  static bool describe(Translation& t, const void* in, const N* send_counts, const D* send_displacements,
                       MPI_Datatype send_type, void* out, const N* receive_counts, const D* receive_displacements,
                       MPI_Datatype receive_type) {
    return t.input_blocks(in, t.place().destinations(), send_counts, send_displacements, send_type) &&
           t.output_blocks(out, t.place().sources(), receive_counts, receive_displacements, receive_type);
  }
};

struct NeighborAlltoallw : Edges {
  static constexpr Kind kind = Kind::neighbor_alltoallw;
  template <class N, class D>
  static bool describe(Translation& t, const void* in, const N* send_counts, const D* send_displacements,
                       const MPI_Datatype* send_types, void* out, const N* receive_counts,
                       const D* receive_displacements, const MPI_Datatype* receive_types) {
    return in != MPI_IN_PLACE && t.parts(in, t.place().destinations(), send_counts, send_displacements, send_types, out,
                                         t.place().sources(), receive_counts, receive_displacements, receive_types);
  }
};

}  // namespace tutti::mpi::collectives
