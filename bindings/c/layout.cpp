// SPDX-License-Identifier: BSD-3-Clause
#include "c/layout.hpp"

#include <memory>
#include <mutex>
#include <set>
#include <vector>

using namespace tutti;
using namespace tutti::c;

namespace {

/// All layouts there are: a type has no room for two pointers, but for two numbers.
class Table {
 public:
  std::uint32_t add(const tutti_layout_handle* handle) {
    const std::lock_guard guard(lock_);
    if (!given_back_.empty()) {
      const std::uint32_t number = given_back_.extract(given_back_.begin()).value();
      handles_[number - 1] = handle;
      return number;
    }
    if (handles_.size() >= most) refuse("there are too many layouts; free those that are not used any more");
    handles_.push_back(handle);
    return static_cast<std::uint32_t>(handles_.size());
  }
  void remove(std::uint32_t number) {
    const std::lock_guard guard(lock_);
    handles_[number - 1] = nullptr;
    given_back_.insert(number);
  }
  /// nullptr for 0: side by side.
  const tutti_layout_handle* find(std::uint64_t number) {
    if (number == 0) return nullptr;
    const std::lock_guard guard(lock_);
    if (number <= handles_.size() && handles_[number - 1] != nullptr) return handles_[number - 1];
    refuse("the type's layout has been freed; make the type again, by tutti_laid_out");
  }

 private:
  static constexpr std::size_t most = (1u << 28) - 1;
  std::mutex lock_;
  std::vector<const tutti_layout_handle*> handles_;
  std::set<std::uint32_t> given_back_;  ///< The lowest is given out first.
};

Table& table() {
  static Table all;
  return all;
}

// A type: its number, then those of its two layouts.
constexpr int in_shift = 8, out_shift = 36;
constexpr std::uint64_t number_mask = (std::uint64_t{1} << 28) - 1;

/// Makes a layout by `make` and gives it away.
template <class Make>
tutti_status give(tutti_layout* layout, Make make) {
  return guarded([&] {
    if (layout == nullptr) refuse("nowhere to put the layout; pass the address of a tutti_layout");
    auto made = std::make_unique<tutti_layout_handle>(make());
    made->number = table().add(made.get());
    *layout = made.release();
  });
}

std::span<const Count> numbers(const int64_t* values, int64_t count, const char* what) {
  if (count < 0) refuse("layout: the number of " + std::string(what) + " is negative");
  if (count > 0 && values == nullptr) refuse("layout: " + std::string(what) + " are NULL; pass one number for each");
  return {values, static_cast<std::size_t>(count)};
}

Layout one(const ElementType& element) { return Layout::bytes(element.bytes); }

ElementType base_element_of(tutti_type type) {
  return plain_element_of(type, "a layout's elements lie side by side (tutti_layout_nested repeats a layout)");
}

}  // namespace

ElementType tutti::c::laid_out_element(tutti_type type) {
  const auto* const in = table().find(type >> in_shift & number_mask);
  const auto* const out = table().find(type >> out_shift & number_mask);
  const auto* const any = in != nullptr ? in : out;
  if (any == nullptr) refuse(std::to_string(type) + " is not a type; make it by tutti_laid_out");
  return {any->element.type, any->element.bytes, in == nullptr ? nullptr : &in->layout,
          out == nullptr ? nullptr : &out->layout};
}

tutti_status tutti_layout_strided(tutti_layout* layout, tutti_type type, int64_t count, int64_t block, int64_t stride) {
  return give(layout, [&] {
    const ElementType element = base_element_of(type);
    return tutti_layout_handle{one(element).strided(count, block, stride), element};
  });
}

tutti_status tutti_layout_indexed(tutti_layout* layout, tutti_type type, int64_t n, const int64_t* counts,
                                  const int64_t* offsets) {
  return give(layout, [&] {
    const ElementType element = base_element_of(type);
    return tutti_layout_handle{one(element).indexed(numbers(counts, n, "counts"), numbers(offsets, n, "offsets")),
                               element};
  });
}

tutti_status tutti_layout_box(tutti_layout* layout, tutti_type type, int32_t n, const int64_t* whole,
                              const int64_t* part, const int64_t* first) {
  return give(layout, [&] {
    const ElementType element = base_element_of(type);
    return tutti_layout_handle{
        one(element).box(numbers(whole, n, "sizes"), numbers(part, n, "sizes"), numbers(first, n, "first elements")),
        element};
  });
}

tutti_status tutti_layout_nested(tutti_layout* layout, tutti_layout inner, int64_t count, int64_t stride_bytes) {
  return give(layout, [&] {
    const tutti_layout_handle& body = layout_of(inner);
    return tutti_layout_handle{body.layout.strided_bytes(count, 1, stride_bytes), body.element};
  });
}

tutti_status tutti_layout_mixed(tutti_layout* layout, int64_t n, const int64_t* offsets_bytes,
                                const tutti_layout* parts) {
  return give(layout, [&] {
    const auto offsets = numbers(offsets_bytes, n, "offsets");
    if (n > 0 && parts == nullptr) refuse("tutti_layout_mixed: parts is NULL; pass one layout for each offset");
    std::vector<Part> all;
    for (std::size_t i = 0; i < offsets.size(); ++i) all.push_back({offsets[i], layout_of(parts[i]).layout});
    return tutti_layout_handle{Layout::mixed(all), {Type::opaque, 1}};
  });
}

tutti_status tutti_layout_resized(tutti_layout* layout, tutti_layout inner, int64_t lower_bytes, int64_t extent_bytes) {
  return give(layout, [&] {
    const tutti_layout_handle& body = layout_of(inner);
    return tutti_layout_handle{body.layout.resized(lower_bytes, extent_bytes), body.element};
  });
}

int64_t tutti_layout_size(tutti_layout layout) { return layout == nullptr ? -1 : layout->layout.size(); }
int64_t tutti_layout_extent(tutti_layout layout) { return layout == nullptr ? -1 : layout->layout.extent(); }

tutti_status tutti_layout_free(tutti_layout* layout) {
  return guarded([&] {
    if (layout == nullptr) refuse("tutti_layout_free: pass the address of a tutti_layout");
    const std::unique_ptr<tutti_layout_handle> gone(std::exchange(*layout, nullptr));
    if (gone) table().remove(gone->number);
  });
}

tutti_type tutti_laid_out(tutti_layout in, tutti_layout out) {
  if (in == nullptr && out == nullptr) return 0;
  const bool same = in == nullptr || out == nullptr ||
                    (in->element.type == out->element.type && in->element.bytes == out->element.bytes);
  if (!same) return 0;
  const auto number = [](tutti_layout layout) { return layout == nullptr ? std::uint64_t{0} : layout->number; };
  return laid_out_number | number(in) << in_shift | number(out) << out_shift;
}
