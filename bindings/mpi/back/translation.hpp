// SPDX-License-Identifier: BSD-3-Clause
// An MPI call as Tutti's. Data move as bytes, since ranks may use different datatypes for the same elements.
#pragma once

#include <algorithm>
#include <array>
#include <optional>
#include <span>
#include <vector>

#include "abi.hpp"
#include "collectives/neighbors.hpp"
#include "reductions.hpp"
#include "tutti/call.hpp"
#include "tutti/layout.hpp"
#include "tutti/parts.hpp"

namespace tutti::mpi {

/// MPICH and its like refuse the same address for what is sent and what is received, and take no datatype for what is
/// nothing.
#ifdef OPEN_MPI
constexpr bool aliases_are_refused = false, nothing_has_no_type = false;
#else
constexpr bool aliases_are_refused = true, nothing_has_no_type = true;
#endif

/// Whose blocks are sent, or received: one for each.
struct Partners {
  int count = 0;
  std::span<const collectives::Edge> edges{};  ///< Along which; none: all ranks'.

  /// MPI neither reads nor writes the block of an edge to MPI_PROC_NULL, whatever the call says of it.
  bool has(std::size_t i) const { return edges.empty() || edges[i].exists(); }
  bool any() const { return edges.empty() ? count > 0 : std::ranges::any_of(edges, &collectives::Edge::exists); }
};

/// What of a communicator a translation needs.
struct Place {
  Rank rank = 0;
  Rank size = 1;
  const collectives::Neighbors* neighbors = nullptr;  ///< The member's, where it has some.

  Partners everybody() const { return {size}; }
  Partners sources() const { return along(neighbors->sources); }
  Partners destinations() const { return along(neighbors->destinations); }

 private:
  static Partners along(std::span<const collectives::Edge> edges) { return {static_cast<int>(edges.size()), edges}; }
};

/// One call while it is made; `call` points into it. The methods return false for arguments that the MPI will refuse:
/// it shall say so itself.
class Translation {
 public:
  /// `kind`: what the program calls; `carrier`: what it is for Tutti.
  Translation(const Place& place, Kind kind, Kind carrier) : place_(place), kind_(kind) { call.kind = carrier; }
  Translation(const Translation&) = delete;
  Translation& operator=(const Translation&) = delete;

  Call call;

  const Place& place() const { return place_; }
  bool at(int root);
  bool is_root() const { return call.root == place_.rank; }

  /// `count` elements of `type` that are sent, or received; their bytes are returned in `bytes`.
  bool input(const void* buffer, Count count, MPI_Datatype type, Count& bytes);
  bool output(void* buffer, Count count, MPI_Datatype type, Count& bytes);
  /// Blocks of the v-forms: displacements in extents of `type`.
  template <class N, class D>
  bool input_blocks(const void* buffer, const Partners& partners, const N* counts, const D* displacements,
                    MPI_Datatype type) {
    return widen(counts, partners) && widen_displacements(displacements) && place_input_blocks(buffer, partners, type);
  }
  template <class N, class D>
  bool output_blocks(void* buffer, const Partners& partners, const N* counts, const D* displacements,
                     MPI_Datatype type) {
    return widen(counts, partners) && widen_displacements(displacements) && place_output_blocks(buffer, partners, type);
  }
  /// The same with blocks of `count` elements, side by side.
  bool input_equal_blocks(const void* buffer, const Partners& partners, Count count, MPI_Datatype type) {
    repeat(count, partners);
    return place_input_blocks(buffer, partners, type_of(count, type));
  }
  bool output_equal_blocks(void* buffer, const Partners& partners, Count count, MPI_Datatype type) {
    repeat(count, partners);
    return place_output_blocks(buffer, partners, type_of(count, type));
  }
  /// Of the v-forms: the one block that this rank sends, or receives.
  bool input_block(const void* buffer, Count count, MPI_Datatype type);
  /// The same block for all destinations; nothing where there are none, whatever the call says of it.
  bool input_block_along_edges(const void* buffer, Count count, MPI_Datatype type);
  bool output_block(void* buffer, Count count, MPI_Datatype type);
  /// Blocks with datatypes of their own: displacements in bytes.
  template <class N, class D>
  bool parts(const void* in, const Partners& to, const N* send_counts, const D* send_displacements,
             const MPI_Datatype* send_types, void* out, const Partners& from, const N* receive_counts,
             const D* receive_displacements, const MPI_Datatype* receive_types) {
    std::vector<Part> send, receive;
    if (in != MPI_IN_PLACE && !side(in, to, send_counts, send_displacements, send_types, send)) return false;
    return side(out, from, receive_counts, receive_displacements, receive_types, receive) &&
           put_parts(in, send, out, receive);
  }

