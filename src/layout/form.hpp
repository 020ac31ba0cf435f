// SPDX-License-Identifier: BSD-3-Clause
// A layout in its normal form: neighbours merged, loops merged, ready to be packed.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <optional>
#include <vector>

#include "tutti/layout.hpp"

namespace tutti::layout {

/// One way in which bytes lie. A node's own places are relative to its parent's.
///   run      `bytes` side by side
///   blocks   runs of `block` bytes in two loops: count[0] x count[1] of them, stride[0] and stride[1] bytes apart
///   table    runs of any length at any place (of one length: `block`)
///   loop     count[0] times the one child, stride[0] bytes apart
///   list     children one after the other
struct Node {
  enum class Kind : std::uint8_t { run, blocks, table, loop, list };

  Kind kind = Kind::run;
  Count offset = 0;  ///< Of the node in its parent, in bytes.
  Count bytes = 0;   ///< Of the packed stream.
  std::array<Count, 2> count{1, 1}, stride{0, 0};
  Count block = 0;               ///< blocks; table: of all its runs, or 0
  std::vector<Count> places;     ///< table: of its runs
  std::vector<Count> begins;     ///< table, list: where each run or child begins in the stream, and where the last ends
  std::vector<Node> children;    ///< loop, list
  Count lowest = 0, upmost = 0;  ///< Of what it touches, without `offset`.

  bool operator==(const Node&) const = default;
};

/// What a Layout points to.
struct Form {
  Node node;
  Count lower = 0, extent = 0;
  std::uint64_t hash = 0;

  Form(Node made, Count lower_bound, Count with_extent);
  bool overlaps() const;

 private:
  mutable std::atomic<std::int8_t> overlaps_{-1};  // not known yet
};

/// Throws Error (usage): it reaches further than 64 bits count.
[[noreturn]] void refuse_size();
/// Of what has not been checked; they throw so.
Count times(Count a, Count b);
Count plus(Count a, Count b);

// Making nodes; every one of them returns a normal form.
Node run(Count bytes);
Node loop(Count count, Count stride, Node body);
Node list(std::vector<Node> parts);

/// Copies bytes [from, to) of the packed stream between `memory` and `stream`, which is where byte `from` goes.
void pack(const Node& node, const std::byte* memory, Count from, Count to, std::byte* stream);
void unpack(const Node& node, std::byte* memory, Count from, Count to, const std::byte* stream);

/// Where a byte of the stream lies.
Count place(const Node& node, Count position);

/// Two bytes of the stream that lie at the same place.
struct Clash {
  Count first, second;
};
std::optional<Clash> find_overlap(const Node& node);

/// Whether two pieces of memory have a byte in common, the second seen from `distance` bytes behind where the first is.
/// Of those that lie between each other and are of very many runs it is taken for granted.
bool share(const Node& one, const Node& other, Count distance);

}  // namespace tutti::layout
