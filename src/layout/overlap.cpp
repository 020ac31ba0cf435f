// SPDX-License-Identifier: BSD-3-Clause
// Whether a layout names a byte twice. Most layouts answer by their shape; the others are written out and sorted.
#include <algorithm>
#include <numeric>
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

/// Pieces of `length` bytes, the first at `begin`, all of them multiples of `pitch` apart; 0: there is one.
struct Comb {
  Count pitch, begin, length;
};

Comb comb(const Node& node) {
  switch (node.kind) {
    case Kind::run:
      return {0, node.offset, node.bytes};
    case Kind::blocks:
      return {std::gcd(node.count[0] > 1 ? node.stride[0] : 0, node.stride[1]), node.offset, node.block};
    case Kind::loop: {
      const Comb inner = comb(node.children.front());
      return {std::gcd(node.stride[0], inner.pitch), node.offset + inner.begin, inner.length};
    }
    case Kind::table:
    case Kind::list:
      break;
  }
  return {0, node.offset + node.lowest, node.upmost - node.lowest};
}

/// As seen from one of the gaps: columns of a matrix, every other element.
bool in_gaps(const Comb& one, const Comb& other, Count distance) {
  const Count pitch = std::gcd(one.pitch, other.pitch);
  if (pitch == 0 || one.length + other.length > pitch) return false;
  const Count apart = ((other.begin - one.begin + distance) % pitch + pitch) % pitch;
  return apart >= one.length && apart + other.length <= pitch;
}

/// True when the shape alone says that nothing overlaps.
bool apart(const Node& node, std::vector<Loop> around);

bool list_apart(const Node& node) {
  constexpr int most = 4096;  // pairs of which one may lie in the gaps of the other
  struct Span {
    Count begin, end;
    const Node* child;
  };
  std::vector<Span> spans;
  for (const Node& child : node.children) {
    if (!apart(child, {})) return false;
    spans.push_back({child.offset + child.lowest, child.offset + child.upmost, &child});
  }
  for (std::size_t i = 0; i < node.places.size(); ++i)
    spans.push_back({node.places[i], node.places[i] + node.begins[i + 1] - node.begins[i], nullptr});
  if (!std::ranges::is_sorted(spans, {}, &Span::begin)) std::ranges::sort(spans, {}, &Span::begin);
  int looked = 0;
  for (auto one = spans.begin(); one != spans.end(); ++one)
    for (auto other = one + 1; other != spans.end() && other->begin < one->end; ++other)
      if (one->child == nullptr || ++looked > most || !in_gaps(comb(*one->child), comb(*other->child), 0)) return false;
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

Count runs_of(const Node& node) {
  switch (node.kind) {
    case Kind::run:
      return 1;
    case Kind::blocks:
      return times(node.count[0], node.count[1]);
    case Kind::table:
      return static_cast<Count>(node.places.size());
    case Kind::loop:
      return times(node.count[0], runs_of(node.children.front()));
    case Kind::list:
      return std::accumulate(node.children.begin(), node.children.end(), Count{0},
                             [](Count sum, const Node& child) { return plus(sum, runs_of(child)); });
  }
  return 0;
}

}  // namespace

bool share(const Node& one, const Node& other, Count distance) {
  if (one.bytes == 0 || other.bytes == 0 || in_gaps(comb(one), comb(other), distance)) return false;
  constexpr Count most = Count{1} << 22;
  if (runs_of(one) > most || runs_of(other) > most) return true;
  std::vector<Touched> mine, others;
  Count position = 0;
  write_out(one, 0, position, mine);
  write_out(other, distance, position, others);
  for (std::vector<Touched>* all : {&mine, &others})  // most layouts go upwards
    if (!std::ranges::is_sorted(*all, {}, &Touched::begin)) std::ranges::sort(*all, {}, &Touched::begin);
  for (auto a = mine.begin(), b = others.begin(); a != mine.end() && b != others.end();) {
    if (std::max(a->begin, b->begin) < std::min(a->end, b->end)) return true;
    a->end < b->end ? ++a : ++b;
  }
  return false;
}

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
