// SPDX-License-Identifier: BSD-3-Clause
#include "trials.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/hash.hpp"

namespace tutti::mpi {
namespace {

/// With less than this many pairs only what is beyond doubt ends the trials.
constexpr std::size_t enough = 7;
/// Watching a choice costs at most this part of what it is worth.
constexpr double share = 0.005;
constexpr std::int64_t shortest = 1024;
constexpr double longest = 1e12;
/// Trials rest for at least so many times the calls that they took: they disturb the calls around them too.
constexpr std::int64_t rest = 16;
/// What is worth a change: this part of the MPI's time. Less may be a matter of which call the time is booked on.
constexpr std::int64_t worth = 20;
/// The call itself may become slower by this part of the MPI's time, whatever it saves those behind it.
constexpr std::int64_t bearable = 33;
/// So much slower in every pair is beyond doubt, if there are a few of them. One alone may have met an interruption, or
/// the first touch of memory: so much slower it has to be to go back to the MPI at once, with which nothing is lost.
constexpr std::int64_t much = 4, very_much = 64;
constexpr std::size_t few = 3;

/// What each pair says, ascending.
template <class Pair, class Value>
auto sorted(const std::vector<Pair>& pairs, Value value) {
  std::vector<decltype(value(pairs.front()))> values;
  values.reserve(pairs.size());
  for (const Pair& pair : pairs) values.push_back(value(pair));
  std::ranges::sort(values);
  return values;
}

/// The interval of the median that holds in 95 of 100 cases, for any distribution: between the order statistics at
/// n/2 -+ sqrt(n).
struct Interval {
  std::int64_t low, high;
  explicit Interval(std::span<const std::int64_t> ascending) {
    const auto n = static_cast<double>(ascending.size());
    const auto rank = static_cast<std::size_t>(std::max(1.0, std::floor(n / 2 - std::sqrt(n))));
    low = ascending[rank - 1];
    high = ascending[ascending.size() - rank];
  }
};

}  // namespace

Trials::Turn Trials::next_of_trial() {
  if (due_) return {side_, -1};
  const int block = calls_ / block_, place = calls_ % block_;
  if (place == 0) times_.resize(times_.size() + 2);
  ++calls_;
  due_ = calls_ == 2 * pairs_ * block_;
  const bool first_of_pair = block % 2 == 0;
  const Side side = mpi_first(static_cast<std::size_t>(block / 2)) == first_of_pair ? Side::mpi : Side::tutti;
  return {side, place > 0 || block_ == 1 ? block : -1};
}

void Trials::take_back(const Mark& mark) {
  left_ = mark.left;
  if (calls_ == mark.calls) return;
  calls_ = mark.calls;
  due_ = false;
  if (calls_ % block_ == 0) times_.resize(times_.size() - 2);
}

bool Trials::mpi_first(std::size_t pair) const { return (base::combine(lot_, pair) >> 32 & 1) == 0; }

/// The first pair pays for buffers, plans and connections, and is left out.
std::vector<Trials::Pair> Trials::pairs() const {
  std::vector<Pair> found;
  for (std::size_t block = 2; 2 * block + 3 < times_.size(); block += 2) {
    Pair pair{taken(block), taken(block + 1)};
    if (!mpi_first(block / 2)) std::swap(pair.mpi, pair.tutti);
    found.push_back(pair);
  }
  return found;
}

/// Tutti has to save time, and must not slow the call itself down: a program may do something else behind it.
Trials::Verdict Trials::verdict(const std::vector<Pair>& pairs) const {
  const std::int64_t lost = pairs.size() < few ? very_much : much;
  if (std::ranges::all_of(pairs, [&](const Pair& pair) { return pair.tutti.total > lost * pair.mpi.total; }))
    return Verdict::mpi;
  if (pairs.size() < few) return Verdict::open;
  // An MPI that does not give its core away may take a second where Tutti takes a millisecond.
  if (std::ranges::all_of(pairs, [&](const Pair& pair) { return pair.mpi.total > much * pair.tutti.total; }))
    return Verdict::tutti;
  if (pairs.size() < enough) return Verdict::open;
  const auto gain = [](const Pair& pair) { return pair.mpi.total - pair.mpi.total / worth - pair.tutti.total; };
  const auto own = [](const Pair& pair) { return pair.mpi.own + pair.mpi.own / bearable - pair.tutti.own; };
  const Interval gains(sorted(pairs, gain)), calls(sorted(pairs, own));
  if (gains.high < 0 || calls.high < 0) return Verdict::mpi;
  if (gains.low > 0) return Verdict::tutti;
  return pairs_ == last_ ? Verdict::mpi : Verdict::open;
}

void Trials::decide(int ranks) {
  due_ = false;
  agreed_ = times_.size();
  const std::vector<Pair> all = pairs();
  const Verdict found = verdict(all);
  if (found != Verdict::open)
    conclude(found == Verdict::tutti ? Side::tutti : Side::mpi, ranks, all);
  else
    pairs_ *= 2;
}

/// The next trials come after as many calls as make their cost small.
void Trials::conclude(Side side, int ranks, const std::vector<Pair>& pairs) {
  // By the pair in the middle: single calls may have waited for a core.
  const std::size_t middle = pairs.size() / 2;
  const double slow_to_fast = sorted(pairs, [](const Pair& pair) {
    const auto [fast, slow] = std::minmax(pair.mpi.total, pair.tutti.total);
    return static_cast<double>(slow) / static_cast<double>(std::max<std::int64_t>(fast, 1));
  })[middle];
  const std::int64_t gain = sorted(pairs, [](const Pair& pair) { return pair.mpi.total - pair.tutti.total; })[middle];
  gain_ = gain / ranks / (block_ == 1 ? 1 : block_ - 1);
  const bool hasty = pairs.size() < enough;
  hasty_ = !hasty ? 0 : side == side_ ? std::min(hasty_ + 1, 30) : 1;
  side_ = side;
  double calls = 8 * block_ * (slow_to_fast - 1) / share;
  // What broke them off may go away, and has to be seen again first.
  if (hasty && side == Side::mpi) calls = static_cast<double>(shortest << (hasty_ - 1));
  if (hasty_ == 1 && side == Side::tutti) calls = static_cast<double>(rest * shortest);
  const auto fewest = static_cast<double>(std::max(shortest, rest * calls_));
  left_ = static_cast<std::int64_t>(std::clamp(calls, fewest, longest));
  // The first trials may have met what goes away, if they were short: fresh memory, ranks that were still spreading
  // over the cores.
  if (!std::exchange(concluded_, true) && side == Side::mpi && pairs_ < last_) left_ = shortest;
  calls_ = 0;
  pairs_ = first;
  lot_ = base::combine(lot_, static_cast<std::uint64_t>(pairs.size()));
  times_.clear();
  agreed_ = 0;
}

}  // namespace tutti::mpi
