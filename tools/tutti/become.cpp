// SPDX-License-Identifier: BSD-3-Clause
#include "become.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "tutti/error.hpp"

namespace tutti::command {

std::filesystem::path binaries() { return std::filesystem::read_symlink("/proc/self/exe").parent_path(); }

void become(std::vector<std::string> words, const std::string& advice) {
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execvp(arguments[0], arguments.data());
  throw Error(Cause::usage, "cannot start " + words[0] + ": " + std::strerror(errno) + "; " + advice);
}

}  // namespace tutti::command
