// SPDX-License-Identifier: BSD-3-Clause
// A forked process that runs a function and tells by its status how it went.
#pragma once

#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <exception>

namespace tutti::test {

class Child {
 public:
  /// The child ends with status 0 when `body` returns true, 1 when it returns false or throws.
  template <class Body>
  explicit Child(Body body) {
    std::fflush(nullptr);
    pid_ = fork();
    if (pid_ != 0) return;
    bool good = false;
    try {
      good = body();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "child: %s\n", error.what());
    }
    std::fflush(nullptr);
    _exit(good ? 0 : 1);
  }
  Child(Child&& other) noexcept : pid_(other.pid_) { other.pid_ = -1; }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  ~Child() {
    if (pid_ <= 0) return;
    kill();
    wait();
  }

  pid_t pid() const { return pid_; }
  void kill() const { ::kill(pid_, SIGKILL); }
  /// The wait status; `usage()` then holds what it has used.
  int wait() {
    int status = -1;
    wait4(pid_, &status, 0, &usage_);
    pid_ = -1;
    return status;
  }
  bool good() { return wait() == 0; }
  double cpu_seconds() const {
    return static_cast<double>(usage_.ru_utime.tv_sec + usage_.ru_stime.tv_sec) +
           1e-6 * static_cast<double>(usage_.ru_utime.tv_usec + usage_.ru_stime.tv_usec);
  }

 private:
  pid_t pid_ = -1;
  rusage usage_{};
};

}  // namespace tutti::test
