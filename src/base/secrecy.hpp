// SPDX-License-Identifier: BSD-3-Clause
// What keeping a secret takes.
#pragma once

#include <array>
#include <cstddef>
#include <span>

namespace tutti::base {

/// Fresh random bytes from the kernel, at most 256. False, with errno, where it gives none.
bool fill_random(std::span<std::byte> bytes);
/// Takes the same time wherever the two differ.
bool same(const std::array<std::byte, 16>& a, const std::array<std::byte, 16>& b);

}  // namespace tutti::base
