// SPDX-License-Identifier: BSD-3-Clause
// Which steps touched a rank's memory last, so that those of a later stage can wait for them.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <ranges>
#include <vector>

#include "collectives/writer.hpp"

namespace tutti::collectives {

/// Output and scratch in ranges, each with the step that wrote it and those that have read it since. Steps of one stage
/// that touch the same memory are in order already, so that older ones need not be remembered.
class Touched {
 public:
  /// Steps are of this stage from now on.
  void next_stage() { ++stage_; }
  /// A step reads or writes the slice. Adds to `before` the steps of other stages that it has to come after.
  void read(const Slice& slice, Handle step, std::vector<Handle>& before);
  void write(const Slice& slice, Handle step, std::vector<Handle>& before);

 private:
  struct Access {
    Handle step;
    std::uint32_t stage;
  };
  struct Range {
    Count end;
    Access writer;
    std::vector<Access> readers;
  };
  /// By where they begin. They do not overlap. There may be tens of thousands, which are cut anywhere: none moves.
  using Ranges = std::map<Count, Range>;

  /// The ranges that make up the slice, cut to fit.
  std::ranges::subrange<Ranges::iterator> ranges(const Slice& slice);
  static void cut(Ranges& ranges, Count at);
  void add(const Access& access, std::vector<Handle>& before) const;

  std::uint32_t stage_ = 0;
  std::array<Ranges, plan::buffer_kinds> buffers_;
};

}  // namespace tutti::collectives
