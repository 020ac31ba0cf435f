// SPDX-License-Identifier: BSD-3-Clause
// Compression on all ranks, collected at rank 0: sizes first, then the data, with both under way while the next blocks
// are compressed.
#pragma once

#include <cstdint>
#include <functional>

#include "blocks.hpp"
#include "tutti/tutti.hpp"

namespace compress {

/// Agreed on all ranks.
struct Options {
  int level = 9;
  tutti::Count tile = 1;    ///< Blocks per rank and communication.
  tutti::Count window = 3;  ///< Communications under way while a rank compresses.
  bool overlap = true;      ///< False: compress, send, wait, one after the other.
  bool learn = true;        ///< Shares by the speeds seen; false: the same share for every rank.
  std::int64_t bytes = -1;  ///< Of the file that all ranks read; -1: it comes as a stream through rank 0.
};

/// Compresses what `input` (used on all ranks for a file, on rank 0 for a stream) holds into `output` (rank 0's;
/// nullptr elsewhere). Collective. `progress` is called on rank 0 with the bytes of input done. Returns the bytes read.
std::int64_t run(const tutti::Group& group, const Options& options, int input, Output* output,
                 const std::function<void(std::int64_t)>& progress);

}  // namespace compress
