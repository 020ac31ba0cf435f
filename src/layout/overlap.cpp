// SPDX-License-Identifier: BSD-3-Clause
// Whether a layout names a byte twice. Most layouts answer by their shape; the others are written out and sorted.
#include <algorithm>
#include <utility>

#include "layout/form.hpp"

namespace tutti::layout {
namespace {

using Kind = Node::Kind;

struct Loop {
  Count count, stride;
};

/// Loops around something that spans `span` bytes never meet if each, the shortest stride first, steps over all that
/// the ones before it span.
bool loops_apart(std::vector<Loop> loops, Count span) {
  std::erase_if(loops, [](const Loop& loop) { return loop.count == 1; });
  std::ranges::sort(loops, {}, [](const Loop& loop) { return std::abs(loop.stride); });
  for (const Loop& loop : loops) {
    if (std::abs(loop.stride) < span) return false;
    span += std::abs(loop.stride) * (loop.count - 1);
  }
  return true;
}

/// True when the shape alone says that nothing overlaps.
bool apart(const Node& node, std::vector<Loop> around);

bool list_apart(const Node& node) {
  std::vector<std::pair<Count, Count>> spans;
  for (const Node& child : node.children) {
    if (!apart(child, {})) return false;
    spans.emplace_back(child.offset + child.lowest, child.offset + child.upmost);
  }
  for (std::size_t i = 0; i < node.places.size(); ++i)
    spans.emplace_back(node.places[i], node.places[i] + node.begins[i + 1] - node.begins[i]);
  if (!std::ranges::is_sorted(spans)) std::ranges::sort(spans);
  for (std::size_t i = 1; i < spans.size(); ++i)
    if (spans[i].first < spans[i - 1].second) return false;
  return true;
}

bool apart(const Node& node, std::vector<Loop> around) {
  switch (node.kind) {
    case Kind::run:
      return loops_apart(std::move(around), node.bytes);
    case Kind::blocks:
      around.push_back({node.count[0], node.stride[0]});
      around.push_back({node.count[1], node.stride[1]});
      return loops_apart(std::move(around), node.block);
    case Kind::loop:
      around.push_back({node.count[0], node.stride[0]});
      return apart(node.children.front(), std::move(around));
    case Kind::table:
    case Kind::list:
      return list_apart(node) && loops_apart(std::move(around), node.upmost - node.lowest);
  }
  return false;
}

struct Touched {
  Count begin, end;
  Count position;  // of `begin` in the stream
};

/// All runs, in the order of the stream; `position` counts on.
void write_out(const Node& node, Count offset, Count& position, std::vector<Touched>& all) {
  offset += node.offset;
  const auto add = [&](Count begin, Count bytes) {
    all.push_back({begin, begin + bytes, position});
    position += bytes;
  };
  switch (node.kind) {
    case Kind::run:
      return add(offset, node.bytes);
    case Kind::blocks:
      for (Count i = 0; i < node.count[0]; ++i)
        for (Count j = 0; j < node.count[1]; ++j) add(offset + i * node.stride[0] + j * node.stride[1], node.block);
      return;
    case Kind::table:
      for (std::size_t i = 0; i < node.places.size(); ++i)
        add(offset + node.places[i], node.begins[i + 1] - node.begins[i]);
      return;
    case Kind::loop:
      for (Count i = 0; i < node.count[0]; ++i)
        write_out(node.children.front(), offset + i * node.stride[0], position, all);
      return;
    case Kind::list:
      for (const Node& child : node.children) write_out(child, offset, position, all);
      return;
  }
}

}  // namespace

std::optional<Clash> find_overlap(const Node& node) {
  if (node.bytes == 0 || apart(node, {})) return std::nullopt;
  std::vector<Touched> all;
  Count position = 0;
  write_out(node, 0, position, all);
  std::ranges::sort(all, {}, &Touched::begin);
  for (std::size_t i = 1; i < all.size(); ++i)
    if (all[i].begin < all[i - 1].end)
      return Clash{all[i - 1].position + all[i].begin - all[i - 1].begin, all[i].position};
  return std::nullopt;
}

}  // namespace tutti::layout
