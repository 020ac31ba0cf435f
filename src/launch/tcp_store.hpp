// SPDX-License-Identifier: BSD-3-Clause
// The store of a job over several hosts: a thread of rank 0's process, where the ranks meet.
#pragma once

#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/descriptor.hpp"
#include "launch/lobby.hpp"

namespace tutti::launch {

class TcpStore {
 public:
  /// Serves at these sockets, which listen and do not block, until it is destroyed. Lets the process open as many files
  /// as that may take.
  TcpStore(std::vector<base::Descriptor> listeners, const Secret& secret, int size);
  ~TcpStore();
  TcpStore(const TcpStore&) = delete;
  TcpStore& operator=(const TcpStore&) = delete;

  /// The connection of rank 0 itself; once.
  base::Descriptor take_own() { return std::move(own_); }
  /// Around a fork: the thread stands still from the first to the last of these. The child keeps no socket of it.
  void before_fork() { turning_.lock(); }
  void after_fork(bool in_child);
  /// Waits until all ranks have left or are lost, but not longer than that.
  void linger(std::chrono::nanoseconds most);

 private:
  void run();

  Loop loop_;
  std::mutex turning_;  // of the lobby, once the thread runs
  std::unique_ptr<Lobby> lobby_;
  base::Descriptor own_, stop_;
  bool stopped_ = false;  // the thread's own
  std::mutex mutex_;      // of what follows
  std::condition_variable gone_;
  int present_;
  std::thread thread_;
};

}  // namespace tutti::launch
