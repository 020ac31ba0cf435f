// SPDX-License-Identifier: BSD-3-Clause
// tutti info: what this installation is.
#include <fmt/core.h>

#include <CLI/App.hpp>

#include "commands.hpp"
#include "host/segment.hpp"
#include "host/topology.hpp"
#include "tutti/version.h"

namespace tutti::command {

namespace {

int print() {
  fmt::print("version       {}\n", TUTTI_VERSION);
  fmt::print("wire version  {}\n", host::wire_version);
  const host::Cores cores = host::usable_cores();
  fmt::print("cores         {} ({})\n", cores.usable, cores.why);
  return 0;
}

}  // namespace

Action add_info(CLI::App& program) {
  program.add_subcommand("info", "Say what this installation is, and what it finds on this machine.");
  return print;
}

}  // namespace tutti::command
