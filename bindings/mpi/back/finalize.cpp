// SPDX-License-Identifier: BSD-3-Clause
#include "finalize.hpp"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/log.hpp"
#include "real.hpp"

namespace tutti::mpi {
namespace {

struct Ends {
  std::mutex lock;
  std::map<std::uint64_t, std::function<void()>> all;
  std::uint64_t next = 1;

  std::function<void()> take_last() {
    const std::lock_guard guard(lock);
    if (all.empty()) return {};
    auto last = all.extract(std::prev(all.end()));
    return std::move(last.mapped());
  }
};

Ends& ends() {
  static Ends& made = *std::make_unique<Ends>().release();  // kept for ever: what is to end may outlive main
  return made;
}

/// MPI_Finalize begins with the attributes of MPI_COMM_SELF, while everything still works (MPI 4.1, 11.2.4).
int run(MPI_Comm, int, void*, void*) {
  while (const auto end = ends().take_last()) {
    try {
      end();
    } catch (const std::exception& error) {
      base::log(error.what());
    }
  }
  return MPI_SUCCESS;
}

void watch() {
  static std::once_flag once;
  std::call_once(once, [] {
    int keyval = MPI_KEYVAL_INVALID;
    real.Comm_create_keyval(MPI_COMM_NULL_COPY_FN, &run, &keyval, nullptr);
    real.Comm_set_attr(MPI_COMM_SELF, keyval, nullptr);
  });
}

}  // namespace

std::uint64_t at_finalize(std::function<void()> end) {
  watch();
  const std::lock_guard guard(ends().lock);
  ends().all.emplace(ends().next, std::move(end));
  return ends().next++;
}

void no_longer_at_finalize(std::uint64_t end) {
  const std::lock_guard guard(ends().lock);
  ends().all.erase(end);
}

}  // namespace tutti::mpi
