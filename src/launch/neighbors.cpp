// SPDX-License-Identifier: BSD-3-Clause
#include "launch/neighbors.hpp"

#include <unistd.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <fstream>
#include <map>
#include <numeric>
#include <optional>

#include "base/hash.hpp"
#include "base/numbered.hpp"
#include "host/topology.hpp"
#include "launch/secret.hpp"

namespace tutti::launch {

namespace {

constexpr std::array namespaces{"pid", "user", "ipc", "net"};

/// Nothing where the system does not tell.
std::optional<std::string> shared_kernel() {
  std::string text;
  if (!std::getline(std::ifstream("/proc/sys/kernel/random/boot_id"), text) || text.empty()) return std::nullopt;
  for (const char* name : namespaces) {
    char target[64];
    const std::string path = std::string("/proc/self/ns/") + name;
    const ssize_t length = readlink(path.c_str(), target, sizeof target);
    if (length <= 0) return std::nullopt;
    text += " " + std::string(target, static_cast<std::size_t>(length));
  }
  return text + " uid:" + std::to_string(geteuid());
}

std::uint64_t hash_of(std::string_view text) {
  std::uint64_t hash = text.size();
  for (const char c : text) hash = base::combine(hash, static_cast<unsigned char>(c));
  return hash;
}

std::vector<std::byte> mask_of(const std::vector<int>& cores) {
  std::vector<std::byte> mask;
  for (const int core : cores) {
    const auto place = static_cast<std::size_t>(core) / 8;
    if (place >= longest_mask) continue;
    if (place >= mask.size()) mask.resize(place + 1);
    mask[place] |= std::byte{1} << (core % 8);
  }
  return mask;
}

/// What is allowed apart from this process's affinity.
int cores_allowed() {
  std::vector<int> all(static_cast<std::size_t>(std::max(1L, sysconf(_SC_NPROCESSORS_CONF))));
  std::iota(all.begin(), all.end(), 0);
  return host::usable_cores(std::move(all), "/").usable;
}

std::string_view machine_of(const Card& card) { return std::string_view(card.host).substr(0, card.host.find(' ')); }

/// Empty where nothing is known.
std::string_view network_of(const Card& card) {
  const std::string_view name = card.host;
  const std::size_t begin = name.find(" net:");
  return begin == name.npos ? "" : name.substr(begin, name.find(' ', begin + 1) - begin);
}

/// The cores that some rank of a place is bound to.
int bound_to(std::span<const Card> cards, std::span<const Rank> places, Rank place) {
  std::vector<std::byte> all;
  for (std::size_t rank = 0; rank < cards.size(); ++rank) {
    if (places[rank] != place) continue;
    const std::vector<std::byte>& mask = cards[rank].mask;
    all.resize(std::max(all.size(), mask.size()));
    for (std::size_t i = 0; i < mask.size(); ++i) all[i] |= mask[i];
  }
  int cores = 0;
  for (const std::byte eight : all) cores += std::popcount(std::to_integer<unsigned>(eight));
  return cores;
}

}  // namespace

std::string host_name() {
  // Where nothing is known, nothing is shared. The first word is the machine's.
  std::string name = shared_kernel().value_or(to_hex(random_secret()) + " apart");
  // Any text may stand there, of any length.
  if (const char* given = std::getenv("TUTTI_HOST")) name += " host:" + std::to_string(hash_of(given));
  return name.substr(0, longest_host);
}

Card own_card(std::uint64_t door) { return {host_name(), door, cores_allowed(), mask_of(host::affinity())}; }

std::vector<Rank> number_hosts(std::span<const Card> cards) {
  return base::numbered(cards, [](const Card& card) { return std::string_view(card.host); });
}

bool share_network(std::span<const Card> cards) {
  return std::ranges::all_of(cards, [&](const Card& card) {
    return machine_of(card) == machine_of(cards.front()) && !network_of(card).empty() &&
           network_of(card) == network_of(cards.front());
  });
}

int shared_cores(std::span<const Card> cards, std::span<const Rank> hosts, Rank host) {
  int limit = 0;
  for (std::size_t rank = 0; rank < cards.size(); ++rank)
    if (hosts[rank] == host) limit = limit == 0 ? cards[rank].limit : std::min(limit, cards[rank].limit);
  return std::max(1, std::min(bound_to(cards, hosts, host), limit));
}

int ranks_per_core(std::span<const Card> cards, std::span<const Rank> hosts) {
  int most = 1;
  const std::vector<Rank> machines = base::numbered(cards, machine_of);
  for (Rank machine = 0; machine <= std::ranges::max(machines); ++machine) {
    std::map<Rank, int> limits;  // of its hosts
    for (std::size_t rank = 0; rank < cards.size(); ++rank)
      if (machines[rank] == machine && !limits.contains(hosts[rank]))
        limits[hosts[rank]] = shared_cores(cards, hosts, hosts[rank]);
    const auto add = [](int sum, const auto& one) { return sum + one.second; };
    const int allowed = std::accumulate(limits.begin(), limits.end(), 0, add);
    const int bound = bound_to(cards, machines, machine);  // 0 where no rank can tell
    const int cores = bound > 0 ? std::min(allowed, bound) : allowed;
    const auto ranks = static_cast<int>(std::ranges::count(machines, machine));
    if (limits.size() > 1) most = std::max(most, (ranks + cores - 1) / cores);
  }
  return most;
}

}  // namespace tutti::launch
