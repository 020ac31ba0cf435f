// SPDX-License-Identifier: BSD-3-Clause
// tutti bench: becomes the driver of the comparison benchmark, which is a Python program beside this one.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "become.hpp"
#include "commands.hpp"
#include "tutti/error.hpp"

namespace tutti::command {

namespace {

/// The driver reads the command line; here it only passes by.
[[noreturn]] int run(const std::vector<std::string>& given) {
  const std::filesystem::path driver = binaries().parent_path() / "share/tutti/versus";
  if (!std::filesystem::exists(driver))
    throw Error(Cause::usage, "there is no " + driver.string() + "; install Tutti again, with its programs");
  const char* chosen = std::getenv("TUTTI_PYTHON");
  setenv("VERSUS_BINARIES", binaries().c_str(), 1);
  std::vector<std::string> words{chosen != nullptr ? chosen : "python3", driver.string()};
  words.insert(words.end(), given.begin(), given.end());
  become(std::move(words), "put python3 on the PATH, or name a Python in TUTTI_PYTHON");
}

}  // namespace

Action add_bench(CLI::App& program) {
  CLI::App* bench = program.add_subcommand("bench", "Measure Tutti and MPI libraries on this machine, side by side.");
  bench->prefix_command();
  bench->set_help_flag();
  return [bench] { return run(bench->remaining()); };
}

}  // namespace tutti::command
