// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/circulant.hpp"

#include <algorithm>
#include <cstddef>

namespace tutti::collectives {
namespace {

/// Rounds come in phases. In round k of each phase everybody sends skip(k) ahead; the skips are the size halved again
/// and again, rounded up, so that every position is a sum of them.
class Graph {
 public:
  explicit Graph(Rank size) : size_(size) {
    for (Rank skip = size; skip > 1; skip -= skip / 2) skips_.push_back(skip);
    skips_.push_back(1);
    std::ranges::reverse(skips_);
  }

  Rank size() const { return size_; }
  Rank rounds() const { return static_cast<Rank>(skips_.size()) - 1; }
  Rank skip(Rank round) const { return skips_[static_cast<std::size_t>(round)]; }

  /// The last of the skips that lead from the root to a position, the largest ones first. The root sends a new block in
  /// each round of a phase; that of this round is the first one to get there. rounds(): it is the root itself.
  Rank last_skip(Rank position) const {
    Rank last = rounds();
    for (Rank round = rounds() - 1; position > 0; --round) {
      if (skip(round) > position) continue;
      position -= skip(round);
      last = round;
    }
    return last;
  }

 private:
  Rank size_;
  std::vector<Rank> skips_;
};

/// Which blocks a position other than the root receives in the rounds of a phase. One of them is new to all that are
/// not nearer to the root; for each other round it chooses, of positions at the sender or behind it, the first one that
/// got another new block in the phase before.
class Received {
 public:
  Received(const Graph& graph, Rank position)
      : graph_(graph),
        position_(graph.size() + position),  // positions here go around twice
        nearest_(2 * graph.size()),
        new_(graph.last_skip(position)),
        chosen_(static_cast<std::size_t>(graph.rounds()) + 1, false) {
    chosen_[static_cast<std::size_t>(new_)] = true;
    choose(0, graph.rounds());
  }

  /// Counted from the first new block of the phase; those of the phase before are negative.
  Count block(Rank round) const {
    const Rank skip = skips_[static_cast<std::size_t>(round)];
    return skip == graph_.rounds() ? new_ : skip - graph_.rounds();
  }

 private:
  Rank next() const { return static_cast<Rank>(skips_.size()); }
  Rank sender(Rank round) const { return position_ - graph_.skip(round); }

  /// For the next rounds, positions that skips below `longest` lead to from `start`: the farthest ones first.
  void choose(Rank start, Rank longest) {
    for (Rank skip = longest; skip >= 0 && next() < graph_.rounds(); --skip) {
      const Rank end = start + graph_.skip(skip);
      if (chosen_[static_cast<std::size_t>(skip)] || end > sender(next()) || end >= nearest_) continue;
      if (end <= sender(next() + 1)) choose(end, skip - 1);
      if (next() == graph_.rounds() || start > sender(next() + 1)) return;
      nearest_ = end;
      skips_.push_back(skip);
      chosen_[static_cast<std::size_t>(skip)] = true;
    }
  }

  const Graph& graph_;
  Rank position_, nearest_, new_;
  std::vector<bool> chosen_;
  std::vector<Rank> skips_;  // the last ones to the positions chosen
};

}  // namespace

std::vector<Round> circulant(Rank position, Rank size, Count blocks) {
  std::vector<Round> rounds;
  if (size == 1 || blocks == 0) return rounds;
  const Graph graph(size);
  const Rank phase = graph.rounds();
  std::vector<Round> first;
  for (Rank round = 0; round < phase; ++round) {
    const Rank skip = graph.skip(round);
    Round one{(position + skip) % size, (position - skip + size) % size};
    if (one.ahead != 0) one.sent = Received(graph, one.ahead).block(round);
    if (position != 0) one.received = Received(graph, position).block(round);
    first.push_back(one);
  }
  // The last round is the last one of a phase, and brings the last blocks: what would come after them is the last
  // block.
  const Count end = blocks - 1 + phase, missing = (phase - end % phase) % phase;
  for (Count at = missing; at < end + missing; ++at) {
    Round round = first[static_cast<std::size_t>(at % phase)];
    const auto number = [&](Count block, bool ends_here) {
      return ends_here ? -1 : std::clamp<Count>(block + at / phase * phase - missing, -1, blocks - 1);
    };
    round.sent = number(round.sent, round.ahead == 0);
    round.received = number(round.received, position == 0);
    rounds.push_back(round);
  }
  return rounds;
}

}  // namespace tutti::collectives
