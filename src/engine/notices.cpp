// SPDX-License-Identifier: BSD-3-Clause
#include "engine/notices.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <memory>
#include <utility>

namespace tutti::engine {

/// On the wire.
struct Notices::Letter {
  std::uint64_t sequence = 0;
  std::uint32_t cause = 0;
  std::int32_t who = 0, whom = 0;
  std::array<char, 236> called{};
};

namespace {

/// No operation has this number.
transport::Tag tag(std::uint64_t context) {
  return {context, std::numeric_limits<std::uint64_t>::max(), transport::Tag::mail, transport::Lane::mailbox};
}

}  // namespace

transport::Transfer Notices::transfer(Rank world, Letter& letter) const {
  transport::Transfer made;
  made.peer = world;
  made.tag = tag(context_);
  made.data = reinterpret_cast<std::byte*>(&letter);
  made.size = sizeof letter;
  return made;
}

void Notices::tell(std::span<const Rank> world, Whom whom, const Notice& notice) {
  const auto letter = std::make_shared<Letter>();
  letter->sequence = notice.sequence;
  letter->cause = static_cast<std::uint32_t>(notice.cause);
  letter->who = notice.who;
  letter->whom = notice.whom;
  notice.called.copy(letter->called.data(), letter->called.size() - 1);
  const std::lock_guard lock(lock_);
  for (const Rank rank : world) {
    if (whom == Whom::connected && !transport_.connected(rank)) continue;
    sent_.emplace_back(transfer(rank, *letter), letter);
    transport_.send(sent_.back().first);
  }
}

std::optional<Notice> Notices::hear() {
  const std::lock_guard lock(lock_);
  transport_.progress();
  const auto arrival = transport_.look(tag(context_));
  if (!arrival) return std::nullopt;
  Letter letter;
  transport::Transfer one = transfer(arrival->peer, letter);
  transport_.recv(one);
  if (one.state == transport::State::pending) transport_.cancel(one);
  if (one.state != transport::State::done || letter.cause > static_cast<std::uint32_t>(Cause::system))
    return std::nullopt;
  const auto end = std::ranges::find(letter.called, '\0');
  return Notice{static_cast<Cause>(letter.cause), letter.who, letter.whom, letter.sequence,
                std::string(letter.called.begin(), end)};
}

Notices::~Notices() {
  const std::lock_guard lock(lock_);
  for (auto& [transfer, letter] : sent_)
    if (transfer.state == transport::State::pending) transport_.cancel(transfer);
}

}  // namespace tutti::engine
