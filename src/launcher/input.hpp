// SPDX-License-Identifier: BSD-3-Clause
// The standard input of rank 0.
#pragma once

#include <string>

#include "base/descriptor.hpp"
#include "launch/loop.hpp"

namespace tutti::launcher {

/// Passes what is typed at a terminal on to rank 0, which is in no foreground process group and cannot read there.
/// (An input that is not a terminal needs no help: rank 0 inherits it, and takes from it what it reads, not more.)
class Input {
 public:
  /// Whether `terminal` must be passed on.
  static bool needed(int terminal);
  Input(launch::Loop& loop, int terminal, base::Descriptor pipe);
  ~Input();
  Input(const Input&) = delete;
  Input& operator=(const Input&) = delete;

  /// Looks again whether the launcher is in the foreground; for after SIGCONT.
  void adjust();

 private:
  bool in_foreground() const;
  void read_terminal();
  void write_pipe();
  void end();

  launch::Loop& loop_;
  int terminal_;
  base::Descriptor pipe_;
  bool reading_ = false, writing_ = false;
  launch::Loop::Timer next_look_{};
  std::string waiting_;
};

}  // namespace tutti::launcher
