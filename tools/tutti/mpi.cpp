// SPDX-License-Identifier: BSD-3-Clause
// tutti mpi: becomes an MPI launcher, or an MPI program, whose collectives are Tutti's.
#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <cstdlib>
#include <memory>
#include <string>
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

int run(const Wanted& wanted, const std::vector<std::string>& command) {
  const std::string library = drop_in().string();
  if (wanted.path) {
    std::puts(library.c_str());
    return 0;
  }
  if (command.empty()) throw Error(Cause::usage, "no command is given; write: tutti mpi mpirun -n 4 ./program");
  const char* before = std::getenv("LD_PRELOAD");
  const std::string all = before == nullptr || *before == '\0' ? library : library + ":" + before;
  setenv("LD_PRELOAD", all.c_str(), 1);
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
