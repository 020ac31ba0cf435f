// SPDX-License-Identifier: BSD-3-Clause
// What one buffer holds, as ranges of symbolic values.
#pragma once

#include <vector>

#include "plan/values.hpp"

namespace tutti::plan {

/// Elements [begin, end) hold `symbol`.
struct Extent {
  Count begin, end;
  Symbol symbol;
};

/// Sorted ranges; what lies between them is undefined. Neighbours that hold the same are one.
class Contents {
 public:
  void clear() { extents_.clear(); }
  const std::vector<Extent>& extents() const { return extents_; }

  /// Appends what [begin, end) holds to `out`, moved so that `begin` comes to lie at `to`.
  /// False, and the first undefined element in `undefined`, when not all of it is defined.
  bool read(Count begin, Count end, Count to, std::vector<Extent>& out, Count& undefined) const;
  /// Replaces what [begin, end) holds by `extents`, which lie within it. `fresh` is room to work in.
  void write(Count begin, Count end, const std::vector<Extent>& extents, std::vector<Extent>& fresh);

 private:
  std::vector<Extent> extents_;
};

/// Appends to sorted extents; joins equal neighbours.
void append(std::vector<Extent>& extents, const Extent& extent);

}  // namespace tutti::plan
