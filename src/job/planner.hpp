// SPDX-License-Identifier: BSD-3-Clause
// From a call to a plan that is ready to run: checks, selection, cache.
#pragma once

#include <array>
#include <memory>
#include <string>
#include <vector>

#include "collectives/collective.hpp"
#include "engine/bound.hpp"
#include "engine/operation.hpp"
#include "tune/table.hpp"
#include "tutti/call.hpp"

namespace tutti::job {

/// What all ranks of a job have agreed on.
struct Agreed {
  std::shared_ptr<const tune::Table> table;
  bool single_copy = false;
  bool board = false;  ///< The ranks of a group share a host and a board.
};

/// A call made ready.
struct Prepared {
  std::shared_ptr<const engine::Bound> bound;
  std::unique_ptr<engine::Continuation> continuation;  ///< Where counts must be exchanged first.
};

/// One per group. Used under the group's rule that one thread at a time starts operations; `busy` guards it.
class Planner {
 public:
  Planner(Rank rank, Rank size, std::string group, Agreed agreed);

  /// Throws Error (usage) for a wrong call, before anything is sent.
  Prepared prepare(const Call& call);
  const Agreed& agreed() const { return agreed_; }
  /// What would run; for `tutti info` and tests.
  tune::Choice choose(const Call& call) const;

 private:
  struct Entry {
    Call key;  // pointers unused
    std::string algorithm;
    std::array<std::vector<Count>, 4> counts;
    std::shared_ptr<const engine::Bound> bound;
    bool matches(const Call& call) const;
  };
  void check(const Call& call) const;
  void check_varying(const Call& call) const;
  [[noreturn]] void refuse(const Call& call, const std::string& text) const;
  collectives::Shape shape(const Call& call) const;
  Prepared make(const Call& call);
  std::shared_ptr<const engine::Bound> exchange(const Call& call, const engine::Description& description) const;

  Rank rank_, size_;
  std::string group_;
  Agreed agreed_;
  std::array<Entry, 64> cache_;
};

}  // namespace tutti::job
