// SPDX-License-Identifier: BSD-3-Clause
// A job whose ranks note down what they do, from its start to the file that people look at.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
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

  /// Collective: compares the clocks of hosts, when the world is made, over a group of its own.
  void begin(Member& world);
  /// Collective, when the program ends: compares them again, brings together what the ranks have noted, and writes the
  /// file. Ranks that do not come in time leave their parts for `merge_parts`; one line says so.
  void end() noexcept;
  /// For ranks that have no group of all: each leaves its part for `merge_parts`.
  void end_alone() noexcept;

 private:
  Recording(std::string file, std::uint64_t job, Rank rank, std::vector<Rank> hosts, std::uint64_t capacity,
            Duration patience);
  void synchronise();
  void describe();
  void name_sites();
  bool is_near(Rank rank) const;
  /// To all ranks.
  ClockMessages messages(std::optional<Duration> patience) const;
  void give();
  void send_record();
  void gather();
  void say_what_there_is(const char* why) const;

  std::string file_;
  std::uint64_t job_;
  std::vector<Rank> hosts_;
  std::vector<Rank> leaders_;  // the first rank of each host
  trace::Recorder recorder_;
  Duration patience_;              // with a rank of which nothing is heard
  std::shared_ptr<Member> group_;  // of all; when a wait there is given up, no group of the program's breaks
  bool ended_ = false, written_ = false;
};

}  // namespace tutti::job
