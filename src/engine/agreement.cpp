// SPDX-License-Identifier: BSD-3-Clause
#include "engine/agreement.hpp"

#include <algorithm>
#include <utility>

namespace tutti::engine {

namespace {

void add(Ranks& to, const Ranks& more) {
  for (std::size_t rank = 0; rank < to.size(); ++rank) to[rank] = to[rank] || more[rank];
}

}  // namespace

Agreement::Agreement(Rank me, Rank size)
    : me_(me),
      size_(size),
      lost_(static_cast<std::size_t>(size)),
      ended_(static_cast<std::size_t>(size)),
      said_(static_cast<std::size_t>(size)) {}

Rank Agreement::coordinator() const { return static_cast<Rank>(std::ranges::find(lost_, false) - lost_.begin()); }

/// More than half of those that may be alive, or that half which has the lowest of them: two parts of a group that
/// cannot reach each other do not both go on.
bool Agreement::enough() const {
  const auto alive = std::ranges::count(ended_, false), here = std::ranges::count(lost_, false);
  const auto lowest = std::ranges::find(ended_, false) - ended_.begin();
  return 2 * here > alive || (2 * here == alive && !lost_[static_cast<std::size_t>(lowest)]);
}

template <class Predicate>
bool Agreement::everybody(Predicate predicate) const {
  for (Rank member = 0; member < size_; ++member)
    if (!is_lost(member) && !predicate(of(member))) return false;
  return true;
}

void Agreement::send(Rank to, Word word, const Opinion& opinion) {
  Message message;
  message.word = word;
  message.lost = lost_;
  message.ended = ended_;
  message.opinion = opinion;
  letters_.push_back({to, std::move(message)});
}

/// By rank: whoever has a decision knows that all before it have been sent it, and one of these is the next to
/// coordinate. Those who may be alive are told too, and learn that they are lost.
void Agreement::send_all(Word word, const Opinion& opinion) {
  for (Rank member = 0; member < size_; ++member)
    if (member != me_ && !ended_[static_cast<std::size_t>(member)] && (word == Word::decision || !is_lost(member)))
      send(member, word, opinion);
}

std::vector<Agreement::Letter> Agreement::take() { return std::exchange(letters_, {}); }

void Agreement::begin(Opinion mine) {
  if (state_ != State::absent) return;
  state_ = State::waiting;
  mine.lost.resize(static_cast<std::size_t>(size_));
  add(lost_, mine.lost);
  of(me_).opinion = std::move(mine);
  of(me_).contributed = true;
  advance();
}

void Agreement::lose(Rank member, bool ended) {
  if (member == me_) return;
  const bool known = is_lost(member) && (!ended || ended_[static_cast<std::size_t>(member)]);
  if (known) return;
  lost_[static_cast<std::size_t>(member)] = news_ = true;
  if (ended) ended_[static_cast<std::size_t>(member)] = true;
  advance();
}

void Agreement::hear(Rank from, const Message& message) {
  if (state_ == State::decided) {
    // It has gone on and takes no further part: whoever asks gets what was decided.
    if (message.word != Word::decision && message.word != Word::acceptance) send(from, Word::decision, *decision_);
    return;
  }
  if (is_lost(from) || is_lost(me_)) return;
  if (message.lost[static_cast<std::size_t>(me_)]) return give_up(State::expelled);
  learn(message);
  Said& said = of(from);
  switch (message.word) {
    case Word::call:
      break;
    case Word::contribution:
      said.contributed = true;
      said.opinion = message.opinion;
      said.proposer = message.proposer;
      said.before = message.accepted;
      break;
    case Word::proposal:
      if (from != coordinator()) break;
      of(me_).proposer = from;
      of(me_).before = message.opinion;
      send(from, Word::acceptance);
      break;
    case Word::acceptance:
      said.accepted = proposal_.has_value();
      break;
    case Word::decision:
      return decide(message.opinion);
  }
  advance();
}

/// Who is lost to one is lost to all. It may not know.
void Agreement::learn(const Message& message) {
  add(ended_, message.ended);
  const Ranks before = lost_;
  add(lost_, message.lost);
  news_ = news_ || lost_ != before;
  for (Rank member = 0; member < size_; ++member)
    if (is_lost(member) && !before[static_cast<std::size_t>(member)] && !ended_[static_cast<std::size_t>(member)])
      send(member, Word::call);
}

void Agreement::advance() {
  if (state_ != State::waiting) return;
  if (!enough()) return give_up(State::outvoted);
  const Rank first = coordinator();
  if (first == me_) return coordinate();
  if (first != called_ || news_) contribute(first);
}

/// Nobody shall wait for it.
void Agreement::give_up(State why) {
  state_ = why;
  lost_[static_cast<std::size_t>(me_)] = true;
  send_all(Word::call);
}

void Agreement::contribute(Rank to) {
  called_ = to;
  news_ = false;
  send(to, Word::contribution, of(me_).opinion);
  letters_.back().message.proposer = of(me_).proposer;
  letters_.back().message.accepted = of(me_).before;
}

void Agreement::coordinate() {
  if (!proposal_) {
    // Who is still busy with something else learns from it that it waits in vain.
    if (!std::exchange(calling_, true) || news_) send_all(Word::call);
    news_ = false;
    if (!everybody([](const Said& said) { return said.contributed; })) return;
    proposal_ = together();
    of(me_).proposer = me_;
    of(me_).before = *proposal_;
    of(me_).accepted = true;
    send_all(Word::proposal, *proposal_);
  }
  if (everybody([](const Said& said) { return said.accepted; })) decide(*proposal_);
}

/// What may have been decided is proposed again: the last that any of them has accepted.
Opinion Agreement::together() const {
  const Said* last = nullptr;
  for (Rank member = 0; member < size_; ++member)
    if (!is_lost(member) && of(member).proposer >= 0 && (last == nullptr || of(member).proposer > last->proposer))
      last = &of(member);
  if (last != nullptr) return last->before;
  Opinion all;
  all.lost = lost_;
  for (Rank member = 0; member < size_; ++member) {
    if (is_lost(member)) continue;
    const Opinion& one = of(member).opinion;
    all.calls |= one.calls;
    all.flag = all.flag && one.flag;
    all.notes.insert(all.notes.end(), one.notes.begin(), one.notes.end());
  }
  return all;
}

void Agreement::decide(const Opinion& opinion) {
  const bool coordinates = coordinator() == me_;
  decision_ = opinion;
  state_ = State::decided;
  if (coordinates) send_all(Word::decision, opinion);
  said_ = {};  // a decision stays for those who ask late; what led to it is as much as there are ranks
}

std::vector<Rank> Agreement::awaited() const {
  if (state_ == State::decided) return {};
  const Rank first = coordinator();
  if (first != me_) return {first};
  std::vector<Rank> ranks;
  for (Rank member = 0; member < size_; ++member)
    if (!is_lost(member) && !(proposal_ ? of(member).accepted : of(member).contributed)) ranks.push_back(member);
  return ranks;
}

}  // namespace tutti::engine
