// SPDX-License-Identifier: BSD-3-Clause
#include "tutti/layout.hpp"

#include <algorithm>
#include <limits>

#include "base/hash.hpp"
#include "layout/form.hpp"
#include "tutti/error.hpp"

namespace tutti {

using layout::Form;
using layout::Node;
using layout::plus;
using layout::times;

namespace {

[[noreturn]] void refuse(const std::string& text) { throw Error(Cause::usage, "layout: " + text); }

void expect_count(const char* what, Count count) {
  if (count < 0) refuse(std::string(what) + " is " + std::to_string(count) + " and must not be negative");
}

Layout make(Node node, Count lower, Count extent) {
  return Layout(std::make_shared<const Form>(std::move(node), lower, extent));
}

/// The bounds of layouts side by side, lower and upper. An extent may be negative, as MPI's: then upper lies below
/// lower.
struct Bounds {
  Count lower = std::numeric_limits<Count>::max(), upper = std::numeric_limits<Count>::min();
  bool any = false;

  /// Of `layout`, `offset` bytes further on.
  void add(const Layout& layout, Count offset) {
    const Count begin = plus(offset, layout.lower());
    lower = std::min(lower, begin);
    upper = std::max(upper, plus(begin, layout.extent()));
    any = true;
  }
  Layout make(Node node) const {
    if (!any) return {};
    if (Count extent = 0; !__builtin_sub_overflow(upper, lower, &extent))
      return tutti::make(std::move(node), lower, extent);
    layout::refuse_size();
  }
};

Node moved_node(const Layout& layout, Count bytes) {
  Node node = layout.form().node;
  node.offset = plus(node.offset, bytes);
  return node;
}

}  // namespace

Layout::Layout() {
  static const auto nothing = std::make_shared<const Form>(layout::run(0), 0, 0);
  form_ = nothing;
}
Layout::Layout(std::shared_ptr<const Form> form) : form_(std::move(form)) {}

Layout Layout::bytes(Count count) {
  expect_count("the number of bytes", count);
  return make(layout::run(count), 0, count);
}

Layout Layout::repeat(Count count) const { return strided_bytes(count, 1, extent()); }

Layout Layout::strided(Count count, Count block, Count stride) const {
  return strided_bytes(count, block, times(stride, extent()));
}

Layout Layout::strided_bytes(Count count, Count block, Count stride) const {
  expect_count("the number of blocks", count);
  expect_count("the length of a block", block);
  if (count == 0 || block == 0) return Layout();
  Node one = layout::loop(block, extent(), form_->node);
  Bounds bounds;
  const Count last = times(count - 1, stride), inner = times(block - 1, extent());
  for (const Count begin : {Count{0}, last})
    for (const Count further : {Count{0}, inner}) bounds.add(*this, plus(begin, further));
  return bounds.make(layout::loop(count, stride, std::move(one)));
}

Layout Layout::indexed(std::span<const Count> counts, std::span<const Count> offsets) const {
  if (counts.size() != offsets.size())
    refuse(std::to_string(counts.size()) + " lengths of blocks and " + std::to_string(offsets.size()) +
           " offsets were given; give one of each for each block");
  std::vector<Node> parts;
  Bounds bounds;
  for (std::size_t i = 0; i < counts.size(); ++i) {
    expect_count("the length of a block", counts[i]);
    if (counts[i] == 0) continue;
    const Count offset = times(offsets[i], extent());
    parts.push_back(layout::loop(counts[i], extent(), form_->node));
    parts.back().offset = plus(parts.back().offset, offset);
    bounds.add(*this, offset);
    bounds.add(*this, plus(offset, times(counts[i] - 1, extent())));
  }
  return bounds.make(layout::list(std::move(parts)));
}

Layout Layout::mixed(std::span<const Part> given) {
  std::vector<Node> parts;
  Bounds bounds;
  for (const Part& part : given) {
    if (part.layout.size() == 0) continue;
    parts.push_back(moved_node(part.layout, part.offset));
    bounds.add(part.layout, part.offset);
  }
  return bounds.make(layout::list(std::move(parts)));
}

Layout Layout::box(std::span<const Count> whole, std::span<const Count> part, std::span<const Count> first) const {
  if (whole.size() != part.size() || whole.size() != first.size())
    refuse("a box needs the sizes of the array, those of the part and where it begins, one of each per dimension");
  Layout block = *this;
  Count stride = extent(), begin = 0;
  for (std::size_t i = whole.size(); i-- > 0;) {
    expect_count("the size of a box", part[i]);
    if (first[i] < 0 || first[i] > whole[i] || part[i] > whole[i] - first[i])
      refuse("elements " + std::to_string(first[i]) + " to " + std::to_string(first[i] + part[i]) + " of dimension " +
             std::to_string(i) + " reach outside the array, which has " + std::to_string(whole[i]) + " there");
    block = block.strided_bytes(part[i], 1, stride);
    begin = plus(begin, times(first[i], stride));
    stride = times(stride, whole[i]);
  }
  return block.moved(begin).resized(0, stride);
}

Layout Layout::moved(Count bytes) const { return make(moved_node(*this, bytes), plus(lower(), bytes), extent()); }

Layout Layout::resized(Count lower, Count extent) const { return make(form_->node, lower, extent); }

Count Layout::size() const { return form_->node.bytes; }
Count Layout::lower() const { return form_->lower; }
Count Layout::extent() const { return form_->extent; }
Count Layout::begin() const { return size() == 0 ? 0 : form_->node.offset + form_->node.lowest; }
Count Layout::end() const { return size() == 0 ? 0 : form_->node.offset + form_->node.upmost; }
bool Layout::contiguous() const { return form_->node.kind == Node::Kind::run; }
Count Layout::place(Count position) const { return layout::place(form_->node, position); }
bool Layout::overlaps() const { return form_->overlaps(); }

namespace {

Count checked_end(const Layout& layout, Count first, std::size_t bytes) {
  const auto length = static_cast<Count>(bytes);
  if (first < 0 || first > layout.size() || length > layout.size() - first)
    refuse("bytes " + std::to_string(first) + " to " + std::to_string(first + length) + " were asked for, of " +
           std::to_string(layout.size()));
  return first + length;
}

}  // namespace

void Layout::pack(const void* memory, Count first, std::span<std::byte> stream) const {
  const Count end = checked_end(*this, first, stream.size());
  layout::pack(form_->node, static_cast<const std::byte*>(memory), first, end, stream.data());
}

void Layout::unpack(void* memory, Count first, std::span<const std::byte> stream) const {
  const Count end = checked_end(*this, first, stream.size());
  layout::unpack(form_->node, static_cast<std::byte*>(memory), first, end, stream.data());
}

bool Layout::operator==(const Layout& other) const {
  return form_ == other.form_ || (form_->hash == other.form_->hash && form_->lower == other.form_->lower &&
                                  form_->extent == other.form_->extent && form_->node == other.form_->node);
}

std::string Layout::describe() const {
  const Node& node = form_->node;
  const std::string whole =
      std::to_string(size()) + " bytes between " + std::to_string(begin()) + " and " + std::to_string(end());
  switch (node.kind) {
    case Node::Kind::run:
      return std::to_string(size()) + " bytes side by side";
    case Node::Kind::blocks:
      if (node.count[0] == 1)
        return std::to_string(node.count[1]) + " blocks of " + std::to_string(node.block) + " bytes, " +
               std::to_string(node.stride[1]) + " apart";
      return std::to_string(node.count[0]) + " rows of " + std::to_string(node.count[1]) + " blocks of " +
             std::to_string(node.block) + " bytes";
    default:
      return whole;
  }
}

void detail::check_view(const Layout& layout, std::size_t memory, std::size_t element) {
  if (layout.begin() < 0 || layout.end() > static_cast<Count>(memory))
    refuse("it touches bytes " + std::to_string(layout.begin()) + " to " + std::to_string(layout.end()) +
           ", outside the memory given, which has " + std::to_string(memory) + " bytes");
  if (element == 0 || layout.size() % static_cast<Count>(element) != 0)
    refuse("its " + std::to_string(layout.size()) + " bytes are no whole elements of " + std::to_string(element) +
           " bytes");
}

namespace layout {
namespace {

std::uint64_t hash_of(const Node& node, std::uint64_t hash) {
  const auto add = [&hash](Count value) { hash = base::combine(hash, static_cast<std::uint64_t>(value)); };
  add(static_cast<Count>(node.kind));
  add(node.offset);
  add(node.bytes);
  add(node.count[0]);
  add(node.count[1]);
  add(node.stride[0]);
  add(node.stride[1]);
  // Long tables differ in length or at their ends, or they meet in comparison.
  for (std::size_t i = 0; i < std::min<std::size_t>(node.places.size(), 16); ++i) add(node.places[i]);
  for (const Node& child : node.children) hash = hash_of(child, hash);
  return hash;
}

}  // namespace

Form::Form(Node made, Count lower_bound, Count with_extent)
    : node(std::move(made)), lower(lower_bound), extent(with_extent), hash(hash_of(node, 0)) {
  // So that nobody who adds them has to look.
  static_cast<void>(plus(node.offset, node.lowest));
  static_cast<void>(plus(node.offset, node.upmost));
  static_cast<void>(plus(lower, extent));
}

bool Form::overlaps() const {
  // Relaxed: whoever does not see the answer finds the same one.
  std::int8_t known = overlaps_.load(std::memory_order_relaxed);
  if (known < 0) {
    known = find_overlap(node) ? 1 : 0;
    overlaps_.store(known, std::memory_order_relaxed);
  }
  return known == 1;
}

}  // namespace layout

}  // namespace tutti
