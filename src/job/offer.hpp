// SPDX-License-Identifier: BSD-3-Clause
// What rank 0 tells everybody before the first operation: what selection reads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace tutti::job {

/// Whether a progress thread is wanted: TUTTI_PROGRESS_THREAD.
enum class ProgressThread : std::uint32_t {
  off,        ///< Only for who asks for a request's descriptor.
  automatic,  ///< Where a probe shows that it gains time.
  on,
};

struct Offer {
  ProgressThread progress = ProgressThread::off;
  std::string algorithms;  ///< As TUTTI_ALGORITHMS.
  bool asked_for = false;  ///< The table, by TUTTI_TABLE: see tune::Source.
  std::string lines;       ///< Of the table; they go before the standard ones.
  std::string table;       ///< What the table is called.
  std::string processor;   ///< Whose lines the standard table has: ranks may run on several.
  std::uint64_t cache = 0;

  std::vector<std::byte> pack() const;
  /// Throws Error (system) for bytes that are no offer.
  static Offer unpack(std::span<const std::byte> bytes);
};

}  // namespace tutti::job
