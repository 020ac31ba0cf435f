// SPDX-License-Identifier: BSD-3-Clause
#include "diagnose/findings.hpp"

#include <algorithm>
#include <cstdio>
#include <map>
#include <set>
#include <utility>

#include "base/names.hpp"
#include "base/words.hpp"
#include "diagnose/graph.hpp"
#include "launch/system.hpp"

namespace tutti::diagnose {

namespace {

using base::list_ranks;
using Ranks = std::set<Rank>;

std::vector<Rank> listed(const Ranks& ranks) { return {ranks.begin(), ranks.end()}; }
std::string list(const Ranks& ranks) { return list_ranks(listed(ranks)); }
const char* verb(const Ranks& ranks, const char* one, const char* several) { return ranks.size() == 1 ? one : several; }

/// In what two calls that do not match differ; never empty.
std::vector<std::string> differences(const Called& one, const Called& other) {
  std::vector<std::string> found = base::differences(one.call, one.count, other.call, other.count);
  if (found.empty()) found.emplace_back(one.kind() == Kind::plan ? "plan" : "algorithm");
  return found;
}

/// "root and count"
std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) base::add_word(text, word, " and ");
  return text;
}

/// Writes the findings of one situation.
class Writer {
 public:
  Writer(const Situation& situation, const Words& words) : situation_(situation), words_(words), graph_(situation) {}
  std::vector<Finding> write();

 private:
  void mismatch(const Group& group);
  void broken(const Group& group);
  void blame(const Blame& blame);
  void message(const Blame& blame);
  void circle(const std::vector<Edge>& edges);
  void idle(State state, const char* kind, const std::string& text);
  void mpi();
  void rest();

  const Snapshot& snapshot() const { return situation_.snapshot; }
  std::string who(Rank rank) const;
  std::string who(const Ranks& ranks) const { return ranks.size() == 1 ? who(*ranks.begin()) : list(ranks); }
  std::string at(Rank rank, std::uint64_t site, const char* place = "") const;
  std::string last_call(Rank rank, const Group& group) const;
  std::string in_mpi(const Ranks& ranks) const;
  std::string does(const Ranks& ranks, State state) const;
  std::string silent(Rank rank) const { return "silent (" + situation_.seat(rank).why_silent + ")"; }
  std::string waiters(const Blame& blame) const;
  std::string group_text(const Group& group) const { return "group " + group_name(snapshot(), group.context); }
  void add(Finding finding) { findings_.push_back(std::move(finding)); }

  const Situation& situation_;
  const Words& words_;
  const Graph graph_;
  std::vector<Finding> findings_;
  Ranks blamed_;
};

std::string Writer::who(Rank rank) const {
  const pid_t pid = situation_.seat(rank).pid;
  const std::string& host = situation_.seat(rank).host;
  return "rank " + std::to_string(rank) +
         (pid != 0 ? " (pid " + std::to_string(pid) + (host.empty() ? "" : " on " + host) + ")"
                   : (host.empty() ? "" : " (on " + host + ")"));
}

std::string Writer::at(Rank rank, std::uint64_t site, const char* place) const {
  const std::string text = place[0] != '\0' ? std::string(place) : words_.site(rank, site);
  return text.empty() ? text : " at " + text;
}

std::string Writer::last_call(Rank rank, const Group& group) const {
  const auto member = std::ranges::find(group.members, rank, &Member::world);
  if (member == group.members.end()) return {};
  if (member->calls.empty()) return is_mute(situation_, rank) ? "" : " It has called nothing there yet.";
  const Called& last = member->calls.back();
  return " Its last call there was " + last.name() + " #" + std::to_string(last.sequence) + at(rank, last.site) + ".";
}

/// "in MPI_Recv (peer 1, tag 9) at solver: step+0x1c"; empty when they are not all in the same one.
std::string Writer::in_mpi(const Ranks& ranks) const {
  const auto& first = situation_.seat(*ranks.begin()).mpi;
  const auto all = [&](auto same) {
    return std::ranges::all_of(ranks, [&](Rank rank) {
      const auto& other = situation_.seat(rank).mpi;
      return first && other && same(*other);
    });
  };
  if (!all([&](const InMpi& other) { return other.name == first->name; })) return {};
  const bool alike = all([&](const InMpi& other) { return other.peer == first->peer && other.tag == first->tag; });
  return "in " + (alike ? describe(*first) : first->name) + at(*ranks.begin(), first->site);
}

