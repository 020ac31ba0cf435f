// SPDX-License-Identifier: BSD-3-Clause
// How fast layouts are packed, beside the loop that one would write by hand for each: nanoseconds, the best of many.
// Loops by hand have their pointers and numbers in variables of their own, which no store of theirs can change.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
#include <numeric>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "tutti/layout.hpp"

namespace {

using tutti::Count;
using tutti::Layout;

using Clock = std::chrono::steady_clock;

double once(const std::function<void()>& work, int times) {
  const auto begin = Clock::now();
  for (int i = 0; i < times; ++i) work();
  return std::chrono::duration<double, std::nano>(Clock::now() - begin).count() / times;
}

std::vector<std::byte> made_by(const std::function<void()>& work, std::span<std::byte> result) {
  std::ranges::fill(result, std::byte{0xee});
  work();
  return {result.begin(), result.end()};
}

/// Both in turn, so that what disturbs one disturbs the other. First, they have to leave the same in `result`.
void compare(const char* what, Count bytes, std::span<std::byte> result, const std::function<void()>& ours,
             const std::function<void()>& by_hand) {
  if (made_by(ours, result) != made_by(by_hand, result))
    throw std::runtime_error(std::string(what) + ": a wrong result");
  const int times = static_cast<int>(std::clamp<Count>(2'000'000 / (bytes + 1), 1, 2000));
  double best[2] = {std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
  for (int round = 0; round < 60; ++round) {
    best[0] = std::min(best[0], once(ours, times));
    best[1] = std::min(best[1], once(by_hand, times));
  }
  std::printf("%-42s %10lld %12.0f %12.0f %8.2f\n", what, static_cast<long long>(bytes), best[0], best[1],
              best[0] / best[1]);
}

std::vector<double> numbers(Count count) {
  std::vector<double> made(static_cast<std::size_t>(count));
  std::iota(made.begin(), made.end(), 1.0);
  return made;
}

/// A part of a block of n x n x n doubles: `count` of them in each dimension, from `first` on.
struct Face {
  const char* name;
  Count count[3], first[3];
};

void faces(Count n) {
  const std::vector<double> cube = numbers(n * n * n);
  std::vector<double> stream(static_cast<std::size_t>(n * n));
  for (const Face& face : {Face{"face of a cube, along x and y", {1, n, n}, {n - 1, 0, 0}},
                           Face{"face of a cube, along x and z", {n, 1, n}, {0, 1, 0}},
                           Face{"face of a cube, along y and z", {n, n, 1}, {0, 0, 1}}}) {
    const Layout layout = Layout::of<double>().box({n, n, n}, {face.count[0], face.count[1], face.count[2]},
                                                   {face.first[0], face.first[1], face.first[2]});
    const auto result = std::as_writable_bytes(std::span(stream));
    const auto by_hand = [from = cube.data(), begin = stream.data(), face, n] {
      double* to = begin;
      for (Count i = face.first[0]; i < face.first[0] + face.count[0]; ++i)
        for (Count j = face.first[1]; j < face.first[1] + face.count[1]; ++j)
          for (Count k = face.first[2]; k < face.first[2] + face.count[2]; ++k) *to++ = from[(i * n + j) * n + k];
    };
    compare(
        face.name, layout.size(), result, [&] { layout.pack(cube.data(), 0, result); }, by_hand);
  }
}

template <class T>
void column(const std::string& name, Count rows, Count columns, Count block) {
  std::vector<T> matrix(static_cast<std::size_t>(rows * columns)), stream(static_cast<std::size_t>(rows * block));
  std::iota(matrix.begin(), matrix.end(), T{1});
  const Layout layout = Layout::of<T>().strided(rows, block, columns);
  const auto packed = std::as_writable_bytes(std::span(stream));
  const auto get = [from = matrix.data(), begin = stream.data(), rows, columns, block] {
    T* to = begin;
    for (Count i = 0; i < rows; ++i)
      for (Count j = 0; j < block; ++j) *to++ = from[i * columns + j];
  };
  const auto put = [to = matrix.data(), begin = stream.data(), rows, columns, block] {
    const T* from = begin;
    for (Count i = 0; i < rows; ++i)
      for (Count j = 0; j < block; ++j) to[i * columns + j] = *from++;
  };
  compare(
      name.c_str(), layout.size(), packed, [&] { layout.pack(matrix.data(), 0, packed); }, get);
  compare((name + ", filled").c_str(), layout.size(), std::as_writable_bytes(std::span(matrix)),
          [&] { layout.unpack(matrix.data(), 0, packed); }, put);
}

void transposed(Count n) {
  const std::vector<double> matrix = numbers(n * n);
  std::vector<double> stream(matrix.size());
  const Layout layout = Layout::of<double>().strided(n, 1, n).resized(0, 8).repeat(n);
  const auto result = std::as_writable_bytes(std::span(stream));
  const auto by_hand = [from = matrix.data(), begin = stream.data(), n] {
    double* to = begin;
    for (Count i = 0; i < n; ++i)
      for (Count j = 0; j < n; ++j) *to++ = from[j * n + i];
  };
  compare(
      "transposed matrix", layout.size(), result, [&] { layout.pack(matrix.data(), 0, result); }, by_hand);
}

void scattered(Count n) {
  const std::vector<double> memory = numbers(4 * n);
  std::vector<double> stream(static_cast<std::size_t>(n));
  std::vector<Count> counts(static_cast<std::size_t>(n), 1), offsets;
  for (Count i = 0; i < n; ++i) offsets.push_back(4 * i + i % 3);
  const Layout layout = Layout::of<double>().indexed(counts, offsets);
  const auto result = std::as_writable_bytes(std::span(stream));
  const auto by_hand = [from = memory.data(), to = stream.data(), at = offsets.data(), n] {
    for (Count i = 0; i < n; ++i) to[i] = from[at[i]];
  };
  compare(
      "indexed, single doubles", layout.size(), result, [&] { layout.pack(memory.data(), 0, result); }, by_hand);
}

int run() {
  std::printf("%-42s %10s %12s %12s %8s\n", "what", "bytes", "tutti ns", "by hand ns", "ratio");
  column<double>("column of 1000 x 1000 doubles", 1000, 1000, 1);
  column<double>("column of 100 x 100 doubles", 100, 100, 1);
  column<float>("every second of 100 000 floats", 100'000, 2, 1);
  column<double>("2 columns of 1000 x 1000 doubles", 1000, 1000, 2);
  column<double>("20 columns of 1000 x 1000 doubles", 1000, 1000, 20);
  column<char>("3 of 16 bytes", 10'000, 16, 3);
  faces(100);
  transposed(1000);
  scattered(10'000);
  return 0;
}

}  // namespace

int main() {
  try {
    return run();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti-layouts: %s\n", error.what());
    return 1;
  }
}
