// SPDX-License-Identifier: BSD-3-Clause
// The header of a segment that another process hands over. Input: the file's size, then the header's first bytes.
#include <algorithm>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "host/segment.hpp"

// NOLINTNEXTLINE(readability-identifier-naming): libFuzzer calls it so.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace tutti::host;
  std::uint64_t file_size = 0;
  if (size < sizeof file_size) return 0;
  std::memcpy(&file_size, data, sizeof file_size);
  alignas(Header) std::byte bytes[sizeof(Header)] = {};
  std::memcpy(bytes, data + sizeof file_size, std::min(size - sizeof file_size, sizeof bytes));
  const Header& header = *std::launder(reinterpret_cast<const Header*>(bytes));
  if (!check(header, file_size, 77).empty()) return 0;
  // Accepted: everything lies inside the file, one part behind the other.
  const bool sound = header.capacity == file_size && header.processes >= sizeof(Header) &&
                     header.links >= header.processes + static_cast<Offset>(header.size) * sizeof(Process) &&
                     header.pairs >= header.links + file_size / page * sizeof(std::uint64_t) &&
                     header.heap >= header.pairs + pair_area_bytes(header.size) &&
                     header.heap <= file_size - least_heap;
  if (!sound) std::abort();
  return 0;
}
