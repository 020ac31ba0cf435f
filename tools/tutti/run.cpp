// SPDX-License-Identifier: BSD-3-Clause
// tutti run: starts N ranks of a program on this machine.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>

#include "base/log.hpp"
#include "commands.hpp"
#include "host/board.hpp"
#include "job/runtime.hpp"
#include "launch/environment.hpp"
#include "launch/secret.hpp"
#include "launcher/launcher.hpp"
#include "timeline/timeline.hpp"
#include "trace/parts.hpp"

namespace tutti::command {

namespace {

constexpr char usage[] = "tutti run -n N [OPTIONS] PROGRAM [ARGUMENTS...]";

struct RunOptions {
  int ranks = 1;
  std::string bind = "none";
  double timeout = 0;
  bool label = false, keep_going = false;
  std::vector<std::string> environment, command;
  std::string trace;
};

struct WithUsage : CLI::Formatter {
  std::string make_usage(const CLI::App*, std::string) const override { return std::string("Usage: ") + usage + "\n"; }
};

std::string check_environment(const std::string& entry) {
  constexpr const char* ours[] = {launch::rank_variable, launch::size_variable, launch::store_variable,
                                  launch::secret_variable, launch::secret_file_variable};
  const std::size_t end = entry.find('=');
  if (end == 0 || end == entry.npos) return "\"" + entry + "\" must have the form NAME=VALUE";
  if (std::ranges::find(ours, entry.substr(0, end), [](const char* name) { return std::string(name); }) !=
      std::end(ours))
    return entry.substr(0, end) + " is set by tutti run itself";
  return {};
}

/// Also "nan" is a number for the parser, and in no range for nobody.
std::string check_timeout(const std::string& text) {
  char* end = nullptr;
  const double seconds = std::strtod(text.c_str(), &end);
  if (end != text.c_str() && *end == '\0' && seconds >= 0.001 && seconds <= 1e9) return {};
  return "\"" + text + "\" is not a number of seconds from 0.001 to 1e9";
}

bool is_world(std::uint64_t context, std::uint64_t job) { return context == host::world_context(job); }

launcher::Options make_options(const RunOptions& given) {
  launcher::Options options;
  options.ranks = given.ranks;
  options.bind = given.bind == "core";
  options.timeout = std::chrono::nanoseconds(static_cast<std::int64_t>(given.timeout * 1e9));
  options.label = given.label;
  options.keep_going = given.keep_going;
  options.environment = given.environment;
  options.command = given.command;
  options.is_world = is_world;
  return options;
}

/// The ranks merge what they have recorded; those of a job that dies leave it to be merged here. Parts of other jobs
/// are theirs, also when they have the same file.
int run_traced(const RunOptions& given) {
  const std::string file = std::filesystem::absolute(given.trace).string();
  launcher::Options options = make_options(given);
  options.job = launch::random_job();
  options.environment.push_back("TUTTI_TRACE=" + file);
  const int status = launcher::run(options);
  try {
    const auto merged = trace::merge_parts(file, job::algorithm_name, options.job);
    if (!merged) return status;
    timeline::read(file);  // which throws, and leaves the parts where they are
    trace::remove_parts(*merged);
  } catch (const std::exception& error) {
    base::log(std::string("what the ranks have recorded stays in parts: ") + error.what());
  }
  return status;  // the program's, whatever became of its trace
}

}  // namespace

Action add_run(CLI::App& program) {
  const auto given = std::make_shared<RunOptions>();
  CLI::App* run = program.add_subcommand("run", "Start the ranks of a job on this machine, and wait for them.");
  run->footer(
      "Standard input goes to rank 0. Ctrl-C asks all ranks to stop; a second one kills them.\n"
      "Exit status: the first failing rank's (128 + signal), 124 after --timeout, 127 when PROGRAM is not found.");
  run->add_option("-n,--ranks", given->ranks, "How many ranks")
      ->required()
      ->check(CLI::Range(1, launch::most_ranks))
      ->type_name("N");
  run->add_option("--bind", given->bind, "Bind each rank to a core of its own: core or none")
      ->check(CLI::IsMember({"core", "none"}))
      ->capture_default_str();
  run->add_option("--timeout", given->timeout, "End the job after this many seconds")
      ->check(check_timeout, "")
      ->type_name("SECONDS");
  run->add_flag("--label", given->label, "Write \"[rank] \" before each line of output");
  run->add_flag("--keep-going", given->keep_going, "When a signal kills a rank, let the others go on");
  run->add_option("--trace", given->trace, "Record what all ranks do, for tutti trace and Perfetto")->type_name("FILE");
  run->add_option("--env", given->environment, "Set a variable in the environment of all ranks; may be repeated")
      ->check(check_environment, "")
      ->allow_extra_args(false)
      ->type_name("NAME=VALUE");
  // The first word that is none of ours is the program, and all after it is the program's, options too.
  run->prefix_command();
  run->formatter(std::make_shared<WithUsage>());
  return [given, run] {
    given->command = run->remaining();
    if (given->command.empty() || given->command.front().empty()) {
      std::fprintf(stderr, "tutti: which program? %s\n", usage);
      return exit_usage;
    }
    if (given->command.front().starts_with('-')) {
      std::fprintf(stderr, "tutti: run has no option %s; see tutti run --help\n", given->command.front().c_str());
      return exit_usage;
    }
    return given->trace.empty() ? launcher::run(make_options(*given)) : run_traced(*given);
  };
}

}  // namespace tutti::command
