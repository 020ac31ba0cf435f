// SPDX-License-Identifier: BSD-3-Clause
#include "transport/inproc/network.hpp"

#include <atomic>
#include <mutex>
#include <utility>
#include <vector>

#include "base/copy.hpp"
#include "base/hash.hpp"
#include "transport/matching.hpp"
#include "transport/names.hpp"

namespace tutti::transport::inproc {

namespace {

/// Messages on their way to one rank, by arrival; equal arrivals in order of sending.
class Inbox {
 public:
  void insert(Message& message) {
    if (last_ == nullptr || last_->arrival <= message.arrival) {
      message.next = nullptr;
      (last_ != nullptr ? last_->next : first_) = &message;
      last_ = &message;
      return;
    }
    Message** place = &first_;
    while ((*place)->arrival <= message.arrival) place = &(*place)->next;
    message.next = *place;
    *place = &message;
  }
  /// The first message of which `predicate` is true, taken out; nullptr when there is none.
  template <class Predicate>
  Message* take_if(Predicate predicate) {
    Message* previous = nullptr;
    for (Message* message = first_; message != nullptr; previous = message, message = message->next) {
      if (!predicate(*message)) continue;
      (previous != nullptr ? previous->next : first_) = message->next;
      if (last_ == message) last_ = previous;
      return message;
    }
    return nullptr;
  }
  Message* take_arrived(std::uint64_t now) {
    if (first_ == nullptr || first_->arrival > now) return nullptr;
    return take_if([](const Message&) { return true; });
  }
  bool empty() const { return first_ == nullptr; }

 private:
  Message* first_ = nullptr;
  Message* last_ = nullptr;
};

/// What others put before a rank, and what it has not yet matched. A sender that cancels takes its announcement out
/// again under the same lock under which the receiver copies: so nobody reads a cancelled buffer.
struct Mailbox {
  std::mutex mutex;
  Inbox inbox;
  Matching matching;
  std::vector<std::uint64_t> finished;  // handles of this rank's own sends that were received
  std::atomic<bool> filled{false};      // inbox or finished is not empty; a hint, set and cleared under the mutex
};

}  // namespace

struct Network::State {
  State(int size, Options chosen) : options(std::move(chosen)), mailboxes(static_cast<std::size_t>(size)) {
    if (options.scheduler == nullptr) options.delay = 0;
  }

  Mailbox& mailbox(Rank rank) { return mailboxes[static_cast<std::size_t>(rank)]; }
  std::uint64_t now() const { return options.delay != 0 ? options.scheduler->now() : 0; }
  /// When a message sent now arrives. Equal tags are late by the same time, so they cannot overtake each other.
  std::uint64_t arrival(Rank from, Rank to, const Tag& tag) const {
    if (options.delay == 0) return 0;
    std::uint64_t hash = base::combine(options.seed, static_cast<std::uint64_t>(from));
    hash = base::combine(hash, static_cast<std::uint64_t>(to));
    hash = base::combine(hash, tag.context);
    hash = base::combine(hash, tag.sequence);
    hash = base::combine(hash, tag.message * 2u + static_cast<std::uint64_t>(tag.lane));
    return now() + hash % options.delay;
  }
  void happened() const {
    if (options.scheduler != nullptr) options.scheduler->happened();
  }
  void wake(Rank rank) const {
    happened();
    if (options.wake) options.wake(rank);
  }

  Options options;  // fixed once a transport is taken
  std::vector<Mailbox> mailboxes;
};

/// One rank's transport.
class Port final : public Transport {
 public:
  Port(std::shared_ptr<Network::State> state, Rank rank)
      : state_(std::move(state)), rank_(rank), mine_(state_->mailbox(rank)), lost_(state_->mailboxes.size(), false) {
    capabilities_ = {state_->options.eager, true, "ranks share one address space", 0};
  }

  std::string_view name() const override { return "inproc"; }
  const Capabilities& capabilities() const override { return capabilities_; }
  void send(Transfer& transfer) override;
  void recv(Transfer& transfer) override;
  std::optional<Arrival> look(const Tag& tag) override;
  void cancel(Transfer& transfer) override;
  bool progress() override;
  void peer_lost(Peer peer) override;
  void forget(std::uint64_t context) override;

 private:
  struct Finished {
    Rank sender;
    std::uint64_t handle;
  };
  bool is_lost(Peer peer) const { return lost_[static_cast<std::size_t>(peer)]; }
  void arrive(Message& message);
  void complete(Transfer& receive, Message& message);
  void discard(Message& message);
  bool retract(const Transfer& transfer, std::uint64_t handle);
  void tell_senders();

