// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/touched.hpp"

#include <algorithm>

namespace tutti::collectives {
namespace {

/// Memory of this rank that some step may write: input never is, and the order of cells is that of their stage.
bool is_own_memory(const Slice& slice) {
  return slice.count > 0 && (slice.buffer == plan::Buffer::output || slice.buffer == plan::Buffer::scratch);
}

}  // namespace

void Touched::cut(Ranges& ranges, Count at) {
  const auto found = std::ranges::upper_bound(ranges, at, {}, &Range::end);
  if (found == ranges.end() || found->begin >= at) return;
  Range front = *found;
  front.end = found->begin = at;
  ranges.insert(found, std::move(front));
}

std::span<Touched::Range> Touched::ranges(const Slice& slice) {
  Ranges& all = buffers_[static_cast<std::size_t>(slice.buffer)];
  const Count begin = slice.offset, end = slice.offset + slice.count;
  cut(all, begin);
  cut(all, end);
  // What nobody has touched before becomes ranges, too.
  auto at = std::ranges::lower_bound(all, begin, {}, &Range::begin) - all.begin();
  const auto first = at;
  for (Count next = begin; next < end; ++at) {
    if (at == std::ssize(all) || all[static_cast<std::size_t>(at)].begin > next) {
      const Count until = at == std::ssize(all) ? end : std::min(end, all[static_cast<std::size_t>(at)].begin);
      all.insert(all.begin() + at, {next, until, {}, {}});
    }
    next = all[static_cast<std::size_t>(at)].end;
  }
  return std::span(all).subspan(static_cast<std::size_t>(first), static_cast<std::size_t>(at - first));
}

void Touched::add(const Access& access, std::vector<Handle>& before) const {
  if (access.step.exists() && access.stage != stage_) before.push_back(access.step);
}

void Touched::read(const Slice& slice, Handle step, std::vector<Handle>& before) {
  if (!is_own_memory(slice)) return;
  for (Range& range : ranges(slice)) {
    add(range.writer, before);
    range.readers.push_back({step, stage_});
  }
}

void Touched::write(const Slice& slice, Handle step, std::vector<Handle>& before) {
  if (!is_own_memory(slice)) return;
  for (Range& range : ranges(slice)) {
    // Readers have come after the writer.
    if (range.readers.empty()) add(range.writer, before);
    for (const Access& reader : range.readers) add(reader, before);
    range.writer = {step, stage_};
    range.readers.clear();
  }
}

}  // namespace tutti::collectives
