// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/packed.hpp"

#include <utility>

namespace tutti::collectives {
namespace {

bool follows(const Slice& first, const Slice& second) {
  return first.buffer == second.buffer && first.offset + first.count == second.offset;
}

}  // namespace

Packed::Packed(std::vector<Slice> homes, std::span<const Rank> order)
    : homes_(std::move(homes)), order_(order.begin(), order.end()), offsets_{0}, place_(homes_.size()) {
  for (const Rank rank : order_) {
    place_[static_cast<std::size_t>(rank)] = static_cast<Rank>(offsets_.size()) - 1;
    offsets_.push_back(offsets_.back() + homes_[static_cast<std::size_t>(rank)].count);
  }
}

bool Packed::at_home() const {
  for (std::size_t i = 1; i < order_.size(); ++i)
    if (!follows(homes_[static_cast<std::size_t>(order_[i - 1])], homes_[static_cast<std::size_t>(order_[i])]))
      return false;
  return true;
}

Slice Packed::room(Writer& b) const {
  if (!at_home()) return b.scratch(total());
  Slice room = homes_[static_cast<std::size_t>(order_.front())];
  room.count = total();
  return room;
}

Slice Packed::block(Slice room, Rank rank) const {
  const Rank place = place_[static_cast<std::size_t>(rank)];
  return blocks(room, place, place + 1);
}

Slice Packed::blocks(Slice room, Rank first, Rank last) const {
  const Count begin = offsets_[static_cast<std::size_t>(first)];
  return room.part(begin, offsets_[static_cast<std::size_t>(last)] - begin);
}

void Packed::pack(Composition& b, Slice room, Rank but) const {
  std::vector<Move> moves;
  for (const Rank rank : order_)
    if (rank != but) moves.push_back({homes_[static_cast<std::size_t>(rank)], block(room, rank)});
  copy_all(b, moves);
}

void Packed::unpack(Composition& b, Slice room, Rank but) const {
  std::vector<Move> moves;
  for (const Rank rank : order_)
    if (rank != but) moves.push_back({block(room, rank), homes_[static_cast<std::size_t>(rank)]});
  copy_all(b, moves);
}

void copy_all(Composition& b, const std::vector<Move>& moves) {
  for (std::size_t i = 0; i < moves.size();) {
    Move run = moves[i];
    for (++i; i < moves.size() && follows(run.source, moves[i].source) && follows(run.target, moves[i].target); ++i) {
      run.source.count += moves[i].source.count;
      run.target.count += moves[i].target.count;
    }
    b.copy(run.source, run.target);
  }
}

HostBlocks::HostBlocks(const Hosts& hosts, const Packed& packed) {
  Rank first = 0;
  for (Rank host = 0; host < hosts.count(); ++host) {
    const Slice blocks = packed.blocks({}, first, first + hosts.size(host));
    counts.push_back(blocks.count);
    offsets.push_back(blocks.offset);
    first += hosts.size(host);
  }
}

void HostBlocks::exchange(Composition& b, Slice room, bool whole) const {
  if (b.leads()) {
    Shape across = b.shape_among(b.leaders(), b.leader(), 0);
    across.in_place = true;
    across.recv_counts = counts;
    across.recv_offsets = offsets;
    b.among(b.leaders(), Kind::allgatherv, across, {}, room);
  }
  // What lies before and behind the parcel that they have.
  const Slice mine = whole ? room.part(0, 0) : of(room, b.hosts().mine());
  const Count begin = mine.offset - room.offset, end = begin + mine.count;
  for (const Slice& others : {room.part(0, begin), room.part(end, room.count - end)})
    b.here(Kind::bcast, b.shape_here(b.leader(), others.count), {}, others);
}

}  // namespace tutti::collectives
