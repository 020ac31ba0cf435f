// SPDX-License-Identifier: BSD-3-Clause
#include "diagnose/graph.hpp"

#include <algorithm>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <tuple>

namespace tutti::diagnose {

namespace {

/// In which order causes are told.
int weight(State state) {
  switch (state) {
    case State::dead:
    case State::ended:
    case State::unreachable:
      return 0;
    case State::left:
      return 1;
    case State::stopped:
    case State::silent:
      return 2;
    case State::absent:
      return 3;
    default:
      return 4;
  }
}

bool takes_part(const Situation& situation, const Member& member, const host::Wait& wait) {
  if (wait.what == host::Waited::collective) return member.reached(wait.sequence);
  return std::ranges::any_of(situation.seat(member.world).waits, [&](const host::Wait& other) {
    return other.what == wait.what && other.context == wait.context && other.sequence == wait.sequence;
  });
}

}  // namespace

Graph::Graph(const Situation& situation)
    : situation_(situation), from_(situation.seats.size()), to_(situation.seats.size()) {
  for (Rank rank = 0; std::cmp_less(rank, situation.seats.size()); ++rank) {
    const Seat& seat = situation.seat(rank);
    // What a rank that cannot act was waiting for is not why the others wait.
    if (weight(seat.state) <= weight(State::stopped)) continue;
    for (const host::Wait& wait : seat.waits) add(rank, wait);
  }
}

void Graph::add(Rank from, const host::Wait& wait) {
  const Group* group = situation_.snapshot.group(wait.context);
  if (group == nullptr) return;
  std::set<Rank> targets;
  const auto listed = std::min<std::size_t>(wait.blocked, host::Wait::most_blockers);
  for (const Rank rank : std::span(wait.blockers).first(listed))
    if (std::cmp_less(rank, to_.size())) targets.insert(rank);
  if (wait.blocked > listed && !is_message(wait.what))  // not all of them fitted in
    for (const Member& member : group->members)
      if (!takes_part(situation_, member, wait)) targets.insert(member.world);
  targets.erase(from);
  for (const Rank to : targets) {
    from_[static_cast<std::size_t>(from)].push_back({from, to, &wait, group});
    to_[static_cast<std::size_t>(to)].push_back({from, to, &wait, group});
  }
}

bool Graph::quiet() const {
  return std::ranges::all_of(from_, [](const std::vector<Edge>& edges) { return edges.empty(); });
}

std::vector<Blame> Graph::blames() const {
  using Key = std::tuple<int, State, bool, std::uint64_t, std::uint64_t, host::Waited, std::uint32_t, Rank, Rank>;
  std::map<Key, Blame> found;
  for (const std::vector<Edge>& edges : to_)
    for (const Edge& edge : edges) {
      const State is = state(edge.to);
      if (is == State::waiting) continue;
      const auto member = std::ranges::find(edge.group->members, edge.to, &Member::world);
      const bool message = is_message(edge.wait->what);
      const bool reached = edge.wait->what == host::Waited::collective && member != edge.group->members.end() &&
                           member->reached(edge.wait->sequence);
      // Messages are told one by one, collectives once for all ranks that are alike.
      const Key key{weight(is),
                    is,
                    reached,
                    edge.wait->context,
                    edge.wait->sequence,
                    edge.wait->what,
                    edge.wait->tag,
                    message ? edge.from : -1,
                    message ? edge.to : -1};
      Blame& blame = found.try_emplace(key, Blame{is, reached, edge.wait, edge.group, {}, {}}).first->second;
      blame.targets.insert(edge.to);
      blame.waiters.insert(edge.from);
      if (edge.from == *blame.waiters.begin()) blame.wait = edge.wait;  // whose place in the program is shown
    }
  std::vector<Blame> blames;
  for (auto& [key, blame] : found) blames.push_back(std::move(blame));
  return blames;
}

std::vector<Edge> Graph::circle_through(Rank rank) const {
  std::map<Rank, Edge> reached;
  std::deque<Rank> next{rank};
  for (; !next.empty() && !reached.contains(rank); next.pop_front())
    for (const Edge& edge : from_[static_cast<std::size_t>(next.front())])
      if (edge.wait->awaited != 0 && state(edge.to) == State::waiting && reached.try_emplace(edge.to, edge).second)
        next.push_back(edge.to);
  std::vector<Edge> circle;
  if (!reached.contains(rank)) return circle;
  for (Rank at = rank; circle.empty() || at != rank; at = circle.back().from) circle.push_back(reached.at(at));
  std::ranges::reverse(circle);
  return circle;
}

std::vector<std::vector<Edge>> Graph::circles() const {
  std::vector<std::vector<Edge>> circles;
  std::set<Rank> seen;
  for (Rank rank = 0; std::cmp_less(rank, from_.size()); ++rank) {
    if (seen.contains(rank) || state(rank) != State::waiting) continue;
    std::vector<Edge> circle = circle_through(rank);
    if (std::ranges::any_of(circle, [&](const Edge& edge) { return seen.contains(edge.from); })) continue;
    for (const Edge& edge : circle) seen.insert(edge.from);
    if (!circle.empty()) circles.push_back(std::move(circle));
  }
  return circles;
}

std::set<Rank> Graph::behind(const std::set<Rank>& ranks, const std::set<Rank>& others) const {
  std::set<Rank> found;
  std::deque<Rank> next(ranks.begin(), ranks.end());
  for (; !next.empty(); next.pop_front())
    for (const Edge& edge : to_[static_cast<std::size_t>(next.front())])
      if (!ranks.contains(edge.from) && !others.contains(edge.from) && found.insert(edge.from).second)
        next.push_back(edge.from);
  return found;
}

}  // namespace tutti::diagnose
