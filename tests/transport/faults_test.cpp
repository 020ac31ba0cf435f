// SPDX-License-Identifier: BSD-3-Clause
// The part of the suite where something goes wrong: cancelled transfers, dead peers, forgotten groups.
#include <algorithm>
#include <memory>
#include <vector>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "suite.hpp"

namespace tutti::transport::conformance {

namespace {

class Faults : public Suite {};

constexpr std::uint64_t scribble = 0xdead;

/// A message of one small word, to tell the other rank something.
void tell(Endpoint& self, Peer to, int word) {
  Guarded buffer(sizeof(int));
  *reinterpret_cast<int*>(buffer.data()) = word;
  Transfer send = transfer(to, tag(99), buffer);
  self.send(send);
  self.wait(send);
}
int hear(Endpoint& self, Peer from) {
  Guarded buffer(sizeof(int));
  Transfer receive = transfer(from, tag(99), buffer);
  self.recv(receive);
  self.wait(receive);
  check(receive.state == State::done);
  return *reinterpret_cast<int*>(buffer.data());
}

TEST_P(Faults, a_cancelled_receive_gets_nothing) {
  run(2, [](Endpoint& self) {
    for (const std::size_t size : {std::size_t{100}, self.large()}) {
      if (self.rank() == 0) {
        self.meet();
        send_all(self, 1, {size, size}, true);
      } else {
        Guarded buffer(size), other(size);
        Transfer first = transfer(0, tag(1), buffer), second = transfer(0, tag(1), other);
        self.recv(first);
        self.recv(second);
        self.transport().cancel(first);
        check(first.state == State::cancelled);
        self.meet();
        self.wait(second);
        other.expect(pattern(0, 1, 0));
        Guarded third(size);
        Transfer last = transfer(0, tag(1), third);
        self.recv(last);
        self.wait(last);
        third.expect(pattern(0, 1, 1));
        buffer.expect_poison();
      }
    }
  });
}

TEST_P(Faults, a_cancelled_large_send_is_never_received) {
  run(2, [](Endpoint& self) {
    for (int times = 0; times < 20; ++times) {
      if (self.rank() == 0) {
        {
          Guarded buffer(self.large());
          Transfer send = transfer(1, tag(1), buffer);
          self.send(send);
          self.glance(times);
          self.transport().cancel(send);
          check(send.state == State::cancelled);
          buffer.fill(scribble);
        }
        tell(self, 1, times);  // across a network the cancellation is under way, too, and stays in front
        send_all(self, 1, {5000, 60}, true);
      } else {
        check(hear(self, 0) == times);
        receive_all(self, 0, {5000, 60}, true, {0, 1});
      }
    }
  });
}

// More announcements are cancelled than a pair has places for.
TEST_P(Faults, many_cancelled_sends_leave_no_trace) {
  run(2, [](Endpoint& self) {
    const std::size_t size = std::max<std::size_t>(10'000, self.transport().capabilities().eager + 1);
    if (self.rank() == 0) {
      Guarded buffer(size);
      for (int i = 0; i < 1000; ++i) {
        Transfer send = transfer(1, tag(1), buffer);
        self.send(send);
        self.transport().cancel(send);
        check(send.state == State::cancelled);
        if (i % 10 == 0) self.glance();
      }
      tell(self, 1, 1);
      send_all(self, 1, {size}, true);
    } else {
      check(hear(self, 0) == 1);
      receive_all(self, 0, {size}, true, {0});
    }
  });
}

TEST_P(Faults, queued_small_sends_can_be_cancelled) {
  run(2, [](Endpoint& self) {
    constexpr std::size_t count = 200, size = 1000;
    Guarded states(count);
    if (self.rank() == 0) {
      std::vector<Guarded> buffers;
      std::vector<Transfer> sends;
      for (std::size_t i = 0; i < count; ++i) {
        buffers.emplace_back(size).fill(pattern(0, 1, i));
        sends.push_back(transfer(1, tag(static_cast<std::uint32_t>(i)), buffers[i]));
      }
      for (Transfer& send : sends) self.send(send);
      for (std::size_t i = 0; i < count; i += 2) self.transport().cancel(sends[i]);
      self.meet();
      self.wait(sends);
      for (std::size_t i = 0; i < count; ++i) states.data()[i] = static_cast<std::byte>(sends[i].state);
      Transfer list = transfer(1, tag(1000), states);
      self.send(list);
      self.wait(list);
    } else {
      self.meet();
      Transfer list = transfer(0, tag(1000), states);
      self.recv(list);
      self.wait(list);
      for (std::size_t i = 0; i < count; ++i) {
        Guarded buffer(size);
        Transfer receive = transfer(0, tag(static_cast<std::uint32_t>(i)), buffer);
        self.recv(receive);
        if (static_cast<State>(states.data()[i]) == State::done) {
          self.wait(receive);
          buffer.expect(pattern(0, 1, i));
        } else {
          self.glance(3);
          self.transport().cancel(receive);
          check(receive.state == State::cancelled, "a cancelled message arrived");
          buffer.expect_poison();
        }
      }
    }
  });
}

/// Both sides agree on whether the message was received, whenever the sender cancels.
void cancel_in_the_middle(Endpoint& self, int most) {
  for (int times = 0; times < most; ++times) {
    Guarded buffer(self.large());
    Transfer transfer = conformance::transfer(1 - self.rank(), tag(3), buffer);
    if (times % 3 == 0) make_only(transfer, static_cast<std::uint64_t>(times));
    if (self.rank() == 0) {
      buffer.fill(pattern(0, 1, 7));
      if (times % 2 == 0) self.meet();
      self.send(transfer);
      self.glance(times / 2);
      self.transport().cancel(transfer);
      buffer.fill(scribble);
      tell(self, 1, static_cast<int>(transfer.state));
      send_all(self, 1, {self.large(), 10}, true);
    } else {
      self.recv(transfer);
      if (times % 2 == 0) self.meet();
      const auto theirs = static_cast<State>(hear(self, 0));
      if (theirs == State::done) {
        self.wait(transfer);
        check(transfer.state == State::done);
        buffer.expect(pattern(0, 1, 7));
      } else {
        check(theirs == State::cancelled && transfer.state != State::done, "a cancelled message arrived");
        self.transport().cancel(transfer);
      }
      receive_all(self, 0, {self.large(), 10}, true, {0, 1});
    }
  }
}

TEST_P(Faults, a_sender_cancels_in_the_middle) {
  run(2, [](Endpoint& self) { cancel_in_the_middle(self, 25); });
}

// More are announced than a pair has places for; those behind them go another way.
TEST_P(Faults, a_sender_cancels_behind_many_large_ones_that_nobody_awaits) {
  run(2, [](Endpoint& self) {
    Guarded bytes(self.transport().capabilities().eager + 1);
    std::vector<Transfer> ahead;
    for (std::uint32_t i = 0; i < 300 && self.rank() == 0; ++i) ahead.push_back(transfer(1, tag(1000 + i), bytes));
    for (Transfer& one : ahead) self.send(one);
    cancel_in_the_middle(self, 8);
    for (Transfer& one : ahead) self.transport().cancel(one);
    self.meet();
  });
}

TEST_P(Faults, who_sends_what_nobody_awaits_is_held_up_in_the_end) {
  run(2, [](Endpoint& self) {
    // There everything is in one process, or with the MPI, which keeps what it likes.
    if (self.transport().name() == "inproc" || self.transport().name().starts_with("mpi")) return;
    constexpr std::size_t most = 8 << 20, header = 64;  // about
    constexpr std::uint64_t long_enough = 300'000'000;  // for a message that may go, also where others compute
    for (int times = 0; times < 3; ++times) {           // what was received gives the room back
      const std::size_t size = times < 2 ? 4000 : 0;
      if (self.rank() == 0) {
        Guarded large(self.transport().capabilities().eager + 1);
        std::vector<Transfer> ahead(times == 1 ? 200 : 0, transfer(1, tag(1), large));  // they change nothing
        for (Transfer& one : ahead) self.send(one);
        std::uint32_t count = 0;
        int refused = 0;
        for (;; ++count) {
          Guarded buffer(size);
          buffer.fill(pattern(0, 1, count));
          Transfer send = transfer(1, tag(1000 + count), buffer);
          self.send(send);
          const std::uint64_t begun = base::now();
          while (send.state == State::pending && base::now() - begun < long_enough) {
            self.glance();
            self.yield();
          }
          if (send.state == State::pending) {
            self.transport().cancel(send);
            check(send.state == State::cancelled);
            if (++refused > (count > 0 ? 1 : 20)) break;
            --count;  // the room that was given back is still on its way, or a part of it
            continue;
          }
          refused = 0;
          check(count * (size + header) < most, "a receiver keeps without end");
        }
        check(count * (size + header) > 100'000,
              "only " + std::to_string(count) + " in round " + std::to_string(times));
        Guarded buffer(size);
        buffer.fill(pattern(0, 1, count));
        Transfer held_up = transfer(1, tag(1000 + count), buffer);
        self.send(held_up);
        tell(self, 1, static_cast<int>(count));
        self.wait(held_up);  // goes as soon as it is received, before any of the others is
        self.meet();
        for (Transfer& one : ahead) self.transport().cancel(one);
      } else {
        const auto count = static_cast<std::uint32_t>(hear(self, 0));
        for (std::uint32_t i = count + 1; i-- > 0;) {
          Guarded buffer(size);
          Transfer receive = transfer(0, tag(1000 + i), buffer);
          self.recv(receive);
          self.wait(receive);
          buffer.expect(pattern(0, 1, i));
        }
        self.meet();
      }
    }
  });
}

TEST_P(Faults, a_large_message_passes_many_small_ones_that_nobody_awaits_yet) {
  run(2, [](Endpoint& self) {
    constexpr std::uint32_t small = 700;  // more than are kept and announced
    Guarded large(self.large());
    std::vector<std::unique_ptr<Guarded>> buffers;
    std::vector<Transfer> transfers(small);
    for (std::uint32_t i = 0; i < small; ++i) buffers.push_back(std::make_unique<Guarded>(4000));
    if (self.rank() == 0) {
      for (std::uint32_t i = 0; i < small; ++i) {
        buffers[i]->fill(pattern(0, 1, i));
        transfers[i] = transfer(1, tag(1000 + i), *buffers[i]);
        self.send(transfers[i]);
      }
      large.fill(pattern(0, 1, 7));
      Transfer send = transfer(1, tag(7), large);
      self.send(send);
      self.wait(send);
    } else {
      Transfer receive = transfer(0, tag(7), large);
      self.recv(receive);
      self.wait(receive);
      large.expect(pattern(0, 1, 7));
      for (std::uint32_t i = 0; i < small; ++i) {
        transfers[i] = transfer(0, tag(1000 + i), *buffers[i]);
        self.recv(transfers[i]);
      }
    }
    for (Transfer& one : transfers) self.wait(one);
    for (std::uint32_t i = 0; i < small && self.rank() == 1; ++i) buffers[i]->expect(pattern(0, 1, i));
    self.meet();
  });
}

TEST_P(Faults, a_receiver_cancels_in_the_middle) {
  run(2, [](Endpoint& self) {
    for (int times = 0; times < 25; ++times) {
      Guarded buffer(self.large());
      Transfer transfer = conformance::transfer(1 - self.rank(), tag(2), buffer);
      if (times % 3 == 0) make_only(transfer, static_cast<std::uint64_t>(times));
      if (self.rank() == 0) {
        buffer.fill(pattern(0, 1, 7));
        self.send(transfer);
        hear(self, 1);
        self.glance(2);
        self.transport().cancel(transfer);
        check(transfer.state == State::done || transfer.state == State::cancelled);
        send_all(self, 1, {self.large(), 10}, true);
      } else {
        if (times % 2 == 0) self.glance(5);
        self.recv(transfer);
        self.glance(times / 2);
        self.transport().cancel(transfer);
        const bool done = transfer.state == State::done;
        if (!done) buffer.fill(scribble);
        tell(self, 0, 0);
        receive_all(self, 0, {self.large(), 10}, true, {0, 1});
        buffer.expect(done ? pattern(0, 1, 7) : scribble);
      }
    }
  });
}

/// Its sender is done as well, whenever it comes; what is neither cancelled nor awaited yet stays.
TEST_P(Faults, what_comes_for_a_cancelled_receive_is_dropped) {
  run(2, [](Endpoint& self) {
    std::uint64_t sequence = 0;
    for (const std::size_t size : {std::size_t{0}, std::size_t{4000}, self.large()})
      for (const bool crossing : {false, true})
        for (int times = 0; times < (size == 4000 ? 100 : 20); ++times) {  // more than receivers keep
          Guarded buffer(size);
          Transfer transfer = conformance::transfer(1 - self.rank(), tag(2), buffer);
          make_only(transfer, ++sequence);
          if (self.rank() == 0) {
            if (!crossing) self.meet();
            buffer.fill(pattern(0, 1, 7));
            self.send(transfer);
            self.wait(transfer);
            check(transfer.state == State::done);
            send_all(self, 1, {100}, true);
            if (crossing) self.meet();
          } else {
            self.recv(transfer);
            if (crossing) self.glance(times % 4);
            self.transport().cancel(transfer);
            check(crossing || transfer.state == State::cancelled);
            self.meet();
            receive_all(self, 0, {100}, true, {0});
            if (!crossing) buffer.expect_poison();
          }
        }
  });
}

TEST_P(Faults, what_was_sent_before_death_arrives_and_the_rest_is_lost) {
  run(3, [](Endpoint& self) {
    constexpr Rank victim = 1;
    std::vector<Guarded> buffers;
    for (const std::size_t size : {std::size_t{50}, self.large(), std::size_t{60}, self.large(), std::size_t{70}})
      buffers.emplace_back(size);
    if (self.rank() == victim) {
      std::vector<Transfer> sends;
      for (const Rank other : {0, 2}) {
        for (std::uint32_t i = 0; i < 3; ++i) {
          if (i == 2) buffers[i].fill(pattern(victim, 0, i));
          sends.push_back(transfer(other, tag(i), buffers[i]));
        }
      }
      for (Transfer& send : sends) self.send(send);
      self.glance(3);
      self.barrier();
      self.die();
    }
    std::vector<Transfer> transfers;
    for (std::uint32_t i = 0; i < 5; ++i) transfers.push_back(transfer(victim, tag(i), buffers[i]));
    self.recv(transfers[4]);  // never sent
    if (self.rank() == 0) self.send(transfers[3]);
    self.barrier();
    self.wait(transfers[4]);
    check(transfers[4].state == State::lost, "a receive from the dead");
    if (self.rank() == 0) {
      self.wait(transfers[3]);
      check(transfers[3].state == State::lost, "a send to the dead");
    }
    for (const std::size_t i : {0u, 2u, 1u}) {
      self.recv(transfers[i]);
      self.wait(transfers[i]);
    }
    check(transfers[0].state == State::done && transfers[2].state == State::done, "small messages were there");
    buffers[2].expect(pattern(victim, 0, 2));
    check(transfers[1].state == State::lost, "a large message of the dead");
    buffers[4].expect_poison();
    Transfer late = transfer(victim, tag(9), buffers[0]);
    self.send(late);
    check(late.state == State::lost, "a later send");
    self.recv(late);
    check(late.state == State::lost, "a later receive");
    const Rank other = 2 - self.rank();
    if (self.rank() == 0) {
      send_all(self, other, {100, self.large()}, false);
    } else {
      receive_all(self, other, {100, self.large()}, false, {1, 0});
    }
  });
}

/// Everybody sends to everybody; one rank ends at some moment. What has ended well must be right; what concerns the
/// survivors alone must end well.
void traffic_with_a_death(Endpoint& self, std::uint64_t seed, Rank victim, bool murdered) {
  constexpr std::size_t each = 12;
  base::Random random(seed * 1000 + static_cast<std::uint64_t>(self.rank()));
  const auto size_of = [&](Rank from, Rank to, std::size_t i) {
    base::Random sizes(seed + static_cast<std::uint64_t>(from * 1000 + to * 100) + i);
    return sizes.once_in(3) ? 1 + sizes.below(self.large() / 2) : sizes.below(4000);
  };
  std::vector<Guarded> buffers;
  std::vector<Transfer> transfers;
  for (Rank other = 0; other < self.size(); ++other)
    for (std::size_t i = 0; i < each; ++i) {
      buffers.emplace_back(size_of(self.rank(), other, i)).fill(pattern(self.rank(), other, i));
      buffers.emplace_back(size_of(other, self.rank(), i));
      for (const std::size_t k : {buffers.size() - 2, buffers.size() - 1}) {
        transfers.push_back(transfer(other, tag(static_cast<std::uint32_t>(i)), buffers[k]));
        if (i % 2 == 0) make_only(transfers.back(), i);
      }
    }
  const std::size_t fatal = random.below(transfers.size() * 2);
  std::size_t started = 0;
  for (const std::size_t k : shuffled(transfers.size(), seed + static_cast<std::uint64_t>(self.rank()))) {
    if (self.rank() == victim && !murdered && started++ == fatal) self.die();
    if (self.rank() == 0 && murdered && started++ == fatal) self.murder(victim);
    k % 2 == 0 ? self.send(transfers[k]) : self.recv(transfers[k]);
    if (random.once_in(3)) self.glance();
  }
  if (self.rank() == 0 && murdered && started <= fatal) self.murder(victim);
  self.wait(transfers);
  for (std::size_t k = 0; k < transfers.size(); ++k) {
    const Transfer& one = transfers[k];
    check(one.state == State::done || (one.peer == victim && one.state == State::lost), "how a transfer ended");
    if (k % 2 == 1 && one.state == State::done) buffers[k].expect(pattern(one.peer, self.rank(), k / 2 % each));
  }
}

TEST_P(Faults, a_rank_dies_in_the_middle_of_everything) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    run(4, [&](Endpoint& self) { traffic_with_a_death(self, seed + self.seed(), 2, false); });
}

TEST_P(Faults, a_rank_is_killed_in_the_middle_of_everything) {
  for (std::uint64_t seed = 1; seed <= 6; ++seed)
    run(4, [&](Endpoint& self) { traffic_with_a_death(self, seed + self.seed(), 3, true); });
}

TEST_P(Faults, a_forgotten_group_holds_nobody_up) {
  run(2, [](Endpoint& self) {
    if (self.rank() == 0) {
      std::vector<Guarded> buffers;
      for (const std::size_t size : {std::size_t{100}, self.large(), self.large()}) buffers.emplace_back(size);
      std::vector<Transfer> sends;
      for (std::uint32_t i = 0; i < 3; ++i) sends.push_back(transfer(1, tag(i), buffers[i]));
      self.send(sends[0]);
      self.send(sends[1]);
      self.meet();
      self.wait(sends[1]);
      check(sends[1].state == State::done);
      self.send(sends[2]);  // after the group was forgotten
      self.wait(sends[2]);
      check(sends[2].state == State::done);
      tell(self, 1, 5);
    } else {
      self.glance(200);
      self.transport().forget(tag(0).context);
      self.meet();
      Guarded buffer(sizeof(int));
      Transfer receive = transfer(0, tag(99), buffer);
      self.recv(receive);
      self.wait(receive);
      check(receive.state == State::done, "a posted receive is not an unexpected message");
    }
  });
}

TEST_P(Faults, capabilities_say_why) {
  run(2, [](Endpoint& self) {
    check(!self.transport().name().empty());
    check(self.transport().capabilities().eager > 0);
    check(!self.transport().capabilities().why.empty());
    self.meet();
  });
}

INSTANTIATE_TEST_SUITE_P(, Faults, ::testing::ValuesIn(harnesses()), harness_name);

}  // namespace

}  // namespace tutti::transport::conformance
