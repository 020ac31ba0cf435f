// SPDX-License-Identifier: BSD-3-Clause
// Payloads that stay where they are. A rank whose data lie in memory of the segment (host::lend) need not copy them
// into an area for others to read: its cell says where they lie. They are copied once instead of twice; but this rank
// is done only when all others are done with the cell.
#include <algorithm>
#include <utility>

#include "engine/channel.hpp"
#include "engine/engine.hpp"
#include "engine/operation.hpp"
#include "engine/parts.hpp"
#include "host/loan.hpp"

namespace tutti::engine {

using plan::Buffer;
using plan::Verb;

namespace {

/// Where ranks share a core, who could go ahead without waiting for his readers waits for others to get it (AMD EPYC, 4
/// and 8 ranks on two cores: bcast of 32 KiB 1.3 and 1.6 times slower, of 128 KiB 1.5 and 1.3 times faster).
constexpr std::size_t least_lent_ahead = 32 << 10;

}  // namespace

bool Bound::all_tell(Kind kind, Rank ranks) {
  switch (kind) {
    case Kind::gatherv:
    case Kind::scatterv:
    case Kind::alltoallv:
    case Kind::alltoallw:
      return ranks == 2;
    default:
      return kind < Kind::neighbor_allgather;
  }
}

/// A copy that fills an area whole, from memory that the plan leaves as it is. What a user's function reads must not
/// change, and this may after a loss.
void Bound::find_lends(Rank row) {
  const bool users = description.op != Op::none && kernel == nullptr;
  others_lend = most_untold == 0 && plan.cells > 0 && all_tell(description.kind, plan.size);
  if (!areas || opens || users || !others_lend) return;
  const bool waits_anyway = awaits_all(plan.size);
  Parts written_output;
  std::vector<int> writers(written.size()), readers(written.size());
  const auto own = [row](const Place& place) { return place.area != Place::no_area && place.owner == row; };
  for (const Instruction& step : instructions) {
    if (step.target.buffer == Buffer::output) written_output.add(step.target.offset, step.target.offset + step.bytes);
    if (own(step.target)) ++writers[static_cast<std::size_t>(step.target.area)];
    if (step.verb != Verb::publish && own(step.source)) ++readers[static_cast<std::size_t>(step.source.area)];
  }
  for (Instruction& step : instructions) {
    if (step.verb != Verb::copy || !step.at_once || !own(step.target)) continue;
    const auto number = static_cast<std::size_t>(step.target.area);
    const bool whole = step.target.offset == 0 && step.bytes == written[number].wanted.bytes;
    const bool stays = step.source.buffer == Buffer::input ||
                       (step.source.buffer == Buffer::output &&
                        !written_output.touch(step.source.offset, step.source.offset + step.bytes));
    if (whole && stays && writers[number] == 1 && readers[number] == 0) step.lends = lends(step.bytes, waits_anyway);
    may_lend = may_lend || step.lends != Instruction::Lends::no;
  }
}

/// Of a step that may, by a rank that waits for all others anyway or not.
Instruction::Lends Bound::lends(std::size_t bytes, bool waits_anyway) const {
  using enum Instruction::Lends;
  if (bytes < least_lent) return no;
  if (waits_anyway) return yes;
  const bool chain = description.kind == Kind::scan || description.kind == Kind::exscan;
  return chain || bytes < least_lent_ahead ? with_core : yes;
}

/// Instead of copying it; false where it does not lie in the segment.
bool Operation::lend(const Instruction& step) {
  using enum Instruction::Lends;
  if (step.lends == with_core && channel_.engine_.setup().ranks_per_core() > 1) return false;
  const host::Segment& segment = channel_.engine_.segment();
  const host::Offset lent = host::find_lent(segment, address(step.source), step.bytes);
  if (lent == 0 || !segment.has(lent, host::large_payload)) return false;
  Slots::Given& payload = areas_[static_cast<std::size_t>(step.target.area)];
  payload.lent = lent;
  payload.before = 0;  // nobody has to be done with the slots
  lent_until_ = std::max(lent_until_, cell_sequence(step.target.cell));
  return true;
}

bool Operation::reads_lent(const Place& place) const {
  return place.owner != channel_.row() && cell(place.owner, place.cell).address != 0;
}

std::byte* Operation::lent_payload(const Place& place) const {
  return lent_at(cell(place.owner, place.cell).area, place, host::large_payload - place.offset);
}

/// A part of what the place's owner lends from there on.
std::byte* Operation::lent_at(host::Offset lent, const Place& place, std::size_t bytes) const {
  host::Segment& segment = channel_.engine_.segment();
  if (!segment.in_heap(lent, place.offset + bytes)) damaged(place.owner, "lends no memory where it says");
  try {
    return segment.at(lent + place.offset, bytes);
  } catch (const Error& error) {  // no reduction function has thrown it
    throw Unreadable(error.what());
  }
}

/// That this rank is done with the cells, although an operation before may hold up that it says so of all. What stood
/// in the place of cells a ring before has been read, or those of this operation could not have been used; what stands
/// there of cells a ring behind stays, for where this operation could say more all others knew before.
void Operation::say_ahead() {
  std::atomic<std::uint64_t>& place = channel_.board_.ahead(channel_.row(), cell_base_);
  // Relaxed: this rank alone writes it. Release: pairs with the acquire in `is_done_with`; who lends gives the memory
  // back after this rank's reads of it.
  if (place.load(std::memory_order_relaxed) < cells_end_) place.store(cells_end_, std::memory_order_release);
  published_ = true;
}

bool Operation::look_for_readers() {
  if (std::exchange(released_, cells_end_) != cells_end_) {  // the others may wait for this rank alike
    channel_.update_consumed();
    say_ahead();
  }
  if (!channel_.consumed(lent_until_) && !channel_.all_done_with(cell_base_, cells_end_)) return false;
  lent_until_ = 0;
  return true;
}

void Operation::readers(std::vector<Rank>& ranks) const {
  if (lent_until_ == 0 || released_ != cells_end_) return;
  for (Rank row = 0; row < channel_.board_.size(); ++row)
    if (!channel_.is_done_with(row, cell_base_, cells_end_))
      ranks.push_back(channel_.near_[static_cast<std::size_t>(row)]);
}

bool Channel::all_done_with(std::uint64_t begin, std::uint64_t end) const {
  for (Rank row = 0; row < board_.size(); ++row)
    if (!is_done_with(row, begin, end)) return false;
  return true;
}

/// Also where an operation that it began before is not done.
bool Channel::is_done_with(Rank row, std::uint64_t begin, std::uint64_t end) const {
  if (row == this->row() || consumed_by(row) >= end) return true;
  // Acquire: pairs with the release in `say_ahead`.
  return board_.ahead(row, begin).load(std::memory_order_acquire) == end;
}

}  // namespace tutti::engine
