// SPDX-License-Identifier: BSD-3-Clause
#include "conformance.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "base/clock.hpp"
#include "base/random.hpp"

namespace tutti::transport::conformance {

namespace {
constexpr std::byte poison{0xa5};
constexpr std::byte fence{0x5c};
constexpr std::uint64_t longest_run = 30'000'000'000;

void put_pattern(std::byte* to, std::size_t size, std::uint64_t pattern) {
  for (std::size_t i = 0; i < size; i += 8) {
    const std::uint64_t word = (pattern + i) * 0x9e3779b97f4a7c15u ^ pattern >> 7;
    std::memcpy(to + i, &word, std::min<std::size_t>(8, size - i));
  }
}
}  // namespace

void check(bool condition, const std::string& what, std::source_location at) {
  if (!condition) throw Failure(std::string(at.function_name()) + ":" + std::to_string(at.line()) + ": " + what);
}

Endpoint::Endpoint(Rank rank, int size, Transport& transport, Shared& shared, std::uint64_t seed)
    : rank_(rank), size_(size), transport_(transport), shared_(shared), seed_(seed), started_(base::now()) {}

void Endpoint::look_at_deaths() {
  for (Rank other = 0; other < size_; ++other) {
    if (told_[other] || !shared_.dead[other].load(std::memory_order_acquire)) continue;
    told_[other] = true;
    transport_.peer_lost(other);
  }
}

void Endpoint::look_at_verdict() {
  if (shared_.condemned[rank_].load(std::memory_order_acquire)) die();
}

void Endpoint::limit_time() {
  if (shared_.failed.load(std::memory_order_relaxed)) throw Failure("another rank failed");
  if (base::now() - started_ > longest_run) throw Failure("rank " + std::to_string(rank_) + " hangs");
}

void Endpoint::step() {
  look_at_verdict();
  if (transport_.progress()) {
    awake();
    return;
  }
  look_at_deaths();
  limit_time();
  pause();
}

void Endpoint::glance(int times) {
  for (int i = 0; i < times; ++i) {
    look_at_verdict();
    look_at_deaths();
    transport_.progress();
    yield();
  }
}

void Endpoint::wait(const Transfer& transfer) {
  while (transfer.state == State::pending) step();
  awake();
}

void Endpoint::wait(const std::vector<Transfer>& transfers) {
  for (const Transfer& transfer : transfers) wait(transfer);
}

void Endpoint::barrier() { gather(false); }
void Endpoint::meet() { gather(true); }

void Endpoint::gather(bool progress) {
  const int all = ++meetings_ * size_;
  shared_.arrived.fetch_add(1, std::memory_order_acq_rel);
  wake_all();
  while (shared_.arrived.load(std::memory_order_acquire) < all) {
    if (progress) transport_.progress();
    limit_time();
    pause();
  }
  awake();
}

Guarded::Guarded(std::size_t size) : bytes_(size + 2 * guard, fence) {
  if (size != 0) std::memset(data(), static_cast<int>(poison), size);
}

void Guarded::fill(std::uint64_t pattern) { put_pattern(data(), size(), pattern); }

void Guarded::expect_guards() const {
  for (std::size_t i = 0; i < guard; ++i)
    check(bytes_[i] == fence && bytes_[bytes_.size() - 1 - i] == fence, "a byte beside the buffer was written");
}

void Guarded::expect(std::uint64_t pattern) const {
  expect_guards();
  std::vector<std::byte> wanted(size());
  put_pattern(wanted.data(), wanted.size(), pattern);
  // By memcmp: where nothing is inlined, comparing byte by byte takes longer than what is tested.
  check(wanted.empty() || std::memcmp(wanted.data(), bytes_.data() + guard, wanted.size()) == 0,
        "other bytes than were sent");
}

bool Guarded::is_poison() const {
  for (std::size_t i = 0; i < size(); ++i)
    if (bytes_[guard + i] != poison) return false;
  return true;
}

void Guarded::expect_poison() const {
  expect_guards();
  check(is_poison(), "the buffer was written");
}

std::uint64_t pattern(Rank from, Rank to, std::uint64_t number) {
  return static_cast<std::uint64_t>(from) << 48 | static_cast<std::uint64_t>(to) << 32 | number;
}

void send_all(Endpoint& self, Peer to, const std::vector<std::size_t>& sizes, bool one_tag) {
  std::vector<Guarded> buffers;
  std::vector<Transfer> transfers;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    buffers.emplace_back(sizes[i]).fill(pattern(self.rank(), to, i));
    transfers.push_back(transfer(to, tag(one_tag ? 1 : static_cast<std::uint32_t>(i)), buffers[i]));
  }
  for (Transfer& transfer : transfers) self.send(transfer);
  self.wait(transfers);
  for (const Transfer& transfer : transfers) check(transfer.state == State::done, "a send failed");
}

void receive_all(Endpoint& self, Peer from, const std::vector<std::size_t>& sizes, bool one_tag,
                 const std::vector<std::size_t>& order) {
  std::vector<Guarded> buffers;
  std::vector<Transfer> transfers;
  for (const std::size_t size : sizes) buffers.emplace_back(size);
  for (std::size_t i = 0; i < sizes.size(); ++i)
    transfers.push_back(transfer(from, tag(one_tag ? 1 : static_cast<std::uint32_t>(i)), buffers[i]));
  for (const std::size_t i : order) {
    self.recv(transfers[i]);
    if (i % 3 == 0) self.glance();
  }
  self.wait(transfers);
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    check(transfers[i].state == State::done, "a receive failed");
    buffers[i].expect(pattern(from, self.rank(), i));
  }
}

std::vector<std::size_t> in_order(std::size_t n) {
  std::vector<std::size_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = i;
  return order;
}

std::vector<std::size_t> shuffled(std::size_t n, std::uint64_t seed) {
  std::vector<std::size_t> order = in_order(n);
  base::Random random(seed);
  for (std::size_t i = n; i > 1; --i) std::swap(order[i - 1], order[random.below(i)]);
  return order;
}

Tag tag(std::uint32_t message, Lane lane) { return {0xc0ffee, lane == Lane::user ? 0u : 5u, message, lane}; }

Transfer transfer(Peer peer, const Tag& tag, Guarded& buffer, std::uint32_t signature) {
  Transfer result;
  result.peer = peer;
  result.tag = tag;
  result.signature = signature;
  result.data = buffer.data();
  result.size = buffer.size();
  return result;
}

void make_only(Transfer& transfer, std::uint64_t number) {
  transfer.only = true;
  transfer.tag.sequence = (std::uint64_t{1} << 40) + number;
}

}  // namespace tutti::transport::conformance
