// SPDX-License-Identifier: BSD-3-Clause
// tutti mpi: becomes an MPI launcher, or an MPI program, whose collectives are Tutti's.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "become.hpp"
#include "commands.hpp"
#include "drop_in.hpp"
#include "tutti/error.hpp"

namespace tutti::command {

namespace {

struct Wanted {
  std::string policy;
  bool path = false;
};

bool is_mpi(const std::string& file) {
  constexpr std::string_view sonames[] = {
#define TUTTI_MPI_ABI(soname, abi) soname,
#include "launch/mpi_abis.def"
#undef TUTTI_MPI_ABI
  };
  const auto any_version = [](std::string_view name) { return name.substr(0, name.rfind('.')); };
  return std::ranges::any_of(sonames, [&](std::string_view name) { return file.starts_with(any_version(name)); });
}

/// Libraries that are preloaded already, and the drop-in: behind tools, which go on to it by the profiling names, and
/// before an MPI.
std::string preloaded(const std::string& library) {
  const char* const before = std::getenv("LD_PRELOAD");
  std::string all, words(before == nullptr ? "" : before);
  std::ranges::replace(words, ' ', ':');
  std::istringstream list(std::move(words));
  bool stands = false;
  const auto add = [&](const std::string& one) { all += (all.empty() ? "" : ":") + one; };
  for (std::string word; std::getline(list, word, ':');) {
    if (is_mpi(std::filesystem::path(word).filename().string()) && !std::exchange(stands, true)) add(library);
    if (!word.empty()) add(word);
  }
  if (!stands) add(library);
  return all;
}

int run(const Wanted& wanted, const std::vector<std::string>& command) {
  const std::string library = drop_in().string();
  if (wanted.path) {
    std::puts(library.c_str());
    return 0;
  }
  if (command.empty()) throw Error(Cause::usage, "no command is given; write: tutti mpi mpirun -n 4 ./program");
  setenv("LD_PRELOAD", preloaded(library).c_str(), 1);
  if (!wanted.policy.empty()) setenv("TUTTI_MPI", wanted.policy.c_str(), 1);
  become(command, "name a program that is on the PATH, such as mpirun");
}

}  // namespace

Action add_mpi(CLI::App& program) {
  const auto wanted = std::make_shared<Wanted>();
  CLI::App* mpi = program.add_subcommand(
      "mpi", "Run an MPI program, unchanged, with Tutti's collectives: tutti mpi mpirun -n 4 ./program");
  mpi->add_option("--policy", wanted->policy, "auto, always, never, and exceptions: always,bcast:never (TUTTI_MPI)");
  mpi->add_flag("--path", wanted->path, "Print the library's path, for LD_PRELOAD, and do nothing else");
  mpi->prefix_command();
  return [wanted, mpi] { return run(*wanted, mpi->remaining()); };
}

}  // namespace tutti::command
