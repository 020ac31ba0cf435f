// SPDX-License-Identifier: BSD-3-Clause
// The protocol between two ends, word by word: what a suite over real transports meets by chance alone.
#include "transport/rendezvous.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <deque>
#include <vector>

namespace tutti::transport {
namespace {

constexpr std::size_t length = 100;

/// One of three peers, whose words wait until they are carried to the others.
class End final : public Channel {
 public:
  explicit End(Peer self) : self_(self), rendezvous(*this, 3) {}

  void post(Peer to, const Header& header, std::span<const std::byte> bytes) override {
    EXPECT_TRUE(header.good(length));
    EXPECT_EQ(header.follows(), bytes.size());
    words.push_back({self_, to, header, {bytes.begin(), bytes.end()}});
  }
  void want(std::uint64_t place, const Pull& pull) override {
    EXPECT_NE(pull.transfer, nullptr);
    if (asks) rendezvous.ask(place);
    places.push_back(place);
  }
  void give(Transfer& transfer, std::uint64_t place) override {
    Header header = header_of(Word::data, transfer.tag);
    header.place = place;
    header.size = transfer.size;
    post(transfer.peer, header, {transfer.data, transfer.size});
    transfer.state = State::done;
  }
  bool abandon(std::uint64_t, const Pull&) override { return comes_later; }
  void over(std::uint64_t, const Pull& pull) override { ended += pull.asked ? 1 : 0; }
  void taken(Peer, std::uint64_t size) override { freed += size; }

  struct Posted {
    Peer from, to;
    Header header;
    std::vector<std::byte> bytes;
  };

 private:
  Peer self_;

 public:
  Rendezvous rendezvous;
  std::deque<Posted> words;
  std::vector<std::uint64_t> places;
  std::uint64_t freed = 0;
  int ended = 0;
  bool asks = true, comes_later = true;
};

class Protocol : public ::testing::Test {
 protected:
  Protocol() { out_.fill(std::byte{7}), other_.fill(std::byte{8}); }

  Transfer transfer(Peer peer, std::array<std::byte, length>& bytes) {
    Transfer made;
    made.peer = peer;
    made.tag = {.context = 3, .message = 4};
    made.data = bytes.data();
    made.size = bytes.size();
    return made;
  }
  /// Carries what `from` has said, until it says no more. False: a word meant nothing.
  bool carry(Peer from) {
    for (std::deque<End::Posted>& words = ends_[from].words; !words.empty(); words.pop_front()) {
      const End::Posted& one = words.front();
      Rendezvous& to = ends_[one.to].rendezvous;
      if (one.header.word != Word::data) {
        if (!to.hear(one.from, one.header, one.bytes.data())) return false;
        continue;
      }
      const Pull* const pull = to.find(one.header.place);
      if (pull == nullptr || !pull->asked || pull->size != one.bytes.size()) return false;
      if (pull->transfer != nullptr) std::memcpy(pull->transfer->data, one.bytes.data(), one.bytes.size());
      to.finish(one.header.place);
    }
    return true;
  }

