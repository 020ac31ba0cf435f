// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/link.hpp"

#include <sys/socket.h>
#include <sys/uio.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

namespace tutti::transport::tcp {

namespace {

/// Of a large message, what is received straight into its place, without a copy.
constexpr std::uint64_t worth_it = 8192;
/// A piece of a large message: what a word may have to wait for, but for what the system keeps.
constexpr std::size_t piece = 128 << 10;

/// Sends what the connection takes of these. False: it has ended.
bool send_parts(int socket, std::span<iovec> parts, std::size_t& sent) {
  msghdr message{};
  message.msg_iov = parts.data();
  message.msg_iovlen = parts.size();
  for (;;) {
    const ssize_t n = sendmsg(socket, &message, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    sent = n < 0 ? 0 : static_cast<std::size_t>(n);
    return n >= 0 || errno == EAGAIN || errno == ENOBUFS;
  }
}

}  // namespace

bool Link::failed() {
  unanswered_ = unanswered_ || (errno != ECONNRESET && errno != EPIPE);
  return false;
}

bool Link::put(const Header& header, std::span<const std::byte> bytes) {
  Compressed compressed = compressor_.compress(header);
  std::size_t sent = 0;
  if (idle() && is_open()) {
    std::array<iovec, 2> parts = {iovec{compressed.bytes.data(), compressed.size},
                                  iovec{const_cast<std::byte*>(bytes.data()), bytes.size()}};
    if (!send_parts(socket_.get(), parts, sent)) return failed();
    written_ = written_ || sent > 0;
    if (sent == compressed.size + bytes.size()) return true;
  }
  Packet& packet = queue_.emplace_back();
  packet.header = compressed;
  packet.copy.assign(bytes.begin(), bytes.end());
  packet.bytes = packet.copy.data();
  packet.size = bytes.size();
  packet.sent = sent;
  return true;
}

bool Link::put_large(std::uint64_t place, Transfer& owner) {
  Large& one = large_.emplace_back();
  one.header = header_of(Word::data, owner.tag);
  one.header.place = place;
  one.bytes = owner.data;
  one.size = owner.size;
  one.owner = &owner;
  return !is_open() || write();
}

/// One piece is copied and no more: the rest may be as large as the program's memory.
Link::Detached Link::detach(const Transfer& transfer) {
  Detached found;
  for (Packet& one : queue_) {
    if (one.owner != &transfer) continue;
    one.keep();
    found.rest = Detached::Rest::all;
  }
  const auto uncut = std::ranges::find(large_, &transfer, &Large::owner);
  if (uncut == large_.end()) return found;
  found = {Detached::Rest::cut, uncut->header.place};
  large_.erase(uncut);
  return found;
}

/// Puts the next piece of a large message into the queue; false when there is none.
bool Link::cut() {
  if (large_.empty()) return false;
  Large& one = large_.front();
  Packet& packet = queue_.emplace_back();
  packet.size = std::min(one.size, piece);
  packet.last = packet.size == one.size;
  packet.owner = one.owner;
  packet.bytes = one.bytes;
  one.header.size = packet.size;
  packet.header = compressor_.compress(one.header);
  one.header.handle += packet.size;
  one.bytes += packet.size;
  one.size -= packet.size;
  if (packet.last) large_.pop_front();
  return true;
}

bool Link::write() {
  while (!queue_.empty() || cut()) {
    if (!send_queue()) return false;
    if (!queue_.empty()) return true;
  }
  return true;
}

/// False: the connection has ended. What is left in the queue it does not take now.
bool Link::send_queue() {
  while (!queue_.empty()) {
    std::array<iovec, 32> parts;
    std::size_t count = 0;
    for (auto packet = queue_.begin(); packet != queue_.end() && count + 2 <= parts.size(); ++packet) {
      Compressed& header = packet->header;
      const std::size_t of_header = std::min(packet->sent, header.size), of_bytes = packet->sent - of_header;
      if (of_header < header.size) parts[count++] = {header.bytes.data() + of_header, header.size - of_header};
      if (of_bytes < packet->size)
        parts[count++] = {const_cast<std::byte*>(packet->bytes) + of_bytes, packet->size - of_bytes};
    }
    std::size_t sent = 0;
    if (!send_parts(socket_.get(), std::span(parts).first(count), sent)) return failed();
    if (sent == 0) return true;
    written_ = true;
    while (sent > 0) {
      Packet& first = queue_.front();
      const std::size_t now = std::min(sent, first.header.size + first.size - first.sent);
      first.sent += now;
      sent -= now;
      if (!first.has_left()) break;
      if (first.owner != nullptr && first.last) first.owner->state = State::done;
      queue_.pop_front();
    }
  }
  return true;
}

Link::Got Link::receive(std::span<std::byte> to, std::size_t& count) {
  for (;;) {
    const ssize_t n = recv(socket_.get(), to.data(), to.size(), 0);
    if (n > 0) {
      count = static_cast<std::size_t>(n);
      moved_ = true;
      return Got::some;
    }
    if (n < 0 && errno == EINTR) continue;
    if (n < 0 && errno == EAGAIN) return Got::nothing;
    if (n < 0) failed();
    return Got::end;
  }
}

bool Link::read(Peer from, Hearer& hearer, std::span<std::byte> buffer) {
  // A bound, so that one who sends without end does not keep the others waiting.
  for (int times = 0; times < 16; ++times) {
    std::size_t count = 0;
    const bool large = begun_ && header_.word == Word::data;
    std::byte* const place = large && header_.size - have_ >= worth_it ? hearer.place(header_) : nullptr;
    // Between pieces the header alone: what follows it can then go to its place without a copy.
    const bool between = more_ && !begun_;
    const auto to = place != nullptr ? std::span(place + have_, header_.size - have_)
                    : between        ? buffer.first(longest_header - compressed_have_)
                                     : buffer;
    switch (receive(to, count)) {
      case Got::nothing:
        return true;
      case Got::end:
        return false;
      case Got::some:
        break;
    }
    if (place != nullptr) {
      have_ += count;
      if (have_ == header_.size) end(hearer);
    } else if (!take(from, hearer, to.first(count))) {
      return false;
    }
    if (count < to.size()) return true;
  }
  return true;
}

bool Link::discard(std::span<std::byte> buffer) {
  Got got = Got::some;
  std::size_t count = 0;
  for (int times = 0; got == Got::some && times < 16; ++times) got = receive(buffer, count);
  return got != Got::end;
}

bool Link::take(Peer from, Hearer& hearer, std::span<const std::byte> bytes) {
  while (!bytes.empty())
    if (!take_some(from, hearer, bytes)) return false;
  return true;
}

bool Link::take_header(Peer from, Hearer& hearer, std::span<const std::byte>& bytes) {
  if (compressed_have_ == 0) compressed_[0] = bytes.front();
  const std::size_t size = Expander::size(compressed_[0]);
  if (size == 0) return false;
  const std::size_t now = std::min(bytes.size(), size - compressed_have_);
  std::memcpy(compressed_.data() + compressed_have_, bytes.data(), now);
  compressed_have_ += now;
  bytes = bytes.subspan(now);
  if (compressed_have_ < size) return true;
  compressed_have_ = 0;
  have_ = 0;
  if (!expander_.expand(std::span(compressed_).first(size), header_) || !begin(from, hearer)) return false;
  begun_ = header_.follows() > 0;
  if (!begun_ && header_.word == Word::data) end(hearer);
  return true;
}

bool Link::take_some(Peer from, Hearer& hearer, std::span<const std::byte>& bytes) {
  if (!begun_) return take_header(from, hearer, bytes);
  const auto now = static_cast<std::size_t>(std::min<std::uint64_t>(bytes.size(), header_.follows() - have_));
  const std::span part = bytes.first(now);
  bytes = bytes.subspan(now);
  if (header_.word == Word::data) {
    if (std::byte* const place = hearer.place(header_); place != nullptr && now > 0)
      std::memcpy(place + have_, part.data(), now);
    have_ += now;
    if (have_ == header_.size) end(hearer);
    return true;
  }
  const bool whole = have_ == 0 && now == header_.size;
  if (!whole) small_.insert(small_.end(), part.begin(), part.end());
  have_ += now;
  if (have_ < header_.size) return true;
  begun_ = false;
  const bool good = hearer.hear(from, header_, whole ? part.data() : small_.data());
  small_.clear();
  return good;
}

/// What has no bytes behind is heard at once.
bool Link::begin(Peer from, Hearer& hearer) {
  if (!header_.good(eager)) return false;
  if (header_.word == Word::cut_off) more_ = false;
  if (header_.word == Word::data) return hearer.expects(from, header_);
  return header_.follows() > 0 || hearer.hear(from, header_, nullptr);
}

void Link::end(Hearer& hearer) {
  begun_ = false;
  more_ = hearer.finished(header_);
}

}  // namespace tutti::transport::tcp
