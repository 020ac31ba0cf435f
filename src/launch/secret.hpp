// SPDX-License-Identifier: BSD-3-Clause
// The job's secret: without it every connection is refused.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace tutti::launch {

/// 128 random bits. Its text is 32 hexadecimal digits.
struct Secret {
  std::array<std::byte, 16> bytes{};
};

/// A fresh secret from the kernel. Throws Error (system).
Secret random_secret();
/// A fresh number that names a job.
std::uint64_t random_job();
std::string to_hex(const Secret& secret);
/// Nothing when the text is anything but 32 hexadecimal digits.
std::optional<Secret> from_hex(std::string_view text);
/// What a file holds, but for blanks at its end; nothing when that is no secret.
std::optional<Secret> read_secret(int descriptor);
/// Takes the same time wherever the two differ.
bool same(const Secret& a, const Secret& b);

}  // namespace tutti::launch
