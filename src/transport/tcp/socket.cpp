// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/socket.hpp"

#include <arpa/inet.h>
#include <linux/tcp.h>
#include <netinet/in.h>
#include <sys/un.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstddef>
#include <cstring>
#include <utility>

#include "base/words.hpp"
#include "tutti/error.hpp"

namespace tutti::transport::tcp {

namespace {

/// Linux 6.15; older headers do not know it.
constexpr int longest_repetition = 44;  // TCP_RTO_MAX_MS
/// One repetition says nothing of how many packets get lost, and a few say little: as if so many had come through.
constexpr double sample = 250;
constexpr std::size_t longest_control = 17;  // TCP_CA_NAME_MAX of the kernel, and an end

constexpr std::string_view tcp_prefix = "tcp:", unix_prefix = "unix:@";

/// Small messages leave at once, and the system keeps little that is not sent yet, so that they need not wait; and of
/// who is silent for long the system asks whether it is there, until ask_no_more.
void prepare(int socket, int family) {
  if (family == AF_UNIX) return;
  const int yes = 1, seconds = 1, times = 4, unsent = 128 << 10;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
  setsockopt(socket, IPPROTO_TCP, TCP_NOTSENT_LOWAT, &unsent, sizeof unsent);
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &yes, sizeof yes);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPIDLE, &seconds, sizeof seconds);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPINTVL, &seconds, sizeof seconds);
  setsockopt(socket, IPPROTO_TCP, TCP_KEEPCNT, &times, sizeof times);
}

/// Empty when that failed: then `why` says what went wrong, and errno why.
base::Descriptor try_to_listen(const Address& address, std::string& why) {
  const int family = address.system()->sa_family;
  const char* step = "no socket";
  base::Descriptor made(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (made && bind(made.get(), address.system(), address.length()) != 0) {
    step = "cannot be bound";
  } else if (made) {
    if (::listen(made.get(), SOMAXCONN) == 0) return made;
    step = "cannot be listened at";
  }
  const int error = errno;
  why = address.text() + ": " + step + ": " + std::strerror(error);
  made.reset();
  errno = error;
  return made;
}

}  // namespace

std::optional<Address> Address::parse(std::string_view text) {
  Address made;
  if (text.starts_with(unix_prefix)) {
    auto& local = reinterpret_cast<sockaddr_un&>(made.storage_);
    const std::string_view name = text.substr(unix_prefix.size());
    if (name.size() > sizeof local.sun_path - 1) return std::nullopt;
    local.sun_family = AF_UNIX;
    std::memcpy(local.sun_path + 1, name.data(), name.size());
    made.length_ = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + (name.empty() ? 0 : 1 + name.size()));
    return made;
  }
  if (!text.starts_with(tcp_prefix)) return std::nullopt;
  text.remove_prefix(tcp_prefix.size());
  const std::size_t colon = text.rfind(':');
  if (colon == std::string_view::npos) return std::nullopt;
  std::uint16_t port = 0;
  const auto [end, error] = std::from_chars(text.data() + colon + 1, text.data() + text.size(), port);
  if (error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  std::string host(text.substr(0, colon));
  auto& four = reinterpret_cast<sockaddr_in&>(made.storage_);
  auto& six = reinterpret_cast<sockaddr_in6&>(made.storage_);
  if (host.starts_with('[') && host.ends_with(']')) {
    host = host.substr(1, host.size() - 2);
    if (inet_pton(AF_INET6, host.c_str(), &six.sin6_addr) != 1) return std::nullopt;
    six.sin6_family = AF_INET6;
    six.sin6_port = htons(port);
    made.length_ = sizeof six;
    return made;
  }
  if (inet_pton(AF_INET, host.c_str(), &four.sin_addr) != 1) return std::nullopt;
  four.sin_family = AF_INET;
  four.sin_port = htons(port);
  made.length_ = sizeof four;
  return made;
}

Address Address::ask(int (*name)(int, sockaddr*, socklen_t*), int socket) {
  Address found;
  found.length_ = sizeof found.storage_;
  name(socket, reinterpret_cast<sockaddr*>(&found.storage_), &found.length_);
  return found;
}

Address Address::of(int socket) { return ask(getsockname, socket); }

Address Address::of_peer(int socket) { return ask(getpeername, socket); }

std::span<const std::byte> Address::host() const {
  if (storage_.ss_family == AF_INET)
    return std::as_bytes(std::span(&reinterpret_cast<const sockaddr_in&>(storage_).sin_addr, 1));
  if (storage_.ss_family == AF_INET6)
    return std::as_bytes(std::span(&reinterpret_cast<const sockaddr_in6&>(storage_).sin6_addr, 1));
  return {};
}

bool Address::same_host(const Address& other) const {
  return !host().empty() && std::ranges::equal(host(), other.host());
}

std::string Address::text() const {
  char host[INET6_ADDRSTRLEN] = "";
  switch (storage_.ss_family) {
    case AF_UNIX: {
      const auto& local = reinterpret_cast<const sockaddr_un&>(storage_);
      const std::size_t start = offsetof(sockaddr_un, sun_path) + 1;
      return std::string(unix_prefix) + (length_ <= start ? "" : std::string(local.sun_path + 1, length_ - start));
    }
    case AF_INET6: {
      const auto& six = reinterpret_cast<const sockaddr_in6&>(storage_);
      inet_ntop(AF_INET6, &six.sin6_addr, host, sizeof host);
      return std::string(tcp_prefix) + "[" + host + "]:" + std::to_string(ntohs(six.sin6_port));
    }
    default: {
      const auto& four = reinterpret_cast<const sockaddr_in&>(storage_);
      inet_ntop(AF_INET, &four.sin_addr, host, sizeof host);
      return std::string(tcp_prefix) + host + ":" + std::to_string(ntohs(four.sin_port));
    }
  }
}

