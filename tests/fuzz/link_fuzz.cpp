// SPDX-License-Identifier: BSD-3-Clause
// What a peer sends over a connection that stands. Input: how it is cut; then the stream.
#include <sys/socket.h>

#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <span>
#include <vector>

#include "transport/tcp/link.hpp"

namespace {

using namespace tutti::transport;
using namespace tutti::transport::tcp;

constexpr std::size_t largest = 20'000;
constexpr std::uint64_t wanted = 1, unwanted = 2;

/// Counts what it hears, and looks at every byte that it is shown.
class Counter final : public Hearer {
 public:
  bool hear(Peer, const Header& header, const std::byte* bytes) override {
    if (!header.good(eager) || header.word == Word::data) std::abort();
    const std::vector<std::byte> copy(bytes, bytes + (header.word == Word::bytes ? header.size : 0));
    return header.handle != 13 && copy.size() <= eager;
  }
  bool expects(Peer, const Header& header) override {
    return (header.place == wanted || header.place == unwanted) && header.size <= largest;
  }
  std::byte* place(const Header& header) override { return header.place == wanted ? memory_.data() : nullptr; }
  bool finished(const Header& header) override {
    if (header.place != wanted && header.place != unwanted) std::abort();
    return header.signature % 2 == 1;
  }

 private:
  std::vector<std::byte> memory_ = std::vector<std::byte>(largest);
};

/// More than the connection takes at once, so that the rest has to be kept.
void send_much(Link& link, int other) {
  std::vector<std::byte> large(400'000), small(100), got(1 << 20);
  Transfer kept, detached;
  kept.data = detached.data = large.data();
  kept.size = detached.size = large.size();
  bool good = link.put_large(1, kept) && link.put_large(2, detached) && link.put({}, small);
  using Rest = Link::Detached::Rest;
  if (!good || link.detach(detached).rest != Rest::cut || link.detach(detached).rest != Rest::none) std::abort();
  std::size_t count = 0;
  while (!link.idle()) {
    const ssize_t n = recv(other, got.data(), got.size(), 0);
    count += n > 0 ? static_cast<std::size_t>(n) : 0;
    if (!link.write()) std::abort();
  }
  for (ssize_t n = 0; (n = recv(other, got.data(), got.size(), 0)) > 0;) count += static_cast<std::size_t>(n);
  if (kept.state != State::done || count <= longest_header + large.size() + small.size()) std::abort();
}

/// A peer that was given up is told so; what it sends, of any kind, is for nobody, until it hangs up.
void see_off(Link& link, int other, std::span<const std::byte> sends, void (*lose)(Transfer&)) {
  std::vector<std::byte> buffer(64 << 10);
  link.close_behind({}, lose);
  if (!link.write() || send(other, sends.data(), sends.size(), MSG_NOSIGNAL) < 0 || !link.discard(buffer)) std::abort();
  shutdown(other, SHUT_WR);
  while (link.discard(buffer)) {
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  int ends[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) != 0) std::abort();
  const tutti::base::Descriptor other(ends[1]);
  Link link;
  link.open(tutti::base::Descriptor(ends[0]));
  if (data[0] % 64 == 1) send_much(link, other.get());
  const std::size_t piece = data[1] == 0 ? 60'000 : data[1];
  Counter counter;
  std::vector<std::byte> buffer(64 << 10);
  auto stream = std::as_bytes(std::span(data + 2, size - 2));
  bool stands = true;
  while (stands && !stream.empty()) {
    const auto now = stream.first(std::min(piece, stream.size()));
    if (send(other.get(), now.data(), now.size(), MSG_NOSIGNAL) != static_cast<ssize_t>(now.size())) break;
    stream = stream.subspan(now.size());
    stands = link.read(1, counter, buffer);
  }
  Transfer transfer;
  if (stands && (!link.put({}, {}) || !link.put_large(1, transfer))) std::abort();
  const auto lose = [](Transfer& one) { one.state = State::lost; };
  if (stands) see_off(link, other.get(), std::as_bytes(std::span(data, size)), lose);
  link.close(lose);
  return 0;
}
