// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/along_edges.hpp"

#include <numeric>
#include <unordered_map>

namespace tutti::collectives::edges {

std::vector<Other> others(const Shape& shape, std::span<const Edge> edges) {
  std::vector<Other> found;
  std::unordered_map<Rank, std::size_t> places;
  for (std::size_t slot = 0; slot < edges.size(); ++slot) {
    const Rank rank = edges[slot].rank;
    if (!edges[slot].exists() || rank == shape.rank) continue;
    const auto [place, is_new] = places.try_emplace(rank, found.size());
    if (is_new) found.push_back({rank, {}});
    found[place->second].slots.push_back(static_cast<Rank>(slot));
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

namespace {

/// Slices that follow each other in a buffer are one; empty ones are none.
std::vector<Slice> joined(const std::vector<Slice>& slices) {
  std::vector<Slice> found;
  for (const Slice& slice : slices) {
    if (slice.count == 0) continue;
    if (!found.empty() && found.back().offset + found.back().count == slice.offset)
      found.back().count += slice.count;
    else
      found.push_back(slice);
  }
  return found;
}

/// What one message carries: the pieces themselves where there is but one, else scratch that has a place for each.
class Parcel {
 public:
  Parcel(Writer& b, const std::vector<Slice>& blocks) : pieces_(joined(blocks)) {
    if (pieces_.empty()) return;
    content_ = pieces_.front();
    if (pieces_.size() == 1) return;
    for (std::size_t i = 1; i < pieces_.size(); ++i) content_.count += pieces_[i].count;
    content_ = b.scratch(content_.count);
  }

  Slice content() const { return content_; }

  /// Calls move(piece, its place in the content) for each; where they are the same, it has nothing to do.
  template <class Move>
  void for_each(Move move) const {
    Count at = 0;
    for (const Slice& piece : pieces_) {
      move(piece, content_.part(at, piece.count));
      at += piece.count;
    }
  }

 private:
  std::vector<Slice> pieces_;
  Slice content_;
};

void send_together(Writer& b, Rank to, const std::vector<Slice>& blocks) {
  const Parcel parcel(b, blocks);
  std::vector<Handle> packed;
  parcel.for_each([&](Slice piece, Slice place) { packed.push_back(b.copy(piece, place)); });
  b.send(to, parcel.content()).after(packed);
}

void recv_together(Writer& b, Rank from, const std::vector<Slice>& blocks) {
  const Parcel parcel(b, blocks);
  const Handle received = b.recv(from, parcel.content());
  parcel.for_each([&](Slice piece, Slice place) { b.copy(place, piece).after(received); });
}

void recv_once(Writer& b, Rank from, const std::vector<Slice>& homes) {
  const Handle received = b.recv(from, homes.front());
  for (const Slice& home : homes) b.copy(homes.front(), home).after(received);
}

}  // namespace

plan::Plan combined(const Shape& shape, Gives gives) {
  Writer b(shape);
  copy_own(b, shape, gives);
  for (const Other& destination : others(shape, shape.destinations)) {
    std::vector<Slice> blocks;
    for (const Rank slot : destination.slots) blocks.push_back(outgoing(shape, gives, slot));
    if (gives == Gives::one) blocks.resize(1);
    send_together(b, destination.rank, blocks);
  }
  for (Other& source : others(shape, shape.sources)) {
    std::ranges::sort(source.slots, {}, [&](Rank slot) { return shape.sources[static_cast<std::size_t>(slot)].slot; });
    std::vector<Slice> homes;
    for (const Rank slot : source.slots) homes.push_back(output_block(shape, slot));
    gives == Gives::one ? recv_once(b, source.rank, homes) : recv_together(b, source.rank, homes);
  }
  return b.build();
}

namespace {

/// `count` elements of a source's piece.
Slice piece_of(Rank owner, Count from, Count count, bool exposed) {
  return exposed ? Writer::exposed(owner, 0, from, count) : Writer::shared(owner, 0, from, count);
}

/// Shows `mine` to this rank's destinations; `read` adds the steps that read the sources' pieces and returns them.
template <class Read>
plan::Plan through_pieces(Writer& b, const Shape& shape, Slice mine, bool exposed, Read read) {
  if (shape.count == 0 || shape.widest == 0) return b.build();
  b.use(board::Ring::small, exposed ? 2 : 1);
  const std::vector<Other> readers = others(shape, shape.destinations);
  board::Line publishing;
  if (!readers.empty() && exposed) b.publish(0, mine);
  if (!readers.empty() && !exposed) board::put(b, publishing, 0, mine);
  const std::vector<Other> sources = others(shape, shape.sources);
  const std::vector<Handle> done = read(sources);
  if (!exposed) return b.build();
  if (!sources.empty()) b.publish(1, board::nothing(shape.rank, 1)).after(done);
  for (const Other& reader : readers) b.await(reader.rank, 1, 0);
  return b.build();
}

}  // namespace

plan::Plan in_one_piece(const Shape& shape, Gives gives, bool exposed) {
  Writer b(shape);
  copy_own(b, shape, gives);
  const auto given = static_cast<Count>(gives == Gives::one ? 1 : shape.destinations.size());
  return through_pieces(b, shape, Writer::input(0, given * shape.count), exposed, [&](std::span<const Other> sources) {
    std::vector<Handle> copied;
    for (const Other& source : sources) {
      const Edge& first = shape.sources[static_cast<std::size_t>(source.slots.front())];
      const Handle seen = b.await(source.rank, 0, gives == Gives::one ? shape.count : first.of * shape.count);
      for (const Rank slot : source.slots) {
        const Edge& edge = shape.sources[static_cast<std::size_t>(slot)];
        const Slice theirs =
            piece_of(source.rank, gives == Gives::one ? 0 : edge.slot * shape.count, shape.count, exposed);
        copied.push_back(b.copy(theirs, output_block(shape, slot)).after(seen));
      }
    }
    return copied;
  });
}

Handle combine(Writer& b, const Shape& shape, Slice target, std::span<const Given> given) {
  board::Line line;
  bool begun = false;
  auto next = given.begin();  // mostly they are given in the order of the edges
  for (const Edge& edge : shape.sources) {
    if (!edge.exists()) continue;
    const bool expected = next != given.end() && next->rank == edge.rank;
    const auto there = expected ? next : std::ranges::find(given, edge.rank, &Given::rank);
    if (there != given.end()) next = there + 1;
    if (there == given.end() && edge.rank != shape.rank) {
      line.add(begun ? b.recv_reduce(edge.rank, target, Side::right) : b.recv(edge.rank, target));
    } else {
      const Slice theirs = there == given.end() ? Writer::input(target.offset, target.count)
                                                : there->data.part(target.offset, target.count);
      const Handle step = begun ? b.reduce(theirs, target, Side::right) : b.copy(theirs, target);
      if (there != given.end() && step.exists()) step.after(there->ready);
      line.add(step);
    }
    begun = true;
  }
  return line.last();
}

plan::Plan combined_in_one_piece(const Shape& shape, bool exposed) {
  Writer b(shape);
  const Slice sum = whole(shape);
  return through_pieces(b, shape, my_input(shape), exposed, [&](std::span<const Other> sources) {
    std::vector<Given> given;
    for (const Other& source : sources)
      given.push_back(
          {source.rank, piece_of(source.rank, 0, shape.count, exposed), b.await(source.rank, 0, shape.count)});
    std::vector<Handle> done;
    for (const Slice& part : segments(sum, exposed ? board::exposed_segment(shape, shape.count) : shape.count))
      done.push_back(combine(b, shape, part, given));
    return done;
  });
}

}  // namespace tutti::collectives::edges
