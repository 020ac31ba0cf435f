// SPDX-License-Identifier: BSD-3-Clause
// Who waits for whom.
#pragma once

#include <set>
#include <vector>

#include "diagnose/situation.hpp"

namespace tutti::diagnose {

/// Rank `from` waits in an operation for rank `to`. Ranks of the world.
struct Edge {
  Rank from = 0, to = 0;
  const host::Wait* wait = nullptr;
  const Group* group = nullptr;
  /// `to` takes part in the operation, which goes on unless somebody else is missing there: Tutti's own cannot block
  /// themselves. A user's plan can.
  bool met = false;
};

/// Ranks that others wait for in one operation, and that do not wait themselves: where the search for the cause ends.
struct Blame {
  State state = State::running;  ///< Of all targets.
  bool reached = false;          ///< They have called the operation.
  const host::Wait* wait = nullptr;
  const Group* group = nullptr;
  std::set<Rank> targets, waiters;
};

class Graph {
 public:
  /// The situation must outlive it.
  explicit Graph(const Situation& situation);

  /// Nobody waits for anybody.
  bool quiet() const;
  /// The dead first, then those that have left, are stopped, … Hosts are not looked at in the same moment: a rank that
  /// goes on is not to blame for what another host shows.
  std::vector<Blame> blames() const;
  /// Ranks that wait for each other in several operations, so that none can go on: each as short as can be, no rank in
  /// two of them. Who waits for each other in one operation that all have called is at work in it.
  std::vector<std::vector<Edge>> circles() const;
  /// Who waits for one of `ranks`, directly or not, but for those themselves and for `others`.
  std::set<Rank> behind(const std::set<Rank>& ranks, const std::set<Rank>& others) const;

 private:
  void add(Rank from, const host::Wait& wait);
  std::vector<Edge> circle_through(Rank rank) const;
  State state(Rank rank) const { return situation_.seat(rank).state; }

  const Situation& situation_;
  std::vector<std::vector<Edge>> from_, to_;  // by rank
};

}  // namespace tutti::diagnose
