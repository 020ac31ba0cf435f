// SPDX-License-Identifier: BSD-3-Clause
// Packing and unpacking. One walk serves both: the direction is a template argument, so that the loops at the bottom
// are plain copies of a constant length, which compilers turn into single moves.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <span>
#include <type_traits>

#include "base/copy.hpp"
#include "layout/form.hpp"

namespace tutti::layout {
namespace {

using Kind = Node::Kind;

template <bool packs>
struct Way {
  using Memory = std::conditional_t<packs, const std::byte*, std::byte*>;
  using Stream = std::conditional_t<packs, std::byte*, const std::byte*>;

  static void copy(Memory memory, Stream stream, std::size_t bytes) {
    if constexpr (packs)
      base::copy(stream, memory, bytes);
    else
      base::copy(memory, stream, bytes);
  }

  /// Any number of bytes: calling memcpy for a few of them takes longer than moving them. The last move may overlap the
  /// one before.
  static void copy_short(Memory memory, Stream stream, std::size_t bytes) {
    if (bytes > 512) return copy(memory, stream, bytes);
    if (bytes < 32) return copy_less(memory, stream, bytes);
    std::size_t at = 0;
    for (; at + 32 <= bytes; at += 32) copy(memory + at, stream + at, 32);
    if (at < bytes) copy(memory + bytes - 32, stream + bytes - 32, 32);
  }

 private:
  template <std::size_t half>
  static void copy_twice(Memory memory, Stream stream, std::size_t bytes) {
    copy(memory, stream, half);
    copy(memory + bytes - half, stream + bytes - half, half);
  }
  static void copy_less(Memory memory, Stream stream, std::size_t bytes) {
    if (bytes >= 16) return copy_twice<16>(memory, stream, bytes);
    if (bytes >= 8) return copy_twice<8>(memory, stream, bytes);
    if (bytes >= 4) return copy_twice<4>(memory, stream, bytes);
    for (std::size_t at = 0; at < bytes; ++at) copy(memory + at, stream + at, 1);
  }
};

/// Runs of a constant length; 0: of any.
template <bool packs, std::size_t constant>
struct Row {
  using Memory = typename Way<packs>::Memory;
  using Stream = typename Way<packs>::Stream;

  static std::size_t length(Count block) { return constant == 0 ? static_cast<std::size_t>(block) : constant; }
  static void one(Memory memory, Stream stream, std::size_t bytes) {
    if constexpr (constant == 0)
      Way<packs>::copy_short(memory, stream, bytes);
    else
      Way<packs>::copy(memory, stream, constant);
  }

  /// `count` runs, `stride` bytes apart.
  static void copy(Memory memory, Count stride, Count count, Count block, Stream stream) {
    const std::size_t bytes = length(block);
    for (; count >= 4; count -= 4, memory += 4 * stride, stream += 4 * bytes) {
      one(memory, stream, bytes);
      one(memory + stride, stream + bytes, bytes);
      one(memory + 2 * stride, stream + 2 * bytes, bytes);
      one(memory + 3 * stride, stream + 3 * bytes, bytes);
    }
    for (; count > 0; --count, memory += stride, stream += bytes) one(memory, stream, bytes);
  }

  /// Runs at any places.
  static void copy_table(Memory memory, std::span<const Count> places, Count block, Stream stream) {
    const std::size_t bytes = length(block);
    for (const Count place : places) {
      one(memory + place, stream, bytes);
      stream += bytes;
    }
  }

  /// `rows` rows of `node.count[1]` runs.
  static void copy_rows(const Node& node, Memory memory, Count rows, Stream stream) {
    const auto row_bytes = static_cast<std::ptrdiff_t>(node.count[1] * node.block);
    for (; rows > 0; --rows, memory += node.stride[0], stream += row_bytes)
      copy(memory, node.stride[1], node.count[1], node.block, stream);
  }

  /// The same where the rows lie closer together than the runs of one row, as in a transposed matrix: several rows at a
  /// time, so that every cache line fetched is used as a whole.
  static void copy_across(const Node& node, Memory memory, Count rows, Stream stream) {
    constexpr Count most = 16;
    const std::size_t bytes = length(node.block);
    const auto row_bytes = static_cast<std::ptrdiff_t>(node.count[1] * node.block);
    for (; rows > 0; rows -= most, memory += most * node.stride[0], stream += most * row_bytes) {
      const Count now = std::min(rows, most);
      for (Count run = 0; run < node.count[1]; ++run) {
        Memory from = memory + run * node.stride[1];
        Stream to = stream + run * node.block;
        for (Count row = 0; row < now; ++row, from += node.stride[0], to += row_bytes) one(from, to, bytes);
      }
    }
  }
};

/// Calls work.template operator()<n>() for the constant n = block if it is one of these, else for 0.
template <class Work>
void with_constant(Count block, Work work) {
  switch (block) {
    case 1:
      return work.template operator()<1>();
    case 2:
      return work.template operator()<2>();
    case 4:
      return work.template operator()<4>();
    case 8:
      return work.template operator()<8>();
    case 12:
      return work.template operator()<12>();
    case 16:
      return work.template operator()<16>();
    case 24:
      return work.template operator()<24>();
    case 32:
      return work.template operator()<32>();
    case 48:
      return work.template operator()<48>();
    case 64:
      return work.template operator()<64>();
    default:
      return work.template operator()<0>();
  }
}

template <bool packs>
class Walk {
 public:
  using Memory = typename Way<packs>::Memory;
  using Stream = typename Way<packs>::Stream;

