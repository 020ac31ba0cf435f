// SPDX-License-Identifier: BSD-3-Clause
// The world of a real process: joins the job, agrees with the others, leaves when the program ends.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <mutex>
#include <string>
#include <vector>

#include "job/lines.hpp"
#include "job/machine.hpp"
#include "job/offer.hpp"
#include "job/recording.hpp"
#include "job/runtime.hpp"
#include "job/settings.hpp"
#include "launch/directory.hpp"
#include "launch/member.hpp"
#include "launch/message.hpp"
#include "launch/window.hpp"
#include "transport/interfaces.hpp"
#include "transport/tcp/tcp.hpp"

namespace tutti {
namespace job {
namespace {

/// How long finding the others may take.
launch::Patience patience_from_environment() {
  launch::Patience patience;
  patience.timeout = std::chrono::nanoseconds(timeout_from_environment());
  patience.interrupted = engine::interruption();
  return patience;
}

/// Everything that lives as long as the process. Never destroyed: threads may outlive main.
struct World {
  launch::Member place;
  std::unique_ptr<Recording> recording;
  std::unique_ptr<launch::Window> window;  // of a job over several hosts
  std::shared_ptr<Member> member;
  std::mutex lock;
  bool left = false;

  explicit World(launch::Member joined) : place(std::move(joined)) {}
  void make();
  void leave();
};

constexpr std::string_view offer_key = "tutti/world";
std::string board_key(Rank host) { return "tutti/board/" + std::to_string(host); }
std::string addresses_key(Rank rank) { return "tutti/addresses/" + std::to_string(rank); }

/// What the first of a host's ranks tells the others.
struct HostNews {
  host::Offset board = 0;    ///< That it has made.
  std::uint64_t unused = 0;  ///< Unused::mark
};

HostNews shared_news(launch::Member& place, Rank mine, std::uint64_t unused) {
  HostNews news{0, unused};
  if (place.segment()->size() == 1) return news;
  const std::string key = board_key(place.hosts()[static_cast<std::size_t>(place.rank())]);
  if (mine == 0) {
    news.board = make_world_board(*place.segment());
    place.put(key, std::as_bytes(std::span(&news, 1)), patience_from_environment());
    return news;
  }
  const std::vector<std::byte> said = place.get(key, patience_from_environment());
  if (said.size() != sizeof news) throw Error(Cause::system, "what the store has as " + key + " is no board's place");
  std::memcpy(&news, said.data(), sizeof news);
  return news;
}

std::string text_of(std::span<const std::byte> said) {
  return {reinterpret_cast<const char*>(said.data()), said.size()};
}

/// What each rank says of itself, collected by rank 0, in lines: nobody asks the store later, which ends with rank 0.
std::vector<std::string> all_addresses(launch::Member& place, const std::string& mine) {
  const launch::Patience patience = patience_from_environment();
  const auto size = static_cast<std::size_t>(place.size());
  const auto key = [](std::size_t first) { return "tutti/addresses/from/" + std::to_string(first); };
  place.put(addresses_key(place.rank()), std::as_bytes(std::span(mine)), patience);
  std::vector<std::string> all;
  if (place.rank() == 0) {
    for (Rank rank = 0; rank < place.size(); ++rank) all.push_back(text_of(place.get(addresses_key(rank), patience)));
    std::size_t first = 0;
    for (const std::string& value : in_values(all, launch::longest_value)) {
      place.put(key(first), std::as_bytes(std::span(value)), patience);
      first += static_cast<std::size_t>(std::ranges::count(value, '\n')) + 1;
    }
    return all;
  }
  for (std::size_t first = 0, next = 0; next < size; first = next) {
    add_lines(all, text_of(place.get(key(first), patience)));
    next = all.size();
    if (next == first) break;
  }
  if (all.size() == size) return all;
  throw Error(Cause::system, "rank 0's list of addresses has " + std::to_string(all.size()) + " lines for " +
                                 std::to_string(place.size()) + " ranks; use one version of Tutti");
}

/// Tells who looks at this host's memory where the others can be asked. By the first of its ranks.
void publish_windows(const launch::Member& place, const std::vector<Rank>& hosts, std::vector<std::string> windows) {
  const Rank here = hosts[static_cast<std::size_t>(place.rank())];
  if (places(hosts, place.rank())[static_cast<std::size_t>(place.rank())] != 0) return;
  launch::publish(*place.segment(), {place.secret(), here, launch::network_name(), hosts, std::move(windows)});
}

/// The sockets to other hosts, open for calls by all when this returns. The window is open as well.
Far listen(launch::Member& place, const std::vector<Rank>& hosts, std::vector<std::string> where,
           std::unique_ptr<launch::Window>& window) {
  namespace tcp = transport::tcp;
  const auto addresses = std::make_shared<std::vector<std::string>>();
  tcp::Options options;
  options.identity = {.job = place.job(), .rank = place.rank(), .size = place.size(), .secret = place.secret().bytes};
  options.listen = std::move(where);
  options.find = [addresses](Rank peer) { return (*addresses)[static_cast<std::size_t>(peer)]; };
  // No less than usual: a call that waits has a limit of its own, and is told who is late, not that somebody is lost.
  options.patience = std::max(options.patience, timeout_from_environment());
  window = std::make_unique<launch::Window>(place.segment(),
                                            places(hosts, place.rank())[static_cast<std::size_t>(place.rank())],
                                            place.secret(), options.listen);
  auto transport = tcp::listen(std::move(options));
  constexpr char then = '|';  // between what is for the transport and what is for the windows
  std::vector<std::string> windows;
  for (const std::string& line : all_addresses(place, transport->addresses() + then + window->addresses())) {
    const std::size_t end = line.find(then);
    addresses->push_back(line.substr(0, end));
    windows.push_back(end == line.npos ? "" : line.substr(end + 1));
  }
  publish_windows(place, hosts, std::move(windows));
  const int descriptor = transport->descriptor();
  return {std::move(transport), descriptor};
}

void World::make() {
  const Rank rank = place.rank();
  const std::vector<Rank> hosts(place.hosts().begin(), place.hosts().end());
  const bool spans_hosts = std::ranges::max(hosts) > 0;
  // Before another rank is asked for anything: it may have ended for want of an address, as this one would.
  std::vector<std::string> where;
  if (spans_hosts) where = transport::places_to_listen(place.one_network());
  const auto segment = place.segment();
  const tune::Source source = tune::find_table(this_machine(place.cores()));
  if (rank == 0) tell_of_trouble(source);
  Offer offer = own_offer(source);
  Unused unused;
  if (place.size() > 1 && rank == 0) {
    place.put(offer_key, offer.pack(), patience_from_environment());
  } else if (place.size() > 1) {
    const Offer theirs = Offer::unpack(place.get(offer_key, patience_from_environment()));
    unused = Unused(offer, theirs);
    offer = theirs;
  }
  const Rank mine = places(hosts, rank)[static_cast<std::size_t>(rank)];
  const HostNews news = shared_news(place, mine, unused.mark());
  unused.tell(rank, mine == 0, news.unused);
  Process process = process_from_environment(offer, source);
  process.timeout = timeout_from_environment();
  process.segment = segment;
  process.rank = rank;
  process.board = news.board;
  process.hosts = hosts;
  process.ranks_per_core = place.ranks_per_core();
  process.launcher = place.launcher();
  process.cores = place.cores();  // the job's: a rank that is bound sees its own core alone
  if (process.ranks_per_core > 1)
    process.table.why += "; hosts share a machine's cores: few messages go before few steps";
  recording = Recording::wanted(place.job(), rank, hosts);
  if (recording) process.recorder = &recording->recorder();
  member = make_process_world(process, spans_hosts ? listen(place, hosts, std::move(where), window) : Far());
  if (recording) recording->begin(*member);
}

void World::leave() {
  const std::lock_guard guard(lock);
  if (std::exchange(left, true)) return;
  if (member && recording && !member->runtime().engine().forked()) recording->end();
  if (member) member->runtime().engine().leave();
  if (window) window->close();
  place.leave();
}

World* started = nullptr;

}  // namespace
}  // namespace job

Group world() {
  static job::World* const world = [] {
    // Kept for ever on purpose: threads that outlive main may still hold groups and requests.
    auto made = std::make_unique<job::World>(launch::join(job::patience_from_environment()));
    made->make();
    job::started = made.release();
    std::atexit([] { job::started->leave(); });
    return job::started;
  }();
  return Group(world->member);
}

}  // namespace tutti
