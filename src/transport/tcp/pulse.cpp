// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/pulse.hpp"

#include <algorithm>
#include <cmath>
#include <utility>

namespace tutti::transport::tcp {

namespace {

/// Repetitions in vain that chance explains less than once in a million cases, when each of them and each
/// acknowledgement is lost as often as packets were before. 2 without losses, 3 at 1 %, 5 at 5 %.
double more_than_chance(double loss) {
  const double in_vain = std::clamp(2 * loss, 0.009, 0.5);
  return std::ceil(std::log(1e-6) / std::log(in_vain)) - 1;
}

}  // namespace

void Pulse::begin(std::uint64_t lost_after, std::uint64_t now) {
  lost_after_ = lost_after;
  heard_ = said_ = now;
  awaited_ = 0;
}

Pulse::Finding Pulse::look(const Delivery& delivery, bool heard, bool said, std::uint64_t now) {
  if (heard) heard_ = now;
  if (said) said_ = now;
  if (!delivery.awaited)
    awaited_ = 0;
  else if (std::exchange(awaited_, awaited_ == 0 ? now : awaited_) == 0)
    loss_ = delivery.loss;  // of now: the repetitions in vain that may follow tell nothing of it
  // A sixth of the time until there is something to acknowledge, two thirds of it in vain, so that of repetitions every
  // 200 ms the third may be answered; the rest for those who look late. Where packets get lost more of it: with a short
  // break of the link besides, chance needs less.
  const double least = more_than_chance(loss_);
  const std::uint64_t silence = least > 2 ? lost_after_ / 10 * 9 : lost_after_ / 3 * 2;
  const bool in_vain = delivery.awaited && std::min(delivery.silent, now - awaited_) >= silence;
  if (in_vain && delivery.repeated >= least) return Finding::lost;
  return delivery.awaited || now - said_ >= lost_after_ / 6 ? Finding::quiet : Finding::well;
}

}  // namespace tutti::transport::tcp
