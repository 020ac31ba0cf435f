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
#include <functional>
#include <numeric>
#include <random>
#include <stdexcept>
#include <string>
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

/// Numbers near each other are whole multiples of 2^-53, which integers sum exactly.
__extension__ using Whole = __int128;
Whole whole(double value) { return static_cast<Whole>(value * 0x1p53); }
double rounded_once(Whole sum) { return static_cast<double>(sum) * 0x1p-53; }

void expect(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string("a wrong result: ") + what);
}

bool same_bits(const std::vector<double>& a, const std::vector<double>& b) {
  return std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

/// Sums that are rounded once are those of integers, where these can tell, and the same by another algorithm.
void verify(const tutti::Group& exact, const std::vector<double>& in, bool wild) {
  std::vector<double> out(in.size()), by_ring(in.size());
  exact.allreduce(in, out, tutti::sum);
  exact.allreduce(in, by_ring, tutti::sum, {.algorithm = "ring"});
  expect(same_bits(out, by_ring), "two algorithms differ");
  if (wild) return;
  std::vector<Whole> sums(in.size());
  for (int rank = 0; rank < exact.size(); ++rank) {
    const std::vector<double> theirs = numbers(in.size(), wild, static_cast<unsigned>(rank));
    for (std::size_t i = 0; i < sums.size(); ++i) sums[i] += whole(theirs[i]);
  }
  std::ranges::transform(sums, by_ring.begin(), rounded_once);
  expect(same_bits(out, by_ring), "an allreduce is not rounded once");
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
  verify(exact, in, wild);
  std::vector<double> out(in.size()), plain, reproducible;
  const int calls = static_cast<int>(std::clamp<std::size_t>((1u << 20) / bytes, 1, 500));
  const auto begin = Clock::now();
  for (int go_on = 1; go_on != 0;) {
    plain.push_back(batch(world, world, calls, in, out));
    reproducible.push_back(batch(world, exact, calls, in, out));
    int more[1] = {plain.size() < 5 || nanoseconds(Clock::now() - begin) < seconds * 1e9 ? 1 : 0};
    world.bcast(more);  // rank 0's clock decides for all
    go_on = more[0];
  }
  if (world.rank() != 0) return;
  const double before = median(plain), now = median(reproducible);
  std::printf("allreduce %8zu bytes, %s: plain %10.0f ns, reproducible %10.0f ns, price %5.2f\n", bytes,
              wild ? "any size " : "near zero", before, now, now / before);
}

void fold(const tutti::Group& world, std::size_t bytes, bool wild, double seconds) {
  const std::vector<double> mine = numbers(bytes / sizeof(double), wild, 1);
  // Of numbers of any size: the same sum again.
  const double expected =
      wild ? world.sum(mine)
           : rounded_once(std::transform_reduce(mine.begin(), mine.end(), Whole{0}, std::plus<>(), whole) *
                          world.size());
  std::vector<double> times;
  const auto begin = Clock::now();
  for (int go_on = 1; go_on != 0;) {
    world.barrier();
    const auto start = Clock::now();
    const double total = world.sum(mine);
    times.push_back(nanoseconds(Clock::now() - start));
    int more[1] = {times.size() < 5 || nanoseconds(Clock::now() - begin) < seconds * 1e9 ? 1 : 0};
    expect(std::isfinite(total) && total == expected, "a sum is not rounded once");
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
