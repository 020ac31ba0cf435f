// SPDX-License-Identifier: BSD-3-Clause
// tutti: starts jobs, and says what there is on this machine.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cstdio>
#include <exception>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "launcher/launcher.hpp"
#include "tutti/version.h"

namespace {

/// Somebody may start us with standard descriptors closed; a pipe of ours must not become one of them.
void occupy_standard_descriptors() {
  int descriptor = 0;
  while (descriptor >= 0 && descriptor <= STDERR_FILENO) descriptor = open("/dev/null", O_RDWR);
  if (descriptor > STDERR_FILENO) close(descriptor);
}

int run(int count, char** arguments) {
  CLI::App program("Makes a group of processes act as one.", "tutti");
  program.set_version_flag("--version", "tutti " TUTTI_VERSION);
  program.require_subcommand(1);
  const std::pair<const char*, tutti::command::Action> commands[] = {
      {"run", tutti::command::add_run(program)},
      {"info", tutti::command::add_info(program)},
      {"plan", tutti::command::add_plan(program)},
  };
  try {
    program.parse(count, arguments);
  } catch (const CLI::ParseError& error) {
    const int code = program.exit(error);
    return code == 0 ? 0 : tutti::command::exit_usage;
  }
  for (const auto& [name, action] : commands)
    if (program.got_subcommand(name)) return action();
  return tutti::command::exit_usage;
}

}  // namespace

int main(int count, char** arguments) {
  occupy_standard_descriptors();
  try {
    return run(count, arguments);
  } catch (const tutti::launcher::NoProgram& error) {
    std::fprintf(stderr, "tutti: %s\n", error.what());
    return tutti::launcher::exit_no_program;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti: %s\n", error.what());
    return 1;
  }
}
