// SPDX-License-Identifier: BSD-3-Clause
#include "measure/synchronise.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <optional>

namespace tutti::measure {
namespace {

template <class T>
void send(Messages& messages, Rank to, const T& value) {
  messages.send(to, std::as_bytes(std::span(&value, 1)));
}

template <class T>
T recv(Messages& messages, Rank from) {
  T value{};
  messages.recv(from, std::as_writable_bytes(std::span(&value, 1)));
  return value;
}

/// What a child asks its parent.
enum class Question : std::int64_t { time, nothing_more };

/// Ranks from here on are a second group, each compared with a rank of the first: the largest power of two below P.
Rank first_group(Rank size) {
  return size <= 1 ? 1 : static_cast<Rank>(std::bit_ceil(static_cast<unsigned>(size)) / 2);
}

/// One part in so many of both ways is worth the wait for another.
constexpr std::int64_t least_gain = 100;

/// A message between two clocks: when it left or came by the own one, and how long it took by both together.
struct Way {
  std::int64_t when = 0, took = 0;
};

void compare_one_by_one(Messages& messages, const Clock& clock, std::vector<Moment>& moments) {
  for (Rank child = 1; child < messages.size(); ++child) {
    if (messages.rank() == 0) {
      answer(messages, clock, child);
      moments[static_cast<std::size_t>(child)] = recv<Moment>(messages, child);
    } else if (messages.rank() == child) {
      send(messages, 0, ask(messages, clock, 0));
    }
  }
}

/// Round k pairs ranks 2^k apart: the upper one asks the lower, and hands it what it has collected from the 2^k - 1
/// ranks above itself.
void compare_in_a_tree(Messages& messages, const Clock& clock, std::vector<Moment>& moments) {
  const Rank rank = messages.rank(), size = messages.size(), first = first_group(size);
  for (Rank step = 1; step < first && rank < first; step *= 2) {
    const bool asks = rank % (2 * step) == step, answers = rank % (2 * step) == 0;
    const auto of = [&](Rank lowest) {
      return std::as_writable_bytes(
          std::span(moments).subspan(static_cast<std::size_t>(lowest), static_cast<std::size_t>(step)));
    };
    if (asks) {
      moments[static_cast<std::size_t>(rank)] = ask(messages, clock, rank - step);
      messages.send(rank - step, of(rank));
      break;
    }
    if (!answers) break;
    answer(messages, clock, rank + step);
    messages.recv(rank + step, of(rank + step));
  }
  if (rank >= first) send(messages, 0, ask(messages, clock, rank - first));
  if (rank < first && rank + first < size) answer(messages, clock, rank + first);
  for (Rank other = first; other < size && rank == 0; ++other)
    moments[static_cast<std::size_t>(other)] = recv<Moment>(messages, other);
}

}  // namespace

Rank parent_of(Rank rank, Rank size, Scheme scheme) {
  if (scheme == Scheme::linear) return 0;
  const Rank first = first_group(size);
  return rank >= first ? rank - first : rank & (rank - 1);
}

Moment ask(Messages& messages, const Clock& clock, Rank parent) {
  std::optional<Way> there, back;
  std::int64_t quickest = -1;
  for (int since = 0, all = 0; since < unbeaten && all < most_round_trips; ++all) {
    const std::int64_t start = clock();
    send(messages, parent, Question::time);
    const auto theirs = recv<std::int64_t>(messages, parent);
    const std::int64_t end = clock();
    if (!there || theirs - start < there->took) there = Way{start, theirs - start};
    if (!back || end - theirs < back->took) back = Way{end, end - theirs};
    // Clocks that drift apart make one way shorter for ever, by less than this.
    const std::int64_t both = there->took + back->took;
    ++since;
    if (quickest >= 0 && both >= quickest - quickest / least_gain) continue;
    quickest = both;
    since = 0;
  }
  send(messages, parent, Question::nothing_more);
  // Whatever the clocks are apart is in both ways, once added and once taken off. In between lies when it was so.
  const std::int64_t middle = back->when + (there->when - back->when) / 2;
  const auto drifted = std::llround(std::abs(static_cast<double>(back->when - there->when)) * Timeline::most_drift);
  return {middle, middle + (there->took - back->took) / 2, (there->took + back->took) / 2 + drifted + 1};
}

void answer(Messages& messages, const Clock& clock, Rank child) {
  while (recv<Question>(messages, child) == Question::time) send(messages, child, clock());
}

std::vector<Moment> synchronise(Messages& messages, const Clock& clock, Scheme scheme) {
  std::vector<Moment> moments(static_cast<std::size_t>(messages.size()));
  if (scheme == Scheme::linear)
    compare_one_by_one(messages, clock, moments);
  else
    compare_in_a_tree(messages, clock, moments);
  if (messages.rank() != 0) moments.clear();
  return moments;
}

Timeline::Timeline(Rank rank, Scheme scheme, std::span<const Moment> begin, std::span<const Moment> end) {
  const auto size = static_cast<Rank>(begin.size());
  for (; rank > 0; rank = parent_of(rank, size, scheme)) {
    const Moment& first = begin[static_cast<std::size_t>(rank)];
    lines_.push_back({first, end.empty() ? first : end[static_cast<std::size_t>(rank)]});
  }
}

std::int64_t Timeline::Line::to_parent(std::int64_t time) const {
  const std::int64_t passed = end.child - begin.child, gained = (end.parent - begin.parent) - passed;
  // More than clocks drift apart is an error of two comparisons that were close together.
  const double drift =
      passed > 0 ? std::clamp(static_cast<double>(gained) / static_cast<double>(passed), -most_drift, most_drift) : 0;
  const std::int64_t since = time - begin.child;
  return begin.parent + since + std::llround(static_cast<double>(since) * drift);
}

std::int64_t Timeline::Line::error(std::int64_t time) const {
  const std::int64_t passed = end.child - begin.child;
  if (passed <= 0) return begin.error + std::llround(static_cast<double>(std::abs(time - begin.child)) * most_drift);
  // Each end may be wrong in its own direction: between them the error is the mean of both by weight, outside both
  // count.
  const double weight = static_cast<double>(time - begin.child) / static_cast<double>(passed);
  return std::llround(std::abs(1 - weight) * static_cast<double>(begin.error) +
                      std::abs(weight) * static_cast<double>(end.error));
}

std::int64_t Timeline::to_root(std::int64_t time) const {
  for (const Line& line : lines_) time = line.to_parent(time);
  return time;
}

std::int64_t Timeline::error(std::int64_t time) const {
  std::int64_t error = 1;  // of rounding
  for (const Line& line : lines_) {
    error += line.error(time) + 1;
    time = line.to_parent(time);
  }
  return error;
}

}  // namespace tutti::measure
