// SPDX-License-Identifier: BSD-3-Clause
#include "trials.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

#include "base/hash.hpp"

namespace tutti::mpi {
namespace {

/// With less than this many pairs only a loss that is beyond doubt ends the trials.
constexpr std::size_t enough = 7;
/// Watching a choice costs at most this part of what it is worth.
constexpr double share = 0.005;
constexpr std::int64_t shortest = 1024;
constexpr double longest = 1e12;
/// What is worth a change: this part of the MPI's time. Less may be a matter of which call the time is booked on.
constexpr std::int64_t worth = 20;
/// So much slower in every pair. One pair alone may have met an interruption, or the first touch of memory.
constexpr std::int64_t beyond_doubt(std::size_t pairs) { return pairs < 3 ? 64 : 4; }

}  // namespace

Trials::Turn Trials::next_of_trial() {
  if (due_) return {side_, -1};
  const int block = calls_ / block_, place = calls_ % block_;
  if (place == 0) times_.push_back(0);
  ++calls_;
  due_ = calls_ == 2 * pairs_ * block_;
  const bool first_of_pair = block % 2 == 0;
  const Side side = mpi_first(static_cast<std::size_t>(block / 2)) == first_of_pair ? Side::mpi : Side::tutti;
  return {side, place > 0 || block_ == 1 ? block : -1};
}

bool Trials::mpi_first(std::size_t pair) const { return (base::combine(lot_, pair) >> 32 & 1) == 0; }

/// By the interval of the median that holds in 95 of 100 cases, for any distribution: between the order statistics at
/// n/2 -+ sqrt(n).
Trials::Verdict Trials::verdict(std::span<const std::int64_t> gains) const {
  const std::size_t n = gains.size();
  const auto half = static_cast<double>(n) / 2;
  const auto rank = static_cast<std::size_t>(std::max(1.0, std::floor(half - std::sqrt(static_cast<double>(n)))));
  if (gains[rank - 1] > 0) return Verdict::tutti;
  if (gains[n - rank] < 0) return Verdict::mpi;
  return pairs_ == last ? Verdict::mpi : Verdict::open;
}

void Trials::decide(int ranks) {
  due_ = false;
  agreed_ = times_.size();
  std::vector<std::int64_t> gains, beyond;  // the second: what is worth a change
  bool lost = true;
  const std::int64_t much = beyond_doubt(times_.size() / 2 - 1);
  // The first pair pays for buffers, plans and connections.
  for (std::size_t i = 2; i + 1 < times_.size(); i += 2) {
    const bool in_order = mpi_first(i / 2);
    const std::int64_t by_mpi = times_[in_order ? i : i + 1], by_tutti = times_[in_order ? i + 1 : i];
    gains.push_back(by_mpi - by_tutti);
    beyond.push_back(gains.back() - by_mpi / worth);
    lost = lost && by_tutti > much * by_mpi;
  }
  std::ranges::sort(gains);
  std::ranges::sort(beyond);
  Verdict found = lost ? Verdict::mpi : Verdict::open;
  if (gains.size() >= enough) found = verdict(beyond);
  if (found != Verdict::open)
    conclude(found == Verdict::tutti ? Side::tutti : Side::mpi, ranks, gains);
  else
    pairs_ *= 2;
}

/// By the pair in the middle: single calls may have waited for a core.
double Trials::slow_to_fast() const {
  std::vector<double> ratios;
  for (std::size_t i = 2; i + 1 < times_.size(); i += 2) {
    const auto [fast, slow] = std::minmax(times_[i], times_[i + 1]);
    ratios.push_back(static_cast<double>(slow) / static_cast<double>(std::max<std::int64_t>(fast, 1)));
  }
  std::ranges::sort(ratios);
  return ratios[ratios.size() / 2];
}

/// The next trials come after as many calls as make their cost small.
void Trials::conclude(Side side, int ranks, std::span<const std::int64_t> gains) {
  gain_ = gains[gains.size() / 2] / ranks / (block_ == 1 ? 1 : block_ - 1);
  side_ = side;
  lost_ = gains.size() < enough ? std::min(lost_ + 1, 30) : 0;
  const double calls =
      lost_ > 0 ? static_cast<double>(shortest << (lost_ - 1)) : 8 * block_ * (slow_to_fast() - 1) / share;
  left_ = static_cast<std::int64_t>(std::clamp(calls, static_cast<double>(shortest), longest));
  // The first trials may have met what goes away: fresh memory, ranks that were still spreading over the cores.
  if (!std::exchange(concluded_, true) && side == Side::mpi) left_ = shortest;
  calls_ = 0;
  pairs_ = first;
  lot_ = base::combine(lot_, static_cast<std::uint64_t>(gains.size()));
  times_.clear();
  agreed_ = 0;
}

}  // namespace tutti::mpi
