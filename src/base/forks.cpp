// SPDX-License-Identifier: BSD-3-Clause
#include "base/forks.hpp"

#include <pthread.h>

#include <mutex>
#include <utility>
#include <vector>

namespace tutti::base {

struct AtFork::Concerned {
  std::mutex mutex;  // held from before a fork until after it
  std::vector<const AtFork*> all;

  void before() {
    mutex.lock();
    for (const AtFork* one : all) one->before_();
  }
  void after(bool in_child) {
    for (const AtFork* one : all) one->after_(in_child);
    mutex.unlock();
  }
};

/// Never destroyed: a program may fork while it ends.
AtFork::Concerned& AtFork::concerned() {
  static auto* const made = [] {
    auto* const all = new Concerned;
    pthread_atfork([] { concerned().before(); }, [] { concerned().after(false); }, [] { concerned().after(true); });
    return all;
  }();
  return *made;
}

AtFork::AtFork(std::function<void()> before, std::function<void(bool)> after)
    : before_(std::move(before)), after_(std::move(after)) {
  Concerned& others = concerned();
  const std::scoped_lock lock(others.mutex);
  others.all.push_back(this);
}

AtFork::~AtFork() {
  Concerned& others = concerned();
  const std::scoped_lock lock(others.mutex);
  std::erase(others.all, this);
}

}  // namespace tutti::base
