// SPDX-License-Identifier: BSD-3-Clause
// Starting programs.
#pragma once

#include <sys/resource.h>
#include <sys/types.h>

#include <csignal>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "tutti/types.hpp"

namespace tutti::launcher {

/// The file that a program's name means, by PATH unless it has a slash.
/// Throws NoProgram that says where it was looked for.
std::string find_program(const std::string& name);

/// What all ranks start with, beside their own.
struct Ground {
  sigset_t mask;        ///< As the launcher found it.
  rlimit files;         ///< Likewise.
  std::string program;  ///< A file.
  std::vector<std::string> arguments;
  /// What the launcher had inherited for the signals that it takes otherwise.
  std::vector<std::pair<int, sighandler_t>> inherited;
};

struct Start {
  Rank rank = 0;
  std::vector<std::string> environment;
  int input = -1, output = -1, error = -1;
  int cpu = -1;  ///< To bind to; -1 = none.
};

/// Why a child could not become its program.
struct StartFailure {
  Rank rank = 0;
  int number = 0;  ///< errno
  enum class Step : int { prepare, bind, execute } step = Step::prepare;
};

/// Starts ranks side by side; whether all succeeded is asked once, at the end.
class Starter {
 public:
  explicit Starter(const Ground& ground);
  /// A process in a process group of its own that the kernel kills when this thread ends. Throws Error (system).
  pid_t start(const Start& start);
  /// Waits until all have become their program, or one says why not.
  std::optional<StartFailure> wait();

 private:
  const Ground& ground_;
  base::Descriptor reports_, report_;
};

}  // namespace tutti::launcher