/// What those who are waited for do instead.
std::string Writer::does(const Ranks& ranks, State state) const {
  const char* const it = verb(ranks, "It ", "They ");
  const std::string mpi = in_mpi(ranks);
  if (!mpi.empty()) return std::string(" ") + it + verb(ranks, "is ", "are ") + mpi + ".";
  if (state == State::in_mpi) return " They are in calls of their MPI.";
  const auto& call = situation_.seat(*ranks.begin()).system_call;
  if (state == State::sleeping && ranks.size() == 1 && call) return " It sleeps outside Tutti: " + call->text() + ".";
  if (state == State::running)
    return std::string(" ") + it + verb(ranks, "runs", "run") + " outside Tutti: in the program's own code.";
  if (state == State::sleeping)
    return std::string(" ") + it + verb(ranks, "sleeps", "sleep") + " outside Tutti: for input, or another program.";
  return {};
}

std::string Writer::waiters(const Blame& blame) const {
  const Ranks behind = graph_.behind(blame.waiters, blame.targets);
  std::string text = list(blame.waiters) + verb(blame.waiters, " waits for ", " wait for ");
  text += verb(blame.targets, "it", "them");
  text += " (" + age(blame.wait->since, snapshot().taken_at) + ")";
  const Rank first = *blame.waiters.begin();
  text += at(first, blame.wait->site, blame.wait->place);
  if (!behind.empty()) text += ", " + list(behind) + " behind " + verb(blame.waiters, "it", "them");
  return text;
}

void Writer::mismatch(const Group& group) {
  // By number, then by signature: who called it so.
  std::map<std::uint64_t, std::map<std::uint32_t, std::vector<std::size_t>>> calls;
  for (std::size_t i = 0; i < group.members.size(); ++i)
    for (const Called& called : group.members[i].calls)
      if (called.recorded) calls[called.sequence][called.signature].push_back(i);
  const auto found = std::ranges::find_if(calls, [](const auto& entry) { return entry.second.size() > 1; });
  if (found == calls.end()) return broken(group);
  std::vector<std::vector<std::size_t>> parties;
  for (const auto& [signature, members] : found->second) parties.push_back(members);
  std::ranges::sort(parties, {}, [&](const std::vector<std::size_t>& party) {  // the odd one out first
    return std::pair(party.size(), group.members[party.front()].world);
  });
  Finding finding{"mismatch", {}, {}, {}, group.name, static_cast<std::int64_t>(found->first)};
  for (const std::vector<std::size_t>& party : parties) {
    Ranks ranks;
    for (const std::size_t member : party) ranks.insert(group.members[member].world);
    const Called& called = *group.members[party.front()].find(found->first);
    const std::string by =
        called.kind() == Kind::plan ? base::text_of(called.label) : std::string(words_.algorithm(called.algorithm));
    base::add_word(finding.text, who(ranks) + " called " + base::call_text(called.call, called.count, by) +
                                     at(group.members[party.front()].world, called.site));
    if (&party == &parties.front()) finding.ranks = listed(ranks);
  }
  const auto call_of = [&](const auto& party) { return group.members[party.front()].find(found->first); };
  finding.differences = differences(*call_of(parties.front()), *call_of(parties.back()));
  finding.text += ": mismatch at #" + std::to_string(found->first) + " of " + group_text(group) + ", in the " +
                  joined(finding.differences) + ". All ranks must call the same collectives in the same order.";
  add(std::move(finding));
}

