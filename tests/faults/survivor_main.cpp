// SPDX-License-Identifier: BSD-3-Clause
// One rank of a job in which some die: survivor SEED. Prints what was decided, and how long the longest shrink took.
#include <cstdio>
#include <cstdlib>
#include <exception>

#include "survivor.hpp"
#include "tutti/tutti.hpp"

int main(int count, char** words) {
  if (count != 2) return std::fprintf(stderr, "survivor: which seed?\n"), 2;
  try {
    const tutti::Group world = tutti::world();
    const tutti::faults::Fate fate(std::strtoull(words[1], nullptr, 10), world.size());
    if (world.rank() == 0) std::fprintf(stderr, "%s\n", fate.text().c_str());
    const std::uint64_t longest = tutti::faults::live(world, fate, [](const std::string& line) {
      std::printf("%s\n", line.c_str());
      std::fflush(stdout);  // before it may die
    });
    std::fprintf(stderr, "longest shrink: %.1f ms\n", static_cast<double>(longest) * 1e-6);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "failed: %s\n", error.what());
    return 1;
  }
  return 0;
}
