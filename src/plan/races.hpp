// SPDX-License-Identifier: BSD-3-Clause
// Memory of one rank: steps that no edges order must not touch the same memory when one of them writes it.
#pragma once

#include <cstdint>
#include <vector>

#include "plan/operation.hpp"

namespace tutti::plan {

/// Which steps of a rank are complete when another starts, by its edges alone.
class Reach {
 public:
  void build(const Operation& operation, Rank rank);
  /// Step `a` is complete before step `b` starts.
  bool before(Index a, Index b) const { return rows_[b * words_ + a / 64] >> (a % 64) & 1; }
  bool ordered(Index a, Index b) const { return a < b ? before(a, b) : before(b, a); }

 private:
  void follow(Index step, Index before);
  std::size_t words_ = 0;
  std::vector<std::uint64_t> rows_;
};

/// Throws Refusal when a rank's steps race, or break the rules of cells: a cell is written before it is published,
/// read after it was awaited, and left alone once it is released.
class Races {
 public:
  void check(const Operation& operation);
  /// The order inside a rank as of the last check, of one that exposes memory: of others nobody asks for it, and it, a
  /// bit for each pair of a rank's steps, is forgotten for the next one's.
  const Reach& reach(Rank rank) const { return reaches_[kept_at_[static_cast<std::size_t>(rank)]]; }

 private:
  struct Access {
    std::uint64_t region;  // buffer, or own cell
    Count begin, end;
    Index step;
    bool write;
  };
  struct Awaited {
    std::int32_t cell;
    Rank owner;
    Index step;
    auto operator<=>(const Awaited&) const = default;
  };

  void check_rank();
  void collect(Index index, const Step& step);
  void touch(Index index, const Slice& slice, bool write);
  void check_overlaps();
  void check_cells(Index index, const Step& step) const;
  void check_cell(Index index, Rank owner, std::int32_t cell) const;
  bool awaited(Index index, Rank owner, std::int32_t cell) const;
  [[noreturn]] void refuse(Index index, std::string reason) const;
  const Reach& local() const { return reach(rank_); }

  const Operation* operation_ = nullptr;
  Rank rank_ = 0;
  std::vector<Reach> reaches_;        // the first one is of the rank that is looked at
  std::vector<std::size_t> kept_at_;  // of each rank; 0: it is not kept
  std::vector<Access> accesses_;
  std::vector<Awaited> awaits_;
};

}  // namespace tutti::plan