void Writer::broken(const Group& group) {
  if (!group.broken) return;
  const auto world = [&](Rank rank) { return rank < 0 ? std::string("a rank") : who(rank); };
  Finding finding{"broken", group_text(group) + " is broken: ", {}, {}, group.name, -1};
  if (group.cause == Cause::peer_lost)
    finding.text += world(group.whom) + " was lost";
  else if (group.cause == Cause::mismatch)
    finding.text += "the calls of " + world(group.who) + " and " + world(group.whom) + " did not match at #" +
                    std::to_string(group.sequence);
  else
    finding.text += world(group.who) + " gave up operation #" + std::to_string(group.sequence);
  finding.text += ". Every call on it fails at once; no rank waits in it.";
  if (group.whom >= 0) finding.ranks = {group.whom};
  add(std::move(finding));
}

void Writer::blame(const Blame& blame) {
  blamed_.insert(blame.targets.begin(), blame.targets.end());
  if (is_message(blame.wait->what)) return message(blame);
  const std::string operation = describe(*blame.wait, snapshot());
  const std::string whom = who(blame.targets), is = verb(blame.targets, " is ", " are ");
  const std::string has = verb(blame.targets, " has ", " have ");
  Finding finding{name(blame.state),
                  whom,
                  listed(blame.targets),
                  listed(blame.waiters),
                  group_name(snapshot(), blame.wait->context),
                  blame.wait->what == host::Waited::collective ? static_cast<std::int64_t>(blame.wait->sequence) : -1};
  const std::string no_call = blame.reached ? has + "called " + operation : has + "not called " + operation;
  switch (blame.state) {
    case State::dead:
      finding.text += is + "dead" + (blame.reached ? " since " + operation + " began" : ", and" + no_call);
      break;
    case State::left:
      finding.text += has + "left the job" + (blame.reached ? " before " + operation + " was over" : " and" + no_call);
      break;
    case State::stopped:
      finding.text +=
          is + "stopped (kill -CONT lets it go on)" + (blame.reached ? " in " + operation : ", and" + no_call);
      break;
    case State::silent:
      finding.text += is + silent(*blame.targets.begin()) + (blame.reached ? " in " + operation : ", and" + no_call);
      break;
    case State::absent:
      finding.text += has + "not joined the job";
      break;
    case State::ended:
      finding.text += has + "ended" + (blame.reached ? " since " + operation + " began" : ", and" + no_call);
      break;
    case State::unreachable:
      finding.text += verb(blame.targets, " cannot be reached: nothing is heard of its host",
                           " cannot be reached: nothing is heard of their hosts");
      break;
    default:
      finding.kind = blame.reached ? "unfinished" : "missing";
      finding.text += blame.reached ? has + "started " + operation + ", but does not wait for its end" : no_call;
      break;
  }
  finding.text += "; " + waiters(blame) + "." + does(blame.targets, blame.state);
  if (!blame.reached && blame.targets.size() == 1) finding.text += last_call(*blame.targets.begin(), *blame.group);
  for (const Rank rank : graph_.behind(blame.waiters, blame.targets)) finding.waiting.push_back(rank);
  add(std::move(finding));
}

void Writer::message(const Blame& blame) {
  const Rank target = *blame.targets.begin(), waiter = *blame.waiters.begin();
  const bool sends = blame.wait->what == host::Waited::send;
  const std::string what = " a message with tag " + std::to_string(blame.wait->tag) + " in " + group_text(*blame.group);
  std::string text = who(target);
  if (blame.state == State::dead) text += " is dead, and";
  if (blame.state == State::left) text += " has left the job, and";
  if (blame.state == State::ended) text += " has ended, and";
  if (blame.state == State::unreachable) text += " cannot be reached, and";
  if (blame.state == State::stopped) text += " is stopped (kill -CONT lets it go on), and";
  if (blame.state == State::silent) text += " is " + silent(target) + ", and";
  text += sends ? " has not received" + what + " from " : " has not sent" + what + " to ";
  text += "rank " + std::to_string(waiter) + ", which waits in " + (sends ? "send" : "recv") + " (" +
          age(blame.wait->since, snapshot().taken_at) + ")" + at(waiter, blame.wait->site, blame.wait->place) + ".";
  const Ranks behind = graph_.behind(blame.waiters, blame.targets);
  if (!behind.empty()) text += " Behind it " + std::string(verb(behind, "waits ", "wait ")) + list(behind) + ".";
  Finding finding{"message", text + does(blame.targets, blame.state),     {target},
                  {waiter},  group_name(snapshot(), blame.wait->context), -1};
  for (const Rank rank : behind) finding.waiting.push_back(rank);
  add(std::move(finding));
}

