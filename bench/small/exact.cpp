// SPDX-License-Identifier: BSD-3-Clause
// tutti-exact: the price of sums that are rounded once. Run it as
//     tutti run -n 4 tutti-exact [seconds per figure]
// Rank 0 prints an allreduce of doubles with plain and with reproducible sums, call by call in turn, and how fast this
// rank folds an array of its own.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <random>
#include <stdexcept>
#include <vector>

#include "tutti/tutti.hpp"

namespace {

using Clock = std::chrono::steady_clock;

double nanoseconds(Clock::duration time) { return std::chrono::duration<double, std::nano>(time).count(); }

double median(std::vector<double> values) {
  std::ranges::nth_element(values, values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2));
  return values[values.size() / 2];
}

/// What data may be like: near each other, or of any size.
std::vector<double> numbers(std::size_t count, bool wild, unsigned seed) {
  std::mt19937_64 random(seed);
  std::vector<double> made(count);
  for (double& value : made) {
    value = static_cast<double>(random() >> 11) * 0x1p-53 - 0.5;
    if (wild) value = std::ldexp(value, static_cast<int>(random() % 1900) - 950);
  }
  return made;
}

/// Nanoseconds of one call, the slowest rank's, over a batch.
double batch(const tutti::Group& world, const tutti::Group& group, int calls, const std::vector<double>& in,
             std::vector<double>& out) {
  world.barrier();
  const auto start = Clock::now();
  for (int i = 0; i < calls; ++i) group.allreduce(in, out, tutti::sum);
  double time[1] = {nanoseconds(Clock::now() - start) / calls};
  world.allreduce(time, time, tutti::max);
  return time[0];
}

void compare(const tutti::Group& world, std::size_t bytes, bool wild, double seconds) {
  const tutti::Group exact = world.reproducible();
  const std::vector<double> in = numbers(bytes / sizeof(double), wild, static_cast<unsigned>(world.rank()));
  std::vector<double> out(in.size()), plain, rounded_once;
  const int calls = static_cast<int>(std::clamp<std::size_t>((1u << 20) / bytes, 1, 500));
  const auto begin = Clock::now();
  for (int go_on = 1; go_on != 0;) {
    plain.push_back(batch(world, world, calls, in, out));
    rounded_once.push_back(batch(world, exact, calls, in, out));
    int more[1] = {plain.size() < 5 || nanoseconds(Clock::now() - begin) < seconds * 1e9 ? 1 : 0};
    world.bcast(more);  // rank 0's clock decides for all
    go_on = more[0];
  }
  if (world.rank() != 0) return;
  const double before = median(plain), now = median(rounded_once);
  std::printf("allreduce %8zu bytes, %s: plain %10.0f ns, reproducible %10.0f ns, price %5.2f\n", bytes,
              wild ? "any size " : "near zero", before, now, now / before);
}

void fold(const tutti::Group& world, std::size_t bytes, bool wild, double seconds) {
  const std::vector<double> mine = numbers(bytes / sizeof(double), wild, 1);
  std::vector<double> times;
  const auto begin = Clock::now();
  for (int go_on = 1; go_on != 0;) {
    world.barrier();
    const auto start = Clock::now();
    const double total = world.sum(mine);
    times.push_back(nanoseconds(Clock::now() - start));
    int more[1] = {times.size() < 5 || nanoseconds(Clock::now() - begin) < seconds * 1e9 ? 1 : 0};
    if (!std::isfinite(total)) throw std::runtime_error("the sum is not finite");
    world.bcast(more);
    go_on = more[0];
  }
  if (world.rank() == 0)
    std::printf("sum       %8zu bytes, %s: %10.0f ns, %5.1f GB/s a rank\n", bytes, wild ? "any size " : "near zero",
                median(times), static_cast<double>(bytes) / median(times));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    const double seconds = argc > 1 ? std::atof(argv[1]) : 0.5;
    const tutti::Group world = tutti::world();
    if (world.rank() == 0) std::printf("%d ranks\n", world.size());
    for (const bool wild : {false, true}) {
      for (const std::size_t bytes : {8u, 1u << 10, 64u << 10, 1u << 20}) compare(world, bytes, wild, seconds);
      for (const std::size_t bytes : {64u << 10, 1u << 20, 64u << 20}) fold(world, bytes, wild, seconds);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti-exact: %s\n", error.what());
    return 1;
  }
}
