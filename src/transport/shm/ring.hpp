// SPDX-License-Identifier: BSD-3-Clause
// The two ends of a ring. Each keeps its own index to itself and believes the other's only after a check.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "transport/shm/wire.hpp"

namespace tutti::transport::shm {

/// The writing end.
class Producer {
 public:
  explicit Producer(Pair& pair) : pair_(&pair), written_(pair.written.load(std::memory_order_relaxed)) {
    read_ = written_;
    refresh();
  }

  /// The largest payload that fits now.
  std::size_t room();
  bool fits(std::size_t payload);
  /// Puts a record that fits; visible to the reader only after `publish`.
  void put(const Record& record, std::span<const std::byte> payload = {});
  /// Shows everything put. False when there was nothing.
  bool publish();
  /// Asks the reader to call when it has made room. True when there is room already: try again.
  bool starve(std::size_t payload);
  /// The reader's index is impossible.
  bool corrupt() const { return corrupt_; }
  /// Whether the reader keeps few small messages that have no receive yet, so that one more may go; `count` it then.
  /// Not checked: a reader who lies about it fills its own memory, or gets announcements.
  bool keeps_few(std::size_t payload);
  void count(std::size_t payload) { sent_ += extent(payload); }
  std::atomic<std::uint64_t>& offer(std::uint32_t slot) { return pair_->offers[slot]; }

 private:
  void refresh();
  /// The position that the reader says it has read to: checked, it is written by another process.
  void adopt(std::uint64_t read);
  std::size_t space() const { return ring_bytes - static_cast<std::size_t>(written_ - read_); }

  Pair* pair_;
  std::uint64_t written_, published_ = written_, read_;
  std::uint64_t sent_ = 0, taken_ = 0;  // of small messages: bytes in the ring, those that take no memory any more
  bool corrupt_ = false;
};

/// The reading end.
class Consumer {
 public:
  explicit Consumer(Pair& pair) : pair_(&pair), read_(pair.read.load(std::memory_order_relaxed)) {}

  /// Looks at the next record that was published before `limit` was called.
  Parsed next(Record& record) const { return parse(RingBytes(pair_->ring), read_, limit_, record); }
  /// Fixes how far `next` looks: what comes later waits for the next turn.
  void limit() { limit_ = pair_->written.load(std::memory_order_acquire); }  // partner: Producer::publish
  /// Copies the first `to.size()` bytes of the payload of the record just seen.
  void payload(std::span<std::byte> to) const { copy_out(RingBytes(pair_->ring), read_ + record_bytes, to); }
  /// Steps over the record.
  void skip(const Record& record) { read_ += extent(record.length); }
  bool moved() const { return committed_ != read_; }
  /// A small message with this payload takes up no memory any more. Relaxed: the sender counts, and reads nothing by
  /// it.
  void take(std::size_t payload) {
    taken_ += extent(payload);
    pair_->taken.store(taken_, std::memory_order_relaxed);
  }
  /// Gives the room of skipped records back. True when the writer waits for it.
  bool commit();
  std::atomic<std::uint64_t>& offer(std::uint32_t slot) { return pair_->offers[slot]; }

 private:
  Pair* pair_;
  std::uint64_t read_, limit_ = read_, committed_ = read_;
  std::uint64_t taken_ = 0;
};

}  // namespace tutti::transport::shm
