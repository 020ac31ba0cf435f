// SPDX-License-Identifier: BSD-3-Clause
// Where the elements of a buffer lie in memory, when they do not lie side by side.
#pragma once

#include <algorithm>
#include <array>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <ranges>
#include <span>
#include <string>
#include <type_traits>
#include <utility>

#include "tutti/export.hpp"
#include "tutti/types.hpp"

namespace tutti {

namespace layout {
struct Form;
}

struct Part;

/// Where bytes lie, as seen from the beginning of a buffer: which bytes, in which order. A value: copies are cheap, and
/// nothing changes one. Layouts are made from layouts; each has an extent, the bytes from one to the next where it is
/// repeated, which is what it spans unless `resized` says otherwise. Each rank's own: ranks agree on how many elements
/// move, not on where they lie. Counts are 64 bits wide; what is negative or too large is refused with Error (usage).
///
///     rows x columns of double, one column:   Layout::of<double>().strided(rows, 1, columns)
///     every second of n floats:               Layout::of<float>().strided(n / 2, 1, 2)
///     2 and 3 ints from the 5th and 9th on:   Layout::of<int>().indexed({2, 3}, {5, 9})
///     a block of a two-dimensional array:     Layout::of<double>().box({rows, columns}, {4, 2}, {1, 3})
class TUTTI_API Layout {
 public:
  /// Nothing.
  Layout();
  /// `count` bytes side by side.
  static Layout bytes(Count count);
  /// `count` elements side by side.
  template <class T>
    requires std::is_trivially_copyable_v<T>
  static Layout of(Count count = 1) {
    return bytes(static_cast<Count>(sizeof(T))).repeat(count);
  }
  /// Parts of any kind, each `offset` bytes from the beginning, in this order: a struct, or the fields of it that
  /// count.
  static Layout mixed(std::span<const Part> parts);

  /// `count` of these, one extent apart.
  Layout repeat(Count count) const;
  /// `count` blocks of `block` of these; blocks begin `stride` extents apart (MPI's vector).
  Layout strided(Count count, Count block, Count stride) const;
  /// The same with the stride in bytes.
  Layout strided_bytes(Count count, Count block, Count stride) const;
  /// Blocks of counts[i] of these, each offsets[i] extents from the beginning (MPI's indexed).
  Layout indexed(std::span<const Count> counts, std::span<const Count> offsets) const;
  Layout indexed(std::initializer_list<Count> counts, std::initializer_list<Count> offsets) const {
    return indexed(std::span(counts.begin(), counts.size()), std::span(offsets.begin(), offsets.size()));
  }
  /// A block of an array of these, stored row by row: `part` of `whole` elements in each dimension, from `first` on
  /// (MPI's subarray). Its extent is that of the whole array.
  Layout box(std::span<const Count> whole, std::span<const Count> part, std::span<const Count> first) const;
  Layout box(std::initializer_list<Count> whole, std::initializer_list<Count> part,
             std::initializer_list<Count> first) const {
    return box(std::span(whole.begin(), whole.size()), std::span(part.begin(), part.size()),
               std::span(first.begin(), first.size()));
  }
  /// The same bytes, `bytes` further on.
  Layout moved(Count bytes) const;
  /// The same bytes with another lower bound and extent (MPI's resized).
  Layout resized(Count lower, Count extent) const;

  /// Bytes that move: those of the packed stream.
  Count size() const;
  /// Where it begins and how far the next one is when it is repeated, in bytes.
  Count lower() const;
  Count extent() const;
  /// The first byte that it touches, and the one behind the last; 0 and 0 of nothing.
  Count begin() const;
  Count end() const;
  /// All bytes lie side by side in their order, from `begin` on.
  bool contiguous() const;
  /// Where byte `position` of the packed stream lies.
  Count place(Count position) const;
  /// Two bytes of the stream lie at the same place: readable, but not writable.
  bool overlaps() const;

