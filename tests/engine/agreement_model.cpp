// SPDX-License-Identifier: BSD-3-Clause
#include "agreement_model.hpp"

#include <algorithm>

namespace tutti::engine::model {

using State = Agreement::State;

Model::Model(std::uint64_t seed, const World& world) : world_(world), random_(base::mix(seed)) {
  const auto size = static_cast<Rank>(1 + random_.below(7));
  for (Rank rank = 0; rank < size; ++rank) {
    Opinion says;
    says.calls = 1;
    says.flag = !random_.once_in(8);
    if (random_.once_in(3)) says.notes.push_back({rank, random_.next()});
    members_.push_back({Agreement(rank, size), true, false, says});
  }
  lines_.resize(members_.size() * members_.size());
  closed_.resize(lines_.size());
}

int Model::decided() const {
  return static_cast<int>(
      std::ranges::count_if(members_, [](const Member& one) { return one.agreement.state() == State::decided; }));
}

std::string Model::run() {
  constexpr std::uint64_t most_events = 100'000;
  while (step())
    if (++events_ > most_events) return "it does not come to rest";
  return judge();
}

bool Model::step() {
  // Early and late, in clusters and apart: what is likely depends on the seed.
  if (deaths_ < world_.most_deaths && random_.once_in(20)) kill(random_rank());
  if (cuts_ < world_.most_cuts && random_.once_in(20)) cut(random_rank(), random_rank());
  if (random_.once_in(4) && begin()) return true;
  return deliver() || begin();
}

bool Model::begin() {
  const Rank first = random_rank();
  for (std::size_t i = 0; i < members_.size(); ++i) {
    const auto rank = static_cast<Rank>((static_cast<std::size_t>(first) + i) % members_.size());
    Member& member = of(rank);
    if (!member.alive || member.begun) continue;
    member.begun = true;
    member.agreement.begin(member.says);
    flush(rank);
    return true;
  }
  return false;
}

/// The first of a random connection that has something; those to members that went on come last.
bool Model::deliver() {
  const std::size_t first = random_.below(lines_.size());
  for (const bool to_returned : {false, true})
    for (std::size_t i = 0; i < lines_.size(); ++i) {
      const std::size_t index = (first + i) % lines_.size();
      std::deque<Item>& line = lines_[index];
      const auto from = static_cast<Rank>(index / members_.size()), to = static_cast<Rank>(index % members_.size());
      const bool returned = world_.returning && of(to).agreement.state() == State::decided;
      if (line.empty() || returned != to_returned) continue;
      const Item item = std::move(line.front());
      line.pop_front();
      item.message ? of(to).agreement.hear(from, *item.message) : of(to).agreement.lose(from, item.ended);
      flush(to);
      return true;
    }
  return false;
}

/// Hands what it sends to the connections; it may die in between.
void Model::flush(Rank rank) {
  std::vector<Agreement::Letter> letters = of(rank).agreement.take();
  std::size_t until = letters.size();
  if (deaths_ < world_.most_deaths && !letters.empty() && random_.once_in(12)) until = random_.below(letters.size());
  for (std::size_t i = 0; i < until; ++i) {
    const Rank to = letters[i].to;
    const std::size_t index = static_cast<std::size_t>(rank) * members_.size() + static_cast<std::size_t>(to);
    if (of(to).alive && !closed_[index]) lines_[index].push_back({std::move(letters[i].message)});
  }
  if (until < letters.size()) kill(rank);
}

void Model::kill(Rank rank) {
  Member& member = of(rank);
  if (!member.alive) return;
  ++deaths_;
  member.alive = false;
  for (Rank other = 0; other < static_cast<Rank>(members_.size()); ++other) {
    if (other == rank) continue;
    line(other, rank).clear();
    if (of(other).alive) close(rank, other, true);
  }
}

void Model::cut(Rank one, Rank other) {
  if (one == other || !of(one).alive || !of(other).alive) return;
  ++cuts_;
  close(one, other, false);
  close(other, one, false);
}

/// What is on its way comes, or the first part of it does.
void Model::close(Rank from, Rank to, bool ended) {
  std::deque<Item>& items = line(from, to);
  if ((world_.lossy || !ended) && !items.empty()) items.resize(random_.below(items.size() + 1));
  items.push_back({std::nullopt, ended});
  closed_[static_cast<std::size_t>(from) * members_.size() + static_cast<std::size_t>(to)] = true;
}

std::string Model::judge() {
  const Opinion* decision = nullptr;
  for (Rank rank = 0; rank < static_cast<Rank>(members_.size()); ++rank) {
    const Agreement& one = of(rank).agreement;
    const std::string who = "rank " + std::to_string(rank);
    if (of(rank).alive && (one.state() == State::absent || one.state() == State::waiting))
      return who + " waits for ever";
    if (of(rank).alive && cuts_ == 0 && one.state() != State::decided)
      return who + " is refused, and all are connected";
    if (one.state() != State::decided) continue;
    // Also of those that have died since: they may have acted on it. Not where the network fails at the same time: the
    // others cannot tell one who has decided and died from one who had not.
    if (!of(rank).alive && cuts_ > 0) continue;
    if (decision != nullptr && !(*decision == one.decision())) return who + " has decided otherwise";
    decision = &one.decision();
    if (decision->lost[static_cast<std::size_t>(rank)]) return who + " has decided that it is lost itself";
  }
  if (decision != nullptr) return judge_decision(*decision);
  const bool somebody = std::ranges::any_of(members_, &Member::alive);
  return somebody && cuts_ == 0 ? "nobody has decided" : "";
}

std::string Model::judge_decision(const Opinion& decision) {
  Opinion should;
  should.lost = decision.lost;
  for (Rank rank = 0; rank < static_cast<Rank>(members_.size()); ++rank) {
    const Member& member = of(rank);
    if (decision.lost[static_cast<std::size_t>(rank)]) {
      if (member.alive && cuts_ == 0) return "rank " + std::to_string(rank) + " lives and was declared lost";
      continue;
    }
    if (!member.begun) return "rank " + std::to_string(rank) + " has not begun and is not lost";
    should.calls |= member.says.calls;
    should.flag = should.flag && member.says.flag;
    should.notes.insert(should.notes.end(), member.says.notes.begin(), member.says.notes.end());
  }
  return decision == should ? "" : "the decision is not what those said who take part in it";
}

}  // namespace tutti::engine::model
