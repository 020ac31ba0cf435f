// SPDX-License-Identifier: BSD-3-Clause
#include "translation.hpp"

#include <algorithm>

#include "datatypes.hpp"

namespace tutti::mpi {
namespace {

/// No place for data that begin so many bytes behind it: null is only where absolute addresses are counted from.
bool is_nowhere(const void* buffer, Count begin) {
  return buffer == MPI_IN_PLACE || reinterpret_cast<std::uintptr_t>(buffer) + static_cast<std::uintptr_t>(begin) == 0;
}

/// Elements side by side in memory: as bytes, or as a layout. `buffer` becomes where they begin.
bool lay(Count count, MPI_Datatype type, const std::byte*& buffer, std::optional<Layout>& kept, const Layout*& layout,
         Count& bytes) {
  const Datatype* what = count < 0 ? nullptr : datatype(type);
  if (what == nullptr) return false;
  bytes = count * what->size;
  if (bytes == 0) return true;
  if (what->dense) {
    if (is_nowhere(buffer, what->begin)) return false;
    buffer += what->begin;
    return true;
  }
  const Layout all = what->layout.repeat(count);
  if (is_nowhere(buffer, all.begin())) return false;
  // Absolute addresses count from MPI_BOTTOM, which is null: a buffer begins where its data do.
  const Count begin = all.begin();
  buffer += begin;
  layout = &kept.emplace(all.moved(-begin));
  return true;
}

}  // namespace

bool Translation::at(int root) {
  if (root < 0 || root >= place_.size) return false;
  call.root = root;
  return true;
}

MPI_Datatype Translation::type_of(Count count, MPI_Datatype type) const {
  if (!nothing_has_no_type || count != 0 || type != MPI_DATATYPE_NULL) return type;
  switch (kind_) {
    case Kind::bcast:
    case Kind::alltoallw:
    case Kind::neighbor_allgather:
    case Kind::neighbor_allgatherv:
    case Kind::neighbor_alltoall:
    case Kind::neighbor_alltoallw:
      return MPI_BYTE;
    default:
      return type;
  }
}

bool Translation::input(const void* buffer, Count count, MPI_Datatype type, Count& bytes) {
  const auto* begin = static_cast<const std::byte*>(buffer);
  if (!lay(count, type_of(count, type), begin, input_, call.input_layout, bytes)) return false;
  call.input = begin;
  return true;
}

bool Translation::output(void* buffer, Count count, MPI_Datatype type, Count& bytes) {
  const auto* begin = static_cast<const std::byte*>(buffer);
  if (!lay(count, type_of(count, type), begin, output_, call.output_layout, bytes)) return false;
  call.output = const_cast<std::byte*>(begin);
  return true;
}

bool Translation::input_block(const void* buffer, Count count, MPI_Datatype type) {
  if (!input(buffer, count, type, send_count_)) return false;
  call.send_counts = {&send_count_, 1};
  return true;
}

bool Translation::input_block_along_edges(const void* buffer, Count count, MPI_Datatype type) {
  if (count < 0 || place_.destinations().any()) return input_block(buffer, count, type);
  call.send_counts = {&send_count_, 1};
  return true;
}

bool Translation::output_block(void* buffer, Count count, MPI_Datatype type) {
  if (!output(buffer, count, type, receive_count_)) return false;
  call.recv_counts = {&receive_count_, 1};
  return true;
}

bool Translation::place_blocks(const Partners& partners, MPI_Datatype type, Blocks& blocks, const std::byte*& buffer,
                               const Layout*& layout) {
  if (std::ranges::any_of(counts_, [](Count count) { return count < 0; })) return false;
  blocks.counts.resize(counts_.size());
  blocks.offsets.resize(counts_.size());
  if (!partners.any()) return true;
  const Datatype* what = datatype(type);
  if (what == nullptr) return false;
  for (std::size_t i = 0; i < counts_.size(); ++i)
    if (counts_[i] > 0 && what->size > 0 && is_nowhere(buffer, what->begin + displacements_[i] * what->extent))
      return false;
  std::ranges::transform(counts_, blocks.counts.begin(), [&](Count count) { return count * what->size; });
  if (what->dense) {
    // The lowest block is where the buffer begins: displacements may be negative, offsets not.
    Count lowest = 0;
    for (std::size_t i = 0; i < counts_.size(); ++i)
      if (counts_[i] > 0) lowest = std::min(lowest, displacements_[i]);
    buffer += what->begin + lowest * what->extent;
    for (std::size_t i = 0; i < counts_.size(); ++i)
      blocks.offsets[i] = counts_[i] > 0 ? (displacements_[i] - lowest) * what->extent : 0;
    return true;
  }
  const Layout all = what->layout.indexed(counts_, displacements_);
  Count offset = 0;
  for (std::size_t i = 0; i < counts_.size(); ++i) {
    blocks.offsets[i] = offset;
    offset += blocks.counts[i];
  }
  const Count begin = all.begin();
  buffer += begin;
  layout = &blocks.layout.emplace(all.moved(-begin));
  return true;
}

bool Translation::place_input_blocks(const void* buffer, const Partners& partners, MPI_Datatype type) {
  const auto* begin = static_cast<const std::byte*>(buffer);
  if (!place_blocks(partners, type, send_, begin, call.input_layout)) return false;
  call.input = begin;
  call.send_counts = send_.counts;
  call.send_offsets = send_.offsets;
  return true;
}

bool Translation::place_output_blocks(void* buffer, const Partners& partners, MPI_Datatype type) {
  const auto* begin = static_cast<const std::byte*>(buffer);
  if (!place_blocks(partners, type, receive_, begin, call.output_layout)) return false;
  call.output = const_cast<std::byte*>(begin);
  call.recv_counts = receive_.counts;
  call.recv_offsets = receive_.offsets;
  return true;
}

bool Translation::part(const void* buffer, Count count, Count displacement, MPI_Datatype type,
                       std::vector<Part>& parts) {
  const Datatype* what = count < 0 ? nullptr : datatype(type_of(count, type));
  if (what == nullptr) return false;
  if (count > 0 && what->size > 0 && is_nowhere(buffer, displacement + what->begin)) return false;
  parts.push_back({displacement, what->layout.repeat(count)});
  return true;
}

bool Translation::put_parts(const void* in, std::span<const Part> send, void* out, std::span<const Part> receive) {
  parts_.emplace(call.kind, in, send, out, receive);
  call = parts_->call({}, call.site);
  return true;
}

bool Translation::reduce(const Combining& combining, const void* in, void* out, Count count) {
  if (count < 0 || !operands_are_there(in, out, count)) return false;
  call.type = combining.type;
  call.element = combining.element;
  call.reduction = combining.reduction;
  call.count = count;
  call.in_place = in == MPI_IN_PLACE;
  if (!call.in_place) call.input = in;
  call.output = out;
  return true;
}

bool Translation::operands_are_there(const void* in, const void* out, Count count) const {
  Count sent = count, received = count;
  if (call.kind == Kind::reduce_scatter) {
    sent = *std::ranges::max_element(counts_);
    received = counts_[static_cast<std::size_t>(place_.rank)];
  } else if ((call.kind == Kind::reduce && !is_root()) || (call.kind == Kind::exscan && place_.rank == 0)) {
    received = 0;  // what is not significant may be anything
  }
  if (sent > 0 && in != MPI_IN_PLACE && is_nowhere(in, 0)) return false;
  if (received == 0) return true;
  // Some MPIs let the same address pass in the others: a rank that passed it on would wait there for those that do not.
  const bool differ = call.kind == Kind::allreduce || call.kind == Kind::reduce || aliases_are_refused;
  return !is_nowhere(out, 0) && !(differ && in == out);
}

bool Translation::put_reduce_counts() {
  if (std::ranges::any_of(counts_, [](Count count) { return count < 0; })) return false;
  receive_.counts = counts_;
  call.recv_counts = receive_.counts;
  return true;
}

}  // namespace tutti::mpi
