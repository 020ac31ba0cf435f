// SPDX-License-Identifier: BSD-3-Clause
#include "engine/bound.hpp"

#include <algorithm>
#include <utility>

#include "base/hash.hpp"
#include "host/board.hpp"

namespace tutti::engine {

using plan::Index;
using plan::Verb;

namespace {

/// Of more, the fetching takes as long as it saves.
constexpr std::size_t most_fetched = 4096;
constexpr std::int32_t most_cells_fetched = 8;

/// Where a rank's payloads may lie, also where others see none: they may neither write nor read it themselves.
enum class Payloads { in_cells, in_areas, lent };

Payloads payloads_of(const Description& says, Rank ranks) {
  const bool may_be_lent = Bound::all_tell(says.kind, ranks);
  switch (says.kind) {
    case Kind::barrier:
      return Payloads::in_cells;
    case Kind::bcast:
    case Kind::reduce:
    case Kind::allreduce:
    case Kind::scan:
    case Kind::exscan:
    case Kind::neighbor_reduce:
      ranks = 1;
      break;
    case Kind::gather:
    case Kind::scatter:
    case Kind::allgather:
    case Kind::alltoall:
    case Kind::reduce_scatter_block:
      break;
    default:  // Only some ranks know all counts. Of what is lent then each rank reads some, or has the like.
      return Payloads::in_areas;
  }
  if (says.exact != Exactness::none) return Payloads::in_areas;
  const std::size_t each = static_cast<std::size_t>(ranks) * std::max(says.element, 1u);
  const auto fits = [&](std::size_t bytes) { return static_cast<std::size_t>(says.count) <= bytes / each; };
  if (fits(host::small_payload)) return Payloads::in_cells;
  return may_be_lent && !fits(Bound::least_lent - 1) ? Payloads::lent : Payloads::in_areas;
}

/// Of cells alone half of the ring stays for who is ahead; of areas as many as an operation may take; and who lends a
/// payload waits for everybody.
std::uint64_t untold_after(bool areas, Payloads elsewhere, std::int32_t cells) {
  if (areas || elsewhere == Payloads::lent) return 0;
  if (elsewhere == Payloads::in_cells) return host::cells / 2;
  return static_cast<std::uint64_t>(std::max(0, host::areas - cells));
}

std::uint64_t cell_key(Rank owner, std::int32_t cell) {
  return static_cast<std::uint64_t>(static_cast<std::uint32_t>(owner)) << 32 | static_cast<std::uint32_t>(cell);
}

}  // namespace

Rank Rows::operator()(Rank rank) const {
  return near.empty() || rank < 0 ? rank : static_cast<Rank>(std::ranges::lower_bound(near, rank) - near.begin());
}

std::uint32_t Description::signature() const {
  std::uint64_t hash = base::combine(static_cast<std::uint64_t>(kind), static_cast<std::uint64_t>(type));
  hash = base::combine(hash, static_cast<std::uint64_t>(op) << 32 | element);
  hash = base::combine(hash, static_cast<std::uint64_t>(count));
  hash = base::combine(
      hash, static_cast<std::uint64_t>(static_cast<std::uint32_t>(root)) << 32 | static_cast<std::uint32_t>(algorithm));
  hash = base::combine(hash, static_cast<std::uint64_t>(exact));
  return static_cast<std::uint32_t>(base::combine(hash, agreed_hash) >> 32);
}

namespace {

bool travels(const ExactCall* exact) { return exact != nullptr && exact->way != ExactCall::Way::at_one_place; }

/// What combines elements that travel; of a sum at one place nothing does until the last has come.
Kernel kernel_for(const Description& says, const ExactCall* exact) {
  if (exact == nullptr) return kernel_of(says.type, says.op);
  return travels(exact) ? kernel_of(Type::int64, Op::sum) : nullptr;
}

/// This rank's cell that it writes or publishes, or -1.
std::int32_t own_cell(const plan::Step& step) {
  if (step.verb == Verb::publish) return step.cell;
  return step.target.buffer == plan::Buffer::shared ? step.target.cell : -1;
}

}  // namespace

Bound::Bound(plan::Plan given, const Description& says, std::span<const Rank> near, Layouts laid_out,
             const ExactCall* how)
    : plan(std::move(given)),
      description(says),
      signature(says.signature()),
      call_word(static_cast<std::uint64_t>(says.kind) | static_cast<std::uint64_t>(says.type) << 8 |
                static_cast<std::uint64_t>(says.op) << 16 | static_cast<std::uint64_t>(says.exact) << 24 |
                static_cast<std::uint64_t>(static_cast<std::uint32_t>(says.root)) << 32),
      kernel(kernel_for(says, how)),
      element(travels(how) ? sizeof(std::int64_t) : says.element),
      steps(static_cast<Index>(plan.steps.size())),
      layouts(std::move(laid_out)) {
  instructions.reserve(plan.steps.size());
  scratch_bytes = static_cast<std::size_t>(plan.scratch) * element;
  const Rows rows{near};
  const Rank row = rows(plan.rank);
  const Areas in_areas = find_areas(rows);
  areas = !in_areas.empty();
  most_untold = untold_after(areas, payloads_of(says, rows.blocks(plan.size)), plan.cells);
  for (const plan::Step& step : plan.steps) {
    if (step.verb != Verb::publish || !in_areas.contains(cell_key(row, step.cell))) continue;
    const std::size_t payload = static_cast<std::size_t>(step.source.offset + step.source.count) * element;
    written.push_back({step.cell, {static_cast<std::size_t>(host::slots_of(payload)), payload}});
  }
  std::ranges::sort(written, {}, &Area::cell);
  for (const Area& area : written) slots += area.wanted.slots;
  for (const plan::Step& step : plan.steps) {
    any = any || step.any;
    exposes = exposes || (step.verb == Verb::publish && step.source.buffer != plan::Buffer::shared);
    opens = opens || step.open;
    instructions.push_back(make_ready(step, in_areas, rows));
    if (step.verb == Verb::publish) next_cells = std::clamp(step.cell + 1, next_cells, most_cells_fetched);
  }
  next_area = std::min(beginning_of_area(row), most_fetched);
  link_steps();
  in_order = find_in_order();
  const Rank here = near.empty() ? plan.size : static_cast<Rank>(near.size());
  mutual = find_mutual(here);
  if (how == nullptr && kernel != nullptr && !any) join_copies();
  if (how == nullptr) find_streams(here);  // of exact sums, what is brought is read again
  if (how == nullptr && near.empty()) find_lends(row);
  if (how != nullptr) exact = std::make_unique<const Exact>(*how, instructions, scratch_bytes);
  const bool mailbox = says.kind == Kind::sparse_exchange;
  messages = transfers > 0 || mailbox;
  plain = in_order && how == nullptr && !mailbox && !may_lend && (says.op == Op::none || kernel != nullptr);
}

/// Of steps that may begin together receives begin first: each lets its sender begin. Behind what this rank sends on
/// the same connection the word would come late, and two that swap large messages would do so one after the other.
void Bound::link_steps() {
  missing.resize(steps);
  first_successor.assign(std::size_t{steps} + 1, 0);
  for (Index i = 0; i < steps; ++i) {
    const auto after = plan.after(plan.steps[i]);
    missing[i] = plan.steps[i].any ? std::min<std::uint32_t>(1, static_cast<std::uint32_t>(after.size()))
                                   : static_cast<std::uint32_t>(after.size());
    for (const Index before : after) ++first_successor[before + 1];
  }
  for (Index i = 0; i < steps; ++i) first_successor[i + 1] += first_successor[i];
  successors.resize(plan.edges.size());
  std::vector<Index> next(first_successor.begin(), first_successor.end() - 1);
  for (const bool receiving : {true, false})
    for (Index i = 0; i < steps; ++i)
      if (receives(plan.steps[i].verb) == receiving)
        for (const Index before : plan.after(plan.steps[i])) successors[next[before]++] = i;
  for (const bool receiving : {false, true})
    for (Index i = steps; i-- > 0;)
      if (missing[i] == 0 && receives(plan.steps[i].verb) == receiving) starts.push_back(i);
}

Bound::Areas Bound::find_areas(const Rows& rows) const {
  Areas found;
  for (const plan::Step& step : plan.steps) {
    if (static_cast<std::size_t>(step.source.count) * element <= host::small_payload) continue;
    if (step.verb == Verb::publish && step.source.buffer == plan::Buffer::shared)
      found.insert(cell_key(rows(plan.rank), step.cell));
    else if (step.verb == Verb::await)
      found.insert(cell_key(rows(step.peer), step.cell));
  }
  return found;
}

std::int32_t Bound::area_of(const plan::Slice& slice, const Areas& in_areas, const Rows& rows) const {
  const Rank owner = rows(slice.owner);
  const auto lies_in_one = [&](Rank whose) { return in_areas.contains(cell_key(whose, slice.cell)); };
  if (slice.buffer != plan::Buffer::shared) return Place::no_area;
  if (slice.owner != plan.rank) return lies_in_one(owner) || lies_in_one(plan::everyone) ? 0 : Place::no_area;
  if (!lies_in_one(owner)) return Place::no_area;
  return static_cast<std::int32_t>(std::ranges::lower_bound(written, slice.cell, {}, &Area::cell) - written.begin());
}

/// What the steps write into an area from its start on, without gaps.
std::size_t Bound::beginning_of_area(Rank row) const {
  std::size_t end = 0;
  for (const Instruction& step : instructions)
    if (step.target.area == 0 && step.target.owner == row && step.target.offset <= end)
      end = std::max(end, step.target.offset + step.bytes);
  return end;
}

Instruction Bound::make_ready(const plan::Step& step, const Areas& in_areas, const Rows& rows) {
  const auto place = [&](const plan::Slice& slice) {
    return Place{slice.buffer, slice.cell, rows(slice.owner), static_cast<std::size_t>(slice.offset) * element,
                 area_of(slice, in_areas, rows)};
  };
  const bool has_target = step.target.buffer != plan::Buffer::none;
  Instruction ready{.verb = step.verb,
                    .side = step.side,
                    .any = step.any,
                    .peer = step.verb == Verb::await ? rows(step.peer) : step.peer,
                    .cell = step.cell,
                    .message = step.message,
                    .source = place(step.source),
                    .target = place(step.target),
                    .count = has_target ? step.target.count : step.source.count};
  ready.bytes = static_cast<std::size_t>(ready.count) * element;
  ready.at_once = ready.bytes <= piece_bytes && step.source.buffer != plan::Buffer::exposed &&
                  step.target.buffer != plan::Buffer::exposed && !layouts.reach(step.source.buffer, step.target.buffer);
  ready.simple = ready.at_once && std::max(ready.source.area, ready.target.area) == Place::no_area &&
                 (step.verb != Verb::publish || step.source.buffer == plan::Buffer::shared);
  if (step.verb == Verb::send || plan::receives(step.verb)) ready.transfer = transfers++;
  if (step.verb == Verb::recv_reduce) {
    ready.landing = scratch_bytes = (scratch_bytes + 63) / 64 * 64;
    scratch_bytes += ready.bytes;
    largest_landing = std::max(largest_landing, ready.bytes);
  }
  return ready;
}

/// A copy into what the next step combines something with: that step reads the copy's source instead, which moves the
/// data once less. Where that step has to wait for something else, only if it is much: little is better copied while
/// one waits. Nothing else looks at the target meanwhile: that would race with one of the two.
void Bound::join_copies() {
  constexpr std::size_t much = 4096;
  const auto plain_memory = [this](const plan::Slice& slice) {
    return slice.buffer != plan::Buffer::exposed && !layouts.reach(slice.buffer, slice.buffer);
  };
  for (Index i = 0; i < plan.steps.size(); ++i) {
    const plan::Step& copy = plan.steps[i];
    if (copy.verb != Verb::copy || first_successor[i + 1] - first_successor[i] != 1) continue;
    const Index j = successors[first_successor[i]];
    const plan::Step& reduce = plan.steps[j];
    const bool waits = plan.after(reduce).size() > 1 && instructions[i].bytes < much;
    if (reduce.verb != Verb::reduce || reduce.any || reduce.target != copy.target || waits ||
        !plain_memory(copy.source) || !plain_memory(copy.target) || !plain_memory(reduce.source))
      continue;
    instructions[j].other = instructions[i].source;
    instructions[j].simple = instructions[j].simple && instructions[i].source.area == Place::no_area;
    instructions[i].count = 0;
    instructions[i].bytes = 0;
  }
}

const Instruction& Bound::only_message() const {
  return *std::ranges::find_if(instructions, [](const Instruction& step) { return step.transfer >= 0; });
}

bool Bound::find_mutual(Rank ranks) const {
  const auto is = [](Verb verb) { return [verb](const Instruction& step) { return step.verb == verb; }; };
  const auto awaits = std::ranges::find_if(instructions, is(Verb::await));
  return std::ranges::any_of(instructions.begin(), awaits, is(Verb::publish)) &&
         std::ranges::none_of(awaits, instructions.end(), is(Verb::publish)) && awaits_all(ranks);
}

bool Bound::awaits_all(Rank ranks) const {
  std::set<Rank> awaited;
  for (const Instruction& step : instructions)
    if (step.verb == Verb::await) awaited.insert(step.peer);
  return awaited.contains(plan::everyone) || static_cast<Rank>(awaited.size()) == ranks - 1;
}

bool Bound::find_in_order() const {
  constexpr std::size_t most = 64;  // steps: what is worth it, and fits a word
  if (transfers > 0 || any || plan.steps.size() > most) return false;
  std::vector<std::uint64_t> before(plan.steps.size());  // bit i: step i comes before
  std::uint64_t waits = 0;                               // bit i: step i may have to wait
  std::uint64_t writes = 0;                              // and does so for who has read its cell before, no area's
  for (std::size_t i = 0; i < plan.steps.size(); ++i) {
    const plan::Step& step = plan.steps[i];
    for (const Index predecessor : plan.after(step)) before[i] |= before[predecessor] | std::uint64_t{1} << predecessor;
    const bool tells = step.verb == Verb::publish || step.verb == Verb::release;
    // Who has read a cell before has read all cells of lower sequences: what publishes waits for that anyway.
    std::uint64_t waits_itself = 0;
    for (std::size_t j = 0; step.verb == Verb::publish && j < i; ++j)
      if ((writes >> j & 1) != 0 && own_cell(plan.steps[j]) <= step.cell) waits_itself |= std::uint64_t{1} << j;
    if (tells && (waits & ~before[i] & ~waits_itself) != 0) return false;
    const std::uint64_t bit = std::uint64_t{1} << i;
    if (step.verb == Verb::await || own_cell(step) >= 0) waits |= bit;
    const Instruction& ready = instructions[i];
    if (own_cell(step) >= 0 && std::max(ready.source.area, ready.target.area) == Place::no_area) writes |= bit;
  }
  return true;
}

}  // namespace tutti::engine
