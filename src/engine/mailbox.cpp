// SPDX-License-Identifier: BSD-3-Clause
#include "engine/mailbox.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "engine/channel.hpp"
#include "engine/engine.hpp"

namespace tutti::engine {

using transport::Tag;
using transport::Transfer;
using transport::Transport;

Mailbox::Mailbox(std::vector<Outgoing> outgoing, Rank self) : outgoing_(std::move(outgoing)) {
  for (const Outgoing& one : outgoing_) {
    if (one.rank != self) continue;
    Received& own = received_.emplace_back();
    own.content = {one.rank, {one.data, one.data + one.bytes}};
    own.come = true;
    own.answer.state = transport::State::done;
  }
  std::erase_if(outgoing_, [self](const Outgoing& one) { return one.rank == self; });
  sent_.reserve(outgoing_.size());
  unanswered_ = outgoing_.size();
}

Transfer Mailbox::transfer(Rank rank, std::uint32_t what, std::byte* data, std::size_t bytes) const {
  Transfer made;
  made.peer = channel_->who().world[static_cast<std::size_t>(rank)];
  made.tag = {channel_->who().context, sequence_, what, transport::Lane::mailbox};
  made.signature = signature_;
  made.data = data;
  made.size = bytes;
  return made;
}

void Mailbox::open(Channel& channel, std::uint64_t sequence, std::uint32_t signature) noexcept {
  channel_ = &channel;
  sequence_ = sequence;
  signature_ = signature;
}

void Mailbox::send_all(Transport& transport) {
  for (const Outgoing& one : outgoing_) {
    Sent& sent = sent_.emplace_back();
    sent.rank = one.rank;
    sent.answer = transfer(one.rank, Tag::receipt, nullptr, 0);
    transport.recv(sent.answer);
    sent.message = transfer(one.rank, Tag::mail, const_cast<std::byte*>(one.data), one.bytes);  // a send only reads
    transport.send(sent.message);
  }
  outgoing_.clear();
}

bool Mailbox::done(const Transfer& transfer, Rank rank) {
  if (transfer.state != transport::State::pending && transfer.state != transport::State::done && failure_.rank < 0)
    failure_ = {transfer.state, rank};
  return transfer.state == transport::State::done;
}

bool Mailbox::collect_answers() {
  bool moved = false;
  for (Sent& sent : sent_) {
    if (sent.answered || !done(sent.message, sent.rank) || !done(sent.answer, sent.rank)) continue;
    sent.answered = moved = true;
    --unanswered_;
  }
  return moved;
}

bool Mailbox::receive(Transport& transport) {
  bool moved = false;
  const Tag mail{channel_->who().context, sequence_, Tag::mail, transport::Lane::mailbox};
  while (const auto arrival = transport.look(mail)) {
    const auto& world = channel_->who().world;
    const auto member = std::ranges::find(world, arrival->peer);
    if (member == world.end()) break;  // nobody of this group knows its context
    Received& next = received_.emplace_back();
    next.content.rank = static_cast<Rank>(member - world.begin());
    next.content.bytes.resize(arrival->size);
    next.message = transfer(next.content.rank, Tag::mail, next.content.bytes.data(), arrival->size);
    next.answer = transfer(next.content.rank, Tag::receipt, nullptr, 0);
    transport.recv(next.message);
    moved = true;
  }
  return moved;
}

bool Mailbox::answer(Transport& transport) {
  bool moved = false;
  for (Received& one : received_) {
    if (one.come || !done(one.message, one.content.rank)) continue;
    one.come = moved = true;
    transport.send(one.answer);
  }
  return moved;
}

bool Mailbox::serve(const Operation& operation) {
  bool moved = false;
  {
    const std::lock_guard lock(channel_->engine().transport_lock());
    Transport& transport = channel_->engine().transport();
    send_all(transport);
    moved = collect_answers();
    moved = receive(transport) || moved;
    moved = answer(transport) || moved;
  }
  if (failure_.rank >= 0) channel_->mailbox_failed(operation, failure_.rank, failure_.state == transport::State::lost);
  return moved;
}

void Mailbox::blockers(std::vector<Rank>& ranks) const {
  for (const Sent& sent : sent_)
    if (!sent.answered) ranks.push_back(sent.rank);
}

void Mailbox::withdraw() {
  if (channel_ == nullptr) return;
  const std::lock_guard lock(channel_->engine().transport_lock());
  Transport& transport = channel_->engine().transport();
  const auto take_back = [&](Transfer& transfer) {
    if (transfer.peer >= 0 && transfer.state == transport::State::pending) transport.cancel(transfer);
  };
  for (Sent& sent : sent_) {
    take_back(sent.message);
    take_back(sent.answer);
  }
  for (Received& one : received_) {
    take_back(one.message);
    if (one.come) take_back(one.answer);
  }
}

void Mailbox::fail(std::shared_ptr<const Error> error) {
  withdraw();
  error_ = std::move(error);
}

std::vector<Mailbox::Incoming> Mailbox::take() {
  if (error_ != nullptr) raise(*error_);
  std::vector<Incoming> all;
  for (Received& one : received_) all.push_back(std::move(one.content));
  received_.clear();
  std::ranges::stable_sort(all, {}, &Incoming::rank);
  return all;
}

}  // namespace tutti::engine
