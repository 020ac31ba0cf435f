// SPDX-License-Identifier: BSD-3-Clause
// Runs a command beside the test and watches it.
#pragma once

#include <gtest/gtest.h>
#include <sys/types.h>

#include <string>
#include <vector>

#include "base/descriptor.hpp"

namespace tutti::test {

class Running {
 public:
  /// Starts the command; its standard input holds `input`. With `terminal`, all three are a new terminal, and `input`
  /// is typed there.
  explicit Running(const std::vector<std::string>& command, const std::string& input = {}, bool terminal = false);
  /// Ends what is left, so that one failing test does not disturb the next.
  ~Running();
  Running(const Running&) = delete;
  Running& operator=(const Running&) = delete;

  pid_t pid() const { return pid_; }
  void signal(int number) const;
  void type(const std::string& text) const;
  /// Waits until standard output (or error) holds a text; false after a minute.
  bool prints(const std::string& text);
  bool complains(const std::string& text);
  /// Waits for the end: the exit status, 128 + signal, or -1 after `seconds`.
  int wait(double seconds = 60);
  std::string output() const;
  std::string errors() const;

  /// The processes that carry this run's mark in their environment, but for the command itself.
  std::vector<pid_t> descendants() const;
  /// Waits until there are that many descendants; false after a minute.
  bool has_descendants(std::size_t count) const;
  /// The descendant of that name (at most 15 characters); 0 when there is none.
  pid_t descendant(const std::string& name) const;
  /// User and system time the command has used so far, in seconds.
  double cpu_time() const;
  /// The same of the command and all processes it has waited for, once it has ended.
  double total_cpu_time() const { return total_cpu_time_; }

 private:
  base::Descriptor output_, error_, terminal_;
  std::string mark_;
  pid_t pid_ = -1;
  int status_ = -1;
  bool ended_ = false;
  double total_cpu_time_ = 0;
  mutable std::string screen_;
};

/// The command of the build under test.
std::string tutti_command();
std::string probe_command();
/// `tutti run` with options, then `probe` with steps.
std::vector<std::string> tutti_run(const std::vector<std::string>& options, const std::vector<std::string>& command);
std::vector<std::string> probe(const std::vector<std::string>& steps);

inline void expect_text(const Running& job, const std::string& part) {
  EXPECT_NE(job.errors().find(part), std::string::npos) << "no \"" << part << "\" in:\n" << job.errors();
}

}  // namespace tutti::test
