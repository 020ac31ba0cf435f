// SPDX-License-Identifier: BSD-3-Clause
// Groups whose ranks have neighbours: graphs and Cartesian grids, and the collectives along their edges.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "tutti/group.hpp"

namespace tutti {

/// No rank: beyond the border of a grid, or an edge that leads nowhere.
inline constexpr Rank none = -1;

/// An edge of a graph.
struct GraphEdge {
  Rank source, destination;
};

/// A group in which each rank has sources, from which it receives, and destinations, to which it sends. Several edges
/// between two ranks and edges of a rank to itself are edges like others. Blocks stand in the order of the edges; the
/// block of an edge that leads nowhere is not touched. Buffers must not overlap.
///
///     auto grid = tutti::cartesian(tutti::world(), {2, 3}, {true, false});
///     grid.neighbor_alltoall(faces, halo, face);
///
/// Collectives along edges are called by all ranks of the group, in order with its other collectives. A rank reads only
/// what its sources give: at a fixed number of edges the cost does not grow with the group.
class TUTTI_API Graph : public Group {
 public:
  Graph() = default;
  /// The same group, seen as a graph. Throws Error (usage) when it has no neighbours.
  explicit Graph(Group group);

  /// The ranks at the ends of this rank's edges, in the order of the blocks; `none` where an edge leads nowhere.
  std::vector<Rank> sources() const;
  std::vector<Rank> destinations() const;
  /// How many there are.
  Count indegree() const;
  Count outdegree() const;
  /// The same ranks and edges with an order of operations of their own. Collective.
  Graph dup(const void* site = detail::here()) const;

  /// Block s of out = the whole in of source s. Agreed: in.size(), type. out.size() = sources * in.size().
  template <Elements In, Writable Out>
  void neighbor_allgather(const In& in, Out&& out, Options options = {}) const {
    run(allgather_call(in, out, options));
  }
  template <Elements In, Writable Out>
  Request ineighbor_allgather(const In& in, Out&& out, Options options = {}) const {
    return start(allgather_call(in, out, options));
  }
  template <Elements In, Writable Out>
  Persistent neighbor_allgather_init(const In& in, Out&& out, Options options = {}) const {
    return init(allgather_call(in, out, options));
  }

  /// Block d of in goes along edge d, block s of out comes along edge s, `count` elements each. Agreed: count, type.
  template <Elements In, Writable Out>
  void neighbor_alltoall(const In& in, Out&& out, Count count, Options options = {}) const {
    run(alltoall_call(in, out, count, options));
  }
  template <Elements In, Writable Out>
  Request ineighbor_alltoall(const In& in, Out&& out, Count count, Options options = {}) const {
    return start(alltoall_call(in, out, count, options));
  }
  template <Elements In, Writable Out>
  Persistent neighbor_alltoall_init(const In& in, Out&& out, Count count, Options options = {}) const {
    return init(alltoall_call(in, out, count, options));
  }

  /// out[i] = in[i] of source 0 op in[i] of source 1 ..., in the order of this rank's edges. A source counts once for
  /// each of its edges, this rank itself only if it has one to itself. The out of a rank without sources stays as it is
  /// and may be empty. Agreed: in.size(), type, op. out.size() = in.size().
  template <Elements In, Writable Out, class Reduce>
  void neighbor_reduce(const In& in, Out&& out, const Reduce& op, Options options = {}) const {
    run(combine_call(in, out, op, options));
  }
  template <Elements In, Writable Out, detail::Lasting Reduce>
  Request ineighbor_reduce(const In& in, Out&& out, Reduce&& op, Options options = {}) const {
    return start(combine_call(in, out, op, options));
  }
  template <Elements In, Writable Out, detail::Lasting Reduce>
  Persistent neighbor_reduce_init(const In& in, Out&& out, Reduce&& op, Options options = {}) const {
    return init(combine_call(in, out, op, options));
  }

