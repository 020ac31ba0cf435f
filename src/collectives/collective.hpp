// SPDX-License-Identifier: BSD-3-Clause
// What an algorithm is given (Shape), what a collective is (Collective), what an algorithm is (Algorithm).
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "collectives/neighbors.hpp"
#include "plan/builder.hpp"
#include "plan/checker.hpp"
#include "plan/contract.hpp"
#include "plan/plan.hpp"
#include "tutti/call.hpp"

namespace tutti::collectives {

using tutti::Kind;
using tutti::kinds;

/// Parameters of an algorithm, agreed on all ranks.
struct Parameters {
  Count segment = 0;  ///< Elements per segment of a pipeline; 0 = the algorithm's own choice.
  int radix = 0;      ///< Fan-out of a tree, or rounds under way at a time; 0 = the algorithm's own choice.
  bool operator==(const Parameters&) const = default;
};

/// Everything a plan depends on. Buffers by collective, in elements:
///   barrier     -                      bcast       output[count] (root's holds the data)
///   reduce      input[count] -> root's output[count]        allreduce input[count] -> output[count]
///   gather      input[count] -> root's output[size*count]   scatter   root's input[size*count] -> output[count]
///   allgather   input[count] -> output[size*count]          alltoall  input[size*count] -> output[size*count]
///   reduce_scatter_block  input[size*count] -> output[count]; reduce_scatter: blocks of recv_counts, side by side
///   scan, exscan          input[count] -> output[count]
///   alltoallw             alltoallv of bytes: layouts and types are between the packed stream and memory; so is
///   neighbor_alltoallw
///   v-forms     the same with counts and offsets per rank; gatherv's input has send_counts[0] elements,
///               scatterv's output recv_counts[0].
///   neighbor_allgather    input[count] -> output[sources*count]
///   neighbor_reduce       input[count] -> output[count], of ranks without sources untouched
///   neighbor_alltoall     input[destinations*count] -> output[sources*count]; v-forms: counts and offsets per
///   neighbour
/// In place: the input is not there; this rank's contribution already lies where the result will be
/// (reduce, gather: on the root alone; scatter: the root's block stays in its input; allgather, gather: at its block;
/// alltoall: the whole output is input too; reduce_scatter(_block): the whole input lies in the output, and the result
/// goes to its beginning; the neighbor_ forms have no such form).
struct Shape {
  Rank rank = 0;
  Rank size = 1;
  Rank root = 0;            ///< agreed
  Count count = 0;          ///< agreed (not for v-forms)
  bool in_place = false;    ///< agreed for allreduce, allgather(v), alltoall(v); own for rooted collectives
  bool commutative = true;  ///< agreed
  /// v-forms; own, except the recv_counts of allgatherv and reduce_scatter, which are agreed.
  std::span<const Count> send_counts{}, send_offsets{}, recv_counts{}, recv_offsets{};
  /// neighbor_ forms: this rank's edges, own; and the most destinations that any rank has, agreed.
  std::span<const Edge> sources{}, destinations{};
  std::int32_t widest = 0;
  /// Each rank's host, numbered from 0 in the order of their lowest ranks; agreed; empty: all ranks share one host.
  std::span<const Rank> hosts{};
  plan::Cells cell{};  ///< Nothing fits a small one: there is no board, on any host.
  /// Elements below which messages between hosts are not worth cutting; 0: cells say.
  Count least_segment = 0;
  Parameters parameters{};
};

/// What an algorithm needs beside ranks and counts; selection and tests skip it elsewhere.
struct Needs {
  bool board = false;                      ///< All ranks on one host, with cells.
  bool hosts = false;                      ///< Ranks on more than one host, of which some have several, with cells.
  bool even_hosts = false;                 ///< Equally many ranks on all hosts.
  bool contiguous = false;                 ///< The ranks of each host follow each other in the group.
  bool contiguous_or_commutative = false;  ///< That, unless the reduction commutes.
  bool single_copy = false;                ///< Ranks may read and write each other's exposed memory.
  bool commutative = false;                ///< Only for commutative reductions.
  bool power_of_two = false;
  bool fits_small = false;  ///< The agreed count fits a small cell.
  /// No need, but a promise: every result is combined at one place from the ranks' own contributions, one after the
  /// other, never from sums.
  bool at_one_place = false;
};

struct Algorithm {
  Kind kind;
  std::string_view name;  ///< As in the path: <collective>/<name>.cpp
  std::string_view sentence;
  Needs needs;
  plan::Plan (*build)(const Shape&);
};

/// A global instance of a collective: what tests and the checker run. Shapes of single ranks come from it.
struct Problem {
  Kind kind = Kind::barrier;
  Rank size = 1;
  Rank root = 0;
  Count count = 0;
  bool in_place = false;
  bool commutative = true;
  /// v-forms: gatherv, scatterv, allgatherv, reduce_scatter: [size] counts; alltoallv, alltoallw: [size*size], row =
  /// sender; neighbor_allgatherv: [size]; neighbor_alltoallv, neighbor_alltoallw: [size], edge e of rank r has
  /// counts[(r + e) % size].
  std::vector<Count> counts{};
  Count gap = 0;  ///< v-forms but reduce_scatter: unused elements between blocks, so that offsets are not just sums.
  std::vector<Neighbors> neighbors{};  ///< neighbor_ forms: [size]
  Lattice lattice{};                   ///< If they are a grid's: that grid.
  std::vector<Rank> hosts{};           ///< Each rank's host, as in Shape.
  plan::Cells cell{16, 64, 256};
  Count least_segment = 0;  ///< As in Shape.
  Parameters parameters{};
  bool operator==(const Problem&) const = default;
};
/// Its ranks' board, as the checker knows it; the problem must outlive it.
inline plan::Board board_of(const Problem& problem) { return {.cell = problem.cell, .hosts = problem.hosts}; }

struct Collective {
  Kind kind;
  std::string_view sentence;
  bool rooted, reduces, varying;  ///< has a root; has an operation; is a v-form
  plan::Contract (*contract)(const Problem&);
};

/// All collectives, indexed by Kind.
std::span<const Collective> all();
const Collective& get(Kind kind);
/// All algorithms, in registry order; a collective's algorithm number is its position here.
std::span<const Algorithm> algorithms();
/// Whether all ranks know the counts of this v-form.
constexpr bool agrees_on_counts(Kind kind) { return kind == Kind::allgatherv || kind == Kind::reduce_scatter; }
/// Whether it takes place along the edges of a graph.
constexpr bool has_neighbors(Kind kind) { return kind >= Kind::neighbor_allgather && kind <= Kind::neighbor_reduce; }
/// Whether the blocks of this v-form may lie apart from each other.
constexpr bool has_gaps(Kind kind) { return kind != Kind::reduce_scatter; }
/// Whether each block has a layout of its own: its elements are bytes.
constexpr bool has_parts(Kind kind) { return kind == Kind::alltoallw || kind == Kind::neighbor_alltoallw; }
/// Whether its counts are one for each pair of ranks.
constexpr bool is_matrix(Kind kind) { return kind == Kind::alltoallv || kind == Kind::alltoallw; }
/// nullptr when there is none of that name.
const Algorithm* find(Kind kind, std::string_view name);
const Collective* find(std::string_view name);

/// Where a rank's output holds data before the collective: in place, and the root's of bcast.
std::vector<plan::Slice> output_before(Kind kind, const Shape& shape);

/// The shapes of all ranks of a problem. The object owns the arrays that the shapes point to.
class Shapes {
 public:
  explicit Shapes(const Problem& problem);
  const Shape& operator[](Rank rank) const { return shapes_[static_cast<std::size_t>(rank)]; }
  std::size_t size() const { return shapes_.size(); }

 private:
  std::vector<std::vector<Count>> arrays_;
  std::vector<Neighbors> neighbors_;
  std::vector<Rank> hosts_;
  std::vector<Shape> shapes_;
};

/// True when the algorithm may be used for this shape (board, hosts, cells, power of two, ...).
bool applies(const Algorithm& algorithm, const Shape& shape, bool single_copy);

}  // namespace tutti::collectives
