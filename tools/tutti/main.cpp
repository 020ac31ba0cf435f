// SPDX-License-Identifier: BSD-3-Clause
// tutti: starts jobs, and says what there is on this machine.
#include <fcntl.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <string>
#include <system_error>
#include <utility>
#include <vector>

#include "commands.hpp"
#include "launcher/launcher.hpp"
#include "tutti/version.h"

namespace {

/// Somebody may start us with standard descriptors closed; a pipe of ours must not become one of them. Nothing can be
/// written to what stands for the output: it would be lost without a word.
void occupy_standard_descriptors() {
  for (int descriptor = STDIN_FILENO; descriptor <= STDERR_FILENO; ++descriptor)
    if (fcntl(descriptor, F_GETFD) < 0) open("/dev/null", descriptor == STDOUT_FILENO ? O_RDONLY : O_RDWR);
}

std::string explain(const CLI::App* program, const CLI::Error& error) {
  std::string command = "tutti", text = error.what();
  for (const CLI::App* chosen : program->get_subcommands()) command += " " + chosen->get_name();
  return "tutti: " + text + "; see " + command + " --help\n";
}

/// The word that stands where a command should; empty when there is none.
std::string strange_command(const CLI::App& program, int count, char** arguments) {
  if (count < 2 || arguments[1][0] == '-' || !program.get_subcommands().empty()) return {};
  return arguments[1];
}

/// The arguments without the "--" that may stand before a program whose command begins it (run, mpi). The parser would
/// take what follows for words of its own.
std::vector<char*> without_mark(const CLI::App& program, int count, char** arguments) {
  std::vector<char*> words(arguments, arguments + count);
  const auto commands = program.get_subcommands(
      [&](const CLI::App* one) { return count > 1 && one->get_name() == arguments[1] && one->get_prefix_command(); });
  if (commands.empty()) return words;
  for (std::size_t i = 2; i < words.size() && words[i][0] == '-'; ++i) {
    if (std::strcmp(words[i], "--") == 0) {
      words.erase(words.begin() + static_cast<std::ptrdiff_t>(i));
      break;
    }
    const CLI::Option* option = commands.front()->get_option_no_throw(words[i]);
    if (option != nullptr && option->get_items_expected_min() > 0) ++i;  // its value
  }
  return words;
}

/// What was printed has arrived; otherwise says why not.
int finish(int status) {
  std::cout.flush();
  if (std::fflush(stdout) == 0 && std::ferror(stdout) == 0 && std::cout) return status;
  std::fprintf(stderr, "tutti: cannot write standard output: %s\n", std::strerror(errno != 0 ? errno : EIO));
  return tutti::launcher::exit_no_output;
}

int run(int count, char** arguments) {
  CLI::App program("Makes a group of processes act as one.", "tutti");
  program.set_version_flag("--version", "tutti " TUTTI_VERSION);
  program.require_subcommand(1);
  program.failure_message(explain);
  const std::pair<const char*, tutti::command::Action> commands[] = {
      {"run", tutti::command::add_run(program)},         {"info", tutti::command::add_info(program)},
      {"plan", tutti::command::add_plan(program)},       {"why", tutti::command::add_why(program)},
      {"bench", tutti::command::add_bench(program)},     {"tune", tutti::command::add_tune(program)},
      {"explain", tutti::command::add_explain(program)}, {"mpi", tutti::command::add_mpi(program)},
      {"trace", tutti::command::add_trace(program)},
  };
  try {
    const std::vector<char*> words = without_mark(program, count, arguments);
    program.parse(static_cast<int>(words.size()), words.data());
  } catch (const CLI::ParseError& error) {
    if (const std::string word = strange_command(program, count, arguments);
        !word.empty() && error.get_exit_code() != 0) {
      std::fprintf(stderr, "tutti: there is no command \"%s\"; see tutti --help\n", word.c_str());
      return tutti::command::exit_usage;
    }
    return program.exit(error) == 0 ? finish(0) : tutti::command::exit_usage;
  }
  for (const auto& [name, action] : commands)
    if (program.got_subcommand(name)) return finish(action());
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
  } catch (const tutti::Error& error) {
    std::fprintf(stderr, "tutti: %s\n", error.what());
    return error.cause() == tutti::Cause::usage ? tutti::command::exit_usage : 1;
  } catch (const std::system_error& error) {  // what fmt throws when it cannot print
    std::fprintf(stderr, "tutti: cannot write standard output: %s\n", error.code().message().c_str());
    return tutti::launcher::exit_no_output;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti: %s\n", error.what());
    return 1;
  }
}
