// SPDX-License-Identifier: BSD-3-Clause
#include "diagnose/report.hpp"

#include <algorithm>
#include <cstdio>
#include <set>
#include <span>
#include <utility>

#include "base/json.hpp"
#include "base/names.hpp"
#include "base/words.hpp"
#include "diagnose/hosts.hpp"
#include "diagnose/proc.hpp"

namespace tutti::diagnose {

namespace json = base::json;

namespace {

using base::list_ranks;

/// Texts side by side; the last one is as long as it is.
std::string row(std::string_view first, std::string_view second, std::string_view third, std::string_view rest) {
  std::string text;
  for (const auto& [column, width] : {std::pair(first, 6U), std::pair(second, 9U), std::pair(third, 14U)}) {
    text += column;
    text.append(column.size() < width ? width - column.size() : 1, ' ');
  }
  text += rest;
  text.erase(text.find_last_not_of(' ') + 1);
  return text + "\n";
}

/// World ranks of those a wait is blocked on, as far as they are listed.
std::vector<Rank> blockers_of(const host::Wait& wait, const Snapshot& snapshot) {
  std::vector<Rank> ranks;
  const auto listed = std::min<std::size_t>(wait.blocked, host::Wait::most_blockers);
  for (const Rank rank : std::span(wait.blockers).first(listed))
    if (std::cmp_less(rank, snapshot.processes.size())) ranks.push_back(rank);
  std::ranges::sort(ranks);
  return ranks;
}

std::string numbers(const std::vector<Rank>& ranks) {
  return json::array(ranks, [](Rank rank) { return std::to_string(rank); });
}

/// "3 waiting, 1 stopped"
std::string summary(const Situation& situation) {
  std::map<State, int> count;
  for (const Seat& seat : situation.seats) ++count[seat.state];
  std::string text;
  for (const auto& [state, ranks] : count) base::add_word(text, std::to_string(ranks) + " " + name(state));
  return text;
}

}  // namespace

Report::Report(const Job& job, std::string_view (*algorithm)(std::int32_t))
    : job_(job.id), launcher_(job.launcher), situation_(observe_job(File(job.segment.get()))) {
  const Words words{algorithm, [this](Rank rank, std::uint64_t address) { return site(rank, address); }};
  findings_ = find(situation_, words);
}

std::string Report::site(Rank rank, std::uint64_t address) {
  if (address == 0) return {};
  const Seat& seat = situation_.seat(rank);
  const auto made = [&seat] {
    return seat.maps.empty() ? symbols::Sites(seat.pid) : symbols::Sites(std::string_view(seat.maps));
  };
  const auto known = sites_.find(rank);
  return (known != sites_.end() ? known : sites_.emplace(rank, made()).first)->second.name(address);
}

std::string Report::heading() const {
  std::string text = "job " + name_of(job_) + ": " + std::to_string(situation_.seats.size());
  text += situation_.seats.size() == 1 ? " rank" : " ranks";
  std::set<std::string> hosts;
  for (const Seat& seat : situation_.seats) hosts.insert(seat.host);
  if (hosts.size() > 1) text += " on " + std::to_string(hosts.size()) + " hosts";
  if (launcher_ == 0) return text + ", no launcher";
  return text + ", launcher " + std::to_string(launcher_) + " (" + command_of(launcher_) + ")";
}

std::string Report::doing(Rank rank) {
  const Seat& seat = situation_.seat(rank);
  const Snapshot& snapshot = situation_.snapshot;
  if (!seat.waits.empty()) {
    const host::Wait& wait = seat.waits.front();
    const std::vector<Rank> blockers = blockers_of(wait, snapshot);
    std::string text = describe(wait, snapshot);
    if (!blockers.empty()) text += ", for " + list_ranks(blockers);
    if (wait.blocked > blockers.size()) text += ", …";
    text += " (" + age(wait.since, snapshot.taken_at) + ")";
    const std::string place = wait.place[0] != '\0' ? wait.place : site(rank, wait.site);
    return text + (place.empty() ? "" : " at " + place);
  }
  std::string in;
  if (seat.mpi)
    in = "in " + describe(*seat.mpi) + " at " + site(rank, seat.mpi->site);
  else if (seat.system_call)
    in = seat.system_call->text();
  const Called* last = last_call(snapshot, rank);
  if (last == nullptr) return in;
  const std::string place = site(rank, last->site);
  const std::uint64_t context = snapshot.processes[static_cast<std::size_t>(rank)].last_context;
  return in + (in.empty() ? "" : "; ") + "last: " + call_name(*last) + " of group " + group_name(snapshot, context) +
         (place.empty() ? "" : " at " + place);
}

Report::Calls Report::calls_of(const Group& group) const {
  Calls calls;
  for (const Member& member : group.members) {
    const std::string none = is_mute(situation_, member.world) ? "cannot be asked" : "has called nothing yet";
    calls[member.calls.empty() ? none : "last called " + call_name(member.calls.back())].push_back(member.world);
  }
  for (auto& [call, ranks] : calls) std::ranges::sort(ranks);
  return calls;
}

std::string Report::text() {
  std::string text = heading() + "\n";
  for (const Finding& finding : findings_) text += finding.text + "\n";
  text += "\n" + row("rank", "pid", "state", "in, or last in");
  for (Rank rank = 0; std::cmp_less(rank, situation_.seats.size()); ++rank) {
    const Seat& seat = situation_.seat(rank);
    const std::int32_t own = situation_.snapshot.processes[static_cast<std::size_t>(rank)].pid;
    const pid_t pid = seat.pid != 0 ? seat.pid : own;
    const std::string process = pid != 0 ? std::to_string(pid) : "-";
    text += row(std::to_string(rank), seat.host.empty() ? process : seat.host + ":" + process, name(seat.state),
                doing(rank));
  }
  for (const Group& group : situation_.snapshot.groups) {
    std::vector<Rank> ranks;
    for (const Member& member : group.members) ranks.push_back(member.world);
    std::ranges::sort(ranks);
    text += "\ngroup " + group_name(situation_.snapshot, group.context) + ": " + list_ranks(ranks) +
            (group.broken ? ", broken" : "") + "\n";
    for (const auto& [call, callers] : calls_of(group)) text += "  " + call + ": " + list_ranks(callers) + "\n";
  }
  return text;
}

std::string Report::wait_json(Rank rank, const host::Wait& wait) {
  const Snapshot& snapshot = situation_.snapshot;
  json::Object object;
  object.add("operation", operation_name(wait, snapshot))
      .add("group", group_name(snapshot, wait.context))
      .maybe("sequence", wait.what == host::Waited::collective, wait.sequence)
      .maybe("tag", is_message(wait.what), wait.tag)
      .raw("for", numbers(blockers_of(wait, snapshot)))
      .add("blockers", wait.blocked)
      .add("nanoseconds", wait.since < snapshot.taken_at ? snapshot.taken_at - wait.since : 0)
      .add("awaited", wait.awaited != 0)
      .add("site", wait.place[0] != '\0' ? std::string(wait.place) : site(rank, wait.site));
  return object.text();
}

std::string Report::rank_json(Rank rank) {
  const Seat& seat = situation_.seat(rank);
  const Process& process = situation_.snapshot.processes[static_cast<std::size_t>(rank)];
  const Called* last = last_call(situation_.snapshot, rank);
  std::string call = "null";
  if (last != nullptr)
    call = json::Object()
               .add("operation", last->name())
               .add("group", group_name(situation_.snapshot, process.last_context))
               .add("sequence", last->sequence)
               .add("site", site(rank, last->site))
               .text();
  std::string system_call = "null";
  if (const auto& in = seat.system_call)
    system_call = json::Object()
                      .add("name", in->name())
                      .maybe("descriptor", in->descriptor >= 0, in->descriptor)
                      .maybe("file", !in->file.empty(), in->file)
                      .text();
  std::string mpi = "null";
  if (const auto& in = seat.mpi)
    mpi = json::Object()
              .add("function", in->name)
              .maybe("peer", in->peer >= 0, in->peer)
              .maybe("tag", in->tag >= 0, in->tag)
              .add("site", site(rank, in->site))
              .text();
  json::Object object;
  object.add("rank", rank)
      .maybe("host", !seat.host.empty(), std::string_view(seat.host))
      .maybe("pid", seat.pid != 0 || process.pid != 0, seat.pid != 0 ? seat.pid : process.pid)
      .add("state", std::string_view(name(seat.state)))
      .raw("waits", json::array(seat.waits, [&](const host::Wait& wait) { return wait_json(rank, wait); }))
      .raw("last", call)
      .raw("mpi", mpi)
      .raw("system_call", system_call);
  return object.text();
}

std::string Report::json() {
  const auto finding = [](const Finding& one) {
    json::Object object;
    object.add("kind", std::string_view(one.kind)).add("text", std::string_view(one.text));
    object.raw("ranks", numbers(one.ranks)).raw("waiting", numbers(one.waiting));
    object.maybe("group", !one.group.empty(), std::string_view(one.group));
    object.raw("differences", json::array(one.differences, json::quote));
    return object.maybe("sequence", one.sequence >= 0, one.sequence).text();
  };
  const auto group = [](const Group& one) {
    const auto member = [](const Member& who) {
      json::Object object;
      object.add("rank", who.world);
      const bool called = !who.calls.empty();
      object.maybe("sequence", called, called ? who.calls.back().sequence : 0);
      return object.maybe("operation", called, called ? who.calls.back().name() : std::string()).text();
    };
    json::Object object;
    object.add("name", std::string_view(one.name)).add("broken", one.broken);
    return object.raw("members", json::array(one.members, member)).text();
  };
  std::vector<Rank> ranks;
  for (Rank rank = 0; std::cmp_less(rank, situation_.seats.size()); ++rank) ranks.push_back(rank);
  json::Object object;
  object.add("job", name_of(job_)).maybe("launcher", launcher_ != 0, launcher_);
  object.add("size", situation_.seats.size()).raw("findings", json::array(findings_, finding));
  object.raw("ranks", json::array(ranks, [this](Rank rank) { return rank_json(rank); }));
  return object.raw("groups", json::array(situation_.snapshot.groups, group)).text() + "\n";
}

std::string list_text(const std::vector<Job>& jobs) {
  if (jobs.empty()) return "no job runs on this machine\n";
  std::string text;
  for (const Job& job : jobs) {
    text += "job " + name_of(job.id) + ": ";
    if (job.segment) {
      const File here(job.segment.get());
      const std::int32_t ranks = ranks_of(here);
      const Situation situation = observe(here, ranks);
      text += std::to_string(situation.seats.size()) + (ranks != 0 ? " of " + std::to_string(ranks) : "") +
              (situation.seats.size() == 1 ? " rank" : " ranks") + (ranks != 0 ? " here (" : " (") +
              summary(situation) + "), ";
    } else {
      text += job.problem + ", ";
    }
    text += job.launcher == 0 ? "no launcher"
                              : "launcher " + std::to_string(job.launcher) + " (" + command_of(job.launcher) + ")";
    text += "\n";
  }
  return text;
}

std::string list_json(const std::vector<Job>& jobs) {
  return json::array(jobs,
                     [](const Job& job) {
                       json::Object object;
                       object.add("job", name_of(job.id)).maybe("launcher", job.launcher != 0, job.launcher);
                       object.maybe("problem", !job.segment, std::string_view(job.problem));
                       return object.add("command", command_of(job.launcher)).text();
                     }) +
         "\n";
}

}  // namespace tutti::diagnose
