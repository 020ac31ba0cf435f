// SPDX-License-Identifier: BSD-3-Clause
// What another process writes into its ring: whatever stands there, shm writes no byte outside a receive and comes to
// an end. Input: records of 64 bytes, each followed by its payload as far as it goes; then receives and sends of this
// side.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <vector>

#include "transport/shm/ring.hpp"
#include "transport/shm/shm.hpp"

namespace {

using namespace tutti;
using namespace tutti::transport;

constexpr Rank self = 0, other = 1;
constexpr std::size_t guard = 32;
constexpr std::byte mark{0xa5};

struct Half {
  std::shared_ptr<host::Segment> segment = host::Segment::local(2, 77);
  shm::Pair& pair(Rank receiver, Rank sender) const {
    const host::Offset at = segment->header().pairs + host::pair_offset(2, receiver, sender);
    return *reinterpret_cast<shm::Pair*>(segment->at(at, sizeof(shm::Pair)));
  }
  void announce() const {
    auto* incoming = reinterpret_cast<host::Incoming*>(segment->at(segment->header().pairs, sizeof(host::Incoming)));
    incoming[self].senders[0].store(std::uint64_t{1} << other, std::memory_order_release);
  }
};

/// A message of this side in the middle of guards.
struct Message {
  Message(std::size_t size, bool sends, std::uint32_t number) : bytes(size + 2 * guard, mark), send(sends) {
    transfer.peer = other;
    transfer.tag = {1, 0, number, Lane::user};
    transfer.signature = 7;
    transfer.data = bytes.data() + guard;
    transfer.size = size;
  }
  bool intact() const {
    const auto marked = [](std::byte b) { return b == mark; };
    return std::all_of(bytes.begin(), bytes.begin() + guard, marked) &&
           std::all_of(bytes.end() - guard, bytes.end(), marked);
  }
  std::vector<std::byte> bytes;
  bool send;
  Transfer transfer;
};

/// The index words come first: mostly right, so that the records behind them are read.
void put(const Half& half, std::span<const std::byte> input) {
  shm::Pair& pair = half.pair(self, other);
  const std::size_t length = std::min(input.size(), shm::ring_bytes);
  std::copy_n(input.begin(), length, pair.ring);
  pair.written.store((length + shm::record_bytes - 1) / shm::record_bytes * shm::record_bytes,
                     std::memory_order_release);
  half.announce();
}

void check_parse(std::span<const std::byte> input, std::uint64_t read, std::uint64_t written) {
  static std::vector<std::byte> ring(shm::ring_bytes);
  std::copy_n(input.begin(), std::min(input.size(), ring.size()), ring.begin());
  shm::Record record;
  const shm::RingBytes bytes(ring.data(), shm::ring_bytes);
  if (shm::parse(bytes, read, written, record) != shm::Parsed::record) return;
  if (record.length > shm::largest_payload || shm::extent(record.length) > written - read) std::abort();
  std::vector<std::byte> payload(record.length);
  shm::copy_out(bytes, read + shm::record_bytes, payload);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 24) return 0;
  std::uint64_t read = 0, written = 0;
  std::memcpy(&read, data, 8);
  std::memcpy(&written, data + 8, 8);
  const std::uint8_t* const control = data + 16;
  const auto input = std::as_bytes(std::span(data + 24, size - 24));
  check_parse(input, read, written);

  const Half half;
  half.segment->enter(self);
  half.segment->enter(other);
  shm::Options options;
  options.single_copy = false;
  const auto transport = shm::connect(half.segment, self, std::move(options));
  // Sizes that meet the corpus' messages: eager, announced, and one that nobody sends.
  std::vector<std::unique_ptr<Message>> messages;
  for (std::uint32_t i = 0; i < 4; ++i) {
    constexpr std::size_t sizes[] = {100, 6000, 20'000, 70'000};
    messages.push_back(std::make_unique<Message>(sizes[control[i] % 4], (control[i] & 4) != 0, i));
    Message& message = *messages.back();
    message.send ? transport->send(message.transfer) : transport->recv(message.transfer);
  }
  put(half, input);
  if (control[4] % 4 == 0) half.pair(other, self).read.store(read, std::memory_order_release);
  if (control[6] % 2 == 1) half.pair(self, other).starved.store(1, std::memory_order_release);
  for (int i = 0; i < 4; ++i) transport->progress();
  if (control[5] % 4 == 0) transport->forget(1);
  if (control[5] % 4 == 1) transport->peer_lost(other);
  for (const auto& message : messages) transport->cancel(message->transfer);
  transport->progress();
  for (const auto& message : messages)
    if (!message->intact() || message->transfer.state == State::pending) std::abort();
  return 0;
}
