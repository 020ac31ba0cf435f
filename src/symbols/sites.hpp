// SPDX-License-Identifier: BSD-3-Clause
// Names the places in another process's program that its return addresses mean.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "symbols/elf.hpp"

namespace tutti::symbols {

/// A file that a process has mapped to run.
struct Module {
  std::uint64_t start = 0, end = 0, offset = 0;
  std::string path;
};
/// The executable mappings of files in the text of /proc/PID/maps.
std::vector<Module> parse_maps(std::string_view text);

/// Of one process.
class Sites {
 public:
  /// pid 0: a process that is not there any more; its addresses have no names.
  explicit Sites(pid_t pid);
  /// The process is gone, or on another machine: its /proc/PID/maps, and files as they are here now.
  explicit Sites(std::string_view maps) : pid_(0), modules_(parse_maps(maps)) {}

  /// "solver: step()+0x1c", "solver+0x11f3" where there are no symbols, "0x55d0…" where there is no file; empty for 0.
  /// Printable, whatever files and functions are called.
  std::string name(std::uint64_t address);

 private:
  const Elf& file_of(const Module& module);

  pid_t pid_ = 0;
  std::string program_;
  std::vector<Module> modules_;
  std::map<std::string, std::unique_ptr<Elf>> files_;
};

}  // namespace tutti::symbols
