// SPDX-License-Identifier: BSD-3-Clause
// What sparse_exchange does until its barrier: messages to whom this rank chooses, from whom it does not know.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "transport/transport.hpp"
#include "tutti/error.hpp"

namespace tutti::engine {

class Channel;
class Operation;

/// Non-blocking consensus (NBX; Hoefler, Siebert, Lumsdaine, "Scalable communication protocols for dynamic sparse data
/// exchange", PPoPP 2010, doi 10.1145/1693453.1693476). Every message is answered by an empty one when it has come. A
/// rank whose messages are all answered enters a barrier that it does not wait in: it goes on receiving. When the
/// barrier is over, all messages of all ranks have come. Cost: alpha log P + (messages sent and received by one rank),
/// where the exchange of P counts before it would cost beta P.
///
/// The barrier is the plan of the operation that has this mailbox. All but making one and taking what came runs under
/// the channel's lock.
class Mailbox {
 public:
  /// `rank`: to whom or from whom, in the group.
  struct Outgoing {
    Rank rank;
    const std::byte* data;
    std::size_t bytes;
  };
  struct Incoming {
    Rank rank;
    std::vector<std::byte> bytes;
  };

  /// Copies what goes to this rank itself: an operation that has begun is not the place to find no memory for it.
  Mailbox(std::vector<Outgoing> outgoing, Rank self);
  Mailbox(const Mailbox&) = delete;
  Mailbox& operator=(const Mailbox&) = delete;

  /// `sequence` and `signature`: of the operation.
  void open(Channel& channel, std::uint64_t sequence, std::uint32_t signature) noexcept;
  /// Sends when it is called first; receives what has come and answers it; true when anything moved. What fails breaks
  /// the group.
  bool serve(const Operation& operation);
  /// Everything that this rank sends has come: it may enter the barrier.
  bool delivered() const { return unanswered_ == 0; }
  /// How many transfers `serve` has looked at when anything moved: what its work grows with. For tests.
  std::size_t looks() const { return looks_; }
  /// Adds the ranks that have not received.
  void blockers(std::vector<Rank>& ranks) const;
  /// Takes back what is under way.
  void withdraw();
  /// The operation has failed: what came is not all, and nobody gets it.
  void fail(std::shared_ptr<const Error> error);
  /// Once complete: what came, by rank; what one rank sent in the order in which it did. Throws what the operation has
  /// failed with, each time.
  std::vector<Incoming> take();

 private:
  struct Sent {
    transport::Transfer message, answer;
    Rank rank = -1;
    Sent* next = nullptr;  ///< To the same rank.
  };
  struct Received {
    transport::Transfer message, answer;
    Incoming content;
    bool come = false;
    Received* next = nullptr;  ///< From the same rank.
  };
  /// One who sends to this rank: what has not come yet, in order.
  struct Sender {
    Rank rank = -1;
    Received* first = nullptr;
    Received* last = nullptr;
  };
  transport::Transfer transfer(Rank rank, std::uint32_t what, std::byte* data, std::size_t bytes) const;
  void send_all(transport::Transport& transport);
  bool collect_answers();
  bool receive(transport::Transport& transport);
  Sender* sender_of(transport::Peer peer);
  bool answer(transport::Transport& transport);
  /// Notes a failure for `serve`; true when the transfer is done.
  bool done(const transport::Transfer& transfer, Rank rank);

  Channel* channel_ = nullptr;
  std::uint64_t sequence_ = 0;
  std::uint32_t signature_ = 0;
  std::vector<Outgoing> outgoing_;    // to others, until they are sent
  std::vector<Sent> sent_;            // of each of these; stay where they are
  std::vector<Sent*> unanswered_by_;  // per rank, the first that is not answered
  std::list<Received> received_;      // stay where they are
  std::unordered_map<transport::Peer, Sender> senders_;
  std::vector<Sender*> coming_;  // of whom something has not come
  std::size_t unanswered_ = 0;
  std::size_t looks_ = 0;
  struct Failure {
    transport::State state = transport::State::pending;
    Rank rank = -1;
  } failure_;
  std::shared_ptr<const Error> error_;
};

}  // namespace tutti::engine
