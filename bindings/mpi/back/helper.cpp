// SPDX-License-Identifier: BSD-3-Clause
#include "helper.hpp"

#include <memory>
#include <mutex>

#include "base/log.hpp"
#include "host.hpp"

namespace tutti::mpi {
namespace {

struct Users {
  std::mutex lock;
  int count = 0;
};

Users& users() {
  static Users& all = *std::make_unique<Users>().release();
  return all;
}

}  // namespace

Helper::Helper() noexcept {
  const std::lock_guard guard(users().lock);
  if (users().count++ > 0) return;
  try {
    for (engine::Engine* engine : Host::get()->engines_for_threads()) engine->start_progress_thread();
  } catch (const Error& error) {
    base::log(error.what());
  }
}

Helper::~Helper() {
  const std::lock_guard guard(users().lock);
  if (--users().count > 0) return;
  for (engine::Engine* engine : Host::get()->engines_for_threads()) engine->stop_progress_thread();
}

}  // namespace tutti::mpi
