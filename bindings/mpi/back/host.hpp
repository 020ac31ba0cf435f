// SPDX-License-Identifier: BSD-3-Clause
// What the processes of one host share while the MPI runs: their memory and the group of all of them. And, where there
// are several hosts, the group of all processes, which speak through the MPI's messages.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "abi.hpp"
#include "host/waiting.hpp"
#include "job/recording.hpp"
#include "job/runtime.hpp"
#include "launch/window.hpp"
#include "ranks.hpp"
#include "tune/source.hpp"

namespace tutti::mpi {

class Carrier;

class Host {
 public:
  /// Collective over the world, inside MPI_Init. Never fails: what is not possible is left to the MPI.
  static void start();
  /// Collective over the world, inside MPI_Finalize, while the MPI still works.
  static void finish();
  /// nullptr before `start`, after `finish`, and where Tutti does nothing.
  static Host* get();

  /// nullptr on a host that shares nothing, in a job with others that do.
  const std::shared_ptr<job::Member>& member() const { return member_; }
  /// All ranks of the job; nullptr where they are on one host.
  const std::shared_ptr<job::Member>& apart() const { return apart_; }
  /// Of this host; nullptr where its ranks share none.
  std::shared_ptr<host::Segment> memory() const { return member_ != nullptr ? segment_ : nullptr; }
  /// The program has threads, on all ranks: one of Tutti's own may call the MPI and the program's functions.
  bool has_threads() const { return has_threads_; }
  /// This process's; to wait for what may be anywhere, any of them will do.
  std::vector<engine::Engine*> engines() const;
  /// Those that a thread of Tutti's own may move on.
  std::vector<engine::Engine*> engines_for_threads() const;
  /// This host's ranks of a group of processes; empty when some are on other hosts.
  std::vector<Rank> ranks_of(MPI_Group group, int size) const;
  /// Their ranks in the job.
  std::vector<Rank> ranks_apart(MPI_Group group, int size) const;
  /// Whether all of them are of this job: MPI_Comm_spawn and its like bring together those of several.
  bool has_all(MPI_Group group, int size) const;
  /// Moves the MPI on.
  static void poll();

 private:
  Host() = default;
  /// Whether all ranks can read what they were given: who cannot must not leave the others waiting.
  bool read_settings();
  /// By these; rank 0's hold for all, and what was measured on a host, for that one.
  void agree_on_selection(Ranks& job, const job::Offer& mine);
  void record();
  void record_end();
  /// All ranks of the job; nullptr where they have no group of Tutti's.
  job::Member* everybody() const;
  void share();
  /// A rank that is alone on its host has memory, too, for those who look at it.
  void begin_notes();
  void connect();

  std::unique_ptr<Ranks> here_;  ///< This host's.
  int job_size_ = 1;
  int cores_ = 1;            ///< That this host's ranks may use together.
  tune::Source table_;       ///< As far as this rank knows.
  job::Offer inside_;        ///< Agreed, for groups inside this host.
  job::Offer between_;       ///< Agreed, for groups on several.
  std::vector<Rank> hosts_;  ///< Of each rank of the job.
  std::unique_ptr<job::Recording> recording_;
  MPI_Group group_ = MPI_GROUP_NULL;
  std::shared_ptr<host::Segment> segment_;  ///< This host's; nullptr: it cannot be shared.
  std::unique_ptr<launch::Window> window_;  ///< Where there are several hosts.
  std::shared_ptr<job::Member> member_;
  std::string why_;  ///< Why nothing is shared.
  MPI_Group world_ = MPI_GROUP_NULL;
  std::shared_ptr<job::Member> apart_;
  Carrier* carrier_ = nullptr;  ///< Of `apart_`'s engine.
  bool has_threads_ = false;
};

}  // namespace tutti::mpi
