// SPDX-License-Identifier: BSD-3-Clause
// What the processes of one host share while the MPI runs: their memory and the group of all of them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "abi.hpp"
#include "host/waiting.hpp"
#include "job/runtime.hpp"

namespace tutti::mpi {

class Host {
 public:
  /// Collective over the world, inside MPI_Init. Never fails: without shared memory everything is the MPI's.
  static void start();
  /// Collective over the world, inside MPI_Finalize, while the MPI still works.
  static void finish();
  /// nullptr before `start`, after `finish`, and where nothing is shared.
  static Host* get();

  /// nullptr on a host that shares nothing, in a job with others that do.
  const std::shared_ptr<job::Member>& member() const { return member_; }
  engine::Engine& engine() const { return member_->runtime().engine(); }
  /// This host's ranks of a group of processes; empty when some are on other hosts.
  std::vector<Rank> ranks_of(MPI_Group group, int size) const;
  /// Moves the MPI on.
  static void poll();

 private:
  Host() = default;
  bool enter();
  void share(MPI_Comm comm);

  MPI_Comm comm_ = MPI_COMM_NULL;  ///< Of this host's ranks, ours alone.
  MPI_Group group_ = MPI_GROUP_NULL;
  Rank rank_ = 0;
  int size_ = 1;
  std::shared_ptr<host::Segment> segment_;
  std::shared_ptr<job::Member> member_;
  std::string why_;  ///< Why nothing is shared.
};

}  // namespace tutti::mpi
