// SPDX-License-Identifier: BSD-3-Clause
#include "launch/membership.hpp"

#include <unistd.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <variant>

#include "base/log.hpp"
#include "host/topology.hpp"
#include "launch/handover.hpp"
#include "launch/neighbors.hpp"

namespace tutti::launch {

namespace {

/// A cluster may start a job's processes minutes apart. Who is waited for is said long before.
constexpr std::chrono::minutes longest_meeting{10};
constexpr std::chrono::seconds farewell{1}, last_service{5};

Hello make_hello(const Environment& environment, Purpose purpose) {
  Hello hello;
  hello.purpose = purpose;
  hello.rank = environment.rank;
  hello.size = environment.size;
  hello.pid = getpid();
  hello.secret = environment.secret;
  return hello;
}

/// A number under which nobody listens on this host, and the socket that does now.
std::pair<std::uint64_t, base::Descriptor> open_door() {
  const std::uint64_t door = random_job();
  return {door, listen_at(Address(door_address(door)))};
}

}  // namespace

Membership::Membership() : pid_(getpid()) {}

Membership::~Membership() {
  // A join that failed half-way leaves its place in order; whoever serves the rendezvous tells the others.
  if (entered_ && !joined_ && in_this_process()) segment->leave(place);
  // A forked child has the memory of these, but not their threads.
  if (!in_this_process()) {
    static_cast<void>(store.release());
    static_cast<void>(cluster.release());
  }
}

void Membership::before_fork() {
  if (store) store->before_fork();
}

void Membership::after_fork(bool in_child) {
  if (store) store->after_fork(in_child);
  // A launcher of ours watches the process itself.
  if (in_child && !lifeline.open()) control.close();
}

template <class T>
T Membership::hear(Deadline& deadline) {
  for (;;) {
    Message message = control.receive(deadline);
    if (T* content = std::get_if<T>(&message)) return std::move(*content);
    heed(message, deadline);
  }
}

void Membership::hear_why(Deadline& deadline) {
  for (;;) heed(control.receive(deadline), deadline);
}

void Membership::heed(const Message& message, Deadline& deadline) {
  const auto* waiting = std::get_if<Waiting>(&message);
  if (waiting == nullptr) throw control.unexpected();
  deadline.await(waiting->reason);
  if (rank == 0 && !std::exchange(remarked_, true))
    base::log("rank 0 waits for " + waiting->reason + " to join (" + launcher + ")");
}

bool Membership::in_this_process() const { return pid_ == getpid(); }

void Membership::enter() {
  segment->enter(place);
  entered_ = true;
}

Patience limited(Patience patience) {
  if (patience.timeout.count() <= 0) patience.timeout = longest_meeting;
  return patience;
}

void Membership::join_cluster(const Patience& patience) {
  cluster = find_pmi();
  if (!cluster) cluster = find_pmix();
  if (!cluster) return join_slurm(patience);
  // A shell that a launcher started may run one program after the other: alone none needs the launcher.
  if (cluster->size() == 1) return join_nobody(cluster->name() + "; a world of one");
  Deadline deadline(limited(patience));
  Meeting meeting = by_cluster(*cluster, deadline);
  if (mpi_here() == Mpi::none) cluster.reset();
  join_hosts(std::move(meeting), deadline);
}

void Membership::join_slurm(const Patience& patience) {
  const std::optional<SlurmTask> task = find_slurm_task();
  if (!task) return join_nobody("none: a world of one");
  Deadline deadline(limited(patience));
  join_hosts(by_slurm(*task), deadline);
}

void Membership::join_nobody(std::string why) {
  job = random_job();
  secret = random_secret();
  launcher = std::move(why);
  cores = host::usable_cores().usable;
  segment = host::Segment::local(1, job);
  enter();
  joined_ = true;
}

void Membership::join_launcher(const Environment& environment, const Address& address, const Patience& patience) {
  Deadline deadline(patience);
  rank = place = environment.rank;
  secret = environment.secret;
  launcher = "tutti run";
  launched = true;
  control = Conversation(address);
  control.send(make_hello(environment, Purpose::control), deadline);
  const auto welcome = control.expect<Welcome>(deadline);
  base::Descriptor memory = control.take_descriptor();
  if (!memory) throw Error(Cause::system, "the launcher sent no shared memory; start the job again with `tutti run`");
  hosts.assign(static_cast<std::size_t>(welcome.size), 0);
  cores = welcome.cores;
  job = welcome.job;
  segment = host::Segment::attach(memory.release(), welcome.job);

  lifeline = Conversation(address);
  lifeline.send(make_hello(environment, Purpose::lifeline), deadline);
  lifeline.expect<Welcome>(deadline);

  // Alive first, ready then: whoever has passed `Go` finds every other alive, or dead, but never absent.
  enter();
  control.send(Ready{}, deadline);
  control.expect<Go>(deadline);
  // Only now: the launcher may still have been inside its sending of that welcome, and what it does there after the
  // message has been handed over, a wake-up, would have ended this process. It has sent `Go` after that.
  lifeline.become_lifeline();
  joined_ = true;
}

void Membership::join_hosts(Meeting meeting, Deadline& deadline) {
  rank = meeting.rank;
  secret = meeting.secret;
  launcher = meeting.launcher;
  launched = true;
  // For each rank one of the transport, at rank 0 its connection to the store, and one more while it calls; the rest is
  // the program's own.
  allow_open_files(static_cast<rlim_t>(meeting.size) * 3 + 512);
  auto [number, door] = open_door();
  if (rank == 0) {
    store = std::make_unique<TcpStore>(std::move(meeting.listeners), secret, meeting.size);
    control = Conversation(store->take_own(), "this rank's store");
  } else {
    control = Conversation(call_store(meeting.find, meeting.where, secret, rank, deadline),
                           "rank 0, which serves the job's store at " + meeting.where + ",");
  }
  deadline.await("the other ranks");
  control.send(Join{rank, meeting.size, getpid(), own_card(number)}, deadline);
  const auto roster = hear<Roster>(deadline);
  deadline.await("the other ranks");  // not those of the last reminder: all have come
  job = roster.job;
  hosts = number_hosts(roster.cards);
  if (hosts.size() != static_cast<std::size_t>(meeting.size))
    throw Error(Cause::system, "rank 0 sent a list of " + std::to_string(hosts.size()) + " ranks, not of " +
                                   std::to_string(meeting.size));
  share_memory(roster, std::move(door), deadline);
  enter();
  control.send(Ready{}, deadline);
  hear<Go>(deadline);
  joined_ = true;
}

/// The lowest rank of a host makes the segment and hands it to the others.
void Membership::share_memory(const Roster& roster, base::Descriptor door, Deadline& deadline) {
  const Rank host = hosts[static_cast<std::size_t>(rank)];
  const auto begin = hosts.begin();
  place = static_cast<Rank>(std::count(begin, begin + rank, host));
  const auto count = static_cast<int>(std::ranges::count(hosts, host));
  cores = shared_cores(roster.cards, hosts, host);
  ranks_per_core = launch::ranks_per_core(roster.cards, hosts);
  one_network = share_network(roster.cards);
  if (place == 0) {
    segment = host::Segment::create(count, job);
    Handover handover(*segment, secret, std::move(door));
    const Handover::News news{control.descriptor(), [&] { heed(control.receive(deadline), deadline); }};
    if (handover.serve(deadline, news) == 0) return;
    hear_why(deadline);  // the time is out
  }
  const auto lowest = static_cast<std::size_t>(std::ranges::find(hosts, host) - begin);
  try {
    const Address address(door_address(roster.cards[lowest].door));
    segment = fetch_segment(address, job, secret, place, count, deadline);
  } catch (const Error& error) {
    // The store may know the reason: then that is thrown.
    Deadline soon(Patience{farewell});
    try {
      hear_why(soon);
    } catch (const Timeout&) {
    }
    raise(Error(error.cause(), "no memory is shared with rank " + std::to_string(lowest) + ", which is on this host: " +
                                   error.what() + "; give the two another TUTTI_HOST if they cannot share any"));
  }
}

void Membership::leave() {
  if (!joined_ || !in_this_process()) return;
  joined_ = entered_ = false;
  segment->leave(place);
  const std::scoped_lock lock(mutex);
  cluster.reset();
  if (!control.open()) return;
  try {
    Deadline deadline(Patience{farewell});
    control.send(Bye{}, deadline);
  } catch (const Error&) {
    // Whoever serves the rendezvous is gone; there is nobody to take leave of.
  }
  control.close();
  if (store) store->linger(last_service);
}

}  // namespace tutti::launch
