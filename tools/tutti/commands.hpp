// SPDX-License-Identifier: BSD-3-Clause
// The subcommands of `tutti`: each declares its options and returns what runs it.
#pragma once

#include <CLI/App.hpp>
#include <functional>

namespace tutti::command {

/// The exit status after a command line that means nothing.
inline constexpr int exit_usage = 2;

/// Runs the subcommand after the command line has been read; the exit status.
using Action = std::function<int()>;

Action add_run(CLI::App& program);
Action add_info(CLI::App& program);
Action add_plan(CLI::App& program);
Action add_why(CLI::App& program);
Action add_bench(CLI::App& program);
Action add_tune(CLI::App& program);
Action add_explain(CLI::App& program);
Action add_mpi(CLI::App& program);
Action add_trace(CLI::App& program);

}  // namespace tutti::command