void Writer::circle(const std::vector<Edge>& edges) {
  Finding finding{"deadlock", "deadlock: ", {}, {}, group_name(snapshot(), edges.front().wait->context), -1};
  Ranks ranks;
  for (const Edge& edge : edges) {
    ranks.insert(edge.from);
    finding.text += (&edge == &edges.front() ? "" : "; ") + who(edge.from) + " waits for rank " +
                    std::to_string(edge.to) + " in " + describe(*edge.wait, snapshot()) +
                    at(edge.from, edge.wait->site, edge.wait->place);
  }
  finding.ranks = listed(ranks);
  finding.waiting = listed(graph_.behind(ranks, ranks));
  if (!finding.waiting.empty()) finding.text += "; behind them: " + list_ranks(finding.waiting);
  finding.text += ".";
  add(std::move(finding));
}

/// Those in a state that explains itself, whether somebody waits for them yet or not.
void Writer::idle(State state, const char* kind, const std::string& text) {
  Ranks ranks;
  for (Rank rank = 0; std::cmp_less(rank, situation_.seats.size()); ++rank)
    if (situation_.seat(rank).state == state && !blamed_.contains(rank)) ranks.insert(rank);
  if (ranks.empty()) return;
  const std::string how = state == State::silent ? silent(*ranks.begin()) : "";
  Finding finding{kind, who(ranks) + verb(ranks, " is ", " are ") + how + text, listed(ranks), {}, {}, -1};
  if (const Called* last = diagnose::last_call(snapshot(), *ranks.begin()); last != nullptr && ranks.size() == 1)
    finding.text +=
        " Its last call was " + call_name(*last) + " of group " +
        group_name(snapshot(), snapshot().processes[static_cast<std::size_t>(*ranks.begin())].last_context) + ".";
  add(std::move(finding));
}

/// Ranks that wait for each other in their MPI, which alone knows why.
void Writer::mpi() {
  std::map<std::pair<std::string, std::string>, Ranks> calls;  // by name and place: addresses differ between ranks
  std::map<State, Ranks> others;
  for (Rank rank = 0; std::cmp_less(rank, situation_.seats.size()); ++rank) {
    const Seat& seat = situation_.seat(rank);
    if (seat.mpi)
      calls[{seat.mpi->name, at(rank, seat.mpi->site)}].insert(rank);
    else if (seat.state == State::running || seat.state == State::sleeping)
      others[seat.state].insert(rank);
  }
  if (calls.empty()) return;
  Finding finding{"mpi", {}, {}, {}, {}, -1};
  for (const auto& [call, ranks] : calls) {
    base::add_word(finding.text, who(ranks) + verb(ranks, " waits ", " wait ") + in_mpi(ranks), "; ");
    finding.waiting.insert(finding.waiting.end(), ranks.begin(), ranks.end());
  }
  for (const auto& [state, ranks] : others) {
    finding.text += "; " + who(ranks) + verb(ranks, " is", " are") + " in no call of the MPI." + does(ranks, state);
    finding.ranks.insert(finding.ranks.end(), ranks.begin(), ranks.end());
  }
  if (others.empty()) finding.text += ".";
  std::ranges::sort(finding.waiting);
  std::ranges::sort(finding.ranks);
  add(std::move(finding));
}

void Writer::rest() {
  Ranks waiting;
  for (Rank rank = 0; std::cmp_less(rank, situation_.seats.size()); ++rank)
    if (!situation_.seat(rank).waits.empty()) waiting.insert(rank);
  if (!waiting.empty())
    return add({"waiting",
                list(waiting) + verb(waiting, " waits", " wait") + " for ranks that are at work in Tutti.",
                listed(waiting),
                {},
                {},
                -1});
  if (situation_.moving)
    return add({"moving", "the job goes on: ranks call collectives, and nobody waits for long.", {}, {}, {}, -1});
  const auto left = [](const Seat& seat) { return seat.state == State::left; };
  add({"idle", std::ranges::all_of(situation_.seats, left) ? "all ranks have left." : "nobody waits.", {}, {}, {}, -1});
}