  std::array<End, 3> ends_{End(0), End(1), End(2)};
  Rendezvous &sender_ = ends_[0].rendezvous, &receiver_ = ends_[1].rendezvous;
  std::array<std::byte, length> out_, other_, in_{};
};

TEST_F(Protocol, ASmallMessageTakesNoRoomOnceItHasItsReceive) {
  for (const bool early : {true, false}) {
    Transfer send = transfer(1, out_), receive = transfer(0, in_);
    ends_[1].freed = 0;
    if (early) receiver_.recv(receive, false);
    sender_.send(send, true);
    EXPECT_EQ(send.state, State::done);
    ASSERT_TRUE(carry(0));
    EXPECT_EQ(ends_[1].freed, early ? length : 0);
    if (!early) receiver_.recv(receive, false);
    EXPECT_EQ(receive.state, State::done);
    EXPECT_EQ(ends_[1].freed, length);
    EXPECT_EQ(in_, out_);
    in_.fill({});
  }
}

TEST_F(Protocol, ALargeMessageComesWhenItIsAskedFor) {
  Transfer send = transfer(1, out_), receive = transfer(0, in_);
  ends_[1].asks = false;
  sender_.send(send, false);
  receiver_.recv(receive, false);
  ASSERT_TRUE(carry(0) && carry(1) && carry(0));
  EXPECT_EQ(send.state, State::pending);
  ASSERT_EQ(ends_[1].places.size(), 1u);
  receiver_.ask(ends_[1].places[0]);
  ASSERT_TRUE(carry(1) && carry(0));
  EXPECT_EQ(receive.state, State::done);
  EXPECT_EQ(in_, out_);
  EXPECT_EQ(ends_[1].ended, 1);
  EXPECT_EQ(ends_[1].freed, 0u);
}

TEST_F(Protocol, AReceiveWhoseMessageIsWithdrawnGetsTheNext) {
  Transfer first = transfer(1, out_), second = transfer(1, other_), receive = transfer(0, in_);
  receiver_.recv(receive, false);
  sender_.send(first, false);
  ASSERT_TRUE(carry(0));
  EXPECT_TRUE(sender_.cancel(first));  // the receiver's word is on its way
  EXPECT_EQ(first.state, State::cancelled);
  sender_.send(second, true);
  ASSERT_TRUE(carry(1) && carry(0));
  EXPECT_EQ(receive.state, State::done);
  EXPECT_EQ(in_, other_);
  EXPECT_EQ(ends_[1].ended, 1);
}

TEST_F(Protocol, AnInvitedMessageIsNotAnnounced) {
  Transfer send = transfer(1, out_), receive = transfer(0, in_);
  receiver_.recv(receive, true);
  ASSERT_TRUE(carry(1));
  sender_.send(send, false);
  ASSERT_EQ(ends_[0].words.size(), 1u);
  EXPECT_EQ(ends_[0].words[0].header.word, Word::data);
  ASSERT_TRUE(carry(0));
  EXPECT_EQ(receive.state, State::done);
  EXPECT_EQ(in_, out_);
  EXPECT_EQ(ends_[1].ended, 1);
  Transfer next = transfer(1, other_), again = transfer(0, in_);
  sender_.send(next, false);
  EXPECT_EQ(next.state, State::pending) << "an invitation is for one message";
  receiver_.recv(again, false);
  ASSERT_TRUE(carry(0) && carry(1) && carry(0));
  EXPECT_EQ(in_, other_);
}

TEST_F(Protocol, AnInvitationAndAnAnnouncementMayCross) {
  for (const bool at_once : {true, false}) {
    ends_[1].asks = at_once;
    ends_[1].ended = 0;
    ends_[1].places.clear();
    Transfer send = transfer(1, out_), receive = transfer(0, in_);
    receiver_.recv(receive, true);
    sender_.send(send, false);
    ASSERT_TRUE(carry(0));
    EXPECT_EQ(ends_[1].places.size(), at_once ? 1u : 2u) << "what has not been asked for is known to be there now";
    if (!at_once) receiver_.ask(ends_[1].places[0]);
    ASSERT_EQ(ends_[1].words.size(), 1u);
    EXPECT_EQ(ends_[1].words[0].header.word, at_once ? Word::invite : Word::ready);
    ASSERT_TRUE(carry(1) && carry(0));
    EXPECT_EQ(send.state, State::done);
    EXPECT_EQ(receive.state, State::done);
    EXPECT_EQ(in_, out_);
    EXPECT_EQ(ends_[1].ended, 1);
    in_.fill({});
  }
}

TEST_F(Protocol, WhatDoesNotFitItsInvitationIsTheReceiversError) {
  for (const bool small : {true, false})
    for (const bool crosses : {true, false}) {
      std::array<std::byte, length> shorter{};
      Transfer send = transfer(1, shorter), receive = transfer(0, in_);
      send.size = length / 2;
      send.tag.sequence = receive.tag.sequence = (small ? 2u : 0u) + (crosses ? 1u : 0u);
      ends_[1].ended = 0;
      receiver_.recv(receive, true);
      ASSERT_TRUE(crosses || carry(1));
      sender_.send(send, small);
      ASSERT_TRUE(carry(0) && carry(1) && carry(0));
      EXPECT_EQ(receive.state, State::wrong_size);
      EXPECT_EQ(receive.their_size, length / 2);
      EXPECT_EQ(send.state, State::done);
      EXPECT_EQ(ends_[1].ended, 1);
      EXPECT_EQ(in_[0], std::byte{0});
    }
  Transfer send = transfer(1, out_), receive = transfer(0, in_);
  send.tag.sequence = receive.tag.sequence = 9;
  send.signature = 5;
  receiver_.recv(receive, true);
  ASSERT_TRUE(carry(1));
  sender_.send(send, false);
  ASSERT_TRUE(carry(0) && carry(1));
  EXPECT_EQ(receive.state, State::wrong_signature);
  EXPECT_EQ(receive.their_signature, 5u);
  EXPECT_EQ(send.state, State::done);
}

TEST_F(Protocol, AnInvitationOutlivesAMessageThatIsWithdrawn) {
  Transfer first = transfer(1, out_), second = transfer(1, other_), receive = transfer(0, in_);
  receiver_.recv(receive, true);
  sender_.send(first, false);
  EXPECT_TRUE(sender_.cancel(first));  // the invitation is on its way
  ASSERT_TRUE(carry(0) && carry(1));
  EXPECT_EQ(receive.state, State::pending);
  sender_.send(second, false);
  ASSERT_TRUE(carry(0));
  EXPECT_EQ(receive.state, State::done);
  EXPECT_EQ(in_, other_);
  EXPECT_EQ(ends_[1].ended, 1);
  Transfer third = transfer(1, out_), next = transfer(0, in_);
  sender_.send(third, true);
  ASSERT_TRUE(carry(0));
  receiver_.recv(next, false);
  EXPECT_EQ(next.state, State::done) << "the one before is not posted any more";
}

TEST_F(Protocol, ACancelledReceiveMayHaveInvited) {
  for (const bool asked : {true, false}) {
    ends_[1].asks = asked;
    ends_[1].ended = 0;
    Transfer send = transfer(1, out_), receive = transfer(0, in_);
    receiver_.recv(receive, true);
    EXPECT_TRUE(receiver_.cancel(receive));
    EXPECT_EQ(receive.state, State::cancelled);
    receiver_.ask(ends_[1].places.back());
    EXPECT_EQ(ends_[1].words.size(), asked ? 1u : 0u);
    ASSERT_TRUE(carry(1));
    sender_.send(send, false);
    EXPECT_EQ(send.state, asked ? State::done : State::pending);
    ASSERT_TRUE(carry(0));
    EXPECT_EQ(in_[0], std::byte{0});
    EXPECT_EQ(ends_[1].ended, asked ? 1 : 0);
  }
}

TEST_F(Protocol, InvitationsGoWithTheirPeerAndTheirGroup) {
  Transfer receive = transfer(0, in_), other = transfer(0, in_), late = transfer(0, in_);
  other.tag.context = late.tag.context = 8;
  receiver_.recv(receive, true);
  receiver_.recv(other, true);
  ASSERT_TRUE(carry(1));
  sender_.forget(8);
  late.tag.sequence = 1;
  receiver_.recv(late, true);
  ASSERT_TRUE(carry(1));
  for (const std::uint64_t sequence : {0, 1}) {
    Transfer send = transfer(1, out_);
    send.tag.context = 8;
    send.tag.sequence = sequence;
    sender_.send(send, false);
    EXPECT_EQ(ends_[0].words.back().header.word, Word::announce);
    EXPECT_TRUE(sender_.cancel(send));
  }
  ends_[0].words.clear();
  sender_.lose(1);
  receiver_.lose(0);
  for (const Transfer* one : {&receive, &other, &late}) EXPECT_EQ(one->state, State::lost);
  EXPECT_EQ(ends_[1].ended, 3);
}

TEST_F(Protocol, NoMessageIsCalledZero) {
  Transfer receive = transfer(0, in_);
  Header word = header_of(Word::announce, receive.tag);
  EXPECT_FALSE(receiver_.hear(0, word, nullptr));
}

TEST_F(Protocol, OnlyTheReceiverMayAskAndDrop) {
  Transfer send = transfer(1, out_);
  sender_.send(send, false);
  Header word = header_of(Word::dropped, send.tag);
  word.handle = as_name(send);
  EXPECT_TRUE(sender_.hear(2, word, nullptr));
  EXPECT_EQ(send.state, State::pending);
  word.word = Word::ready;
  EXPECT_TRUE(sender_.hear(2, word, nullptr));
  EXPECT_EQ(ends_[0].words.size(), 1u) << "nothing but the announcement";
  word.word = Word::dropped;
  EXPECT_TRUE(sender_.hear(1, word, nullptr));
  EXPECT_EQ(send.state, State::done);
  for (const Word other : {Word::data, Word::credit, Word::beat, Word::parted}) {
    word.word = other;
    EXPECT_FALSE(sender_.hear(1, word, nullptr));
  }
}

TEST_F(Protocol, BytesForACancelledReceiveGoNowhere) {
  for (const bool later : {true, false}) {
    ends_[1].comes_later = later;
    Transfer send = transfer(1, out_), receive = transfer(0, in_);
    receiver_.recv(receive, false);
    sender_.send(send, false);
    ASSERT_TRUE(carry(0));
    EXPECT_TRUE(receiver_.cancel(receive));
    EXPECT_EQ(receive.state, later ? State::cancelled : State::done);
    ASSERT_TRUE(carry(1));
    EXPECT_EQ(carry(0), later);
    ends_[0].words.clear();
    EXPECT_EQ(in_[0], std::byte{0});
  }
  EXPECT_EQ(ends_[1].ended, 2);
}

TEST_F(Protocol, APeersLossEndsWhatIsItsAndNothingElse) {
  std::array<std::byte, length> more{}, extra{};
  Transfer to_it = transfer(1, out_), to_other = transfer(2, out_);
  sender_.send(to_it, false);
  sender_.send(to_other, false);
  Transfer pulled = transfer(0, in_), posted = transfer(0, more), from_other = transfer(2, extra);
  receiver_.recv(pulled, false);
  receiver_.recv(posted, false);
  receiver_.recv(from_other, false);
  Transfer others = transfer(1, out_);
  ends_[2].rendezvous.send(others, false);
  ASSERT_TRUE(carry(0) && carry(2));
  sender_.lose(1);
  receiver_.lose(0);
  EXPECT_EQ(to_it.state, State::lost);
  EXPECT_EQ(to_other.state, State::pending);
  EXPECT_EQ(pulled.state, State::lost);
  EXPECT_EQ(posted.state, State::lost);
  EXPECT_EQ(from_other.state, State::pending);
  EXPECT_EQ(ends_[1].ended, 1);
  ends_[0].words.clear();
  Transfer late = transfer(1, out_), later = transfer(1, in_);
  sender_.send(late, true);
  sender_.recv(later, false);
  EXPECT_EQ(late.state, State::lost);
  EXPECT_EQ(later.state, State::lost);
  EXPECT_TRUE(ends_[0].words.empty());
}

}  // namespace
}  // namespace tutti::transport
