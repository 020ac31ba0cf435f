// SPDX-License-Identifier: BSD-3-Clause
// A job whose ranks note down what they do, from its start to the file that people look at.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "job/clocks.hpp"
#include "job/runtime.hpp"
#include "trace/recorder.hpp"

namespace tutti::job {

class Recording {
 public:
  /// What TUTTI_TRACE asks for: null when nothing. `job`: its number, the same on all ranks. `hosts`: of each rank.
  /// Throws Error (usage, system).
  static std::unique_ptr<Recording> wanted(std::uint64_t job, Rank rank, const std::vector<Rank>& hosts);

  /// One that has not come to its end leaves nothing behind.
  ~Recording();
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  trace::Recorder& recorder() { return recorder_; }

  /// Collective: compares the clocks of hosts, when the world is made.
  void begin(Member& world);
  /// Collective, when the program ends: compares them again, brings together what the ranks have noted, and writes the
  /// file. Ranks that do not come within `patience` leave their parts for `merge_parts`; one line says so.
  void end(Member& world) noexcept;
  /// For ranks that have no group of all: each leaves its part for `merge_parts`.
  void end_alone() noexcept;

 private:
  Recording(std::string file, std::uint64_t job, Rank rank, std::vector<Rank> hosts, std::uint64_t capacity);
  void synchronise(Member& world);
  void describe();
  void name_sites();
  void give(ClockMessages& messages);
  void gather(ClockMessages& messages);

  std::string file_;
  std::uint64_t job_;
  std::vector<Rank> hosts_;
  std::vector<Rank> leaders_;  // the first rank of each host
  trace::Recorder recorder_;
  bool ended_ = false;
};

}  // namespace tutti::job
