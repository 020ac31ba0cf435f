// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/ring.hpp"

#include <algorithm>

namespace tutti::transport::shm {

namespace {

/// Bytes of small messages without a receive that a process keeps for each peer, about.
constexpr std::uint64_t most_kept = 1 << 20;

}  // namespace

void Producer::refresh() {
  adopt(pair_->read.load(std::memory_order_acquire));  // partner: Consumer::commit
}

void Producer::adopt(std::uint64_t read) {
  if (written_ - read > ring_bytes || read % record_bytes != 0)
    corrupt_ = true;
  else
    read_ = read;
}

bool Producer::keeps_few(std::size_t payload) {
  const std::uint64_t then = sent_ + extent(payload);
  if (then - taken_ <= most_kept) return true;
  taken_ = pair_->taken.load(std::memory_order_relaxed);  // partner: Consumer::take
  return then - taken_ <= most_kept;
}

std::size_t Producer::room() {
  if (space() < ring_bytes / 2) refresh();
  return space() < record_bytes ? 0 : space() - record_bytes;
}

bool Producer::fits(std::size_t payload) {
  if (space() >= extent(payload)) return true;
  refresh();
  return space() >= extent(payload);
}

void Producer::put(const Record& record, std::span<const std::byte> payload) {
  copy_in(pair_->ring, written_, std::as_bytes(std::span(&record, 1)));
  copy_in(pair_->ring, written_ + record_bytes, payload);
  written_ += extent(payload.size());
}

bool Producer::publish() {
  if (published_ == written_) return false;
  published_ = written_;
  pair_->written.store(written_, std::memory_order_release);  // partner: Consumer::limit
  return true;
}

/// The writer stores `starved` and then loads `read`; the reader stores `read` and then loads `starved`. Both are
/// sequentially consistent, so at least one of them sees the other's store: no wake-up is lost.
bool Producer::starve(std::size_t payload) {
  pair_->starved.store(1, std::memory_order_seq_cst);
  adopt(pair_->read.load(std::memory_order_seq_cst));
  return !corrupt_ && space() >= extent(payload);
}

bool Consumer::commit() {
  if (committed_ == read_) return false;
  committed_ = read_;
  pair_->read.store(read_, std::memory_order_seq_cst);  // with Producer::starve
  if (pair_->starved.load(std::memory_order_seq_cst) == 0) return false;
  pair_->starved.store(0, std::memory_order_relaxed);
  return true;
}

}  // namespace tutti::transport::shm
