// SPDX-License-Identifier: BSD-3-Clause
#include "diagnose/hosts.hpp"

#include <poll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <future>
#include <optional>
#include <set>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "host/board.hpp"
#include "launch/caller.hpp"
#include "launch/directory.hpp"
#include "transport/tcp/socket.hpp"

namespace tutti::diagnose {

namespace {

namespace tcp = transport::tcp;
using launch::Directory;

constexpr std::chrono::milliseconds longest_call{700}, longest_knock{500};
constexpr std::string_view world_name = "world";
constexpr std::string_view not_asked = "it was not asked: no more files may be opened here, see ulimit -n; ask again";

std::optional<Directory> directory_of(const Source& here) { return launch::read_directory(read_directory(here)); }

/// What was found out about one host.
struct Part {
  std::vector<Rank> ranks;  ///< Of the job, by their places there.
  std::string name;
  Situation situation;  ///< By places. Without an answer there are states alone.
};

/// Ranks of the job instead of places in the memory of their host.
void rename(Situation& situation, const std::vector<Rank>& ranks) {
  const auto rename_one = [&](Rank& one) {
    if (one >= 0) one = ranks[static_cast<std::size_t>(one)];
  };
  const auto rename_all = [&](std::vector<host::Wait>& waits) {
    for (host::Wait& wait : waits)
      std::ranges::for_each(
          std::span(wait.blockers).first(std::min<std::size_t>(wait.blocked, host::Wait::most_blockers)), rename_one);
  };
  for (Seat& seat : situation.seats) rename_all(seat.waits);
  for (Process& process : situation.snapshot.processes) rename_all(process.waits);
  for (Group& group : situation.snapshot.groups) {
    rename_one(group.who);
    rename_one(group.whom);
  }
}

/// A host's ranks, by their places; whom they wait for, by their ranks in the job.
Situation observe(const Source& source, const Directory& directory, const std::vector<Rank>& ranks) {
  Situation seen = observe(source, directory.by_places ? 0 : static_cast<std::int32_t>(directory.hosts.size()));
  if (seen.seats.size() != ranks.size())
    throw Error(Cause::system, "the job's memory and its list of hosts do not fit together");
  if (directory.by_places) rename(seen, ranks);
  return seen;
}

/// What the kernel of a host says that has a process listening at each of these addresses, or had; all are asked at
/// once, since those that lead nowhere cost time. Nothing when this process has no descriptor left to ask it, which
/// says nothing about the host.
std::vector<std::optional<State>> knock(const std::vector<std::string_view>& windows) {
  std::vector<std::optional<State>> found(windows.size(), State::unreachable);
  struct Call {
    std::size_t window;
    base::Descriptor socket;
  };
  std::vector<Call> calls;
  for (std::size_t i = 0; i < windows.size(); ++i) {
    for (const tcp::Address& address : tcp::parse_all(windows[i])) {
      base::Descriptor socket = tcp::begin_call(address);
      if (socket)
        calls.push_back({i, std::move(socket)});
      else if (tcp::is_want(errno))
        found[i] = std::nullopt;
      else if (errno == ECONNREFUSED && found[i])
        found[i] = State::ended;
    }
  }
  const std::uint64_t until = base::now() + static_cast<std::uint64_t>(std::chrono::nanoseconds(longest_knock).count());
  for (std::uint64_t now = base::now(); !calls.empty() && now < until; now = base::now()) {
    std::vector<pollfd> entries;
    for (const Call& call : calls) entries.push_back({call.socket.get(), POLLOUT, 0});
    poll(entries.data(), entries.size(), static_cast<int>((until - now) / 1'000'000) + 1);
    std::erase_if(calls, [&](const Call& call) {
      const tcp::Reach reach = tcp::reach_of(call.socket.get());
      // Where the call is through its kernel takes it, the process does not.
      if (reach == tcp::Reach::through) found[call.window] = State::silent;
      if (reach == tcp::Reach::absent && found[call.window] == State::unreachable) found[call.window] = State::ended;
      return reach != tcp::Reach::calling;
    });
  }
  return found;
}

/// "10.77.0.3" of "tcp:10.77.0.3:4711 …".
std::string host_in(std::string_view addresses) {
  const std::string first(addresses.substr(0, addresses.find(' ')));
  const std::size_t begin = first.find(':') + 1, end = first.rfind(':');
  return begin < end && end != first.npos ? first.substr(begin, end - begin) : "an unknown host";
}

Part look_through_window(const Directory& directory, Rank host) {
  Part part;
  part.ranks = directory.ranks_on(host);
  std::vector<tcp::Address> addresses;
  for (const Rank rank : part.ranks)
    for (const tcp::Address& one : tcp::parse_all(directory.windows[static_cast<std::size_t>(rank)]))
      addresses.push_back(one);
  // From outside, a process that is stopped and one that gets no processor in time are the same.
  std::string why = "stopped, which kill -CONT ends, or its host has no time for it";
  try {
    launch::Deadline deadline(launch::Patience{longest_call});
    const Window window(launch::call_store([&] { return launch::StoreAddresses{addresses}; }, "a window",
                                           directory.secret, 0, deadline));
    why = "its host had no time to answer to the end; ask again";
    part.name = window.host();
    part.situation = observe(window, directory, part.ranks);
    for (std::size_t place = 0; place < part.ranks.size(); ++place)
      if (part.situation.seats[place].pid != 0)
        part.situation.seats[place].maps = window.maps(static_cast<Rank>(place));
  } catch (const Error& error) {
    if (error.cause() != Cause::timeout) why = error.what();
    // Nobody there can answer. What its kernel says is all there is.
    part.situation = {};
    part.situation.snapshot.processes.resize(part.ranks.size());
    std::vector<std::string_view> windows;
    for (const Rank rank : part.ranks) windows.emplace_back(directory.windows[static_cast<std::size_t>(rank)]);
    for (const std::optional<State>& known : knock(windows)) {
      Seat& seat = part.situation.seats.emplace_back();
      seat.state = known.value_or(State::silent);
      if (seat.state == State::silent) seat.why_silent = known ? why : std::string(not_asked);
    }
    if (!windows.empty()) part.name = host_in(windows.back());
  }
  return part;
}

/// Puts the hosts' parts together.
class Joined {
 public:
  Joined(std::size_t ranks, const Part& own) {
    whole_.seats.resize(ranks);
    whole_.snapshot.processes.resize(ranks);
    whole_.snapshot.job = own.situation.snapshot.job;
    whole_.snapshot.taken_at = own.situation.snapshot.taken_at;
  }