  /// Bytes [from, to) of the node's stream.
  static void node(const Node& node, Memory memory, Count from, Count to, Stream stream) {
    if (from >= to) return;
    memory += node.offset;
    switch (node.kind) {
      case Kind::run:
        return Way<packs>::copy(memory + from, stream, static_cast<std::size_t>(to - from));
      case Kind::blocks:
        return blocks(node, memory, from, to, stream);
      case Kind::table:
        return table(node, memory, from, to, stream);
      case Kind::loop:
        return loop(node, memory, from, to, stream);
      case Kind::list:
        return list(node, memory, from, to, stream);
    }
  }

 private:
  static void blocks(const Node& node, Memory memory, Count from, Count to, Stream stream) {
    const auto at = [&](Count run) {
      return memory + run / node.count[1] * node.stride[0] + run % node.count[1] * node.stride[1];
    };
    Count run = from / node.block;
    const auto some = [&](Count begin, Count bytes) {  // of one run
      Way<packs>::copy(at(run) + begin, stream, static_cast<std::size_t>(bytes));
      stream += bytes;
    };
    if (const Count begin = from % node.block; begin != 0) {
      some(begin, std::min(node.block - begin, to - from));
      ++run;
    }
    const Count last = to / node.block;
    if (run < last) {
      with_constant(node.block, [&]<std::size_t bytes>() { runs<bytes>(node, memory, run, last, stream); });
      stream += (last - run) * node.block;
    }
    run = std::max(run, last);
    if (run * node.block < to) some(0, to - run * node.block);
  }

  /// Whole runs [first, last): the rest of a row, whole rows, the beginning of a row.
  template <std::size_t bytes>
  static void runs(const Node& node, Memory memory, Count first, Count last, Stream stream) {
    using Rows = Row<packs, bytes>;
    const Count length = node.count[1];
    const auto part = [&](Count end) {  // of one row
      Rows::copy(memory + first / length * node.stride[0] + first % length * node.stride[1], node.stride[1],
                 end - first, node.block, stream);
      stream += (end - first) * node.block;
      first = end;
    };
    if (first % length != 0) part(std::min(last, (first / length + 1) * length));
    if (const Count rows = (last - first) / length; rows > 0) {
      const auto begin = memory + first / length * node.stride[0];
      if (rows > 1 && std::abs(node.stride[0]) < std::abs(node.stride[1]))
        Rows::copy_across(node, begin, rows, stream);
      else
        Rows::copy_rows(node, begin, rows, stream);
      stream += rows * length * node.block;
      first += rows * length;
    }
    if (first < last) part(last);
  }

  static void table(const Node& node, Memory memory, Count from, Count to, Stream stream) {
    std::size_t i = first(node.begins, from);
    const auto some = [&] {  // what is wanted of one run
      const Count end = std::min(node.begins[i + 1], to);
      Way<packs>::copy_short(memory + node.places[i] + from - node.begins[i], stream,
                             static_cast<std::size_t>(end - from));
      stream += end - from;
      from = end;
      ++i;
    };
    if (node.block != 0 && from != node.begins[i]) some();
    if (node.block != 0 && to - from >= node.block) {  // all runs are equally long
      const Count runs = (to - from) / node.block;
      const auto places = std::span(node.places).subspan(i, static_cast<std::size_t>(runs));
      with_constant(node.block,
                    [&]<std::size_t bytes>() { Row<packs, bytes>::copy_table(memory, places, node.block, stream); });
      stream += runs * node.block;
      from += runs * node.block;
      i += places.size();
    }
    while (from < to) some();
  }

  static void loop(const Node& node, Memory memory, Count from, Count to, Stream stream) {
    const Node& body = node.children.front();
    for (Count i = from / body.bytes; from < to; ++i) {
      const Count begin = i * body.bytes, end = std::min(begin + body.bytes, to);
      Walk::node(body, memory + i * node.stride[0], from - begin, end - begin, stream);
      stream += end - from;
      from = end;
    }
  }

  static void list(const Node& node, Memory memory, Count from, Count to, Stream stream) {
    std::size_t i = first(node.begins, from);
    for (; from < to; ++i) {
      const Count end = std::min(node.begins[i + 1], to);
      Walk::node(node.children[i], memory, from - node.begins[i], end - node.begins[i], stream);
      stream += end - from;
      from = end;
    }
  }

  static std::size_t first(const std::vector<Count>& begins, Count position) {
    return static_cast<std::size_t>(std::ranges::upper_bound(begins, position) - begins.begin()) - 1;
  }
};

}  // namespace

void pack(const Node& node, const std::byte* memory, Count from, Count to, std::byte* stream) {
  Walk<true>::node(node, memory, from, to, stream);
}

void unpack(const Node& node, std::byte* memory, Count from, Count to, const std::byte* stream) {
  Walk<false>::node(node, memory, from, to, stream);
}

}  // namespace tutti::layout
