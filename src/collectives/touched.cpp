// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/touched.hpp"

#include <algorithm>
#include <iterator>

namespace tutti::collectives {
namespace {

/// Memory of this rank that some step may write: input never is, and the order of cells is that of their stage.
bool is_own_memory(const Slice& slice) {
  return slice.count > 0 && (slice.buffer == plan::Buffer::output || slice.buffer == plan::Buffer::scratch);
}

}  // namespace

void Touched::cut(Ranges& ranges, Count at) {
  const auto next = ranges.lower_bound(at);
  if (next == ranges.begin()) return;
  Range& found = std::prev(next)->second;
  if (found.end <= at) return;
  ranges.emplace_hint(next, at, found);
  found.end = at;
}

std::ranges::subrange<Touched::Ranges::iterator> Touched::ranges(const Slice& slice) {
  Ranges& all = buffers_[static_cast<std::size_t>(slice.buffer)];
  const Count begin = slice.offset, end = slice.offset + slice.count;
  cut(all, begin);
  cut(all, end);
  // What nobody has touched before becomes ranges, too.
  auto at = all.lower_bound(begin);
  for (Count next = begin; next < end; ++at) {
    if (at == all.end() || at->first > next) {
      const Count until = at == all.end() ? end : std::min(end, at->first);
      at = all.emplace_hint(at, next, Range{until, {}, {}});
    }
    next = at->second.end;
  }
  return {all.find(begin), at};
}

void Touched::add(const Access& access, std::vector<Handle>& before) const {
  if (access.step.exists() && access.stage != stage_) before.push_back(access.step);
}

void Touched::read(const Slice& slice, Handle step, std::vector<Handle>& before) {
  if (!is_own_memory(slice)) return;
  for (auto& [begin, range] : ranges(slice)) {
    add(range.writer, before);
    range.readers.push_back({step, stage_});
  }
}

void Touched::write(const Slice& slice, Handle step, std::vector<Handle>& before) {
  if (!is_own_memory(slice)) return;
  for (auto& [begin, range] : ranges(slice)) {
    // Readers have come after the writer.
    if (range.readers.empty()) add(range.writer, before);
    for (const Access& reader : range.readers) add(reader, before);
    range.writer = {step, stage_};
    range.readers.clear();
  }
}

}  // namespace tutti::collectives
