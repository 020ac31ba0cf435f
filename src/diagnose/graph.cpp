// SPDX-License-Identifier: BSD-3-Clause
#include "diagnose/graph.hpp"

#include <algorithm>
#include <deque>
#include <map>
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

using Operation = std::tuple<host::Waited, std::uint64_t, std::uint64_t>;
Operation operation_of(const host::Wait& wait) { return {wait.what, wait.context, wait.sequence}; }

bool takes_part(const Situation& situation, const Member& member, const host::Wait& wait) {
  if (wait.what == host::Waited::collective) return member.reached(wait.sequence);
  return std::ranges::any_of(situation.seat(member.world).waits,
                             [&](const host::Wait& other) { return operation_of(other) == operation_of(wait); });
}

/// Whom it is blocked on, as far as they fitted in.
std::span<const Rank> known_blockers(const host::Wait& wait) {
  return std::span(wait.blockers).first(std::min<std::size_t>(wait.blocked, host::Wait::most_blockers));
}

/// The other end of a message.
bool has_partner(const Situation& situation, Rank from, Rank to, const host::Wait& wait) {
  return std::ranges::any_of(situation.seat(to).waits, [&](const host::Wait& other) {
    return is_message(other.what) && other.what != wait.what && other.context == wait.context &&
           other.tag == wait.tag && std::ranges::count(known_blockers(other), from) > 0;
  });
}

bool is_met(const Situation& situation, const Group& group, Rank from, Rank to, const host::Wait& wait) {
  if (is_message(wait.what)) return has_partner(situation, from, to, wait);
  const bool planned =
      wait.what == host::Waited::collective && static_cast<Kind>(static_cast<std::uint8_t>(wait.call)) == Kind::plan;
  const auto member = std::ranges::find(group.members, to, &Member::world);
  return !planned && member != group.members.end() && takes_part(situation, *member, wait);
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
  for (const Rank rank : known_blockers(wait))
    if (std::cmp_less(rank, to_.size())) targets.insert(rank);
  if (wait.blocked > known_blockers(wait).size() && !is_message(wait.what))  // not all of them fitted in
    for (const Member& member : group->members)
      if (!takes_part(situation_, member, wait)) targets.insert(member.world);
  targets.erase(from);
  for (const Rank to : targets) {
    const Edge edge{from, to, &wait, group, is_met(situation_, *group, from, to, wait)};
    from_[static_cast<std::size_t>(from)].push_back(edge);
    to_[static_cast<std::size_t>(to)].push_back(edge);
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
      const Seat &from = situation_.seat(edge.from), &to = situation_.seat(edge.to);
      if (to.moved && from.host != to.host) continue;
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

/// From the rank back to itself. An operation depends on another where a rank has not called it and waits in the other:
/// what it has called leads on in that operation alone.
std::vector<Edge> Graph::circle_through(Rank rank) const {
  struct Place {
    Rank rank = 0;
    bool bound = false;  ///< To this operation.
    Operation operation{};
    auto operator<=>(const Place&) const = default;
  };
  const Place start{rank};
  std::map<Place, std::pair<Place, Edge>> reached;
  std::deque<Place> next{start};
  for (; !next.empty() && !reached.contains(start); next.pop_front()) {
    const Place at = next.front();
    for (const Edge& edge : from_[static_cast<std::size_t>(at.rank)]) {
      const Operation operation = operation_of(*edge.wait);
      if (at.bound ? at.operation != operation : edge.wait->awaited == 0) continue;
      const Place to{edge.to, edge.met, edge.met ? operation : Operation{}};
      if (state(edge.to) == State::waiting && reached.try_emplace(to, at, edge).second) next.push_back(to);
    }
  }
  std::vector<Edge> circle;
  if (!reached.contains(start)) return circle;
  for (Place at = start; circle.empty() || at != start; at = reached.at(at).first)
    circle.push_back(reached.at(at).second);
  std::ranges::reverse(circle);
  // One that comes by a rank twice has a shorter one in it, which is found from there.
  std::set<Rank> ranks;
  for (const Edge& edge : circle) ranks.insert(edge.from);
  if (ranks.size() < circle.size()) circle.clear();
  std::ranges::rotate(circle, std::ranges::min_element(circle, {}, &Edge::from));
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