  /// neighbor_allgather with counts[s] elements from source s at offsets[s] of out (empty: side by side). Agreed: type;
  /// each count is its source's in.size().
  template <Elements In, Writable Out>
  void neighbor_allgatherv(const In& in, Out&& out, std::span<const Count> counts, std::span<const Count> offsets = {},
                           Options options = {}) const {
    const Count mine = length(in);
    run(varying_call(Kind::neighbor_allgatherv, in, {&mine, 1}, {}, out, counts, offsets, options));
  }
  template <Elements In, Writable Out>
  Request ineighbor_allgatherv(const In& in, Out&& out, std::span<const Count> counts,
                               std::span<const Count> offsets = {}, Options options = {}) const {
    const Count mine = length(in);
    return start(varying_call(Kind::neighbor_allgatherv, in, {&mine, 1}, {}, out, counts, offsets, options));
  }
  template <Elements In, Writable Out>
  Persistent neighbor_allgatherv_init(const In& in, Out&& out, std::span<const Count> counts,
                                      std::span<const Count> offsets = {}, Options options = {}) const {
    const Count mine = length(in);
    return init(varying_call(Kind::neighbor_allgatherv, in, {&mine, 1}, {}, out, counts, offsets, options));
  }

  /// neighbor_alltoall with counts and offsets for each edge (empty offsets: side by side). Agreed: type; each send
  /// count is the receive count at the other end of its edge.
  template <Elements In, Writable Out>
  void neighbor_alltoallv(const In& in, std::span<const Count> send_counts, std::span<const Count> send_offsets,
                          Out&& out, std::span<const Count> recv_counts, std::span<const Count> recv_offsets,
                          Options options = {}) const {
    run(varying_call(Kind::neighbor_alltoallv, in, send_counts, send_offsets, out, recv_counts, recv_offsets, options));
  }
  template <Elements In, Writable Out>
  Request ineighbor_alltoallv(const In& in, std::span<const Count> send_counts, std::span<const Count> send_offsets,
                              Out&& out, std::span<const Count> recv_counts, std::span<const Count> recv_offsets,
                              Options options = {}) const {
    return start(
        varying_call(Kind::neighbor_alltoallv, in, send_counts, send_offsets, out, recv_counts, recv_offsets, options));
  }
  template <Elements In, Writable Out>
  Persistent neighbor_alltoallv_init(const In& in, std::span<const Count> send_counts,
                                     std::span<const Count> send_offsets, Out&& out, std::span<const Count> recv_counts,
                                     std::span<const Count> recv_offsets, Options options = {}) const {
    return init(
        varying_call(Kind::neighbor_alltoallv, in, send_counts, send_offsets, out, recv_counts, recv_offsets, options));
  }

  /// send[d] names what of in goes along edge d, recv[s] where in out lies what comes along edge s: layouts and types
  /// of each edge's own, in which both ends have the same number of bytes. in and out may be one array in which the
  /// parts lie apart: a halo. Throws Error (usage) for what reaches outside in or out, and where parts of recv overlap.
  template <SideBySide In, SideBySide Out>
  void neighbor_alltoallw(const In& in, std::span<const Part> send, Out&& out, std::span<const Part> recv,
                          Options options = {}) const {
    run(PartsCall(Kind::neighbor_alltoallw, in, send, out, recv).call(options.algorithm, options.site));
  }
  template <SideBySide In, SideBySide Out>
  Request ineighbor_alltoallw(const In& in, std::span<const Part> send, Out&& out, std::span<const Part> recv,
                              Options options = {}) const {
    return start(PartsCall(Kind::neighbor_alltoallw, in, send, out, recv).call(options.algorithm, options.site));
  }
  template <SideBySide In, SideBySide Out>
  Persistent neighbor_alltoallw_init(const In& in, std::span<const Part> send, Out&& out, std::span<const Part> recv,
                                     Options options = {}) const {
    return init(PartsCall(Kind::neighbor_alltoallw, in, send, out, recv).call(options.algorithm, options.site));
  }

