// SPDX-License-Identifier: BSD-3-Clause
// What has to be done around a fork of the program's, by whom it concerns.
#pragma once

namespace tutti::launch {

class AtFork {
 public:
  AtFork(const AtFork&) = delete;
  AtFork& operator=(const AtFork&) = delete;
  virtual void before_fork() = 0;
  /// In the parent and in the child.
  virtual void after_fork(bool in_child) = 0;

 protected:
  /// Concerned from now on.
  AtFork();
  ~AtFork();
};

}  // namespace tutti::launch
