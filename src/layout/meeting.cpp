// SPDX-License-Identifier: BSD-3-Clause
// How the buffers of one call lie to each other.
#include <algorithm>
#include <cstdint>

#include "layout/form.hpp"
#include "tutti/layout.hpp"

namespace tutti {
namespace {

using detail::Lying;

std::uintptr_t address(const Lying& of) { return reinterpret_cast<std::uintptr_t>(of.memory); }

std::uintptr_t place(const Lying& of, Count index, Count element) {
  const Count bytes = index * element;
  return address(of) + static_cast<std::uintptr_t>(of.layout == nullptr ? bytes : of.layout->place(bytes));
}

layout::Node node(const Lying& of, Count element) {
  return of.layout == nullptr ? layout::run(of.count * element) : of.layout->form().node;
}

Count distance(const Lying& from, const Lying& to) { return static_cast<Count>(address(to) - address(from)); }

/// Of what reaches from the first byte to the last that each touches.
bool spans_overlap(const Lying& inner, const Lying& outer, Count element) {
  const auto begin = [](const Lying& of) {
    return static_cast<const std::byte*>(of.memory) + (of.layout == nullptr ? 0 : of.layout->begin());
  };
  const auto length = [element](const Lying& of) {
    return static_cast<std::uintptr_t>(of.layout == nullptr ? of.count * element
                                                            : of.layout->end() - of.layout->begin());
  };
  return detail::overlap(begin(inner), length(inner), begin(outer), length(outer));
}

bool elements_overlap(const Lying& inner, const Lying& outer, Count element) {
  return spans_overlap(inner, outer, element) &&
         layout::share(node(inner, element), node(outer, element), distance(inner, outer));
}

/// All of them: normal forms are compared.
bool all_alike(const Lying& inner, const Lying& outer, Count element) {
  layout::Node seen_from_outer = node(inner, element);
  seen_from_outer.offset += distance(outer, inner);
  return seen_from_outer == node(outer, element);
}

/// Some of `count`, which are as far apart as multiples of the golden ratio: no period of a layout hides from them.
bool some_alike(const Lying& inner, const Lying& outer, Count first, Count count, Count element) {
  constexpr std::uint64_t most = 61, golden = 0x9e3779b97f4a7c15u;
  const auto alike = [&](Count i) { return place(inner, i, element) == place(outer, first + i, element); };
  if (!alike(count - 1) || !alike(std::min<Count>(1, count - 1))) return false;
  const bool few = count <= static_cast<Count>(most);
  for (std::uint64_t i = 0; i < (few ? static_cast<std::uint64_t>(count) : most); ++i) {
    __extension__ using Wide = unsigned __int128;
    const auto spread = static_cast<Count>(Wide{i * golden} * static_cast<std::uint64_t>(count) >> 64);
    if (!alike(few ? static_cast<Count>(i) : spread)) return false;
  }
  return true;
}

}  // namespace

detail::Meeting detail::meeting(const Lying& inner, const Lying& outer, Count first, std::size_t element) {
  const auto bytes = static_cast<Count>(element);
  const auto length = [bytes](Count count) { return static_cast<std::uintptr_t>(count * bytes); };
  if (inner.layout == nullptr && outer.layout == nullptr)
    return meeting_side_by_side(inner.memory, length(inner.count), outer.memory, length(outer.count), length(first));
  const Count common = std::min(inner.count, outer.count - first);
  if (first < 0 || common <= 0 || place(inner, 0, bytes) != place(outer, first, bytes))
    return elements_overlap(inner, outer, bytes) ? Meeting::crossing : Meeting::apart;
  const bool same =
      inner.count == outer.count ? all_alike(inner, outer, bytes) : some_alike(inner, outer, first, common, bytes);
  return same ? Meeting::same : Meeting::crossing;
}

}  // namespace tutti
