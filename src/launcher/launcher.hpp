// SPDX-License-Identifier: BSD-3-Clause
// `tutti run`: starts the ranks of a job on this machine, and stays until all have ended.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "launcher/obituary.hpp"
#include "tutti/error.hpp"

namespace tutti::launcher {

struct Options {
  int ranks = 1;
  std::uint64_t job = 0;                 ///< Its number; 0: any.
  bool bind = false;                     ///< Each rank to a core of its own.
  std::chrono::nanoseconds timeout{0};   ///< For the whole job; 0 = none.
  bool label = false;                    ///< "[rank] " before each line.
  bool keep_going = false;               ///< A rank that a signal has killed does not end the others.
  std::vector<std::string> environment;  ///< "NAME=value", for all ranks.
  std::vector<std::string> command;      ///< The program and its arguments.
  IsWorld is_world = [](std::uint64_t, std::uint64_t) { return false; };
};

/// Tells ranks that their standard error ends at a terminal, and how many columns that has.
inline constexpr char terminal_variable[] = "TUTTI_TERMINAL";

/// What `tutti run` exits with: the first failing rank's status (128 + signal), or one of these.
inline constexpr int exit_no_output = 1, exit_timeout = 124, exit_no_program = 127;

/// The program to run is not there, or is none.
struct NoProgram : Error {
  using Error::Error;
};

/// Runs the job, in a process that has one thread. Throws NoProgram, and Error (system) when the job cannot start.
int run(const Options& options);

}  // namespace tutti::launcher
