// SPDX-License-Identifier: BSD-3-Clause
// The builder as algorithms use it: steps that move nothing are left out.
#pragma once

#include "collectives/collective.hpp"
#include "plan/builder.hpp"

namespace tutti::collectives {

using plan::Handle;
using plan::Side;
using plan::Slice;

/// A builder that leaves out what moves no elements, and copies of a slice to itself: both ends of a message know
/// its count, so that they leave it out alike. No algorithm needs a special case for empty blocks, or for in place.
class Writer : public plan::Builder {
 public:
  explicit Writer(const Shape& shape) : Builder(shape.rank, shape.size) {}

  Handle send(Rank to, Slice source) { return source.count == 0 ? Handle() : Builder::send(to, source); }
  Handle recv(Rank from, Slice target) { return target.count == 0 ? Handle() : Builder::recv(from, target); }
  Handle recv_reduce(Rank from, Slice target, Side side) {
    return target.count == 0 ? Handle() : Builder::recv_reduce(from, target, side);
  }
  Handle reduce(Slice source, Slice target, Side side) {
    return target.count == 0 ? Handle() : Builder::reduce(source, target, side);
  }
  Handle copy(Slice source, Slice target) {
    return target.count == 0 || source == target ? Handle() : Builder::copy(source, target);
  }

  /// A message that holds nothing: all it says is that what the sender does before it is done.
  Handle tell(Rank to) { return Builder::send(to, scratch(0)); }
  Handle hear(Rank from) { return Builder::recv(from, scratch(0)); }
};

}  // namespace tutti::collectives
