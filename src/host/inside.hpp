// SPDX-License-Identifier: BSD-3-Clause
// The function of its MPI that a rank is in, for readers from outside: what an MPI's own waits look like is not for
// Tutti to say, but where a rank waits is.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

namespace tutti::host {

/// Written by one thread of its rank, in a few stores.
struct Inside {
  /// "MPI_Recv", zeros after its end; cut where it is longer.
  using Name = std::array<std::uint64_t, 4>;
  static Name name_of(std::string_view text) {
    Name name{};
    std::memcpy(name.data(), text.data(), std::min(text.size(), sizeof name));
    return name;
  }

  std::atomic<std::uint64_t> calls;  ///< Odd: it is in one, and what follows stays as it is.
  std::atomic<std::uint64_t> site;   ///< Return address of the call.
  std::atomic<std::int32_t> peer;    ///< A rank of the job, or negative.
  std::atomic<std::int32_t> tag;     ///< Negative: any, or none.
  std::array<std::atomic<std::uint64_t>, 4> name;

  /// False when it is in one already, which stays noted.
  [[gnu::always_inline]] bool enter(const Name& which, const void* where, std::int32_t whom, std::int32_t what) {
    const std::uint64_t before = calls.load(std::memory_order_relaxed);  // relaxed: this rank's own word
    if (before % 2 != 0) return false;
    // Relaxed: the word below publishes them.
    for (std::size_t i = 0; i < which.size(); ++i) name[i].store(which[i], std::memory_order_relaxed);
    site.store(reinterpret_cast<std::uint64_t>(where), std::memory_order_relaxed);
    peer.store(whom, std::memory_order_relaxed);
    tag.store(what, std::memory_order_relaxed);
    // Release: whoever reads the same odd number twice from outside has read what stands above.
    calls.store(before + 1, std::memory_order_release);
    return true;
  }
  void leave() {
    // Release, as above; relaxed: this rank's own word.
    calls.store(calls.load(std::memory_order_relaxed) + 1, std::memory_order_release);
  }
};

}  // namespace tutti::host
