// SPDX-License-Identifier: BSD-3-Clause
// A stranger's program in C++: starts, computes with others, and catches an error by its own type.
#include <tutti/version.h>
#include <tutti/tutti.hpp>

#include <array>
#include <cstdio>

int main() {
  const tutti::Group world = tutti::world();
  const std::array<int, 2> mine{1, 42};
  std::array<int, 2> sums{};
  world.allreduce(mine, sums, tutti::sum);
  try {
    world.bcast(sums, world.size());
    return 1;
  } catch (const tutti::Error& error) {
    if (error.cause() != tutti::Cause::usage) return 1;
  }
  if (world.rank() == 0) std::printf("tutti %s: the sum over %d is %d\n", TUTTI_VERSION, sums[0], sums[1]);
}
