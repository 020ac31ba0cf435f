// SPDX-License-Identifier: BSD-3-Clause
#include "job/clocks.hpp"

#include <algorithm>
#include <utility>

namespace tutti::job {
namespace {

/// Tells these messages from those that make groups.
constexpr std::uint32_t clock_tag = 0x636c6b;

}  // namespace

ClockMessages::ClockMessages(Member& member, std::vector<Rank> ranks, std::optional<Duration> patience)
    : member_(member),
      ranks_(std::move(ranks)),
      rank_(static_cast<Rank>(std::ranges::find(ranks_, member.channel().rank()) - ranks_.begin())),
      patience_(patience) {}

void ClockMessages::send(Rank to, std::span<const std::byte> bytes) {
  // A send only reads.
  pass(plan::Verb::send, const_cast<std::byte*>(bytes.data()), bytes.size(), to);
}

void ClockMessages::recv(Rank from, std::span<std::byte> bytes) {
  pass(plan::Verb::recv, bytes.data(), bytes.size(), from);
}

void ClockMessages::pass(plan::Verb verb, std::byte* bytes, std::size_t count, Rank peer) {
  const Member::Mark mark{.tag = clock_tag, .lane = transport::Lane::group};
  Request message = member_.start_message(verb, bytes, static_cast<Count>(count), Type::opaque, 1,
                                          ranks_[static_cast<std::size_t>(peer)], mark);
  patience_ ? message.wait(*patience_) : message.wait();
}

}  // namespace tutti::job
