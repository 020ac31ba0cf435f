// SPDX-License-Identifier: BSD-3-Clause
#include "engine/notices.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>

namespace tutti::engine {

/// On the wire.
struct Notices::Letter {
  std::uint64_t sequence = 0;
  std::uint32_t cause = 0, chain = 0;
  std::int32_t who = 0, whom = 0;
  std::array<char, 232> called{};

  std::string call() const { return {called.begin(), std::ranges::find(called, '\0')}; }
};

/// Numbers that no operation has.
enum class Notices::About : std::uint64_t {
  breaking = transport::Tag::first_notice,
  calls,
};

transport::Transfer Notices::transfer(Rank world, About about, Letter& letter) const {
  static_assert(sizeof letter <= transport::Transfer::longest_notice);
  transport::Transfer made;
  made.peer = world;
  made.tag = {context_, static_cast<std::uint64_t>(about), transport::Tag::mail, transport::Lane::mailbox};
  made.data = reinterpret_cast<std::byte*>(&letter);
  made.size = sizeof letter;
  return made;
}

/// The transport's lock is held, here and in receive.
void Notices::send(Rank world, About about, const std::shared_ptr<Letter>& letter, Whom whom) {
  sent_.emplace_back(transfer(world, about, *letter), letter);
  sent_.back().first.unhurried = whom == Whom::connected;
  transport_.send(sent_.back().first);
}

std::optional<Notices::Letter> Notices::receive(About about) {
  Letter letter;
  const auto arrival = transport_.look(transfer(0, about, letter).tag);
  if (!arrival) return std::nullopt;
  transport::Transfer one = transfer(arrival->peer, about, letter);
  transport_.recv(one);
  if (one.state == transport::State::pending) transport_.cancel(one);
  return one.state == transport::State::done ? std::optional(letter) : std::nullopt;
}

void Notices::tell(std::span<const Rank> world, Whom whom, const Notice& notice) {
  const auto letter = std::make_shared<Letter>();
  letter->sequence = notice.sequence;
  letter->cause = static_cast<std::uint32_t>(notice.cause);
  letter->who = notice.who;
  letter->whom = notice.whom;
  notice.called.copy(letter->called.data(), letter->called.size() - 1);
  const std::lock_guard lock(lock_);
  for (const Rank rank : world) send(rank, About::breaking, letter, whom);
}

std::optional<Notice> Notices::hear() {
  const std::lock_guard lock(lock_);
  transport_.progress();
  const auto letter = receive(About::breaking);
  if (!letter || letter->cause > static_cast<std::uint32_t>(Cause::system)) return std::nullopt;
  return Notice{static_cast<Cause>(letter->cause), letter->who, letter->whom, letter->sequence, letter->call()};
}

void Notices::ask(Rank world, const Question& question) {
  const auto letter = std::make_shared<Letter>();
  letter->sequence = question.sequence;
  letter->chain = question.chain;
  letter->who = question.who;
  question.called.copy(letter->called.data(), letter->called.size() - 1);
  const std::lock_guard lock(lock_);
  std::erase_if(sent_, [](const auto& one) { return one.first.state != transport::State::pending; });
  send(world, About::calls, letter);
}

std::optional<Question> Notices::asked() {
  const std::lock_guard lock(lock_);
  const auto letter = receive(About::calls);
  if (!letter) return std::nullopt;
  return Question{letter->who, letter->sequence, letter->chain, letter->call()};
}

/// What has come and was not read, or comes later, would stay with the transport, and count as what its sender may
/// send.
Notices::~Notices() {
  const std::lock_guard lock(lock_);
  transport_.forget(context_);
  for (auto& [transfer, letter] : sent_)
    if (transfer.state == transport::State::pending) transport_.cancel(transfer);
}

}  // namespace tutti::engine
