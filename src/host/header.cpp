// SPDX-License-Identifier: BSD-3-Clause
// Where the parts of a segment lie, and whether a header that was found says so.
#include "host/segment.hpp"

namespace tutti::host {

Layout layout(std::int32_t size, std::uint64_t capacity) {
  const auto processes = static_cast<std::uint64_t>(size);
  Layout result{};
  result.processes = round_up(sizeof(Header), page);
  result.links = round_up(result.processes + processes * sizeof(Process), page);
  result.pairs = round_up(result.links + capacity / page * sizeof(std::uint64_t), page);
  result.heap = result.pairs + pair_area_bytes(size);
  return result;
}

std::string check(const Header& header, std::uint64_t file_size, std::uint64_t job) {
  if (header.magic != segment_magic) return "it does not start like a segment of Tutti";
  if (header.version != wire_version)
    return "it was made by wire version " + std::to_string(header.version) + " of Tutti, this is version " +
           std::to_string(wire_version) + ": use the same Tutti for the launcher and the program";
  if (header.job != job) return "it belongs to another job";
  if (header.size < 1 || header.size > max_processes) return "its number of processes is impossible";
  if (header.capacity != file_size) return "its size is not the file's";
  if (file_size % page != 0 || file_size > std::uint64_t{1} << 48) return "its size is impossible";
  const Layout expected = layout(header.size, file_size);
  if (header.processes != expected.processes || header.links != expected.links || header.pairs != expected.pairs ||
      header.heap != expected.heap)
    return "its parts lie in wrong places";
  if (expected.heap + least_heap > file_size) return "it is too small for its processes";
  return {};
}

}  // namespace tutti::host
