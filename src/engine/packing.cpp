// SPDX-License-Identifier: BSD-3-Clause
// Copies and reductions whose source or target does not lie side by side: piece by piece, straight between the user's
// memory and the cell or scratch. Only what needs bytes in a row on both sides goes through a small buffer: a
// reduction, what is read from another process, and what is laid out on both sides.
#include <algorithm>

#include "base/copy.hpp"
#include "engine/channel.hpp"
#include "engine/operation.hpp"
#include "layout/form.hpp"

namespace tutti::engine {

using plan::Buffer;
using plan::Index;
using plan::Verb;

namespace {

/// Bytes through the small buffer at a time. A reduction needs two of them, which stay in the first-level cache; a read
/// from another process is a system call, and pays when it is longer: what it fetches still stays in the second level.
constexpr std::size_t reduce_bytes = 8 << 10, read_bytes = 128 << 10;

}  // namespace

/// A piece of a step: where it begins, in bytes of the buffers, and how long it is.
struct Operation::Laid {
  Place from, to;
  std::size_t bytes;
};

bool Operation::combine_laid_out(const Instruction& step) {
  const std::size_t element = bound_->element;
  const bool copies = step.verb == Verb::copy;
  const bool exposed = step.source.buffer == Buffer::exposed || step.target.buffer == Buffer::exposed;
  const bool both =
      bound_->layouts.of(step.source.buffer) != nullptr && bound_->layouts.of(step.target.buffer) != nullptr;
  const auto whole = [element](std::size_t bytes) { return std::max<std::size_t>(1, bytes / element) * element; };
  const std::size_t most = whole(!copies || both ? reduce_bytes : exposed ? read_bytes : Bound::piece_bytes);
  std::uint64_t& done = progress(step);  // bytes
  const std::size_t stop = std::min<std::size_t>(step.bytes, done + whole(Bound::piece_bytes));
  while (done < stop) {
    const Laid piece{step.source.from(done), step.target.from(done), std::min(most, stop - done)};
    if (!combine_piece(piece, step)) return false;
    done += piece.bytes;
    worked_ = true;
  }
  return done == step.bytes;
}

bool Operation::combine_piece(const Laid& piece, const Instruction& step) {
  const Layout* const from = bound_->layouts.of(piece.from.buffer);
  const Layout* const to = bound_->layouts.of(piece.to.buffer);
  const auto pack = [this, &piece](const Layout& layout, const Place& place, std::byte* stream) {
    const auto begin = static_cast<Count>(place.offset);
    layout::pack(layout.form().node, bases_[static_cast<std::size_t>(place.buffer)], begin,
                 begin + static_cast<Count>(piece.bytes), stream);
  };
  const auto unpack = [this, &piece](const Layout& layout, const Place& place, const std::byte* stream) {
    const auto begin = static_cast<Count>(place.offset);
    layout::unpack(layout.form().node, bases_[static_cast<std::size_t>(place.buffer)], begin,
                   begin + static_cast<Count>(piece.bytes), stream);
  };
  if (piece.to.buffer == Buffer::exposed) {
    pack(*from, piece.from, channel_.fetched(piece.bytes));
    return deliver({channel_.fetched(0), piece.bytes}, piece.to);
  }
  if (step.verb == Verb::copy && from != nullptr && to == nullptr) {
    pack(*from, piece.from, address(piece.to));
    return true;
  }
  // The two halves of the small buffer begin on lines of their own.
  const std::size_t half = (piece.bytes + 63) / 64 * 64;
  std::byte* const buffer = channel_.fetched(2 * half);
  const std::byte* source = buffer;
  if (from != nullptr)
    pack(*from, piece.from, buffer);
  else if (piece.from.buffer != Buffer::exposed)
    source = address(piece.from);
  else if (!fetch(piece.from, {buffer, piece.bytes}))
    return false;
  if (step.verb == Verb::copy) {
    to != nullptr ? unpack(*to, piece.to, source) : base::copy(address(piece.to), source, piece.bytes);
    return true;
  }
  std::byte* const target = to != nullptr ? buffer + half : address(piece.to);
  if (to != nullptr) pack(*to, piece.to, target);
  reduce_into(step, 0, target, source, static_cast<Count>(piece.bytes / bound_->element));
  if (to != nullptr) unpack(*to, piece.to, target);
  return true;
}

}  // namespace tutti::engine
