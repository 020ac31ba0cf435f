// SPDX-License-Identifier: BSD-3-Clause
// How often all who wait ask the system whether the others live: not each of them for each.
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <cstdarg>
#include <functional>
#include <new>
#include <string>
#include <thread>

#include "base/clock.hpp"
#include "matrix/processes.hpp"
#include "tutti/tutti.hpp"

namespace {

using tutti::Group;
using tutti::Rank;

/// Questions of all processes.
std::atomic<std::uint64_t>& questions() {
  static std::atomic<std::uint64_t>& all = []() -> std::atomic<std::uint64_t>& {
    void* const memory = mmap(nullptr, sizeof(all), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return *new (memory) std::atomic<std::uint64_t>{0};
  }();
  return all;
}

constexpr Rank ranks = 12;
constexpr std::uint64_t most_often = 10'000'000;  // nanoseconds

/// All but rank 0 wait for it.
void expect_few_questions(const std::function<void(const Group&)>& wait) {
  questions() = 0;
  const std::uint64_t begun = tutti::base::now();
  const auto said = tutti::matrix::run_processes(ranks, {}, 60, [&](const Group& world) {
    world.barrier();
    if (world.rank() == 0) std::this_thread::sleep_for(std::chrono::milliseconds(400));
    wait(world);
  });
  const std::uint64_t moments = (tutti::base::now() - begun) / most_often + 2;
  for (const std::string& one : said) EXPECT_EQ(one, "");
  EXPECT_GT(questions(), 0u) << "they are not counted";
  EXPECT_LE(questions(), ranks * moments);
}

TEST(Watch, IsSharedByThoseWhoWaitInACollective) {
  expect_few_questions([](const Group& world) { world.barrier(); });
}

TEST(Watch, IsSharedByThoseWhoAgree) {
  expect_few_questions([](const Group& world) { EXPECT_TRUE(world.agree(true)); });
}

}  // namespace

/// In place of the C library's.
extern "C" int fcntl(int descriptor, int command, ...) {
  std::va_list rest;
  va_start(rest, command);
  void* const argument = va_arg(rest, void*);
  va_end(rest);
  if (command == F_GETLK) questions().fetch_add(1, std::memory_order_relaxed);
  return static_cast<int>(syscall(SYS_fcntl, descriptor, command, argument));
}
