// SPDX-License-Identifier: BSD-3-Clause
// How calls that do not match are found between hosts where no message could show it: a rank in a bcast waits for its
// parent, which waits for it in a barrier along the same tree. Who waits long tells those it waits for what it called,
// and the one that called something else as that operation breaks the group.
#include <algorithm>
#include <string>
#include <vector>

#include "engine/channel.hpp"
#include "engine/engine.hpp"

namespace tutti::engine {

namespace {

// A mismatch is found soon, and a rank that is late for minutes is not asked often.
constexpr std::uint64_t first_pause = 100'000'000, longest_pause = 10'000'000'000;

}  // namespace

void Channel::answer_questions() {
  while (!broken_) {
    const auto question = notices_->asked();
    if (!question) return;
    answer(*question);
  }
}

void Channel::compare_calls() {
  answer_questions();
  if (broken_) return;
  const Operation* oldest = first_;
  while (oldest != nullptr && (oldest->user_lane() || oldest->finished())) oldest = oldest->next_;
  if (oldest == nullptr) return;
  const std::uint64_t sequence = oldest->sequence(), now = engine_.waiting().now();
  auto& next = next_question_;
  if (next.sequence != sequence || next.at == 0) next = {sequence, now + first_pause, first_pause};
  if (now < next.at || next_sequence_ - sequence > chains_.size()) return;
  next.pause = std::min(2 * next.pause, longest_pause);
  next.at = now + next.pause;
  record();
  const Question question{rank(), sequence, chains_[sequence % chains_.size()], called(rank(), sequence)};
  std::vector<Rank> awaited;
  oldest->blockers(awaited);
  std::ranges::sort(awaited);
  awaited.erase(std::ranges::unique(awaited).begin(), awaited.end());
  for (const Rank other : awaited)
    if (row_of(other) < 0) notices_->ask(who_.world[static_cast<std::size_t>(other)], question);
}

/// A rank that has not come so far yet, or is far ahead, cannot tell; it is asked again.
void Channel::answer(const Question& question) {
  const auto [who, sequence, chain, theirs] = question;
  if (who < 0 || who >= size() || row_of(who) >= 0) return;  // nobody writes such
  if (sequence >= next_sequence_ || next_sequence_ - sequence > chains_.size()) return;
  if (chains_[sequence % chains_.size()] != chain) called_otherwise(sequence, who, theirs);
}

}  // namespace tutti::engine
