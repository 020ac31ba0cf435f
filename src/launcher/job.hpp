// SPDX-License-Identifier: BSD-3-Clause
// One running job, from the launcher's side.
#pragma once

#include <sys/signalfd.h>
#include <sys/types.h>

#include <chrono>
#include <csignal>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "host/segment.hpp"
#include "host/topology.hpp"
#include "launch/loop.hpp"
#include "launch/secret.hpp"
#include "launcher/input.hpp"
#include "launcher/launcher.hpp"
#include "launcher/output.hpp"
#include "launcher/process.hpp"
#include "launcher/server.hpp"
#include "launcher/sink.hpp"
#include "launcher/survivors.hpp"

namespace tutti::launcher {

class Job {
 public:
  explicit Job(const Options& options);
  ~Job();
  Job(const Job&) = delete;
  Job& operator=(const Job&) = delete;

  /// Starts all ranks, waits for all of them, cleans up. The exit status.
  int run();

 private:
  struct Child {
    pid_t pid = 0;
    bool running = false;
    bool missed = false;  ///< It was lost to the job; not yet said.
    std::unique_ptr<Output> output, error;
  };
  /// How far the end of the job is.
  enum class Phase : std::uint8_t {
    running,
    grace,   ///< A rank has failed; the others may report that.
    asked,   ///< SIGTERM has been sent.
    killed,  ///< SIGKILL has been sent.
  };

  // job_start.cpp
  void take_signals();
  void start_ranks();
  void start_rank(Starter& starter, Rank rank);
  std::vector<std::string> environment_of(Rank rank) const;
  void replace_input();

  // job.cpp
  void serve_signals();
  void on_signal(int number, bool typed);
  bool note_request(int number);
  void on_interrupt();
  void stop_all(bool typed);
  void on_timeout();
  void reap();
  bool misses_cause(std::span<const std::pair<Rank, End>> ended);
  void rank_ended(Rank rank, const End& end);
  void rank_failed(Rank rank, const End& end, const std::string& what);
  void rank_lost(Rank rank);
  void report_missed();

  // job_end.cpp
  void end_all(std::chrono::nanoseconds grace);
  void terminate();
  void kill_all(bool dumping_too);
  void signal_groups(int number);
  void ask_groups(int number);
  std::vector<pid_t> groups() const;
  std::vector<Survivor> find_ours();
  void ask_strangers(std::vector<Survivor> left, std::set<pid_t>& asked) const;
  void end_survivors();
  void finish_output();
  void summarise();

  Child& child(Rank rank) { return children_[static_cast<std::size_t>(rank)]; }
  void say(const std::string& text);
  std::string doing(Rank rank);
  std::string who(Rank rank);
  void adjust_outputs();
  void report_lost_output();

  const Options options_;
  Ground ground_;
  const host::Cores cores_;
  std::vector<int> processors_;  // with --bind: in the order in which ranks take them
  launch::Secret secret_;
  std::string secret_text_;
  std::optional<Guard> guard_;  // until all has ended in order
  launch::Loop loop_;
  std::shared_ptr<host::Segment> segment_;
  std::optional<Server> server_;
  Sink output_, error_;
  std::unique_ptr<Input> input_;
  base::Descriptor signals_, nothing_;
  std::vector<Child> children_;
  int running_ = 0;

  Phase phase_ = Phase::running;
  launch::Loop::Timer next_phase_{}, deadline_{};
  std::uint64_t deadline_at_ = 0;  // 0: there is none, or none any more
  bool timed_out_ = false, hurried_ = false, said_dumping_ = false, said_lost_ = false;
  int interrupts_ = 0, asked_ = 0;  // Ctrl-C seen; the last signal that asked the ranks to end
  int code_ = 0;                    // first failing status
  bool well_ = false;               // one has ended with 0
  Rank first_failed_ = -1;
  std::vector<Rank> followers_, ended_by_us_;
  std::set<pid_t> foreign_;  // processes of other users that have been named
};

}  // namespace tutti::launcher
