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
  sent_.resize(outgoing_.size());
  unanswered_ = outgoing_.size();
  std::unordered_map<Rank, Sent*> last;
  for (std::size_t i = 0; i < sent_.size(); ++i) {
    Sent* const sent = &sent_[i];
    sent->rank = outgoing_[i].rank;
    Sent*& before = last[sent->rank];
    before != nullptr ? before->next = sent : unanswered_by_.emplace_back(sent);
    before = sent;
  }
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
  for (std::size_t i = 0; i < outgoing_.size(); ++i) {
    const Outgoing& one = outgoing_[i];
    Sent& sent = sent_[i];
    sent.answer = transfer(one.rank, Tag::receipt, nullptr, 0);
    transport.recv(sent.answer);
    sent.message = transfer(one.rank, Tag::mail, const_cast<std::byte*>(one.data), one.bytes);  // a send only reads
    transport.send(sent.message);
  }
  outgoing_.clear();
}

bool Mailbox::done(const Transfer& transfer, Rank rank) {
  ++looks_;
  if (transfer.state != transport::State::pending && transfer.state != transport::State::done && failure_.rank < 0)
    failure_ = {transfer.state, rank};
  return transfer.state == transport::State::done;
}

/// Per rank it looks no further than the first that is not done: the cost of a look must not grow with what is under
/// way. What is done behind it is counted with it, and all are waited for anyway.
bool Mailbox::collect_answers() {
  const std::size_t before = unanswered_;
  for (Sent*& first : unanswered_by_)
    for (; first != nullptr && done(first->message, first->rank) && done(first->answer, first->rank);
         first = first->next)
      --unanswered_;
  if (unanswered_ == before) return false;
  std::erase(unanswered_by_, nullptr);
  return true;
}

/// nullptr: nobody of this group.
Mailbox::Sender* Mailbox::sender_of(transport::Peer peer) {
  if (const auto known = senders_.find(peer); known != senders_.end()) return &known->second;
  const auto& world = channel_->who().world;
  const auto member = std::ranges::find(world, peer);
  if (member == world.end()) return nullptr;
  return &senders_.emplace(peer, Sender{.rank = static_cast<Rank>(member - world.begin())}).first->second;
}

bool Mailbox::receive(Transport& transport) {
  bool moved = false;
  const Tag mail{channel_->who().context, sequence_, Tag::mail, transport::Lane::mailbox};
  while (const auto arrival = transport.look(mail)) {
    Sender* const sender = sender_of(arrival->peer);
    if (sender == nullptr) break;  // nobody else knows the context of this group
    Received& next = received_.emplace_back();
    next.content.rank = sender->rank;
    next.content.bytes.resize(arrival->size);
    next.message = transfer(next.content.rank, Tag::mail, next.content.bytes.data(), arrival->size);
    next.answer = transfer(next.content.rank, Tag::receipt, nullptr, 0);
    transport.recv(next.message);
    if (sender->first == nullptr) coming_.push_back(sender);
    (sender->first != nullptr ? sender->last->next : sender->first) = &next;
    sender->last = &next;
    moved = true;
  }
  return moved;
}

bool Mailbox::answer(Transport& transport) {
  bool moved = false;
  for (Sender* const sender : coming_)
    for (Received*& first = sender->first; first != nullptr && done(first->message, sender->rank);
         first = first->next) {
      first->come = moved = true;
      transport.send(first->answer);
    }
  if (moved) std::erase_if(coming_, [](const Sender* sender) { return sender->first == nullptr; });
  return moved;
}

bool Mailbox::serve(const Operation& operation) {
  bool moved = false;
  {
    const std::lock_guard lock(channel_->engine().transport_lock());
    Transport& transport = channel_->engine().transport();
    const std::size_t before = looks_;
    send_all(transport);
    moved = collect_answers();
    moved = receive(transport) || moved;
    moved = answer(transport) || moved;
    if (!moved) looks_ = before;
  }
  if (failure_.rank >= 0) channel_->mailbox_failed(operation, failure_.rank, failure_.state == transport::State::lost);
  return moved;
}

void Mailbox::blockers(std::vector<Rank>& ranks) const {
  for (const Sent* sent : unanswered_by_) ranks.push_back(sent->rank);
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
