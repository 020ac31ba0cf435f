// SPDX-License-Identifier: BSD-3-Clause
// Messages of a group's ranks among each other, by which their clocks are compared.
#pragma once

#include <optional>
#include <vector>

#include "job/runtime.hpp"
#include "measure/synchronise.hpp"

namespace tutti::job {

/// Some ranks of a group, numbered anew. Their messages are apart from the program's own.
class ClockMessages final : public measure::Messages {
 public:
  /// `ranks`: those that take part, ascending; all of them make one of these, alike. Calls throw Timeout when a message
  /// has not come after `patience`, which breaks the group; without one they wait as long as the other lives.
  ClockMessages(Member& member, std::vector<Rank> ranks, std::optional<Duration> patience);

  Rank rank() const override { return rank_; }
  Rank size() const override { return static_cast<Rank>(ranks_.size()); }
  void send(Rank to, std::span<const std::byte> bytes) override;
  void recv(Rank from, std::span<std::byte> bytes) override;

 private:
  void pass(plan::Verb verb, std::byte* bytes, std::size_t count, Rank peer);

  Member& member_;
  std::vector<Rank> ranks_;
  Rank rank_;
  std::optional<Duration> patience_;
};

}  // namespace tutti::job
