// SPDX-License-Identifier: BSD-3-Clause
// Making normal forms: what lies side by side becomes one run, loops become as few and as long as possible.
#include <algorithm>
#include <limits>
#include <utility>

#include "layout/form.hpp"
#include "tutti/error.hpp"

namespace tutti::layout {
namespace {

using Kind = Node::Kind;

/// A loop over a table is written out up to so many runs: a table is the fastest form of what is irregular.
constexpr Count most_written_out = 1024;

void span_loop(Node& node, Count lowest, Count upmost) {
  for (const int i : {1, 0}) {
    const Count last = times(node.stride[static_cast<std::size_t>(i)], node.count[static_cast<std::size_t>(i)] - 1);
    lowest = plus(lowest, std::min<Count>(last, 0));
    upmost = plus(upmost, std::max<Count>(last, 0));
  }
  node.lowest = lowest;
  node.upmost = upmost;
}

Node blocks(std::array<Count, 2> count, std::array<Count, 2> stride, Count block, Count offset) {
  Node node;
  node.kind = Kind::blocks;
  node.offset = offset;
  node.count = count;
  node.stride = stride;
  node.block = block;
  node.bytes = times(times(count[0], count[1]), block);
  span_loop(node, 0, block);
  return node;
}

bool one_level(const Node& node) { return node.kind == Kind::blocks && node.count[0] == 1; }

/// Runs, before they become a table.
struct Run {
  Count place, bytes;
};

bool is_runs(const Node& node) { return node.kind == Kind::run || node.kind == Kind::table; }

void add_runs(std::vector<Run>& runs, const Node& node, Count offset) {
  const auto add = [&runs](Count place, Count bytes) {
    if (!runs.empty() && plus(runs.back().place, runs.back().bytes) == place)
      runs.back().bytes = plus(runs.back().bytes, bytes);
    else
      runs.push_back({place, bytes});
  };
  if (node.kind == Kind::run) return add(plus(offset, node.offset), node.bytes);
  for (std::size_t i = 0; i < node.places.size(); ++i)
    add(plus(plus(offset, node.offset), node.places[i]), node.begins[i + 1] - node.begins[i]);
}

/// Runs at any place: if they are equally long and equally far apart, a loop.
Node of_runs(const std::vector<Run>& runs) {
  if (runs.size() == 1) {
    Node one = run(runs[0].bytes);
    one.offset = runs[0].place;
    return one;
  }
  Count stride = 0, step = 0;
  bool regular = !__builtin_sub_overflow(runs[1].place, runs[0].place, &stride);
  for (std::size_t i = 1; i < runs.size() && regular; ++i)
    regular = runs[i].bytes == runs[0].bytes && !__builtin_sub_overflow(runs[i].place, runs[i - 1].place, &step) &&
              step == stride;
  if (regular) return blocks({1, static_cast<Count>(runs.size())}, {0, stride}, runs[0].bytes, runs[0].place);
  Node node;
  node.kind = Kind::table;
  node.begins.push_back(0);
  node.lowest = std::numeric_limits<Count>::max();
  node.upmost = std::numeric_limits<Count>::min();
  for (const Run& each : runs) {
    node.places.push_back(each.place);
    node.begins.push_back(plus(node.begins.back(), each.bytes));
    node.lowest = std::min(node.lowest, each.place);
    node.upmost = std::max(node.upmost, plus(each.place, each.bytes));
  }
  node.bytes = node.begins.back();
  const bool equal = std::ranges::all_of(runs, [&runs](const Run& each) { return each.bytes == runs[0].bytes; });
  node.block = equal ? runs[0].bytes : 0;
  return node;
}

void flatten(std::vector<Node>& flat, std::vector<Node> parts, Count offset) {
  for (Node& part : parts) {
    part.offset = plus(part.offset, offset);
    if (part.bytes == 0) continue;
    if (part.kind == Kind::list)
      flatten(flat, std::move(part.children), part.offset);
    else
      flat.push_back(std::move(part));
  }
}

/// Neighbours that are runs become one table, or one run.
std::vector<Node> join_runs(std::vector<Node> flat) {
  std::vector<Node> joined;
  std::vector<Run> runs;
  const auto end_runs = [&] {
    if (!runs.empty()) joined.push_back(of_runs(runs));
    runs.clear();
  };
  for (Node& part : flat) {
    if (is_runs(part)) {
      add_runs(runs, part, 0);
    } else {
      end_runs();
      joined.push_back(std::move(part));
    }
  }
  end_runs();
  return joined;
}

Node written_out(Count count, Count stride, const Node& body) {
  std::vector<Run> runs;
  for (Count i = 0; i < count; ++i) add_runs(runs, body, times(i, stride));
  return of_runs(runs);
}

}  // namespace

void refuse_size() { throw Error(Cause::usage, "layout: it reaches further than 64 bits count; make it smaller"); }

Count times(Count a, Count b) {
  Count product = 0;
  if (__builtin_mul_overflow(a, b, &product)) refuse_size();
  return product;
}

Count plus(Count a, Count b) {
  Count sum = 0;
  if (__builtin_add_overflow(a, b, &sum)) refuse_size();
  return sum;
}

Node run(Count bytes) {
  Node node;
  node.bytes = node.upmost = bytes;
  return node;
}

Node loop(Count count, Count stride, Node body) {
  if (count == 0 || body.bytes == 0) return run(0);
  if (count == 1) return body;
  if (body.kind == Kind::run) {
    if (stride != body.bytes) return blocks({1, count}, {0, stride}, body.bytes, body.offset);
    body.bytes = body.upmost = times(count, body.bytes);
    return body;
  }
  if (one_level(body)) {
    if (stride == times(body.count[1], body.stride[1]))
      return blocks({1, times(count, body.count[1])}, {0, body.stride[1]}, body.block, body.offset);
    return blocks({count, body.count[1]}, {stride, body.stride[1]}, body.block, body.offset);
  }
  if (body.kind == Kind::table && static_cast<Count>(body.places.size()) <= most_written_out / count)
    return written_out(count, stride, body);
  Node node;
  node.kind = Kind::loop;
  node.count = {count, 1};
  node.stride = {stride, 0};
  node.bytes = times(count, body.bytes);
  node.offset = std::exchange(body.offset, 0);
  span_loop(node, body.lowest, body.upmost);
  node.children.push_back(std::move(body));
  return node;
}

Node list(std::vector<Node> parts) {
  std::vector<Node> flat;
  flatten(flat, std::move(parts), 0);
  flat = join_runs(std::move(flat));
  if (flat.empty()) return run(0);
  if (flat.size() == 1) return std::move(flat.front());
  Node node;
  node.kind = Kind::list;
  node.begins.push_back(0);
  node.lowest = std::numeric_limits<Count>::max();
  node.upmost = std::numeric_limits<Count>::min();
  for (const Node& part : flat) {
    node.begins.push_back(plus(node.begins.back(), part.bytes));
    node.lowest = std::min(node.lowest, plus(part.offset, part.lowest));
    node.upmost = std::max(node.upmost, plus(part.offset, part.upmost));
  }
  node.bytes = node.begins.back();
  node.children = std::move(flat);
  return node;
}

Count place(const Node& node, Count position) {
  switch (node.kind) {
    case Kind::run:
      return node.offset + position;
    case Kind::blocks: {
      const Count index = position / node.block;
      return node.offset + index / node.count[1] * node.stride[0] + index % node.count[1] * node.stride[1] +
             position % node.block;
    }
    case Kind::table: {
      const auto at = std::ranges::upper_bound(node.begins, position) - node.begins.begin() - 1;
      const auto i = std::min(static_cast<std::size_t>(at), node.places.size() - 1);
      return node.offset + node.places[i] + position - node.begins[i];
    }
    case Kind::loop: {
      const Node& body = node.children.front();
      return node.offset + position / body.bytes * node.stride[0] + place(body, position % body.bytes);
    }
    case Kind::list: {
      const auto at = std::ranges::upper_bound(node.begins, position) - node.begins.begin() - 1;
      const auto i = std::min(static_cast<std::size_t>(at), node.children.size() - 1);
      return node.offset + place(node.children[i], position - node.begins[i]);
    }
  }
  return 0;
}

}  // namespace tutti::layout