std::vector<Address> parse_all(std::string_view text) {
  std::vector<Address> all;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (const auto address = Address::parse(word)) all.push_back(*address);
  }
  return all;
}

base::Descriptor listen_at(const Address& address) {
  std::string why;
  base::Descriptor made = try_to_listen(address, why);
  if (!made) throw Error(Cause::system, why);
  return made;
}

std::vector<base::Descriptor> listen_at_all(const std::vector<std::string>& places) {
  std::vector<base::Descriptor> all;
  std::string trouble;
  for (const std::string& place : places) {
    const auto address = Address::parse(place);
    if (!address)
      throw Error(Cause::usage, place + " is no address; write tcp:10.0.0.1:0, tcp:[fd00::1]:0 or unix:@name");
    std::string why;
    if (base::Descriptor made = try_to_listen(*address, why)) {
      all.push_back(std::move(made));
      continue;
    }
    if (!is_unusable(errno)) throw Error(Cause::system, why);
    base::add_word(trouble, why);
  }
  if (all.empty() && !places.empty())
    throw Error(Cause::system, "no address of this host can be used now (" + trouble +
                                   "); look at `ip address`, or choose others with TUTTI_NETWORK");
  return all;
}

bool is_unusable(int error) { return error == EADDRNOTAVAIL || error == EAFNOSUPPORT; }

base::Descriptor begin_call(const Address& address) {
  const int family = address.system()->sa_family;
  base::Descriptor made(socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!made) return made;
  prepare(made.get(), family);
  if (connect(made.get(), address.system(), address.length()) != 0 && errno != EINPROGRESS && errno != EINTR)
    made.reset();
  return made;
}

bool is_want(int error) { return error == EMFILE || error == ENFILE || error == ENOBUFS || error == ENOMEM; }

Reach reach_of(int socket) {
  int error = 0;
  socklen_t length = sizeof error;
  if (getsockopt(socket, SOL_SOCKET, SO_ERROR, &error, &length) != 0) return Reach::failed;
  if (error != 0) errno = error;
  if (error != 0) return error == ECONNREFUSED ? Reach::absent : Reach::failed;
  sockaddr_storage peer{};
  length = sizeof peer;
  return getpeername(socket, reinterpret_cast<sockaddr*>(&peer), &length) == 0 ? Reach::through : Reach::calling;
}

base::Descriptor accept_from(int listener) {
  base::Descriptor made(accept4(listener, nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  if (made) prepare(made.get(), Address::of(made.get()).system()->sa_family);
  return made;
}

Delivery delivery_of(int socket) {
  tcp_info info{};
  socklen_t length = sizeof info;
  if (getsockopt(socket, IPPROTO_TCP, TCP_INFO, &info, &length) != 0) return {};
  Delivery delivery;
  // A receiver without room is asked again and again whether it has some: these are probes, which it acknowledges.
  delivery.awaited = info.tcpi_unacked > 0 || info.tcpi_probes > 0;
  delivery.silent = std::uint64_t{info.tcpi_last_ack_recv} * 1'000'000;
  delivery.repeated = std::max(info.tcpi_retransmits, info.tcpi_probes);
  const unsigned before = info.tcpi_total_retrans - std::min<unsigned>(info.tcpi_total_retrans, info.tcpi_retransmits);
  delivery.loss = before / (info.tcpi_data_segs_out + sample);
  delivery.shortest = 1000 * std::uint64_t{info.tcpi_min_rtt};
  delivery.rate = 8 * std::uint64_t{info.tcpi_delivery_rate};
  return delivery;
}

void repeat_within(int socket, std::uint64_t nanoseconds) {
  const int yes = 1;
  const auto most = static_cast<int>(std::clamp<std::uint64_t>(nanoseconds / 1'000'000, 1000, 120'000));
  setsockopt(socket, IPPROTO_TCP, TCP_THIN_LINEAR_TIMEOUTS, &yes, sizeof yes);
  setsockopt(socket, IPPROTO_TCP, longest_repetition, &most, sizeof most);
}

std::string heed_loss_alone(int socket) {
  std::array<char, longest_control> name{};
  socklen_t length = name.size() - 1;
  if (getsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, name.data(), &length) != 0) return {};
  const std::string now = name.data(), wanted = "reno";  // every system has it, for everybody
  if (!now.starts_with("bbr")) return {};
  const auto size = static_cast<socklen_t>(wanted.size());
  return setsockopt(socket, IPPROTO_TCP, TCP_CONGESTION, wanted.data(), size) == 0 ? wanted + " instead of " + now : "";
}

void end_if_unanswered(int socket, std::uint64_t nanoseconds) {
  const auto most = static_cast<unsigned>(std::min<std::uint64_t>(nanoseconds / 1'000'000, 1'000'000));
  setsockopt(socket, IPPROTO_TCP, TCP_USER_TIMEOUT, &most, sizeof most);
}

void ask_no_more(int socket) {
  const int no = 0;
  setsockopt(socket, SOL_SOCKET, SO_KEEPALIVE, &no, sizeof no);
}

}  // namespace tutti::transport::tcp
