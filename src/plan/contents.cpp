// SPDX-License-Identifier: BSD-3-Clause
#include "plan/contents.hpp"

#include <algorithm>
#include <array>

namespace tutti::plan {

void append(std::vector<Extent>& extents, const Extent& extent) {
  if (!extents.empty() && extents.back().end == extent.begin && extents.back().symbol == extent.symbol)
    extents.back().end = extent.end;
  else
    extents.push_back(extent);
}

bool Contents::read(Count begin, Count end, Count to, std::vector<Extent>& out, Count& undefined) const {
  auto extent = std::ranges::upper_bound(extents_, begin, {}, &Extent::end);
  const Count move = to - begin;
  for (; begin < end; ++extent) {
    if (extent == extents_.end() || extent->begin > begin) {
      undefined = begin;
      return false;
    }
    const Count stop = std::min(end, extent->end);
    append(out, {begin + move, stop + move, {extent->symbol.id, extent->symbol.shift - move}});
    begin = stop;
  }
  return true;
}

void Contents::write(Count begin, Count end, const std::vector<Extent>& extents, std::vector<Extent>& fresh) {
  if (begin == end) return;
  // The ranges that touch [begin, end) make way for what is left of them and for the new ones.
  const auto first = std::ranges::lower_bound(extents_, begin, {}, &Extent::end);
  const auto last = std::ranges::upper_bound(first, extents_.end(), end, {}, &Extent::begin);
  fresh.clear();
  if (first != last && first->begin < begin) fresh.push_back({first->begin, begin, first->symbol});
  for (const Extent& extent : extents) append(fresh, extent);
  if (first != last && (last - 1)->end > end) append(fresh, {end, (last - 1)->end, (last - 1)->symbol});
  const auto old = static_cast<std::size_t>(last - first);
  const auto at = first - extents_.begin();
  const std::size_t same = std::min(old, fresh.size());
  std::copy_n(fresh.begin(), same, extents_.begin() + at);
  if (fresh.size() > old)
    extents_.insert(extents_.begin() + at + static_cast<std::ptrdiff_t>(same),
                    fresh.begin() + static_cast<std::ptrdiff_t>(same), fresh.end());
  else
    extents_.erase(extents_.begin() + at + static_cast<std::ptrdiff_t>(same),
                   extents_.begin() + at + static_cast<std::ptrdiff_t>(old));
}

}  // namespace tutti::plan
