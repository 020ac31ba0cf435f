// SPDX-License-Identifier: BSD-3-Clause
// What arrives at the rendezvous. Input: the bytes of a connection, message after message.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <span>
#include <variant>

#include "launch/message.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tutti::launch;
  std::span<const std::byte> bytes = std::as_bytes(std::span(data, size));
  for (;;) {
    const Parsed parsed = parse(bytes);
    if (parsed.outcome != Parsed::Outcome::complete) return 0;
    if (parsed.used < header_bytes || parsed.used > bytes.size()) std::abort();
    const auto* hello = std::get_if<Hello>(&parsed.message);
    // Of a hello of another version only the version is read; all else comes back as it was.
    if (hello == nullptr || hello->version == tutti::host::wire_version)
      if (!std::ranges::equal(serialise(parsed.message), bytes.first(parsed.used))) std::abort();
    bytes = bytes.subspan(parsed.used);
  }
}
