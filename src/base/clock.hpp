// SPDX-License-Identifier: BSD-3-Clause
// The one clock: monotonic nanoseconds.
#pragma once

#include <cstdint>

namespace tutti::base {

/// Nanoseconds of CLOCK_MONOTONIC; comparable between processes of one host.
std::uint64_t now();

}  // namespace tutti::base
