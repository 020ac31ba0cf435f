// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/along_edges.hpp"

#include <numeric>

namespace tutti::collectives::edges {

std::vector<Other> others(const Shape& shape, std::span<const Edge> edges) {
  std::vector<Other> found;
  for (std::size_t slot = 0; slot < edges.size(); ++slot) {
    const Rank rank = edges[slot].rank;
    if (!edges[slot].exists() || rank == shape.rank) continue;
    auto other = std::ranges::find(found, rank, &Other::rank);
    if (other == found.end()) other = found.insert(found.end(), Other{rank, {}});
    other->slots.push_back(static_cast<Rank>(slot));
  }
  return found;
}

Slice outgoing(const Shape& shape, Gives gives, Rank slot) {
  return gives == Gives::one ? my_input(shape) : input_block(shape, slot);
}

void copy_own(Writer& b, const Shape& shape, Gives gives) {
  for (std::size_t slot = 0; slot < shape.destinations.size(); ++slot) {
    const Edge& edge = shape.destinations[slot];
    if (edge.rank == shape.rank)
      b.copy(outgoing(shape, gives, static_cast<Rank>(slot)), output_block(shape, edge.slot));
  }
}

plan::Plan linear(const Shape& shape, Gives gives) {
  Writer b(shape);
  copy_own(b, shape, gives);
  for (std::size_t slot = 0; slot < shape.destinations.size(); ++slot) {
    const Edge& edge = shape.destinations[slot];
    if (edge.exists() && edge.rank != shape.rank) b.send(edge.rank, outgoing(shape, gives, static_cast<Rank>(slot)));
  }
  // In the order in which each source sends: messages between two ranks are numbered by it.
  std::vector<std::size_t> arriving(shape.sources.size());
  std::iota(arriving.begin(), arriving.end(), std::size_t{0});
  std::ranges::stable_sort(arriving, {}, [&](std::size_t slot) { return shape.sources[slot].slot; });
  for (const std::size_t slot : arriving) {
    const Edge& edge = shape.sources[slot];
    if (edge.exists() && edge.rank != shape.rank) b.recv(edge.rank, output_block(shape, static_cast<Rank>(slot)));
  }
  return b.build();
}

plan::Plan in_one_piece(const Shape& shape, Gives gives, bool exposed) {
  Writer b(shape);
  copy_own(b, shape, gives);
  if (shape.count == 0 || shape.widest == 0) return b.build();
  b.use(board::Ring::small, exposed ? 2 : 1);
  const std::vector<Other> sources = others(shape, shape.sources), readers = others(shape, shape.destinations);
  const auto given = static_cast<Count>(gives == Gives::one ? 1 : shape.destinations.size());
  const Slice mine = Writer::input(0, given * shape.count);
  board::Line publishing;
  if (!readers.empty() && exposed) b.publish(0, mine);
  if (!readers.empty() && !exposed) board::put(b, publishing, 0, mine);
  std::vector<Handle> copied;
  for (const Other& source : sources) {
    const Edge& first = shape.sources[static_cast<std::size_t>(source.slots.front())];
    const Handle seen = b.await(source.rank, 0, gives == Gives::one ? shape.count : first.of * shape.count);
    for (const Rank slot : source.slots) {
      const Edge& edge = shape.sources[static_cast<std::size_t>(slot)];
      const Count from = gives == Gives::one ? 0 : edge.slot * shape.count;
      const Slice theirs = exposed ? Writer::exposed(source.rank, 0, from, shape.count)
                                   : Writer::shared(source.rank, 0, from, shape.count);
      copied.push_back(b.copy(theirs, output_block(shape, slot)).after(seen));
    }
  }
  if (!exposed) return b.build();
  if (!copied.empty()) b.publish(1, board::nothing(shape.rank, 1)).after(copied);
  for (const Other& reader : readers) b.await(reader.rank, 1, 0);
  return b.build();
}

}  // namespace tutti::collectives::edges
