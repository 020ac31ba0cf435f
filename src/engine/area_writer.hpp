// SPDX-License-Identifier: BSD-3-Clause
// How a rank fills its areas: through the caches, or past them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>

#include "base/copy.hpp"

namespace tutti::engine {

/// Whether the cores of a group share a cache: as somebody says who knows it, or as each rank measures it.
enum class Caches { measured, shared, apart };
/// What follows from it, for `tutti info`.
std::string how_filled(Caches caches);

/// Copies payloads into areas that others have read before. Where they share no cache with this core (another socket,
/// another complex of cores of the same one), each line has to be taken back from them before it is written over: AMD
/// EPYC, 64 KiB, 25 us, and 5 for whoever reads it; past the caches 2, and 5 to read. Where they share one it takes 2
/// through it, and 1.5 to read. Threads move, and virtual machines, so that every now and then a copy is timed.
class AreaWriter {
 public:
  explicit AreaWriter(Caches caches) : measures_(caches == Caches::measured), past_(caches == Caches::apart) {}

  void copy(std::byte* to, const std::byte* from, std::size_t bytes) {
    if (bytes < base::large_copy)
      std::memcpy(to, from, bytes);
    else
      copy_large(to, from, bytes);
  }

  /// How long a copy of so many bytes through the caches took, whose source was in this core's own.
  void note(std::size_t bytes, std::uint64_t nanoseconds);
  /// Past the caches.
  bool past() const { return past_; }

 private:
  void copy_large(std::byte* to, const std::byte* from, std::size_t bytes);
  void copy_timed(std::byte* to, const std::byte* from, std::size_t bytes);

  bool measures_, past_;
  int score_ = 0;  // what timed copies speak for going past the caches
  int until_ = 1;  // copies until one is timed
};

}  // namespace tutti::engine