std::vector<Finding> Writer::write() {
  for (const Group& group : snapshot().groups) mismatch(group);
  for (const Blame& one : graph_.blames()) blame(one);
  for (const std::vector<Edge>& edges : graph_.circles()) circle(edges);
  if (graph_.quiet()) mpi();
  idle(State::dead, "dead", "dead; nobody waits for it yet.");
  idle(State::ended, "ended", "not there any more; nobody waits for it yet.");
  idle(State::unreachable, "unreachable", "on a host of which nothing is heard; nobody waits for it yet.");
  idle(State::silent, "silent", "; nobody waits for it yet.");
  idle(State::stopped, "stopped", "stopped (kill -CONT lets it go on); nobody waits for it yet.");
  const bool begun = std::ranges::any_of(situation_.seats, [](const Seat& seat) { return seat.pid != 0; });
  if (begun)
    idle(State::absent, "absent", "not in the job yet: it has not called tutti::world(). The others wait for it.");
  if (findings_.empty()) rest();
  return std::move(findings_);
}

}  // namespace

std::vector<Finding> find(const Situation& situation, const Words& words) { return Writer(situation, words).write(); }

std::string group_name(const Snapshot& snapshot, std::uint64_t context) {
  const Group* group = snapshot.group(context);
  if (group != nullptr && !group->name.empty()) return group->name;
  return base::hexadecimal(context);
}

std::string operation_name(const host::Wait& wait, const Snapshot& snapshot) {
  constexpr const char* others[] = {"", "send", "recv", "agree", "shrink"};
  if (wait.what != host::Waited::collective) return others[static_cast<std::size_t>(wait.what)];
  const auto kind = static_cast<Kind>(static_cast<std::uint8_t>(wait.call));
  const Group* group = kind == Kind::plan ? snapshot.group(wait.context) : nullptr;
  if (group != nullptr)  // its name is the same on all ranks, or else a finding of its own
    for (const Member& member : group->members)
      if (const Called* called = member.find(wait.sequence); called != nullptr && called->kind() == kind)
        return called->name();
  return std::string(name_of(kind));
}

std::string describe(const host::Wait& wait, const Snapshot& snapshot) {
  const std::string group = " group " + group_name(snapshot, wait.context);
  const std::string name = operation_name(wait, snapshot);
  if (is_message(wait.what)) return name + " with tag " + std::to_string(wait.tag) + " in" + group;
  if (wait.what != host::Waited::collective) return name + " of" + group;  // one shrink is several agreements
  return name + " #" + std::to_string(wait.sequence) + " of" + group;
}

bool is_mute(const Situation& situation, Rank rank) {
  const Seat& seat = situation.seat(rank);
  return seat.state != State::absent &&
         situation.snapshot.processes[static_cast<std::size_t>(rank)].life == host::Life::absent;
}

std::string call_name(const Called& called) { return called.name() + " #" + std::to_string(called.sequence); }

const Called* last_call(const Snapshot& snapshot, Rank rank) {
  const Process& process = snapshot.processes[static_cast<std::size_t>(rank)];
  const Group* group = process.called ? snapshot.group(process.last_context) : nullptr;
  if (group == nullptr) return nullptr;
  const auto member = std::ranges::find(group->members, rank, &Member::world);
  return member != group->members.end() ? member->find(process.last_sequence) : nullptr;
}

std::string describe(const InMpi& in) {
  std::string with;
  if (in.peer >= 0) with = "peer " + std::to_string(in.peer);
  if (in.tag >= 0) with += (with.empty() ? "tag " : ", tag ") + std::to_string(in.tag);
  return in.name + (with.empty() ? "" : " (" + with + ")");
}

std::string age(std::uint64_t since, std::uint64_t now) {
  char text[32];
  std::snprintf(text, sizeof text, "%.1f s", since < now ? static_cast<double>(now - since) * 1e-9 : 0.0);
  return text;
}

}  // namespace tutti::diagnose
