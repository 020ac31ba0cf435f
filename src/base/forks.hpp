// SPDX-License-Identifier: BSD-3-Clause
// What has to be done around a fork of the program's, by whom it concerns.
#pragma once

#include <functional>

namespace tutti::base {

/// Of an object that a fork concerns it is the last member: all others are there as long as this stands, whichever
/// thread forks.
class AtFork {
 public:
  /// `after`: in the parent and in the child.
  AtFork(std::function<void()> before, std::function<void(bool in_child)> after);
  ~AtFork();
  AtFork(const AtFork&) = delete;
  AtFork& operator=(const AtFork&) = delete;

 private:
  struct Concerned;
  static Concerned& concerned();

  const std::function<void()> before_;
  const std::function<void(bool)> after_;
};

}  // namespace tutti::base
