// SPDX-License-Identifier: BSD-3-Clause
// What the conformance suite does not see of tcp: what nonsense does, and what a receiver has to keep.
#include "transport/tcp/tcp.hpp"

#include <malloc.h>

#include <algorithm>

#include "base/random.hpp"
#include "tcp_ranks.hpp"
#include "transport/tcp/compression.hpp"
#include "transport/tcp/link.hpp"

namespace tutti::transport::tcp {
namespace {

TEST(Tcp, WhatWasSentBeforeTheEndArrives) {
  Ranks ranks(2);
  std::array<std::byte, 4> out{std::byte{7}}, in{}, more{};
  Transfer send = transfer(1, 1, out), receive = transfer(0, 1, in);
  ranks[0].call(1);
  ASSERT_TRUE(ranks.until([&] { return ranks[0].connected(1) && ranks[1].connected(0); }));
  ranks[0].send(send);
  ranks.end(0);
  std::vector<Transfer> vain(3, transfer(0, 2, more));
  for (Transfer& one : vain) ranks[1].send(one);  // until the connection does not take it any more
  ranks[1].recv(receive);
  EXPECT_EQ(receive.state, State::done);
  EXPECT_EQ(in, out);
}

TEST(Tcp, WhoSendsNonsenseIsLost) {
  constexpr int streams = 200;
  for (int i = 0; i < streams; ++i) {
    Ranks ranks(3);
    // Rank 1 is not what it seems.
    Greeting greeting(Ranks::identity(1, 3), call(ranks[0]), Greeting::Callee{0});
    ASSERT_TRUE(ranks.until([&] { return opens(greeting); }));
    const base::Descriptor socket = greeting.take();
    std::vector<std::byte> in(100'000, std::byte{3});
    Transfer receive = transfer(1, 2, in);
    ranks[0].recv(receive);
    base::Random random(static_cast<std::uint64_t>(i));
    Header header = header_of(static_cast<Word>(1 + random.below(7)), receive.tag);
    header.size = random.once_in(2) ? in.size() : random.next();
    header.handle = random.next();
    header.place = random.once_in(2) ? 1ull << 32 : random.next();
    const Compressed compressed = Compressor().compress(header);
    std::vector<std::byte> bytes(compressed.size + random.below(300));
    std::ranges::copy(compressed.used(), bytes.begin());
    for (std::byte& one : std::span(bytes).subspan(compressed.size)) one = static_cast<std::byte>(random.next());
    if (random.once_in(2)) bytes[random.below(compressed.size)] ^= static_cast<std::byte>(1 + random.below(255));
    write_all(socket.get(), bytes);
    shutdown(socket.get(), SHUT_WR);
    ASSERT_TRUE(ranks.until([&] { return receive.state != State::pending; })) << "stream " << i;
    EXPECT_NE(receive.state, State::done) << "stream " << i;
    EXPECT_TRUE(std::ranges::all_of(in, [](std::byte one) { return one == std::byte{3}; })) << "stream " << i;
    std::array<std::byte, 4> out{}, got{std::byte{1}};
    Transfer send = transfer(0, 1, out), good = transfer(2, 1, got);
    ranks[2].send(send);
    ranks[0].recv(good);
    ASSERT_TRUE(ranks.until([&] { return good.state != State::pending; })) << "stream " << i;
    EXPECT_EQ(good.state, State::done) << "others are served as before, stream " << i;
  }
}

TEST(Tcp, AHeaderThatMeansNothingEndsTheConnection) {
  std::vector<std::byte> in(100'000);
  const auto header = [&](Word word, std::uint64_t size) {
    Header made = header_of(word, {.context = 4, .message = 2});
    made.size = size;
    return made;
  };
  std::vector<Header> wrong(3, header(Word::announce, in.size()));
  wrong[0].lane = lanes;
  wrong[1].word = Word{0};
  wrong[2].word = Word{15};
  wrong.push_back(header(Word::bytes, eager + 1));
  wrong.push_back(header(Word::bytes, ~std::uint64_t{0}));
  wrong.push_back(header(Word::data, in.size()));  // for no place
  for (const Header& one : wrong) {
    Ranks ranks(2);
    Greeting greeting(Ranks::identity(1, 2), call(ranks[0]), Greeting::Callee{0});
    ASSERT_TRUE(ranks.until([&] { return opens(greeting); }));
    Transfer receive = transfer(1, 2, in);
    ranks[0].recv(receive);
    write_all(greeting.socket(), Compressor().compress(one).used());
    EXPECT_TRUE(ranks.until([&] { return receive.state == State::lost; })) << &one - wrong.data();
  }
}

TEST(Tcp, PiecesThatDoNotFitEndTheConnection) {
  constexpr std::size_t size = 100'000;
  struct Piece {
    std::uint64_t before, size;
  };
  for (const Piece& piece : {Piece{0, size + 1}, {0, ~std::uint64_t{0}}, {1, 1000}, {0, 0}, {~std::uint64_t{0}, 2}}) {
    std::vector<std::byte> in(size, std::byte{3});
    Ranks ranks(2);
    Greeting greeting(Ranks::identity(1, 2), call(ranks[0]), Greeting::Callee{0});
    ASSERT_TRUE(ranks.until([&] { return opens(greeting); }));
    Transfer receive = transfer(1, 2, in);
    ranks[0].recv(receive);
    Compressor compressor;
    Header header = header_of(Word::announce, receive.tag), answer;
    header.handle = 1;
    header.size = in.size();
    write_all(greeting.socket(), compressor.compress(header).used());
    std::array<std::byte, longest_header> heard{};
    ASSERT_TRUE(ranks.until([&] {
      const ssize_t n = recv(greeting.socket(), heard.data(), heard.size(), MSG_DONTWAIT);
      return n > 0 && static_cast<std::size_t>(n) == Expander::size(heard[0]);
    }));
    ASSERT_TRUE(Expander().expand(std::span(heard).first(Expander::size(heard[0])), answer));
    EXPECT_EQ(answer.word, Word::ready);
    header = header_of(Word::data, receive.tag);
    header.place = answer.place;
    header.handle = piece.before;
    header.size = piece.size;
    write_all(greeting.socket(), compressor.compress(header).used());
    EXPECT_TRUE(ranks.until([&] { return receive.state == State::lost; })) << piece.before << " " << piece.size;
  }
}

TEST(Tcp, AWordGoesBetweenThePiecesOfALargeMessage) {
  constexpr std::size_t large = 64 << 20;
  Ranks ranks(2);
  std::vector<std::byte> out(large, std::byte{9}), in(large);
  std::array<std::byte, 4> word{std::byte{5}}, heard{};
  Transfer send = transfer(1, 1, out), receive = transfer(0, 1, in);
  Transfer small = transfer(1, 2, word), awaited = transfer(0, 2, heard);
  ranks[0].send(send);
  ranks[1].recv(receive);
  ASSERT_TRUE(ranks.until([&] { return in.front() == std::byte{9}; }));
  ranks[0].send(small);
  ranks[1].recv(awaited);
  ASSERT_TRUE(ranks.until([&] { return awaited.state != State::pending; }));
  EXPECT_EQ(receive.state, State::pending);
  EXPECT_EQ(heard, word);
  ASSERT_TRUE(ranks.until([&] { return receive.state == State::done && send.state == State::done; }));
  EXPECT_EQ(in, out);
}

/// Bytes that the program has from the allocator; 0 where a sanitizer has taken its place.
std::size_t on_the_heap() {
  const struct mallinfo2 now = mallinfo2();
  return now.uordblks + now.hblkhd;
}

TEST(Tcp, ALargeSendThatIsTakenBackIsCutOff) {
  constexpr std::size_t large = 64 << 20;
  for (const bool invited : {false, true}) {
    Ranks ranks(3, 1);
    std::vector<std::byte> out(large, std::byte{9}), in(large), next(large);
    Transfer send = transfer(1, 1, out), receive = transfer(0, 1, in), other = transfer(2, 1, next);
    send.only = receive.only = invited;
    if (invited) {
      ranks[1].recv(receive);
      ASSERT_TRUE(ranks.until([&] { return ranks[0].connected(1); }));
      for (int i = 0; i < 100; ++i) ranks.progress();
    }
    ranks[0].send(send);
    if (!invited) ranks[1].recv(receive);
    ASSERT_TRUE(ranks.until([&] { return in.front() == std::byte{9}; }));
    const std::size_t before = on_the_heap();
    ranks[0].cancel(send);
    EXPECT_EQ(send.state, State::cancelled);
    EXPECT_LT(on_the_heap(), before + (1 << 20));
    std::ranges::fill(out, std::byte{4});
    // Whoever waits behind it in the one flow is let in, and the receive is for the next message.
    Transfer behind = transfer(1, 1, out);
    ranks[2].send(behind);
    ranks[1].recv(other);
    EXPECT_TRUE(ranks.until([&] { return other.state != State::pending; }));
    EXPECT_EQ(other.state, State::done);
    EXPECT_EQ(receive.state, State::pending);
    Transfer again = transfer(1, 1, out);
    again.only = invited;
    ranks[0].send(again);
    EXPECT_TRUE(ranks.until([&] { return receive.state != State::pending && again.state != State::pending; }));
    EXPECT_EQ(receive.state, State::done);
    EXPECT_EQ(in, out);
  }
}

/// Takes every piece of a large message.
class Taker final : public Hearer {
 public:
  explicit Taker(std::size_t size) : in_(size) {}
  bool hear(Peer, const Header& header, const std::byte*) override {
    heard_.push_back(header.word);
    return true;
  }
  bool expects(Peer, const Header&) override { return true; }
  std::byte* place(const Header& header) override { return in_.data() + header.handle; }
  bool finished(const Header& header) override {
    have_ = header.handle + header.size;
    return have_ < in_.size();
  }
  std::vector<std::byte> in_;
  std::vector<Word> heard_;
  std::uint64_t have_ = 0;
};

TEST(TcpLink, SaysALastWordBehindThePieceThatItIsIn) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends), 0);
  const int little = 4096;
  ASSERT_EQ(setsockopt(ends[0], SOL_SOCKET, SO_SNDBUF, &little, sizeof little), 0);
  Link from, to;
  from.open(base::Descriptor(ends[0]));
  to.open(base::Descriptor(ends[1]));
  std::vector<std::byte> out(1 << 20, std::byte{9}), buffer(64 << 10);
  std::array<Transfer, 2> sends = {transfer(1, 1, out), transfer(1, 2, out)};
  for (Transfer& send : sends) ASSERT_TRUE(from.put_large(1, send));
  from.close_behind(header_of(Word::parted, {}), [](Transfer& send) { send.state = State::lost; });
  for (const Transfer& send : sends) EXPECT_EQ(send.state, State::lost);
  std::ranges::fill(out, std::byte{4});  // they have their bytes back
  Taker taker(out.size());
  const std::uint64_t end = base::now() + patience;
  while (taker.heard_.empty() && base::now() < end) ASSERT_TRUE(from.write() && to.read(0, taker, buffer));
  EXPECT_EQ(taker.heard_, std::vector{Word::parted});
  EXPECT_TRUE(from.idle());
  EXPECT_GT(taker.have_, 0u);
  EXPECT_LT(taker.have_, out.size());
  EXPECT_TRUE(
      std::ranges::all_of(std::span(taker.in_).first(taker.have_), [](std::byte b) { return b == std::byte{9}; }));
}

TEST(Tcp, OnlyTheReceiverOfAPlaceIsCutOff) {
  Ranks ranks(2);
  Greeting greeting(Ranks::identity(1, 2), call(ranks[0]), Greeting::Callee{0});
  ASSERT_TRUE(ranks.until([&] { return opens(greeting); }));
  std::vector<std::byte> in(100'000);
  Transfer receive = transfer(1, 2, in);
  ranks[0].recv(receive);
  Header header = header_of(Word::cut_off, receive.tag);
  header.place = 1ull << 32;
  write_all(greeting.socket(), Compressor().compress(header).used());
  EXPECT_TRUE(ranks.until([&] { return receive.state == State::lost; }));
}

TEST(Tcp, AnswersGiveTheRoomBack) {
  constexpr std::size_t count = 1000, size = 1024, most = 256 << 10;
  Ranks ranks(2);
  std::vector<std::byte> out(size, std::byte{6}), in(size);
  for (std::size_t i = 0; i < count; ++i) {
    const Peer from = static_cast<Peer>(i % 2);
    Transfer send = transfer(1 - from, 1, out), receive = transfer(from, 1, in);
    ranks[1 - from].recv(receive);
    ranks[from].send(send);
    ASSERT_TRUE(ranks.until([&] { return receive.state == State::done; }));
  }
  // All but what has not been told yet is there for messages that nobody awaits.
  std::vector<Transfer> sends(most / size, transfer(1, 2, out));
  for (Transfer& send : sends) ranks[0].send(send);
  EXPECT_GT(static_cast<std::size_t>(std::ranges::count(sends, State::done, &Transfer::state)) * size, most / 2);
  for (Transfer& send : sends) ranks[0].cancel(send);
}

TEST(Tcp, AReceiverKeepsNoMoreThanItsRoom) {
  constexpr std::size_t count = 2000, size = 1024, most = 256 << 10;
  Ranks ranks(2);
  std::vector<std::vector<std::byte>> out, in;
  std::vector<Transfer> sends, receives;
  for (std::uint32_t i = 0; i < count; ++i) {
    out.emplace_back(size, static_cast<std::byte>(i * 7));
    in.emplace_back(size);
    sends.push_back(transfer(1, i, out.back()));
    receives.push_back(transfer(0, i, in.back()));
  }
  for (Transfer& send : sends) ranks[0].send(send);
  for (int i = 0; i < 1000; ++i) ranks.progress();
  const auto done = static_cast<std::size_t>(std::ranges::count(sends, State::done, &Transfer::state));
  EXPECT_LE(done * size, most);
  EXPECT_GT(done * size, most / 2);
  for (std::size_t i = count; i-- > 0;) ranks[1].recv(receives[i]);
  ASSERT_TRUE(ranks.until([&] { return std::ranges::count(receives, State::done, &Transfer::state) == count; }));
  ASSERT_TRUE(ranks.until([&] { return std::ranges::count(sends, State::done, &Transfer::state) == count; }));
  EXPECT_EQ(in, out);
  // And again: the room is given back.
  for (Transfer& send : sends) ranks[0].send(send);
  EXPECT_GT(static_cast<std::size_t>(std::ranges::count(sends, State::done, &Transfer::state)) * size, most / 2);
  for (Transfer& receive : receives) ranks[1].recv(receive);
  ASSERT_TRUE(ranks.until([&] { return std::ranges::count(receives, State::done, &Transfer::state) == count; }));
}

Transfer notice_to(Peer peer, std::span<std::byte> bytes) {
  Transfer notice = transfer(peer, 0, bytes);
  notice.tag = {.context = 4, .sequence = Tag::first_notice, .message = Tag::mail, .lane = Lane::mailbox};
  return notice;
}
/// Rank 1 hears the notice that rank 0 has sent.
void expect_heard(Ranks& ranks, const Transfer& sent) {
  std::vector<std::byte> in(sent.size);
  Transfer heard = sent;
  ASSERT_TRUE(ranks.until([&] { return ranks[1].look(heard.tag).has_value(); }));
  heard.peer = 0;
  heard.data = in.data();
  ranks[1].recv(heard);
  ASSERT_EQ(heard.state, State::done);
  ASSERT_TRUE(std::ranges::equal(in, std::span(sent.data, sent.size)));
}

TEST(Tcp, NoticesNeedNoRoomAndGiveNone) {
  constexpr std::size_t count = 1000, size = 1024;
  Ranks ranks(2);
  std::vector<std::byte> out(size, std::byte{6});
  std::vector<Transfer> sends(count, transfer(1, 1, out)), notices(count, notice_to(1, out));
  for (Transfer& send : sends) ranks[0].send(send);
  const auto done = std::ranges::count(sends, State::done, &Transfer::state);
  ASSERT_LT(done, count);
  for (Transfer& notice : notices) {
    ranks[0].send(notice);
    EXPECT_EQ(notice.state, State::done);
  }
  for (const Transfer& notice : notices) ASSERT_NO_FATAL_FAILURE(expect_heard(ranks, notice));
  for (int i = 0; i < 1000; ++i) ranks.progress();
  Transfer more = transfer(1, 1, out);
  ranks[0].send(more);
  EXPECT_EQ(more.state, State::pending) << "what nobody has received takes the room as before";
  ranks[0].cancel(more);
  for (Transfer& send : sends) ranks[0].cancel(send);
}

/// Made by whichever of the two calls.
TEST(Tcp, AnUnhurriedNoticeGoesWhenThereIsAConnection) {
  for (const Peer caller : {0, 1}) {
    Ranks ranks(2);
    std::array<std::byte, 100> out{std::byte{6}};
    Transfer notice = notice_to(1, out);
    notice.unhurried = true;
    ranks[0].send(notice);
    EXPECT_EQ(notice.state, State::done);
    for (int i = 0; i < 1000; ++i) ranks.progress();
    EXPECT_FALSE(ranks[0].connected(1));
    EXPECT_TRUE(ranks[0].has_left() && ranks[0].drain(0).empty()) << "nothing is under way";
    ranks[caller].call(1 - caller);
    ASSERT_NO_FATAL_FAILURE(expect_heard(ranks, notice));
    EXPECT_TRUE(ranks[0].has_left());
  }
}

TEST(Tcp, LargeMessagesComeOneAfterTheOther) {
  constexpr int senders = 4;
  constexpr std::size_t size = 8 << 20;
  Ranks ranks(senders + 1, 1);
  std::vector<std::byte> out(size, std::byte{9});
  std::vector<std::vector<std::byte>> in(senders, std::vector<std::byte>(size));
  std::vector<Transfer> sends, receives;
  for (Peer peer = 1; peer <= senders; ++peer) {
    sends.push_back(transfer(0, 1, out));
    receives.push_back(transfer(peer, 1, in[static_cast<std::size_t>(peer - 1)]));
  }
  for (std::size_t i = 0; i < senders; ++i) {
    ranks[static_cast<Peer>(i + 1)].send(sends[i]);
    ranks[0].recv(receives[i]);
  }
  const auto begun = [&](std::size_t i) {
    return receives[i].state == State::pending && in[i].front() == std::byte{9};
  };
  int most = 0;
  ASSERT_TRUE(ranks.until([&] {
    int now = 0;
    for (std::size_t i = 0; i < senders; ++i) now += begun(i) ? 1 : 0;
    most = std::max(most, now);
    return std::ranges::count(receives, State::done, &Transfer::state) == senders;
  }));
  EXPECT_EQ(most, 1);
  for (const auto& one : in) EXPECT_EQ(one, out);
}

TEST(Tcp, OnSlowLinksReceiversAskForLessThanElsewhere) {
  for (const std::uint64_t rate : {std::uint64_t{0}, slow_link, slow_link - 1}) {
    const bool slow = rate == slow_link - 1;
    Ranks ranks(2);
    for (Peer rank : {0, 1}) {
      EXPECT_EQ(ranks[rank].suit(rate).find("when their receivers ask") != std::string::npos, slow) << rate;
      EXPECT_EQ(ranks[rank].capabilities().eager, slow ? eager_if_slow : eager);
    }
    std::vector<std::byte> out(eager_if_slow + 1, std::byte{9}), in(2 * out.size()), few(eager_if_slow);
    Transfer late = transfer(1, 1, out), early = transfer(1, 2, out), small = transfer(1, 3, few);
    ranks[0].send(late);
    EXPECT_EQ(late.state, slow ? State::pending : State::done);
    ranks[0].send(small);
    EXPECT_EQ(small.state, State::done);
    // One receive comes after its message, the other before it.
    Transfer after = transfer(0, 1, std::span(in).first(out.size()));
    Transfer before = transfer(0, 2, std::span(in).last(out.size()));
    after.only = before.only = early.only = true;
    ranks[1].recv(before);
    ASSERT_TRUE(ranks.until([&] { return ranks[0].connected(1); }));
    ranks[0].send(early);
    ranks[1].recv(after);
    ASSERT_TRUE(ranks.until([&] { return after.state != State::pending && before.state != State::pending; }));
    EXPECT_EQ(after.state, State::done);
    EXPECT_EQ(before.state, State::done);
    EXPECT_TRUE(std::ranges::all_of(in, [](std::byte one) { return one == std::byte{9}; }));
  }
}

/// Neither while others talk to the receiver all the time.
TEST(Tcp, ASenderThatComputesKeepsNobodyFromHis) {
  constexpr std::size_t size = 1 << 20;
  Ranks ranks(4, 1);
  std::vector<std::byte> out(size, std::byte{9}), first(size), second(size);
  Transfer busy = transfer(0, 1, out), other = transfer(0, 1, out);
  Transfer from_busy = transfer(1, 1, first), from_other = transfer(2, 1, second);
  ranks[1].send(busy);
  ranks[0].recv(from_busy);
  ASSERT_TRUE(ranks.until([&] { return ranks[0].connected(1) && ranks[1].connected(0); }));
  // Rank 1 does not come back to Tutti.
  ranks[2].send(other);
  ranks[0].recv(from_other);
  std::array<std::byte, 4> word{}, heard{};
  Transfer said, hears;
  const auto talk = [&] {
    said = transfer(0, 2, word);
    hears = transfer(3, 2, heard);
    ranks[3].send(said);
    ranks[0].recv(hears);
  };
  talk();
  for (const std::uint64_t end = base::now() + patience; from_other.state == State::pending && base::now() < end;) {
    if (hears.state == State::done && said.state == State::done) talk();
    for (const Peer rank : {0, 2, 3}) ranks[rank].progress();
  }
  EXPECT_EQ(from_other.state, State::done);
  EXPECT_EQ(second, out);
  ASSERT_TRUE(ranks.until([&] { return from_busy.state == State::done; }));
}

}  // namespace
}  // namespace tutti::transport::tcp
