// SPDX-License-Identifier: BSD-3-Clause
// What collectives take as a buffer: elements side by side (any contiguous range), or a View of them.
#pragma once

#include <concepts>
#include <cstddef>
#include <ranges>
#include <type_traits>

#include "tutti/call.hpp"
#include "tutti/layout.hpp"
#include "tutti/types.hpp"

namespace tutti {

/// An element that can travel: its bytes are its value.
template <class T>
concept Element = std::is_trivially_copyable_v<std::remove_cv_t<T>>;

/// Elements that lie side by side: std::vector, std::span, std::array, a C array.
template <class R>
concept SideBySide =
    std::ranges::contiguous_range<R> && std::ranges::sized_range<R> && Element<std::ranges::range_value_t<R>>;

namespace detail {

template <class B>
inline constexpr bool is_view = false;
template <class T>
inline constexpr bool is_view<View<T>> = true;

}  // namespace detail

/// Elements that lie as a layout says.
template <class B>
concept LaidOut = detail::is_view<std::remove_cvref_t<B>>;

/// A buffer.
template <class B>
concept Elements = SideBySide<B> || LaidOut<B>;

namespace detail {

template <class B>
using Reference = std::remove_reference_t<decltype(*std::ranges::data(std::declval<B&>()))>;

/// The type of a buffer's elements.
template <class B>
using Value = std::remove_cv_t<Reference<B>>;

template <class B>
Count length(const B& buffer) {
  return static_cast<Count>(std::ranges::size(buffer));
}

/// nullptr for elements side by side.
template <class B>
const Layout* layout_of(const B& buffer) {
  if constexpr (LaidOut<B>)
    return buffer.layout().contiguous() ? nullptr : &buffer.layout();
  else
    return nullptr;
}

/// Where the buffer's memory begins, as a Call has it.
template <class B>
auto* address_of(B& buffer) {
  if constexpr (LaidOut<B>) {
    using Byte = std::conditional_t<std::is_const_v<Reference<B>>, const std::byte, std::byte>;
    auto* const bytes = reinterpret_cast<Byte*>(buffer.data());
    return buffer.layout().contiguous() ? bytes + buffer.layout().begin() : bytes;
  } else {
    return std::ranges::data(buffer);
  }
}

template <class B>
Lying lying(const B& buffer) {
  return {address_of(buffer), layout_of(buffer), length(buffer)};
}

/// Throws Error (usage): the buffers of a call are Meeting::crossing.
[[noreturn]] TUTTI_API void refuse_crossing(Kind kind);

template <class Inner, class Outer>
Meeting meeting_of(const Inner& inner, const Outer& outer, Count index) {
  constexpr std::size_t element = sizeof(Value<Inner>);
  if constexpr (LaidOut<Inner> || LaidOut<Outer>)
    return meeting(lying(inner), lying(outer), index, element);
  else
    return meeting_side_by_side(std::ranges::data(inner), std::ranges::size(inner) * element, std::ranges::data(outer),
                                std::ranges::size(outer) * element, static_cast<std::uintptr_t>(index) * element);
}

/// Whether `inner` is `outer` from its element `index` on: then the call is in place. Throws Error (usage) where they
/// overlap otherwise.
template <class Inner, class Outer>
bool in_place(Kind kind, const Inner& inner, const Outer& outer, Count index) {
  const Meeting found = meeting_of(inner, outer, index);
  if (found == Meeting::crossing) refuse_crossing(kind);
  return found == Meeting::same;
}

}  // namespace detail

/// A buffer that may be written.
template <class B>
concept Writable = Elements<B> && !std::is_const_v<detail::Reference<B>>;

}  // namespace tutti
