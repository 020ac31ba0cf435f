// SPDX-License-Identifier: BSD-3-Clause
// How many blocks each rank compresses in a round. All ranks compute the same from the same reports.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "tutti/types.hpp"

namespace compress {

/// What a rank tells about a round; travels with the sizes, so that it costs no message of its own.
struct Report {
  std::int64_t bytes = 0;  ///< Compressed, to be gathered.
  std::int64_t blocks = 0;
  std::int64_t nanoseconds = 0;  ///< The time they took.
};

/// Shares the blocks of a round by the speeds seen: a rank that is held up (a busy core, a low priority) gets fewer,
/// and now and then one, to see whether it has become faster.
class Shares {
 public:
  Shares(int ranks, tutti::Count tile) : tile_(tile), speeds_(static_cast<std::size_t>(ranks), 0) {}

  void learn(const std::vector<Report>& reports) {
    for (std::size_t r = 0; r < speeds_.size(); ++r) {
      if (reports[r].blocks == 0 || reports[r].nanoseconds <= 0) continue;
      const double seen = static_cast<double>(reports[r].blocks) / static_cast<double>(reports[r].nanoseconds);
      speeds_[r] = speeds_[r] == 0 ? seen : (7 * speeds_[r] + seen) / 8;
    }
  }

  /// Blocks of each rank in round `k`: `tile` for the fastest, and for all until each has been seen.
  std::vector<tutti::Count> of_round(tutti::Count k) const {
    std::vector<tutti::Count> shares(speeds_.size(), tile_);
    if (std::find(speeds_.begin(), speeds_.end(), 0) != speeds_.end()) return shares;
    const double fastest = *std::max_element(speeds_.begin(), speeds_.end());
    for (std::size_t r = 0; r < speeds_.size(); ++r) {
      // Blocks of one file differ as much as this: the window takes that up, a smaller share would idle.
      const double relative = speeds_[r] > alike * fastest ? 1 : speeds_[r] / fastest;
      const double exact = static_cast<double>(tile_) * relative;
      // A rank of half the speed takes one block in every second round of one block.
      const auto owed = [&](tutti::Count rounds) {
        return static_cast<tutti::Count>(exact * static_cast<double>(rounds));
      };
      const bool look_again = (k + 1) % look_again_every == 0;
      shares[r] = std::max<tutti::Count>(owed(k + 1) - owed(k), look_again || speeds_[r] == fastest ? 1 : 0);
    }
    return shares;
  }

 private:
  static constexpr tutti::Count look_again_every = 64;
  static constexpr double alike = 0.6;
  tutti::Count tile_;
  std::vector<double> speeds_;
};

}  // namespace compress
