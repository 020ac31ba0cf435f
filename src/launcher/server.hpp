// SPDX-License-Identifier: BSD-3-Clause
// The launcher's side of the rendezvous: lets the job's ranks in, and nobody else; hands out the segment; knows who
// lives.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "host/segment.hpp"
#include "launch/loop.hpp"
#include "launch/rendezvous.hpp"

namespace tutti::launcher {

using launch::Seat;

class Server final : public launch::Rendezvous {
 public:
  /// Listens from now on; serves while the loop turns. The loop must outlive it.
  /// `cores`: what all ranks together may use, for them to know.
  Server(launch::Loop& loop, const launch::Secret& secret, std::shared_ptr<host::Segment> segment, int cores);
  ~Server() override;

  /// For TUTTI_STORE.
  const std::string& address() const { return address_; }

  /// The process that was started as this rank has ended. When it never came, or was the one that joined, the others
  /// are told; when it only wrapped the one that joined, nothing happens.
  void ended(Rank rank, pid_t pid);
  /// Called when a member is lost.
  void on_lost(std::function<void(Rank)> action) { on_lost_ = std::move(action); }

 private:
  void accepted(base::Descriptor socket) override;
  void greet(Id id, Guest& guest, const launch::Message& message) override;
  void vacated(Rank rank) override;
  void lost(Rank rank, Seat was) override;
  std::string objection(const Guest& guest, const launch::Hello& hello) const;
  void process_ended(Rank rank);

  const launch::Secret secret_;
  const std::shared_ptr<host::Segment> segment_;
  const int cores_;
  std::string address_;
  std::vector<base::Descriptor> processes_;  // of the ranks: readable when one has ended
  std::function<void(Rank)> on_lost_;
};

}  // namespace tutti::launcher