 private:
  template <class In, class Out>
  Call allgather_call(const In& in, Out&& out, const Options& options) const {
    Call made = between(Kind::neighbor_allgather, in, out, options);
    made.count = length(in);
    expect_length(made.kind, "out", length(out), indegree() * made.count);
    return made;
  }
  template <class In, class Out>
  Call alltoall_call(const In& in, Out&& out, Count count, const Options& options) const {
    Call made = between(Kind::neighbor_alltoall, in, out, options);
    made.count = count;
    expect_length(made.kind, "in", length(in), outdegree() * count);
    expect_length(made.kind, "out", length(out), indegree() * count);
    return made;
  }
  template <class In, class Out, class Reduce>
  Call combine_call(const In& in, Out&& out, const Reduce& op, const Options& options) const {
    Call made = between(Kind::neighbor_reduce, in, out, options);
    made.reduction = detail::reduction<detail::Value<In>>(op);
    made.count = length(in);
    if (indegree() > 0 || length(out) > 0) expect_length(made.kind, "out", length(out), made.count);
    return made;
  }
  template <class In, class Out>
  Call varying_call(Kind kind, const In& in, std::span<const Count> send_counts, std::span<const Count> send_offsets,
                    Out&& out, std::span<const Count> recv_counts, std::span<const Count> recv_offsets,
                    const Options& options) const {
    Call made = between(kind, in, out, options);
    made.send_counts = send_counts;
    made.send_offsets = send_offsets;
    made.recv_counts = recv_counts;
    made.recv_offsets = recv_offsets;
    if (kind == Kind::neighbor_alltoallv)
      detail::expect_blocks(kind, "in", length(in), outdegree(), send_counts, send_offsets);
    detail::expect_blocks(kind, "out", length(out), indegree(), recv_counts, recv_offsets);
    return made;
  }
  template <class In, class Out>
  static Call between(Kind kind, const In& in, Out&& out, const Options& options) {
    Call made = two_buffers(kind, in, out, options);
    made.in_place = length(in) > 0 && length(out) > 0 && detail::in_place(kind, in, out, 0);  // refused later
    return made;
  }
};

/// A Cartesian grid, the last dimension running fastest. Neighbours: for each dimension the one in negative direction,
/// then the one in positive direction; `none` beyond the border of a dimension that is not periodic. What a rank sends
/// in negative direction arrives as what the other has from positive direction, also where a periodic dimension has two
/// ranks (the same neighbour twice) or one (the rank itself).
class TUTTI_API Grid : public Graph {
 public:
  Grid() = default;
  /// The same group, seen as a grid. Throws Error (usage) when it is none.
  explicit Grid(Group group);

  std::vector<int> dims() const;
  std::vector<bool> periodic() const;
  /// Where a rank, or this one, stands. Local; this and the next two throw Error (usage) where there is no such rank or
  /// dimension, or not one coordinate for each.
  std::vector<int> coordinates(Rank rank) const;
  std::vector<int> coordinates() const { return coordinates(rank()); }
  /// The rank there, around periodic dimensions; `none` outside the others. Local.
  Rank rank_at(std::span<const int> coordinates) const;
  Rank rank_at(std::initializer_list<int> coordinates) const {
    return rank_at(std::span(coordinates.begin(), coordinates.size()));
  }
  /// The ranks `by` steps before this one and behind it along a dimension: from whom it receives, and to whom it
  /// sends, when all data move by so much. Local.
  struct Shift {
    Rank source, destination;
  };
  Shift shift(int dimension, int by = 1) const;
  /// The grids that are left when the dimensions that are not kept are cut: this rank's. Collective. Agreed: keep.
  /// Throws Error (usage) on all ranks where it differs, or has not one choice for each dimension.
  Grid sub(const std::vector<bool>& keep, const void* site = detail::here()) const;
  /// The same ranks and edges with an order of operations of their own. Collective.
  Grid dup(const void* site = detail::here()) const;
};

/// Sizes of a grid of `size` ranks, as equal as they can be and descending where `dims` has zeros; the others stay.
/// Local. Throws Error (usage) when they cannot be filled.
TUTTI_API std::vector<int> dims_create(Rank size, std::vector<int> dims);

/// The first ranks of a group as a grid; empty for ranks that are left over. Collective. Agreed: all arguments.
/// `periodic`: for each dimension whether it goes around; none: no dimension does. `reorder`: allows ranks to be
/// numbered anew; they keep their numbers so far. Throws Error (usage) on all ranks where the arguments differ, or
/// where the grid does not fit.
TUTTI_API Grid cartesian(const Group& group, const std::vector<int>& dims, const std::vector<bool>& periodic = {},
                         bool reorder = false, const void* site = detail::here());

/// A graph from what each rank knows of itself: from whom it receives and to whom it sends, in the order of its blocks.
/// `none`: nobody. Parallel edges between two ranks are paired in the order in which each end lists them. Collective.
/// Throws Error (usage) on all ranks when an edge is not named at both ends, or a rank is not in the group.
TUTTI_API Graph adjacent_graph(const Group& group, std::span<const Rank> sources, std::span<const Rank> destinations,
                               const void* site = detail::here());

/// A graph from edges that any rank may give, each once. A rank's edges stand in the order of those who gave them, and
/// as given. Collective. Throws Error (usage) on all ranks for an edge to a rank that is not in the group.
TUTTI_API Graph graph(const Group& group, std::span<const GraphEdge> edges, const void* site = detail::here());

}  // namespace tutti
