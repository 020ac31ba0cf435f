// SPDX-License-Identifier: BSD-3-Clause
#include "transport/interfaces.hpp"

#include <arpa/inet.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cstdlib>
#include <cstring>
#include <memory>
#include <optional>

#include "base/words.hpp"
#include "tutti/error.hpp"

namespace tutti::transport {

namespace {

/// Bridges to containers and virtual machines of this host: nobody else can reach them, and all hosts have the same.
constexpr std::array<std::string_view, 2> bridges{"docker", "virbr"};

/// The bytes of an address, most significant first: 4 or 16 of them.
using Bytes = std::vector<unsigned char>;

std::optional<Bytes> bytes_of(const std::string& address) {
  for (const auto& [family, size] : {std::pair{AF_INET, 4}, {AF_INET6, 16}}) {
    Bytes bytes(static_cast<std::size_t>(size));
    if (inet_pton(family, address.c_str(), bytes.data()) == 1) return bytes;
  }
  return std::nullopt;
}

struct Net {
  Bytes start;
  std::size_t bits = 0;

  bool contains(const Bytes& address) const {
    if (address.size() != start.size()) return false;
    for (std::size_t bit = 0; bit < bits; ++bit)
      if (((address[bit / 8] ^ start[bit / 8]) >> (7 - bit % 8) & 1) != 0) return false;
    return true;
  }
};

/// Nothing for what is no address; "/16" and the like may follow it. Throws Error (usage) for a bad length.
std::optional<Net> parse_net(std::string_view word) {
  const std::size_t slash = std::min(word.find('/'), word.size());
  std::optional<Bytes> start = bytes_of(std::string(word.substr(0, slash)));
  if (!start) return std::nullopt;
  Net net{*start, 8 * start->size()};
  if (slash == word.size()) return net;
  const std::string_view length = word.substr(slash + 1);
  std::size_t bits = 0;
  const auto [end, problem] = std::from_chars(length.data(), length.data() + length.size(), bits);
  if (problem != std::errc{} || end != length.data() + length.size() || bits > net.bits)
    throw Error(Cause::usage, "TUTTI_NETWORK: " + std::string(word) + " is no network; write 10.0.0.0/8 or fd00::/16");
  net.bits = bits;
  return net;
}

enum class Scope { anywhere, link_four, link_six };

Scope scope_of(const std::string& address) {
  static const Net four{{169, 254, 0, 0}, 16}, six{{0xfe, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 10};
  const std::optional<Bytes> bytes = bytes_of(address);
  if (bytes && four.contains(*bytes)) return Scope::link_four;
  return !bytes || six.contains(*bytes) ? Scope::link_six : Scope::anywhere;
}

bool is_bridge(const std::string& interface) {
  return std::ranges::any_of(bridges, [&](std::string_view start) { return interface.starts_with(start); });
}

bool matches(const InterfaceAddress& one, std::string_view word) {
  if (one.interface == word) return true;
  const std::optional<Net> net = parse_net(word);
  const std::optional<Bytes> bytes = bytes_of(one.address);
  return net && bytes && net->contains(*bytes);
}

std::vector<std::string_view> words_of(std::string_view text) {
  std::vector<std::string_view> words;
  while (!text.empty()) {
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
    if (!word.empty()) words.push_back(word);
  }
  return words;
}

std::string list(std::span<const InterfaceAddress> all) {
  std::string text;
  for (const InterfaceAddress& one : all) base::add_word(text, one.interface + " " + one.address);
  return text.empty() ? "nothing" : text;
}

}  // namespace

std::vector<InterfaceAddress> all_addresses() {
  ifaddrs* found = nullptr;
  if (getifaddrs(&found) != 0)
    throw Error(Cause::system, std::string("cannot list the network interfaces: ") + std::strerror(errno));
  const std::unique_ptr<ifaddrs, void (*)(ifaddrs*)> owner(found, freeifaddrs);
  std::vector<InterfaceAddress> all;
  for (const int family : {AF_INET, AF_INET6}) {
    for (const ifaddrs* one = found; one != nullptr; one = one->ifa_next) {
      if (one->ifa_addr == nullptr || one->ifa_addr->sa_family != family || (one->ifa_flags & IFF_UP) == 0) continue;
      const void* address = &reinterpret_cast<const sockaddr_in6*>(one->ifa_addr)->sin6_addr;
      if (family == AF_INET) address = &reinterpret_cast<const sockaddr_in*>(one->ifa_addr)->sin_addr;
      char text[INET6_ADDRSTRLEN] = "";
      inet_ntop(family, address, text, sizeof text);
      all.push_back({one->ifa_name, text, (one->ifa_flags & IFF_LOOPBACK) != 0});
    }
  }
  return all;
}

std::vector<InterfaceAddress> choose_addresses(std::span<const InterfaceAddress> all, std::string_view wanted,
                                               bool here) {
  std::vector<InterfaceAddress> chosen;
  const auto keep = [&](auto condition) { std::ranges::copy_if(all, std::back_inserter(chosen), condition); };
  if (const std::vector<std::string_view> words = words_of(wanted); !words.empty()) {
    keep([&](const InterfaceAddress& one) {
      const bool named = std::ranges::any_of(words, [&](std::string_view word) { return matches(one, word); });
      return named && scope_of(one.address) != Scope::link_six;
    });
    if (chosen.empty())
      throw Error(Cause::usage, "TUTTI_NETWORK is \"" + std::string(wanted) + "\", and this host has " + list(all) +
                                    "; name interfaces, addresses or networks (10.0.0.0/8), separated by commas");
    return chosen;
  }
  for (const Scope scope : {Scope::anywhere, Scope::link_four})
    if (chosen.empty())
      keep([&](const InterfaceAddress& one) {
        return !one.loopback && scope_of(one.address) == scope && !is_bridge(one.interface);
      });
  if (!chosen.empty()) return chosen;
  if (!here)
    throw Error(Cause::usage, "this host has no address at which ranks on other hosts could reach it, but for " +
                                  list(all) +
                                  "; connect it to a network, or name interfaces, addresses or networks "
                                  "in TUTTI_NETWORK if the others can reach one of these");
  keep([](const InterfaceAddress& one) { return one.loopback && scope_of(one.address) == Scope::anywhere; });
  return chosen;
}

std::vector<InterfaceAddress> own_addresses(bool here) {
  const char* wanted = std::getenv("TUTTI_NETWORK");
  return choose_addresses(all_addresses(), wanted == nullptr ? "" : wanted, here);
}

std::vector<std::string> places_to_listen(bool here) {
  std::vector<std::string> places;
  for (const InterfaceAddress& one : own_addresses(here)) {
    const bool six = one.address.find(':') != std::string::npos;
    places.push_back("tcp:" + (six ? "[" + one.address + "]" : one.address) + ":0");
  }
  return places;
}

}  // namespace tutti::transport
