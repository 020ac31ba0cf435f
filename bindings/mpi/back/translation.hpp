// SPDX-License-Identifier: BSD-3-Clause
// An MPI call as Tutti's. Data move as bytes, since ranks may use different datatypes for the same elements.
#pragma once

#include <array>
#include <optional>
#include <span>
#include <vector>

#include "abi.hpp"
#include "reductions.hpp"
#include "tutti/call.hpp"
#include "tutti/layout.hpp"
#include "tutti/parts.hpp"

namespace tutti::mpi {

/// What of a communicator a translation needs.
struct Place {
  Rank rank = 0;
  Rank size = 1;
  bool has_neighbors = false;
  int sources = 0, destinations = 0;  ///< How many.
};

/// One call while it is made; `call` points into it. The methods return false for arguments that the MPI will refuse:
/// it shall say so itself.
class Translation {
 public:
  Translation(const Place& place, Kind kind) : place_(place) { call.kind = kind; }
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
  bool input_blocks(const void* buffer, int blocks, const N* counts, const D* displacements, MPI_Datatype type) {
    if (!widen(counts, displacements, blocks)) return false;
    return place_input_blocks(buffer, type);
  }
  template <class N, class D>
  bool output_blocks(void* buffer, int blocks, const N* counts, const D* displacements, MPI_Datatype type) {
    if (!widen(counts, displacements, blocks)) return false;
    return place_output_blocks(buffer, type);
  }
  /// The same with blocks of `count` elements, side by side.
  bool input_equal_blocks(const void* buffer, int blocks, Count count, MPI_Datatype type) {
    repeat(count, blocks);
    return place_input_blocks(buffer, type);
  }
  bool output_equal_blocks(void* buffer, int blocks, Count count, MPI_Datatype type) {
    repeat(count, blocks);
    return place_output_blocks(buffer, type);
  }
  /// Of the v-forms: the one block that this rank sends, or receives.
  bool input_block(const void* buffer, Count count, MPI_Datatype type);
  bool output_block(void* buffer, Count count, MPI_Datatype type);
  /// Blocks with datatypes of their own: displacements in bytes.
  template <class N, class D>
  bool parts(const void* in, int sends, const N* send_counts, const D* send_displacements,
             const MPI_Datatype* send_types, void* out, int receives, const N* receive_counts,
             const D* receive_displacements, const MPI_Datatype* receive_types) {
    std::vector<Part> send, receive;
    if (in != MPI_IN_PLACE)
      for (int i = 0; i < sends; ++i)
        if (!part(send_counts[i], static_cast<Count>(send_displacements[i]), send_types[i], send)) return false;
    for (int i = 0; i < receives; ++i)
      if (!part(receive_counts[i], static_cast<Count>(receive_displacements[i]), receive_types[i], receive))
        return false;
    return put_parts(in, send, out, receive);
  }

  /// Operands of a reduction; the operation has been looked up.
  bool reduce(const Combining& combining, const void* in, void* out, Count count);
  template <class N>
  bool reduce_counts(const N* counts) {
    return widen(counts, static_cast<const N*>(nullptr), place_.size) && put_reduce_counts();
  }

 private:
  template <class N, class D>
  bool widen(const N* counts, const D* displacements, int blocks) {
    if (blocks > 0 && counts == nullptr) return false;
    counts_.assign(counts, counts + blocks);
    if (displacements != nullptr)
      displacements_.assign(displacements, displacements + blocks);
    else
      displacements_.clear();
    return true;
  }
  void repeat(Count count, int blocks) {
    counts_.assign(static_cast<std::size_t>(blocks), count);
    displacements_.clear();
    for (int i = 0; i < blocks; ++i) displacements_.push_back(count * i);
  }
  struct Blocks {
    std::vector<Count> counts, offsets;
    std::optional<Layout> layout;
  };
  bool place_input_blocks(const void* buffer, MPI_Datatype type);
  bool place_output_blocks(void* buffer, MPI_Datatype type);
  bool place_blocks(MPI_Datatype type, Blocks& blocks, const std::byte*& buffer, const Layout*& layout);
  bool part(Count count, Count displacement, MPI_Datatype type, std::vector<Part>& parts);
  bool put_parts(const void* in, std::span<const Part> send, void* out, std::span<const Part> receive);
  bool put_reduce_counts();

  Place place_;
  std::optional<Layout> input_, output_;  ///< There when needed: an empty Layout costs atomic operations.
  std::vector<Count> counts_, displacements_;
  Blocks send_, receive_;
  Count send_count_ = 0, receive_count_ = 0;
  std::optional<PartsCall> parts_;
};

}  // namespace tutti::mpi