  std::shared_ptr<Network::State> state_;
  Rank rank_;
  Mailbox& mine_;
  Capabilities capabilities_;
  Names<Transfer*> sends_;  // announced and not yet received
  std::vector<bool> lost_;
  std::vector<std::uint64_t> finished_;  // taken from the mailbox; kept for its memory
  std::vector<Finished> released_;       // senders to be told, once the lock is given back
};

void Port::send(Transfer& transfer) {
  transfer.state = State::pending;
  if (is_lost(transfer.peer)) {
    transfer.state = State::lost;
    return;
  }
  const bool announced = transfer.size > capabilities_.eager;
  const std::uint64_t handle = announced ? sends_.add(&transfer) : 0;
  transfer.link = as_link(handle);
  Mailbox& theirs = state_->mailbox(transfer.peer);
  {
    const std::lock_guard lock(theirs.mutex);
    Message& message = theirs.matching.obtain();
    message.peer = rank_;
    message.tag = transfer.tag;
    message.signature = transfer.signature;
    message.size = transfer.size;
    message.announced = announced;
    message.handle = handle;
    message.arrival = state_->arrival(rank_, transfer.peer, transfer.tag);
    if (announced)
      message.address = reinterpret_cast<std::uintptr_t>(transfer.data);
    else
      message.bytes.assign(transfer.data, transfer.data + transfer.size);
    theirs.inbox.insert(message);
    theirs.filled.store(true, std::memory_order_release);  // progress loads it; the mutex orders what it stands for
  }
  if (!announced) transfer.state = State::done;
  state_->wake(transfer.peer);
}

void Port::recv(Transfer& transfer) {
  transfer.state = State::pending;
  transfer.link = nullptr;
  {
    const std::lock_guard lock(mine_.mutex);
    if (Message* message = mine_.matching.expect(transfer)) {
      complete(transfer, *message);
    } else if (is_lost(transfer.peer)) {
      mine_.matching.withdraw(transfer);
      transfer.state = State::lost;
    }
  }
  state_->happened();
  tell_senders();
}

std::optional<Arrival> Port::look(const Tag& tag) {
  const std::lock_guard lock(mine_.mutex);
  return mine_.matching.look(tag);
}

void Port::cancel(Transfer& transfer) {
  if (transfer.state != State::pending) return;
  const std::uint64_t handle = as_name(transfer);
  Transfer** const send = sends_.find(handle);
  if (send != nullptr && *send == &transfer) {
    transfer.state = retract(transfer, handle) ? State::cancelled : State::done;
    sends_.remove(handle);
  } else {
    const std::lock_guard lock(mine_.mutex);
    mine_.matching.renounce(transfer);
    transfer.state = State::cancelled;
  }
}

/// Takes an announcement back from its receiver. Where it is not found, the receiver is done with it already.
bool Port::retract(const Transfer& transfer, std::uint64_t handle) {
  Mailbox& theirs = state_->mailbox(transfer.peer);
  const std::lock_guard lock(theirs.mutex);
  Message* message = theirs.inbox.take_if(
      [&](const Message& other) { return other.announced && other.peer == rank_ && other.handle == handle; });
  if (message == nullptr) message = theirs.matching.retract(rank_, transfer.tag, handle);
  if (message != nullptr) theirs.matching.recycle(*message);
  return message != nullptr;
}

bool Port::progress() {
  if (!mine_.filled.load(std::memory_order_acquire)) return false;  // partner: send and tell_senders
  bool moved = false;
  {
    const std::lock_guard lock(mine_.mutex);
    const std::uint64_t now = state_->now();
    while (Message* message = mine_.inbox.take_arrived(now)) {
      arrive(*message);
      moved = true;
    }
    finished_.swap(mine_.finished);
    mine_.filled.store(!mine_.inbox.empty(), std::memory_order_relaxed);
  }
  for (const std::uint64_t handle : finished_) {
    if (Transfer** transfer = sends_.find(handle)) (*transfer)->state = State::done;
    sends_.remove(handle);
    moved = true;
  }
  finished_.clear();
  tell_senders();
  if (moved) state_->happened();
  return moved;
}

void Port::arrive(Message& message) {
  if (message.announced && is_lost(message.peer)) {
    discard(message);
  } else if (Transfer* receive = mine_.matching.find(message.peer, message.tag)) {
    complete(*receive, message);
  } else if (!mine_.matching.keep(message)) {
    discard(message);
  }
}

/// Ends a matched receive. The lock of this rank's mailbox is held, so a sender cannot take its bytes back meanwhile.
void Port::complete(Transfer& receive, Message& message) {
  if (accepts(receive, message.size, message.signature)) {
    const std::byte* from = message.announced
                                ? reinterpret_cast<const std::byte*>(static_cast<std::uintptr_t>(message.address))
                                : message.bytes.data();
    if (message.size != 0) base::copy(receive.data, from, message.size);
    receive.state = State::done;
  }
  discard(message);
}

void Port::discard(Message& message) {
  if (message.announced && !is_lost(message.peer)) released_.push_back({message.peer, message.handle});
  mine_.matching.recycle(message);
}

void Port::tell_senders() {
  for (const Finished& one : released_) {
    Mailbox& theirs = state_->mailbox(one.sender);
    {
      const std::lock_guard lock(theirs.mutex);
      theirs.finished.push_back(one.handle);
      theirs.filled.store(true, std::memory_order_release);  // as in send
    }
    state_->wake(one.sender);
  }
  released_.clear();
}

void Port::peer_lost(Peer peer) {
  if (is_lost(peer)) return;
  lost_[static_cast<std::size_t>(peer)] = true;
  {
    const std::lock_guard lock(mine_.mutex);
    while (Message* message = mine_.inbox.take_if([&](const Message& other) { return other.peer == peer; }))
      arrive(*message);
    mine_.matching.lose(peer, [&](Message& message) { discard(message); });
  }
  sends_.for_each([&](std::uint64_t handle, Transfer* transfer) {
    if (transfer->peer != peer) return;
    retract(*transfer, handle);
    transfer->state = State::lost;
    sends_.remove(handle);
  });
  tell_senders();
}

void Port::forget(std::uint64_t context) {
  {
    const std::lock_guard lock(mine_.mutex);
    mine_.matching.forget(context, [&](Message& message) { discard(message); });
  }
  tell_senders();
}

Network::Network(int size, Options options) : state_(std::make_shared<State>(size, std::move(options))) {}
Network::~Network() = default;

std::unique_ptr<Transport> Network::transport(Rank rank) { return std::make_unique<Port>(state_, rank); }
int Network::size() const { return static_cast<int>(state_->mailboxes.size()); }

}  // namespace tutti::transport::inproc
