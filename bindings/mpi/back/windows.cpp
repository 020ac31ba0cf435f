// SPDX-License-Identifier: BSD-3-Clause
#include "windows.hpp"

#include <cstring>
#include <span>
#include <string>

#include "base/log.hpp"
#include "job/assembly.hpp"
#include "launch/directory.hpp"
#include "launch/secret.hpp"
#include "transport/interfaces.hpp"

namespace tutti::mpi {
namespace {

constexpr std::size_t longest_addresses = 256;

/// What each rank says, by rank.
std::vector<std::string> gather(Ranks& job, const std::string& mine) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(job.size()) * longest_addresses);
  const auto part_of = [&](Rank rank) {
    return std::span(bytes).subspan(static_cast<std::size_t>(rank) * longest_addresses, longest_addresses);
  };
  if (mine.size() < longest_addresses) std::memcpy(part_of(job.rank()).data(), mine.data(), mine.size());
  job::expect(job.either(bytes), "reduction");
  std::vector<std::string> all;
  for (Rank rank = 0; rank < job.size(); ++rank)
    all.emplace_back(reinterpret_cast<const char*>(part_of(rank).data()));  // its last byte is zero
  return all;
}

}  // namespace

std::unique_ptr<launch::Window> open_window(Ranks& job, const std::vector<Rank>& hosts,
                                            const std::shared_ptr<host::Segment>& segment, Rank place) {
  launch::Secret secret{};
  if (job.rank() == 0) secret = launch::random_secret();
  job::share(job, secret);
  std::unique_ptr<launch::Window> window;
  try {
    if (segment != nullptr)
      window = std::make_unique<launch::Window>(segment, place, secret, transport::places_to_listen(true));
  } catch (const Error& error) {
    base::log(std::string("tutti why on other hosts cannot ask this rank: ") + error.what());
  }
  std::vector<std::string> windows = gather(job, window != nullptr ? window->addresses() : "");
  if (segment == nullptr || place != 0) return window;
  const Rank host = hosts[static_cast<std::size_t>(job.rank())];
  try {
    launch::publish(*segment, {secret, host, launch::network_name(), hosts, std::move(windows), true});
  } catch (const Error& error) {
    base::log(std::string("tutti why on this host does not find the others: ") + error.what());
  }
  return window;
}

}  // namespace tutti::mpi
