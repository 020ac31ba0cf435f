// SPDX-License-Identifier: BSD-3-Clause
// One suite for every transport: order, sizes, refusals and unexpected messages. Harnesses come from the program.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "base/random.hpp"
#include "suite.hpp"

namespace tutti::transport::conformance {

namespace {

class Conformance : public Suite {};

TEST_P(Conformance, equal_tags_stay_in_order) {
  run(2, [](Endpoint& self) {
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < 60; ++i) sizes.push_back(i % 7 == 3 ? 20000 + i : i * 5);
    if (self.rank() == 0)
      send_all(self, 1, sizes, true);
    else
      receive_all(self, 0, sizes, true, in_order(sizes.size()));
  });
}

TEST_P(Conformance, many_tags_in_any_order) {
  run(2, [](Endpoint& self) {
    std::vector<std::size_t> sizes;
    for (std::size_t i = 0; i < 300; ++i) sizes.push_back(i % 11 == 5 ? 10000 + i : i);
    if (self.rank() == 0)
      send_all(self, 1, sizes, false);
    else
      receive_all(self, 0, sizes, false, shuffled(sizes.size(), self.seed()));
  });
}

// None waits for another to be received.
TEST_P(Conformance, many_large_messages_from_the_last_to_the_first) {
  run(2, [](Endpoint& self) {
    const std::vector<std::size_t> sizes(300, self.transport().capabilities().eager + 1);
    if (self.rank() == 0) return send_all(self, 1, sizes, false);
    for (std::size_t i = sizes.size(); i-- > 0;) {
      Guarded buffer(sizes[i]);
      Transfer receive = transfer(0, tag(static_cast<std::uint32_t>(i)), buffer);
      self.recv(receive);
      self.wait(receive);
      buffer.expect(pattern(0, 1, i));
    }
  });
}

TEST_P(Conformance, zero_bytes) {
  run(2, [](Endpoint& self) {
    Guarded nothing(0);
    Transfer one = transfer(1 - self.rank(), tag(1), nothing), other = one;
    self.send(one);
    self.recv(other);
    self.wait(one);
    self.wait(other);
    check(one.state == State::done && other.state == State::done);
    nothing.expect_poison();
  });
}

std::vector<std::size_t> sizes_at_limits(const Transport& transport) {
  std::vector<std::size_t> sizes;
  for (const std::size_t limit :
       {transport.capabilities().eager, std::size_t{4096}, std::size_t{65536}, std::size_t{1} << 20})
    for (const std::size_t size : {limit - 1, limit, limit + 1, limit - 64, limit + 64}) sizes.push_back(size);
  return sizes;
}

TEST_P(Conformance, sizes_around_limits_expected) {
  run(2, [](Endpoint& self) {
    const auto sizes = sizes_at_limits(self.transport());
    for (const std::size_t size : sizes) {
      if (self.rank() == 0) {
        self.meet();
        send_all(self, 1, {size}, false);
      } else {
        Guarded buffer(size);
        Transfer receive = transfer(0, tag(0), buffer);
        self.recv(receive);
        self.meet();
        self.wait(receive);
        check(receive.state == State::done);
        buffer.expect(pattern(0, 1, 0));
      }
    }
  });
}

TEST_P(Conformance, sizes_around_limits_unexpected) {
  run(2, [](Endpoint& self) {
    const auto sizes = sizes_at_limits(self.transport());
    if (self.rank() == 0) {
      send_all(self, 1, sizes, false);
    } else {
      self.glance(200);
      receive_all(self, 0, sizes, false, shuffled(sizes.size(), self.seed()));
    }
  });
}

TEST_P(Conformance, all_send_large_first) {
  run(4, [](Endpoint& self) {
    std::vector<Guarded> out, in;
    std::vector<Transfer> sends, receives;
    for (Rank other = 0; other < self.size(); ++other) {
      out.emplace_back(self.large() / 4).fill(pattern(self.rank(), other, 0));
      in.emplace_back(self.large() / 4);
    }
    for (Rank other = 0; other < self.size(); ++other) {
      sends.push_back(transfer(other, tag(1), out[static_cast<std::size_t>(other)]));
      receives.push_back(transfer(other, tag(1), in[static_cast<std::size_t>(other)]));
    }
    for (Transfer& send : sends) self.send(send);
    self.glance(20);
    for (Transfer& receive : receives) self.recv(receive);
    self.wait(sends);
    self.wait(receives);
    for (Rank other = 0; other < self.size(); ++other) {
      check(sends[static_cast<std::size_t>(other)].state == State::done);
      check(receives[static_cast<std::size_t>(other)].state == State::done);
      in[static_cast<std::size_t>(other)].expect(pattern(other, self.rank(), 0));
    }
  });
}

/// Sends `out` with signature 7, receives into `in` bytes with `signature`; then proves that the next message works.
void refuse(Endpoint& self, std::size_t out, std::size_t in, std::uint32_t signature, Lane lane, State expected) {
  for (const int form : {0, 1, 2, 3}) {
    const bool posted_first = form % 2 == 0, only = form >= 2;
    const std::uint64_t number = ((out * 0x10000 + in) * 16 + signature) * 4 + static_cast<std::uint64_t>(form);
    if (self.rank() == 0) {
      if (posted_first) self.meet();
      Guarded buffer(out);
      Transfer send = transfer(1, tag(3, lane), buffer);
      if (only) make_only(send, number);
      self.send(send);
      if (!posted_first) self.meet();
      self.wait(send);
      check(send.state == State::done, "the sender must be released");
      send_all(self, 1, {out}, true);
    } else {
      Guarded buffer(in);
      Transfer receive = transfer(0, tag(3, lane), buffer, signature);
      if (only) make_only(receive, number);
      if (!posted_first) self.meet();
      self.recv(receive);
      if (posted_first) self.meet();
      self.wait(receive);
      check(receive.state == expected, "the message was not refused");
      check(receive.their_size == out && receive.their_signature == 7, "what the sender said");
      buffer.expect_poison();
      receive_all(self, 0, {out}, true, {0});
    }
  }
}

TEST_P(Conformance, wrong_size_is_refused) {
  run(2, [](Endpoint& self) {
    refuse(self, 100, 99, 7, Lane::collective, State::wrong_size);
    refuse(self, 99, 100, 7, Lane::user, State::wrong_size);
    refuse(self, 0, 8, 7, Lane::collective, State::wrong_size);
    refuse(self, 300'000, 299'999, 7, Lane::collective, State::wrong_size);
    refuse(self, 300'000, 100, 7, Lane::collective, State::wrong_size);
    refuse(self, 100, 300'000, 7, Lane::collective, State::wrong_size);
  });
}

TEST_P(Conformance, wrong_signature_is_refused) {
  run(2, [](Endpoint& self) {
    refuse(self, 100, 100, 8, Lane::collective, State::wrong_signature);
    refuse(self, 100, 50, 8, Lane::user, State::wrong_signature);
    refuse(self, 300'000, 300'000, 8, Lane::user, State::wrong_signature);
  });
}

TEST_P(Conformance, a_flood_of_unexpected_messages) {
  run(4, [](Endpoint& self) {
    constexpr std::size_t count = 700;
    const std::vector<std::size_t> sizes(count, 100);
    if (self.rank() != 0) {
      send_all(self, 0, sizes, false);
      self.meet();
      return;
    }
    self.glance(100);
    for (Rank from = 1; from < self.size(); ++from)
      receive_all(self, from, sizes, false, shuffled(count, self.seed() + static_cast<std::uint64_t>(from)));
    self.meet();
  });
}

/// More are unawaited than a receiver keeps, so that the last ones go when it asks: the empty ones among others, of
/// which there are more than fit on their way.
TEST_P(Conformance, empty_messages_go_among_long_ones) {
  run(2, [](Endpoint& self) {
    constexpr std::size_t kept = 300;
    std::vector<std::size_t> sizes(kept, 4000);
    for (int i = 0; i < 40; ++i) sizes.insert(sizes.end(), {12000, 0});
    std::vector<Guarded> buffers(sizes.begin(), sizes.end());
    std::vector<Transfer> transfers;
    for (std::uint32_t i = 0; i < sizes.size(); ++i) transfers.push_back(transfer(1 - self.rank(), tag(i), buffers[i]));
    if (self.rank() == 0) {
      for (std::size_t i = 0; i < sizes.size(); ++i) {
        buffers[i].fill(pattern(0, 1, i));
        self.send(transfers[i]);
      }
      for (int i = 0; i < 200; ++i) self.meet();  // until all are there, or announced
      self.barrier();
      self.glance(50);  // as much as goes while nobody takes it
      self.barrier();
      return self.wait(transfers);
    }
    for (int i = 0; i < 200; ++i) self.meet();
    for (std::size_t i = 0; i < sizes.size(); ++i) self.recv(transfers[(kept + i) % sizes.size()]);
    self.glance();
    self.barrier();
    self.barrier();
    self.wait(transfers);
    for (std::size_t i = 0; i < sizes.size(); ++i) buffers[i].expect(pattern(0, 1, i));
  });
}

TEST_P(Conformance, lanes_contexts_and_sequences_are_apart) {
  run(2, [](Endpoint& self) {
    std::vector<Tag> tags;
    for (int i = 0; i < 16; ++i)
      tags.push_back({static_cast<std::uint64_t>(i & 1), static_cast<std::uint64_t>(i >> 1 & 1),
                      static_cast<std::uint32_t>(i >> 2 & 1), (i & 8) != 0 ? Lane::user : Lane::collective});
    std::vector<Guarded> buffers;
    std::vector<Transfer> transfers;
    for (std::size_t i = 0; i < tags.size(); ++i) {
      buffers.emplace_back(24);
      if (self.rank() == 0) buffers[i].fill(i);
      transfers.push_back(transfer(1 - self.rank(), tags[i], buffers[i]));
    }
    for (const std::size_t i : shuffled(tags.size(), self.seed() + static_cast<std::uint64_t>(self.rank())))
      self.rank() == 0 ? self.send(transfers[i]) : self.recv(transfers[i]);
    self.wait(transfers);
    for (std::size_t i = 0; i < tags.size(); ++i) buffers[i].expect(i);
  });
}

/// Every rank sends and receives the same random list, derived from the seed alone. Messages from `first_only` on have
/// tags of their own.
void random_traffic(Endpoint& self, int messages) {
  constexpr int first_only = 4;
  struct One {
    Rank from, to;
    std::size_t size;
    std::uint32_t message;
  };
  base::Random random(self.seed() * 77 + 5);
  std::vector<Guarded> buffers;
  std::vector<Transfer> transfers;
  std::vector<One> mine;
  for (int i = 0; i < messages; ++i) {
    const auto size = static_cast<std::uint64_t>(self.size());
    const One one{static_cast<Rank>(random.below(size)), static_cast<Rank>(random.below(size)),
                  random.once_in(8) ? random.below(200'000) : random.below(5000),
                  static_cast<std::uint32_t>(random.once_in(3) ? first_only + i : random.below(4))};
    if (one.from == self.rank()) mine.push_back(one);
    if (one.to == self.rank()) mine.push_back({one.from, -1, one.size, one.message});
  }
  std::vector<std::vector<std::uint64_t>> numbers(static_cast<std::size_t>(2 * self.size()));
  for (const One& one : mine) {
    Guarded& buffer = buffers.emplace_back(one.size);
    const bool sends = one.to >= 0;
    auto& number = numbers[static_cast<std::size_t>(sends ? one.to : self.size() + one.from)];
    number.resize(static_cast<std::size_t>(first_only + messages));
    const std::uint64_t key = one.message * 1000 + number[one.message]++;
    if (sends) buffer.fill(pattern(self.rank(), one.to, key));
    transfers.push_back(transfer(sends ? one.to : one.from, tag(one.message), buffer));
    if (one.message >= first_only) make_only(transfers.back(), one.message);
    transfers.back().their_size = key;
  }
  std::vector<std::uint64_t> keys;
  for (const Transfer& transfer : transfers) keys.push_back(transfer.their_size);
  base::Random pace(self.seed() + static_cast<std::uint64_t>(self.rank()));
  for (std::size_t i = 0; i < mine.size(); ++i) {
    mine[i].to >= 0 ? self.send(transfers[i]) : self.recv(transfers[i]);
    if (pace.once_in(3)) self.glance();
  }
  self.wait(transfers);
  for (std::size_t i = 0; i < mine.size(); ++i) {
    check(transfers[i].state == State::done, "a transfer failed");
    if (mine[i].to < 0) buffers[i].expect(pattern(mine[i].from, self.rank(), keys[i]));
  }
}

// However much is on its way that nobody receives: who is told may be waiting for something else, and who tells may go.
void notice_behind(Endpoint& self, std::size_t size, std::uint32_t count) {
  const Tag about{0xc0ffee, Tag::first_notice, Tag::mail, Lane::mailbox};
  Guarded letter(300);
  if (self.rank() == 0) {
    Guarded bytes(size);
    std::vector<Transfer> ahead;
    for (std::uint32_t i = 0; i < count; ++i) ahead.push_back(transfer(1, tag(i), bytes));
    for (Transfer& one : ahead) self.send(one);
    letter.fill(pattern(0, 1, 1));
    Transfer notice = transfer(1, about, letter);
    self.send(notice);
    while (!self.transport().has_left()) self.step();
    self.meet();
    check(notice.state == State::done);
    for (Transfer& one : ahead) self.transport().cancel(one);
  } else {
    std::optional<Arrival> arrival;
    while (!(arrival = self.transport().look(about))) self.step();
    check(arrival->peer == 0 && arrival->size == letter.size());
    Transfer notice = transfer(0, about, letter);
    self.recv(notice);
    check(notice.state == State::done, "it is not all there");
    letter.expect(pattern(0, 1, 1));
    self.meet();
  }
}

TEST_P(Conformance, a_notice_comes_before_its_receiver_is_ready) {
  run(2, [](Endpoint& self) {
    notice_behind(self, 1000, 2000);
    notice_behind(self, self.transport().capabilities().eager + 1, 300);
  });
}

TEST_P(Conformance, random_traffic_of_all_pairs) {
  run(5, [](Endpoint& self) { random_traffic(self, 400); });
}

INSTANTIATE_TEST_SUITE_P(, Conformance, ::testing::ValuesIn(harnesses()), harness_name);

}  // namespace

}  // namespace tutti::transport::conformance
