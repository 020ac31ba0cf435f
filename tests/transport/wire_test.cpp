// SPDX-License-Identifier: BSD-3-Clause
// What shm believes of what it finds in shared memory.
#include "transport/shm/wire.hpp"

#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "base/random.hpp"
#include "host/segment.hpp"
#include "transport/shm/copy.hpp"
#include "transport/shm/ring.hpp"
#include "transport/shm/shm.hpp"

namespace tutti::transport::shm {

namespace {

struct Bytes {
  alignas(record_bytes) std::array<std::byte, ring_bytes> ring{};
  void put(std::uint64_t at, const Record& record) { copy_in(ring.data(), at, std::as_bytes(std::span(&record, 1))); }
  Parsed parse(std::uint64_t read, std::uint64_t written) {
    Record record;
    return shm::parse(ring, read, written, record);
  }
};

Record record(Kind kind, std::uint32_t length = 0) {
  Record result;
  result.kind = kind;
  result.length = length;
  result.size = kind == Kind::announce ? 5000 : length;
  return result;
}

TEST(Wire, takes_sound_records) {
  const auto bytes = std::make_unique<Bytes>();
  EXPECT_EQ(bytes->parse(64, 64), Parsed::nothing);
  Record unoffered = record(Kind::announce);
  unoffered.slot = no_offer;
  Record empty = record(Kind::announce);
  empty.size = 0;
  for (const Record& one : {record(Kind::eager), record(Kind::eager, 100), record(Kind::announce), record(Kind::go),
                            record(Kind::fragment), record(Kind::fragment, 1), record(Kind::finish),
                            record(Kind::withdraw), record(Kind::abort), unoffered, empty}) {
    bytes->put(128, one);
    EXPECT_EQ(bytes->parse(128, 128 + extent(one.length)), Parsed::record);
    bytes->put(ring_bytes - 64, one);
    EXPECT_EQ(bytes->parse(3 * ring_bytes - 64, 3 * ring_bytes - 64 + extent(one.length)), Parsed::record);
  }
}

TEST(Wire, refuses_impossible_indexes) {
  const auto bytes = std::make_unique<Bytes>();
  bytes->put(0, record(Kind::finish));
  EXPECT_EQ(bytes->parse(0, 64), Parsed::record);
  EXPECT_EQ(bytes->parse(0, ring_bytes), Parsed::record);
  EXPECT_EQ(bytes->parse(0, ring_bytes + 64), Parsed::corrupt);
  EXPECT_EQ(bytes->parse(0, 65), Parsed::corrupt);
  EXPECT_EQ(bytes->parse(1, 65), Parsed::corrupt);
  EXPECT_EQ(bytes->parse(128, 64), Parsed::corrupt);
}

TEST(Wire, refuses_impossible_records) {
  const auto bytes = std::make_unique<Bytes>();
  const auto refused = [&](const Record& one) {
    bytes->put(0, one);
    return bytes->parse(0, ring_bytes) == Parsed::corrupt;
  };
  EXPECT_TRUE(refused(record(Kind::none)));
  EXPECT_TRUE(refused(record(static_cast<Kind>(8))));
  EXPECT_TRUE(refused(record(Kind::eager, largest_payload + 1)));
  EXPECT_TRUE(refused(record(Kind::fragment, largest_payload + 1)));
  for (const Kind kind : {Kind::announce, Kind::go, Kind::finish, Kind::withdraw, Kind::abort})
    EXPECT_TRUE(refused(record(kind, 1)));
  Record wrong = record(Kind::eager, 100);
  wrong.size = 99;
  EXPECT_TRUE(refused(wrong));
  wrong = record(Kind::eager, 100);
  wrong.lane = lanes;
  EXPECT_TRUE(refused(wrong));
  wrong = record(Kind::announce);
  wrong.slot = no_offer + 1;
  EXPECT_TRUE(refused(wrong));
  bytes->put(0, record(Kind::eager, 100));
  EXPECT_EQ(bytes->parse(0, 128), Parsed::corrupt) << "it is longer than what was written";
}

TEST(Ring, goes_round_and_tells_a_starving_writer) {
  const auto pair = std::make_unique<Pair>();
  Producer producer(*pair);
  Consumer consumer(*pair);
  base::Random random(5);
  std::uint64_t sent = 0, received = 0;
  bool starves = false, called = false;
  for (int i = 0; i < 20'000; ++i) {
    const std::size_t size = random.below(3000);
    if (producer.fits(size)) {
      const std::vector<std::byte> payload(size, static_cast<std::byte>(sent));
      Record one = record(Kind::eager, static_cast<std::uint32_t>(size));
      one.handle = sent++;
      producer.put(one, payload);
      producer.publish();
    } else if (!producer.starve(size)) {
      starves = true;
    }
    if (random.once_in(20) || starves) {
      consumer.limit();
      Record one;
      while (consumer.next(one) == Parsed::record) {
        std::vector<std::byte> payload(one.length);
        consumer.payload(payload);
        ASSERT_EQ(one.handle, received);
        ASSERT_EQ(payload, std::vector<std::byte>(one.length, static_cast<std::byte>(received)));
        ++received;
        consumer.skip(one);
      }
      const bool wake = consumer.commit();
      EXPECT_EQ(wake, starves);
      called |= wake;
      starves = false;
    }
  }
  EXPECT_TRUE(called);
  EXPECT_GT(received, 5000u);
}

TEST(Ring, a_writer_notices_an_impossible_reader) {
  const auto pair = std::make_unique<Pair>();
  Producer producer(*pair);
  const std::vector<std::byte> payload(16'000);
  while (producer.fits(payload.size())) producer.put(record(Kind::eager, 16'000), payload);
  EXPECT_FALSE(producer.corrupt());
  pair->read.store(1'000'000, std::memory_order_relaxed);
  EXPECT_FALSE(producer.fits(payload.size()));
  EXPECT_TRUE(producer.corrupt());
}

/// Two transports of one process over a segment of its own; what rank 0 writes to rank 1 is then spoilt.
class Corruption : public ::testing::Test {
 protected:
  Corruption() { set_up_again(); }
  void set_up_again() {
    zero_.reset();
    one_.reset();
    segment_ = host::Segment::create(2, 9);
    segment_->enter(0);
    segment_->enter(1);
    Options options;
    options.single_copy = false;
    zero_ = connect(segment_, 0, options);
    one_ = connect(segment_, 1, options);
  }
  Pair& pair() {
    const host::Offset offset = segment_->header().pairs + host::pair_offset(2, 1, 0);
    return *reinterpret_cast<Pair*>(segment_->at(offset, sizeof(Pair)));
  }
  static Transfer transfer(Peer peer, std::uint32_t message, std::vector<std::byte>& bytes) {
    Transfer result;
    result.peer = peer;
    result.tag.message = message;
    result.data = bytes.data();
    result.size = bytes.size();
    return result;
  }

  std::shared_ptr<host::Segment> segment_;
  std::unique_ptr<Transport> zero_, one_;
};

TEST_F(Corruption, ends_everything_with_that_peer_as_lost) {
  std::vector<std::byte> small(100), in(100), large(50'000);
  Transfer send = transfer(1, 0, small), receive = transfer(0, 1, in), back = transfer(0, 2, large);
  zero_->send(send);
  one_->recv(receive);
  one_->send(back);
  pair().ring[0] = std::byte{99};  // the kind of its first record
  EXPECT_TRUE(one_->progress());
  EXPECT_EQ(receive.state, State::lost);
  EXPECT_EQ(back.state, State::lost);
  one_->recv(receive);
  EXPECT_EQ(receive.state, State::lost);
  EXPECT_FALSE(one_->progress());
}

// Real traffic with some bytes of the block changed: nothing outside the buffers is touched (the sanitizers watch),
// and nothing waits for ever that had been lost.
TEST_F(Corruption, of_any_byte_is_survived) {
  for (std::uint64_t seed = 1; seed <= 300; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    base::Random random(seed);
    std::vector<std::vector<std::byte>> buffers;
    std::vector<Transfer> transfers;
    for (std::uint32_t i = 0; i < 12; ++i) {
      const std::size_t size = i % 3 == 0 ? 30'000 : 200;
      buffers.emplace_back(size, std::byte{1});
      buffers.emplace_back(size, std::byte{2});
      transfers.push_back(transfer(1, i, buffers[2 * i]));
      transfers.push_back(transfer(0, i, buffers[2 * i + 1]));
    }
    for (std::size_t i = 0; i < transfers.size(); ++i) {
      i % 2 == 0 ? zero_->send(transfers[i]) : one_->recv(transfers[i]);
      if (random.once_in(6)) one_->progress(), zero_->progress();
    }
    auto* bytes = reinterpret_cast<std::byte*>(&pair());
    for (int i = 0; i < 40; ++i) {
      const std::uint64_t at = random.once_in(2) ? random.below(4096) : 4096 + random.below(40) * 64 + random.below(64);
      bytes[at] ^= static_cast<std::byte>(1 + random.below(255));
      one_->progress();
      zero_->progress();
    }
    for (std::size_t i = 0; i < transfers.size(); ++i) (i % 2 == 0 ? zero_ : one_)->cancel(transfers[i]);
    for (const Transfer& one : transfers) EXPECT_NE(one.state, State::pending);
    set_up_again();
  }
}

TEST(SingleCopy, is_not_waited_for_when_the_neighbour_is_gone_or_late) {
  const auto segment = host::Segment::create(3, 9);
  segment->enter(0);
  const SingleCopy late = probe_single_copy(*segment, 0, true, 1'000'000);
  EXPECT_FALSE(late.works);
  EXPECT_NE(late.why.find("rank 1"), std::string::npos) << late.why;
  segment->declare_dead(1);
  EXPECT_FALSE(probe_single_copy(*segment, 0, true, ~std::uint64_t{0}).works);
  EXPECT_FALSE(probe_single_copy(*segment, 0, false, ~std::uint64_t{0}).works);
}

TEST(ReadMemory, tells_what_the_system_said) {
  const std::uint64_t word = 0x1234567890;
  std::uint64_t copy = 0;
  const auto bytes = std::as_writable_bytes(std::span(&copy, 1));
  EXPECT_EQ(read_memory(getpid(), reinterpret_cast<std::uintptr_t>(&word), bytes), 0);
  EXPECT_EQ(copy, word);
  EXPECT_EQ(read_memory(getpid(), 4096, bytes), EFAULT);
  EXPECT_EQ(read_memory(getpid(), 4096, {}), 0);
  const pid_t child = fork();
  if (child == 0) _exit(0);
  waitpid(child, nullptr, 0);
  EXPECT_EQ(read_memory(child, reinterpret_cast<std::uintptr_t>(&word), bytes), ESRCH);
}

}  // namespace

}  // namespace tutti::transport::shm