  void add(Part part) {
    const Snapshot& seen = part.situation.snapshot;
    // Each host has a clock of its own; all have looked at the same moment.
    const std::uint64_t shift = whole_.snapshot.taken_at - seen.taken_at;
    for (std::size_t place = 0; place < part.ranks.size(); ++place) {
      Seat& seat = part.situation.seats[place];
      for (host::Wait& wait : seat.waits) wait.since += shift;
      seat.host = part.name;
      whole_.seats[index(part.ranks[place])] = std::move(seat);
      whole_.snapshot.processes[index(part.ranks[place])] = seen.processes[place];
    }
    for (const Group& group : seen.groups) add(group, part.ranks);
    whole_.moving = whole_.moving || part.situation.moving;
  }

  Situation finish() {
    for (Rank rank = 0; std::cmp_less(rank, whole_.seats.size()); ++rank) add_what_has_no_record(rank);
    for (Group& group : whole_.snapshot.groups) {
      if (group.name.empty() && group.context == host::world_context(whole_.snapshot.job)) group.name = world_name;
      std::ranges::sort(group.members, {}, &Member::world);
      for (Member& member : group.members) std::ranges::sort(member.calls, {}, &Called::sequence);
    }
    return std::move(whole_);
  }

 private:
  static std::size_t index(Rank rank) { return static_cast<std::size_t>(rank); }

  Group& group(std::uint64_t context) {
    auto& groups = whole_.snapshot.groups;
    const auto found = std::ranges::find(groups, context, &Group::context);
    if (found != groups.end()) return *found;
    groups.emplace_back().context = context;
    return groups.back();
  }

  static Member& member(Group& group, Rank rank) {
    const auto found = std::ranges::find(group.members, rank, &Member::world);
    if (found != group.members.end()) return *found;
    group.members.emplace_back().world = rank;
    return group.members.back();
  }

  void add(const Group& seen, const std::vector<Rank>& ranks) {
    Group& whole = group(seen.context);
    whole.name = seen.name;
    if (seen.broken && !whole.broken) {
      whole.broken = true;
      whole.cause = seen.cause;
      whole.who = seen.who;
      whole.whom = seen.whom;
      whole.sequence = seen.sequence;
    }
    for (const Member& one : seen.members) member(whole, ranks[index(one.world)]).calls = one.calls;
  }

  /// A rank that is the only one of a group on its host has no board there: what it called last, and what it waits for,
  /// stands with the rank alone.
  void add_what_has_no_record(Rank rank) {
    const Process& process = whole_.snapshot.processes[index(rank)];
    if (process.called) add_call(member(group(process.last_context), rank), process.last);
    for (const host::Wait& wait : process.waits) {
      Group& one = group(wait.context);
      if (wait.what == host::Waited::collective)
        add_call(member(one, rank), {wait.sequence, 0, wait.call, wait.count, -1, wait.site, {}, false});
      else
        member(one, rank);
      const auto listed = std::min<std::size_t>(wait.blocked, host::Wait::most_blockers);
      for (const Rank other : std::span(wait.blockers).first(listed)) member(one, other);
    }
  }

  static void add_call(Member& member, const Called& call) {
    const bool known =
        std::ranges::any_of(member.calls, [&](const Called& one) { return one.sequence == call.sequence; });
    if (!known) member.calls.push_back(call);
  }

  Situation whole_;
};

}  // namespace

std::int32_t ranks_of(const Source& here) {
  const std::optional<Directory> directory = directory_of(here);
  return directory ? static_cast<std::int32_t>(directory->hosts.size()) : 0;
}

Situation observe_job(const Source& here) {
  const std::optional<Directory> directory = directory_of(here);
  if (!directory) return observe(here);
  std::vector<std::future<Part>> others;
  for (const Rank host : std::set<Rank>(directory->hosts.begin(), directory->hosts.end()))
    if (host != directory->host)
      others.push_back(std::async(std::launch::async, look_through_window, std::cref(*directory), host));
  Part own{directory->ranks_on(directory->host), directory->name, {}};
  own.situation = observe(here, *directory, own.ranks);
  Joined joined(directory->hosts.size(), own);
  joined.add(std::move(own));
  for (std::future<Part>& other : others) joined.add(other.get());
  return joined.finish();
}

}  // namespace tutti::diagnose
