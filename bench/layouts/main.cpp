// SPDX-License-Identifier: BSD-3-Clause
// How fast layouts are packed, beside the loop that one would write by hand for each: nanoseconds, the best of many.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <functional>
#include <limits>
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

/// Both in turn, so that what disturbs one disturbs the other.
void compare(const char* what, Count bytes, const std::function<void()>& ours, const std::function<void()>& by_hand) {
  const int times = static_cast<int>(std::clamp<Count>(2'000'000 / (bytes + 1), 1, 2000));
  double best[2] = {std::numeric_limits<double>::max(), std::numeric_limits<double>::max()};
  for (int round = 0; round < 60; ++round) {
    best[0] = std::min(best[0], once(ours, times));
    best[1] = std::min(best[1], once(by_hand, times));
  }
  std::printf("%-42s %10lld %12.0f %12.0f %8.2f\n", what, static_cast<long long>(bytes), best[0], best[1],
              best[0] / best[1]);
}

/// A part of a block of n x n x n doubles: `count` of them in each dimension, from `first` on.
struct Face {
  const char* name;
  Count count[3], first[3];
};

void faces(Count n) {
  std::vector<double> cube(static_cast<std::size_t>(n * n * n), 1.0), stream(static_cast<std::size_t>(n * n));
  for (const Face& face : {Face{"face of a cube, along x and y", {1, n, n}, {n - 1, 0, 0}},
                           Face{"face of a cube, along x and z", {n, 1, n}, {0, 1, 0}},
                           Face{"face of a cube, along y and z", {n, n, 1}, {0, 0, 1}}}) {
    const Layout layout = Layout::of<double>().box({n, n, n}, {face.count[0], face.count[1], face.count[2]},
                                                   {face.first[0], face.first[1], face.first[2]});
    const auto by_hand = [&] {
      double* to = stream.data();
      for (Count i = 0; i < face.count[0]; ++i)
        for (Count j = 0; j < face.count[1]; ++j)
          for (Count k = 0; k < face.count[2]; ++k)
            *to++ =
                cube[static_cast<std::size_t>(((i + face.first[0]) * n + j + face.first[1]) * n + k + face.first[2])];
    };
    const auto ours = [&] { layout.pack(cube.data(), 0, std::as_writable_bytes(std::span(stream))); };
    compare(face.name, layout.size(), ours, by_hand);
  }
}

template <class T>
void column(const char* name, Count rows, Count columns, Count block) {
  std::vector<T> matrix(static_cast<std::size_t>(rows * columns)), stream(static_cast<std::size_t>(rows * block));
  const Layout layout = Layout::of<T>().strided(rows, block, columns);
  compare(
      name, layout.size(), [&] { layout.pack(matrix.data(), 0, std::as_writable_bytes(std::span(stream))); },
      [&] {
        T* to = stream.data();
        for (Count i = 0; i < rows; ++i)
          for (Count j = 0; j < block; ++j) *to++ = matrix[static_cast<std::size_t>(i * columns + j)];
      });
  compare((std::string(name) + ", filled").c_str(), layout.size(),
          [&] { layout.unpack(matrix.data(), 0, std::as_bytes(std::span(stream))); },
          [&] {
            const T* from = stream.data();
            for (Count i = 0; i < rows; ++i)
              for (Count j = 0; j < block; ++j) matrix[static_cast<std::size_t>(i * columns + j)] = *from++;
          });
}

void transposed(Count n) {
  std::vector<double> matrix(static_cast<std::size_t>(n * n)), stream(static_cast<std::size_t>(n * n));
  const Layout layout = Layout::of<double>().strided(n, 1, n).resized(0, 8).repeat(n);
  compare(
      "transposed matrix", layout.size(),
      [&] { layout.pack(matrix.data(), 0, std::as_writable_bytes(std::span(stream))); },
      [&] {
        double* to = stream.data();
        for (Count i = 0; i < n; ++i)
          for (Count j = 0; j < n; ++j) *to++ = matrix[static_cast<std::size_t>(j * n + i)];
      });
}

void scattered(Count n) {
  std::vector<double> memory(static_cast<std::size_t>(4 * n)), stream(static_cast<std::size_t>(n));
  std::vector<Count> counts(static_cast<std::size_t>(n), 1), offsets;
  for (Count i = 0; i < n; ++i) offsets.push_back(4 * i + i % 3);
  const Layout layout = Layout::of<double>().indexed(counts, offsets);
  compare(
      "indexed, single doubles", layout.size(),
      [&] { layout.pack(memory.data(), 0, std::as_writable_bytes(std::span(stream))); },
      [&] {
        for (std::size_t i = 0; i < offsets.size(); ++i) stream[i] = memory[static_cast<std::size_t>(offsets[i])];
      });
}

}  // namespace

int main() {
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
}
