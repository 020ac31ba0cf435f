// SPDX-License-Identifier: BSD-3-Clause
#include "launch/forks.hpp"

#include <pthread.h>

#include <mutex>
#include <vector>

namespace tutti::launch {

namespace {

struct Concerned {
  std::mutex mutex;  // held from before a fork until after it
  std::vector<AtFork*> all;
};

/// Never destroyed: a program may fork while it ends.
Concerned& concerned() {
  static auto* const made = [] {
    auto* const all = new Concerned;
    pthread_atfork(
        [] {
          concerned().mutex.lock();
          for (AtFork* one : concerned().all) one->before_fork();
        },
        [] {
          for (AtFork* one : concerned().all) one->after_fork(false);
          concerned().mutex.unlock();
        },
        [] {
          for (AtFork* one : concerned().all) one->after_fork(true);
          concerned().mutex.unlock();
        });
    return all;
  }();
  return *made;
}

}  // namespace

AtFork::AtFork() {
  Concerned& others = concerned();
  const std::scoped_lock lock(others.mutex);
  others.all.push_back(this);
}

AtFork::~AtFork() {
  Concerned& others = concerned();
  const std::scoped_lock lock(others.mutex);
  std::erase(others.all, this);
}

}  // namespace tutti::launch
