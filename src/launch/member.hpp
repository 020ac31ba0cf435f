// SPDX-License-Identifier: BSD-3-Clause
// A process's place in its job: how it joins, what it keeps, how it leaves.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "host/segment.hpp"
#include "launch/secret.hpp"
#include "tutti/types.hpp"

namespace tutti::launch {

/// How to wait for the others.
struct Patience {
  /// 0 = as long as the job lives: the launcher tells those who wait when somebody will never come. Over several hosts
  /// joining takes ten minutes at most.
  std::chrono::nanoseconds timeout{0};
  /// Asked now and then, and after every signal; true ends the wait with Error (interrupted).
  bool (*interrupted)() = nullptr;
};

struct Membership;

class Member {
 public:
  Member(Member&&) noexcept;
  Member& operator=(Member&&) noexcept;
  /// Closes the connections without a word: the launcher takes that for a death unless `leave` was called.
  ~Member();

  Rank rank() const;
  int size() const;
  std::uint64_t job() const;
  /// That all ranks of this host together may use.
  int cores() const;
  /// The host of each rank, numbered from 0 in the order of their lowest ranks.
  std::span<const Rank> hosts() const;
  /// Where hosts of the job share the cores of a machine that are fewer than their ranks, as in neighbors.hpp; else 1.
  /// The same on all ranks.
  int ranks_per_core() const;
  /// Whether loopback leads from each rank to each, as in neighbors.hpp.
  bool one_network() const;
  /// What all processes of the job know, and nobody else.
  const Secret& secret() const;
  /// Who started the job, and how its ranks found each other: for people.
  const std::string& launcher() const;
  /// False for a world of one that no launcher started.
  bool launched() const;
  /// Of this host: of its ranks, in the order of the job's. Entered already: this rank is alive in it, and so is (or
  /// was) every other. It lives as long as anyone holds it.
  const std::shared_ptr<host::Segment>& segment() const;

  /// Gives the others a value of at most 64 KiB. A key (1 to 128 printable characters) can be put once in a job.
  /// Throws Error: usage (bad key or value, key taken), timeout, interrupted, system (launcher gone). Any thread; one
  /// at a time is served.
  void put(std::string_view key, std::span<const std::byte> value, const Patience& patience = {});
  /// Waits until somebody has put the key. Throws Error: usage, timeout, interrupted, system, peer_lost (a rank
  /// was lost before it was put).
  std::vector<std::byte> get(std::string_view key, const Patience& patience = {});

  /// Leaves in order: segment first, then the store. The lifeline stays, so that the process still ends with its
  /// launcher. Over several hosts rank 0 waits up to five seconds until all have left, for it serves the store, and
  /// goes on serving as long as it lives. No effect the second time, and none in a forked child.
  void leave();

 private:
  friend Member join(const Patience&);
  explicit Member(std::unique_ptr<Membership> state);
  std::unique_ptr<Membership> state_;
};

/// Joins the job that the environment names, and waits until all ranks have; a world of one when it names none.
/// Throws Error: usage (environment), system (refused, with the reason; launcher or rank 0 gone), timeout, interrupted.
Member join(const Patience& patience = {});

/// Whether `join` would join a job, or try to: by hand, of a launcher of ours or of a cluster's.
bool in_job();

}  // namespace tutti::launch
