// SPDX-License-Identifier: BSD-3-Clause
#include "arrangement.hpp"

#include <algorithm>

namespace tutti::matrix {
namespace {

/// Blocks of 1, 2, 3, 1, ... elements with a hole between them, the last block first.
Arrangement indexed(Count count, const Layout& one, std::size_t element) {
  std::vector<Count> counts, offsets;
  for (Count left = count, i = 0; left > 0; left -= counts.back(), ++i) counts.push_back(std::min(left, i % 3 + 1));
  Count end = 1;
  offsets.resize(counts.size());
  for (std::size_t i = counts.size(); i-- > 0; end += 1 + static_cast<Count>(i % 2)) {
    offsets[i] = end;
    end += counts[i];
  }
  Arrangement made;
  for (std::size_t i = 0; i < counts.size(); ++i)
    for (Count j = 0; j < counts[i]; ++j) made.places.push_back(static_cast<std::size_t>(offsets[i] + j) * element);
  made.layout = one.indexed(counts, offsets);
  return made;
}

/// Like an array of struct { element a; char hole[5]; element b[2]; char hole[2]; }, and what is left over behind it.
Arrangement nested(Count count, const Layout& one, std::size_t element) {
  const auto size = static_cast<Count>(element);
  const Count records = count / 3, record = 3 * size + 7;
  const Part fields[] = {{0, one}, {size + 5, one.repeat(2)}};
  const Part parts[] = {{11, Layout::mixed(fields).resized(0, record).repeat(records)},
                        {11 + records * record + 4, one.strided(count % 3, 1, 2)}};
  Arrangement made;
  for (Count i = 0; i < count; ++i) {
    const Count in = i % 3, base = 11 + i / 3 * record;
    const Count place = i / 3 < records ? base + (in == 0 ? 0 : size + 5 + (in - 1) * size) : base + 4 + in * 2 * size;
    made.places.push_back(static_cast<std::size_t>(place));
  }
  made.layout = Layout::mixed(parts);
  return made;
}

/// The columns of a matrix one after the other, a column more than are used; the last one may be shorter.
Arrangement transposed(Count count, const Layout& one, std::size_t element) {
  const Count rows = count > 20 ? 5 : 2, columns = count / rows;
  const Layout column = one.strided(rows, 1, columns + 2);
  const auto size = static_cast<Count>(element);
  const Part parts[] = {{0, column.resized(0, size).repeat(columns)},
                        {columns * size, one.strided(count % rows, 1, columns + 2)}};
  Arrangement made;
  for (Count i = 0; i < count; ++i)
    made.places.push_back(static_cast<std::size_t>(i % rows * (columns + 2) + i / rows) * element);
  made.layout = Layout::mixed(parts);
  return made;
}

Arrangement strided(Count count, const Layout& one, Count begin, Count stride) {
  Arrangement made;
  for (Count i = 0; i < count; ++i) made.places.push_back(static_cast<std::size_t>(begin + i * stride));
  made.layout = one.strided_bytes(count, 1, stride).moved(begin);
  return made;
}

}  // namespace

Arrangement arrange(int which, Count count, std::size_t element) {
  const auto size = static_cast<Count>(element);
  const Layout one = Layout::bytes(size);
  Arrangement made;
  switch (which) {
    case 0:
      made = strided(count, one, 0, size);
      made.layout.reset();
      break;
    case 1:
      made = strided(count, one, size, 3 * size);
      break;
    case 2:
      made = strided(count, one, 1, size + 3);
      break;
    case 3:
      made = strided(count, one, count * 2 * size, -2 * size);
      break;
    case 4:
      made = indexed(count, one, element);
      break;
    case 5:
      made = nested(count, one, element);
      break;
    default:
      made = transposed(count, one, element);
  }
  for (const std::size_t place : made.places) made.bytes = std::max(made.bytes, place + element);
  return made;
}

Part part_of(const Arrangement& arrangement, Count first, Count count, std::size_t element) {
  std::vector<Part> parts;
  for (Count i = first; i < first + count; ++i)
    parts.push_back({static_cast<Count>(arrangement.places[static_cast<std::size_t>(i)]),
                     Layout::bytes(static_cast<Count>(element))});
  const Count base = parts.empty() ? 0 : parts.front().offset;
  for (Part& part : parts) part.offset -= base;
  return {base, Layout::mixed(parts)};
}

}  // namespace tutti::matrix
