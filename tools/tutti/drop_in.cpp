// SPDX-License-Identifier: BSD-3-Clause
#include "drop_in.hpp"

#include <fmt/core.h>

#include <utility>
#include <vector>

#include "base/words.hpp"
#include "become.hpp"
#include "tutti/error.hpp"

namespace tutti::command {

namespace {

std::filesystem::path libraries() { return (binaries() / TUTTI_LIBRARY_FROM_PROGRAM).lexically_normal(); }

}  // namespace

std::filesystem::path drop_in() {
  const std::filesystem::path file = libraries() / "libtutti-mpi.so";
  if (std::filesystem::exists(file)) return file;
  throw Error(Cause::usage, "there is no " + file.string() + "; install Tutti again, with the MPI drop-in");
}

std::string describe_drop_in() {
  std::string served, missing;
  for (const auto& [file, name] :
       std::vector<std::pair<const char*, const char*>>{{"libtutti-mpi-openmpi.so", "Open MPI's"},
                                                        {"libtutti-mpi-mpich.so", "MPICH's"},
                                                        {"libtutti-mpi-standard.so", "MPI 5.0's"}}) {
    base::add_word(std::filesystem::exists(libraries() / file) ? served : missing, name);
  }
  try {
    const std::string file = drop_in().string();
    if (served.empty()) return fmt::format("{} has no back end beside it: all calls are the MPI's", file);
    return fmt::format("{} for the ABIs {}{}", file, served,
                       missing.empty() ? "" : fmt::format("; not {}: no mpi.h was there when it was built", missing));
  } catch (const Error& error) {
    return error.what();
  }
}

}  // namespace tutti::command
