// SPDX-License-Identifier: BSD-3-Clause
// What the algorithms of alltoall(v) share: blocks that can be sent while others arrive, in place or not.
#pragma once

#include "collectives/algorithm.hpp"

namespace tutti::collectives::alltoall {

/// The blocks to send, one a rank. In place they lie where others arrive, so that they are copied to scratch first.
struct Outgoing {
  std::vector<Slice> block;
  std::vector<Handle> ready;  ///< After which a block may be sent, and its place in the output be written.
};

/// Also brings this rank's block for itself to its place.
Outgoing outgoing(Writer& b, const Shape& shape);

}  // namespace tutti::collectives::alltoall