  /// Copies bytes [first, first + stream.size()) of the packed stream out of the memory at `memory`, or into it.
  void pack(const void* memory, Count first, std::span<std::byte> stream) const;
  void unpack(void* memory, Count first, std::span<const std::byte> stream) const;

  /// For messages: "3 blocks of 8 bytes, 64 apart".
  std::string describe() const;
  /// The same bytes in the same order, with the same extent.
  bool operator==(const Layout& other) const;
  /// For the library itself.
  explicit Layout(std::shared_ptr<const layout::Form> form);
  const layout::Form& form() const { return *form_; }

 private:
  std::shared_ptr<const layout::Form> form_;
};

/// A layout somewhere in memory: what `Layout::mixed` and alltoallw are given.
struct Part {
  Count offset = 0;  ///< Bytes from the beginning of the buffer.
  Layout layout{};
};

/// Elements of T that lie as a layout says in some memory, which it refers to: passed to a collective like any other
/// buffer. Throws Error (usage) when the layout reaches outside the memory or does not hold whole elements.
///
///     std::vector<double> field(rows * columns);
///     const auto column = Layout::of<double>().strided(rows, 1, columns);
///     group.bcast(View(field, column));
template <class T>
class View {
 public:
  using value_type = std::remove_cv_t<T>;
  static_assert(std::is_trivially_copyable_v<value_type>, "tutti: the elements of a View must be trivially copyable");

  View(std::span<T> memory, Layout layout);
  template <class R>
    requires std::ranges::contiguous_range<R> && std::ranges::sized_range<R>
  View(R&& memory, Layout layout) : View(std::span<T>(memory), std::move(layout)) {}

  T* data() const { return memory_.data(); }
  const Layout& layout() const { return layout_; }
  /// Elements.
  std::size_t size() const { return static_cast<std::size_t>(layout_.size()) / sizeof(T); }

 private:
  std::span<T> memory_;
  Layout layout_;
};

template <class R>
View(R&&, Layout) -> View<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

namespace detail {

/// Throws Error (usage).
TUTTI_API void check_view(const Layout& layout, std::size_t memory, std::size_t element);

/// A buffer of `count` elements; no layout: side by side.
struct Lying {
  const void* memory;
  const Layout* layout;
  Count count;
};

/// Two buffers, one of which may be a part of the other.
enum class Meeting : unsigned char {
  apart,     ///< They share nothing.
  same,      ///< The one is that part of the other: the call is in place.
  crossing,  ///< They share memory in another way: a call would write what it has yet to read.
};

/// Whether two pieces of memory share a byte.
inline bool overlap(const void* one, std::uintptr_t bytes, const void* other, std::uintptr_t other_bytes) {
  const auto begin = reinterpret_cast<std::uintptr_t>(one), other_begin = reinterpret_cast<std::uintptr_t>(other);
  return std::max(begin, other_begin) < std::min(begin + bytes, other_begin + other_bytes);
}

/// How `inner`, without a layout, lies to `outer`, without one, from byte `first` of `outer` on. Numbers that nobody
/// has checked yet wrap around, so addresses are compared as integers.
inline Meeting meeting_side_by_side(const void* inner, std::uintptr_t bytes, const void* outer,
                                    std::uintptr_t outer_bytes, std::uintptr_t first) {
  if (reinterpret_cast<std::uintptr_t>(inner) == reinterpret_cast<std::uintptr_t>(outer) + first) return Meeting::same;
  return overlap(inner, bytes, outer, outer_bytes) ? Meeting::crossing : Meeting::apart;
}

/// How `inner` and `outer` lie from element `first` of `outer` on. Of buffers that are not equally long and are laid
/// out, some elements are compared to find out whether they are the same.
TUTTI_API Meeting meeting(const Lying& inner, const Lying& outer, Count first, std::size_t element);

}  // namespace detail

template <class T>
View<T>::View(std::span<T> memory, Layout layout) : memory_(memory), layout_(std::move(layout)) {
  detail::check_view(layout_, memory_.size_bytes(), sizeof(T));
}

}  // namespace tutti
