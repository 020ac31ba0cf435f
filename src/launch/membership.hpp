// SPDX-License-Identifier: BSD-3-Clause
// How a process joins, by whichever way its job has, and what it keeps of that.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "base/forks.hpp"
#include "host/segment.hpp"
#include "launch/conversation.hpp"
#include "launch/environment.hpp"
#include "launch/meeting.hpp"
#include "launch/tcp_store.hpp"

namespace tutti::launch {

/// The patience of who joins a job over several hosts: it has a limit.
Patience limited(Patience patience);

struct Membership {
  Membership();
  ~Membership();

  /// The job of a cluster's launcher, where there is one, or of Slurm's step; else a world of one.
  void join_cluster(const Patience& patience);
  /// The job of a launcher of ours, which serves the rendezvous on this host.
  void join_launcher(const Environment& environment, const Address& launcher, const Patience& patience);
  /// A job over several hosts, whose rank 0 serves it.
  void join_hosts(Meeting meeting, Deadline& deadline);
  void leave();

  Rank rank = 0;
  std::vector<Rank> hosts{0};
  int cores = 1;
  int ranks_per_core = 1;
  bool one_network = true;
  std::uint64_t job = 0;
  Secret secret;
  std::string launcher;
  bool launched = false;
  Rank place = 0;  ///< Among the ranks of this host.
  std::shared_ptr<host::Segment> segment;
  std::mutex mutex;  // of what follows
  Conversation control, lifeline;
  std::uint32_t asked = 0;           ///< Number of the last put or get.
  std::unique_ptr<TcpStore> store;   ///< Of rank 0, in a job over several hosts.
  std::unique_ptr<Cluster> cluster;  ///< Beside an MPI, until both take leave.

 private:
  void join_slurm(const Patience& patience);
  void join_nobody(std::string why);
  /// What the store says next; for whom one waits it may say at any time, and that is kept. Throws as `receive`.
  template <class T>
  T hear(Deadline& deadline);
  /// Nothing may come but why this rank is refused, which is thrown as by `receive`.
  [[noreturn]] void hear_why(Deadline& deadline);
  void heed(const Message& message, Deadline& deadline);
  void share_memory(const Roster& roster, base::Descriptor door, Deadline& deadline);
  void enter();
  bool in_this_process() const;
  void before_fork();
  /// A child keeps no connection: it would hide the parent's end from the others.
  void after_fork(bool in_child);

  const pid_t pid_;
  bool entered_ = false, joined_ = false, remarked_ = false;
  const base::AtFork at_fork_{[this] { before_fork(); }, [this](bool in_child) { after_fork(in_child); }};
};

}  // namespace tutti::launch