  /// Operands of a reduction; the operation has been looked up.
  bool reduce(const Combining& combining, const void* in, void* out, Count count);
  template <class N>
  bool reduce_counts(const N* counts) {
    return widen(counts, place_.everybody()) && put_reduce_counts();
  }

 private:
  /// Of `count` elements: the type, or any if this MPI takes none. A rank that passed such a call on would wait there
  /// for those whose counts are not zero.
  MPI_Datatype type_of(Count count, MPI_Datatype type) const;
  template <class N>
  bool widen(const N* counts, const Partners& partners) {
    if (partners.count > 0 && counts == nullptr) return false;
    counts_.assign(counts, counts + partners.count);
    leave_out_absent(partners);
    return true;
  }
  /// Their blocks become empty; wrong counts stay to be refused.
  void leave_out_absent(const Partners& partners) {
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (!partners.has(i)) counts_[i] = std::min<Count>(counts_[i], 0);
  }
  /// Where nothing moves, not all MPIs look whether there are some.
  template <class D>
  bool widen_displacements(const D* displacements) {
    displacements_.assign(counts_.size(), 0);
    if (displacements == nullptr) return std::ranges::all_of(counts_, [](Count count) { return count == 0; });
    std::copy_n(displacements, counts_.size(), displacements_.begin());
    return true;
  }
  void repeat(Count count, const Partners& partners) {
    counts_.assign(static_cast<std::size_t>(partners.count), count);
    displacements_.clear();
    for (int i = 0; i < partners.count; ++i) displacements_.push_back(count * i);
    leave_out_absent(partners);
  }
  struct Blocks {
    std::vector<Count> counts, offsets;
    std::optional<Layout> layout;
  };
  bool place_input_blocks(const void* buffer, const Partners& partners, MPI_Datatype type);
  bool place_output_blocks(void* buffer, const Partners& partners, MPI_Datatype type);
  bool place_blocks(const Partners& partners, MPI_Datatype type, Blocks& blocks, const std::byte*& buffer,
                    const Layout*& layout);
  /// The parts of what is sent, or received.
  template <class N, class D>
  bool side(const void* buffer, const Partners& partners, const N* counts, const D* displacements,
            const MPI_Datatype* types, std::vector<Part>& to) {
    if (!widen(counts, partners) || !widen_displacements(displacements) || (partners.any() && types == nullptr))
      return false;
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (!part(buffer, counts_[i], displacements_[i], partners.has(i) ? types[i] : MPI_BYTE, to)) return false;
    return true;
  }
  bool part(const void* buffer, Count count, Count displacement, MPI_Datatype type, std::vector<Part>& parts);
  bool put_parts(const void* in, std::span<const Part> send, void* out, std::span<const Part> receive);
  bool put_reduce_counts();
  /// Both buffers of a reduction, as far as this rank has to have them.
  bool operands_are_there(const void* in, const void* out, Count count) const;

  Place place_;
  Kind kind_;
  std::optional<Layout> input_, output_;  ///< There when needed: an empty Layout costs atomic operations.
  std::vector<Count> counts_, displacements_;
  Blocks send_, receive_;
  Count send_count_ = 0, receive_count_ = 0;
  std::optional<PartsCall> parts_;
};

}  // namespace tutti::mpi
