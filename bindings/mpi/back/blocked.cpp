// SPDX-License-Identifier: BSD-3-Clause
#include "blocked.hpp"

#include <memory>
#include <mutex>
#include <optional>

namespace tutti::mpi {
namespace {

struct SharedHelper {
  std::mutex lock;
  std::optional<Helper> helper;
};

SharedHelper& for_the_blocked() {
  static SharedHelper& all = *std::make_unique<SharedHelper>().release();
  return all;
}

}  // namespace

void begin_running() {
  running_operations.fetch_add(1, std::memory_order_seq_cst);
  if (blocked_threads.load(std::memory_order_seq_cst) == 0) return;
  const std::lock_guard guard(for_the_blocked().lock);
  if (!for_the_blocked().helper) for_the_blocked().helper.emplace();
}

void end_running() {
  if (running_operations.fetch_sub(1, std::memory_order_relaxed) > 1 || !has_several_threads) return;
  const std::lock_guard guard(for_the_blocked().lock);
  if (resting()) for_the_blocked().helper.reset();
}

}  // namespace tutti::mpi
