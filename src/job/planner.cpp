// SPDX-License-Identifier: BSD-3-Clause
#include "job/planner.hpp"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "base/hash.hpp"
#include "base/names.hpp"
#include "engine/cells.hpp"
#include "engine/reduction.hpp"
#include "job/blocks.hpp"
#include "job/user_plan.hpp"
#include "layout/form.hpp"
#include "plan/staging.hpp"
#include "tutti/error.hpp"

namespace tutti::job {

using collectives::Algorithm;
using collectives::Shape;
using engine::Bound;
using engine::Description;

namespace {

std::array<std::span<const Count>, 4> arrays(const Call& call) {
  return {call.send_counts, call.send_offsets, call.recv_counts, call.recv_offsets};
}

std::uint64_t hash_of(const Layout* layout) { return layout == nullptr ? 0 : layout->form().hash; }

bool same(const std::optional<Layout>& kept, const Layout* given) {
  return kept ? given != nullptr && *kept == *given : given == nullptr;
}

/// Offsets of blocks that lie side by side.
std::vector<Count> side_by_side(std::span<const Count> counts) {
  std::vector<Count> offsets(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), Count{0});
  return offsets;
}

}  // namespace

Planner::Planner(Rank rank, Rank size, std::string group, Agreed agreed, std::shared_ptr<const Topology> topology)
    : rank_(rank), size_(size), group_(std::move(group)), agreed_(std::move(agreed)), topology_(std::move(topology)) {
  for (Rank other = 0; other < static_cast<Rank>(agreed_.hosts.size()); ++other)
    if (agreed_.hosts[static_cast<std::size_t>(other)] == agreed_.hosts[static_cast<std::size_t>(rank_)])
      near_.push_back(other);
}

/// In line: it is made in every call.
[[gnu::always_inline]] inline Planner::Key::Key(const Call& call) {
  static_assert(offsetof(Call, kind) == 0 && offsetof(Call, type) == 1 && offsetof(Call, in_place) == 2 &&
                offsetof(Call, exact) == 3 && offsetof(Call, element) == 4 && sizeof call.element == 4);
  std::memcpy(&what, &call, sizeof what);
  const auto word = [](auto value) { return static_cast<std::uint64_t>(value); };
  count = word(call.count);
  others = word(static_cast<std::uint32_t>(call.root)) | word(call.reduction.op) << 32 |
           word(call.reduction.commutative) << 40;
  const std::size_t more =
      reinterpret_cast<std::uintptr_t>(call.input_layout) | reinterpret_cast<std::uintptr_t>(call.output_layout) |
      reinterpret_cast<std::uintptr_t>(call.plan) | call.send_counts.size() | call.send_offsets.size() |
      call.recv_counts.size() | call.recv_offsets.size() | call.algorithm.size();
  if (more != 0) add_others(call);
}

/// Out of line, so that the key of a plain call is made in few registers.
[[gnu::noinline]] void Planner::Key::add_others(const Call& call) {
  others |= not_all;
  if (call.input_layout != nullptr || call.output_layout != nullptr)
    others |= laid_out | (hash_of(call.input_layout) ^ hash_of(call.output_layout) << 1) << hash_shift;
  if (call.plan != nullptr) count = call.plan->id;  // a count means nothing there
}

std::size_t Planner::Key::slot() const {
  return (what ^ count * 0x9e3779b97f4a7c15u ^ others << 17) * 0xbf58476d1ce4e5b9u >> 58;
}

bool Planner::Entry::same_others(const Key& given, const Call& call) const {
  if (algorithm.size() != call.algorithm.size() || (!algorithm.empty() && algorithm != call.algorithm)) return false;
  return same_counts(call) && (!given.is_laid_out() || same_layouts(call));
}

/// Counts are few and mostly equal: comparing them in place is shorter than calling a function for each array.
bool Planner::Entry::same_counts(const Call& call) const {
  const Count* kept = counts.data();
  const auto same = [&kept](std::size_t length, std::span<const Count> given) {
    if (given.size() != length) return false;
    for (const Count number : given)
      if (number != *kept++) return false;
    return true;
  };
  return same(counted[0], call.send_counts) && same(counted[1], call.send_offsets) &&
         same(counted[2], call.recv_counts) && same(counted[3], call.recv_offsets);
}

bool Planner::Entry::same_layouts(const Call& call) const {
  return same(layouts.input, call.input_layout) && same(layouts.output, call.output_layout) &&
         (own == call.own || call.input_layout == nullptr);
}

Planner::Entry* Planner::Set::find(const Key& key, const Call& call) {
  const auto found = std::ranges::find_if(others, [&](const Entry& entry) { return entry.matches(key, call); });
  return found == others.end() ? nullptr : &*found;
}

Planner::Entry& Planner::Set::place() {
  if (!first.bound) return first;
  if (others.size() < most_others) return others.emplace_back();
  const std::size_t turn = replaced++ % (most_others + 1);
  return turn == 0 ? first : others[turn - 1];
}

Planner::Entry* Planner::find_long(const Key& key, const Call& call) {
  const auto found = std::ranges::find_if(long_ones_, [&](const Entry& entry) { return entry.matches(key, call); });
  if (found == long_ones_.end()) return nullptr;
  long_ones_.splice(long_ones_.begin(), long_ones_, found);
  return &*found;
}

Planner::Entry& Planner::place_of_long(std::size_t steps) {
  const auto room = [&] {
    std::size_t all = steps;
    for (const Entry& entry : long_ones_) all += entry.bound == nullptr ? 0 : entry.bound->plan.steps.size();
    return all <= most_steps;
  };
  while (!long_ones_.empty() && !room()) long_ones_.pop_back();
  return long_ones_.emplace_front();
}

const std::shared_ptr<const Bound>& Planner::prepare(const Call& call) {
  const Key key(call);
  Set& set = cache_[key.slot()];
  if (set.first.matches(key, call)) return set.first.bound;
  return prepare_other(set, key, call);
}

[[gnu::noinline]] const std::shared_ptr<const Bound>& Planner::prepare_other(Set& set, const Key& key,
                                                                             const Call& call) {
  Entry* found = set.find(key, call);
  if (found == nullptr) found = find_long(key, call);
  if (found != nullptr) return found->bound;
  check(call);
  auto bound = make(call);
  const std::size_t steps = bound->plan.steps.size();
  Entry& entry = steps > long_steps ? place_of_long(steps) : set.place();
  entry.key = Key();  // in case there is no memory for the rest
  entry.bound.reset();
  entry.algorithm = call.algorithm;
  entry.counts.clear();
  const auto given = arrays(call);
  for (std::size_t i = 0; i < given.size(); ++i) {
    entry.counted[i] = given[i].size();
    entry.counts.insert(entry.counts.end(), given[i].begin(), given[i].end());
  }
  entry.layouts = engine::layouts_of(call);
  entry.own = call.own;
  entry.bound = std::move(bound);
  entry.key = key;
  return entry.bound;
}

void Planner::refuse(const Call& call, const std::string& text) const {
  const std::string_view kind = call.exact == Exactness::folded ? "sum" : name_of(call.kind);
  const std::string name = call.plan == nullptr ? "" : " " + call.plan->name;
  throw Error(Cause::usage,
              std::string(kind) + name + " on group " + group_ + ", rank " + std::to_string(rank_) + ": " + text);
}

void Planner::check(const Call& call) const {
  if (call.kind == Kind::plan) return check_plan(call);
  const collectives::Collective& collective = collectives::get(call.kind);
  if (call.root < 0 || call.root >= size_)
    refuse(call, "root " + std::to_string(call.root) + " is not in the group; name a rank from 0 to " +
                     std::to_string(size_ - 1));
  if (call.element == 0) refuse(call, "the elements have no bytes; pass their size");
  const Count most = std::numeric_limits<Count>::max() / static_cast<Count>(call.element) / std::max<Count>(size_, 1);
  if (call.count < 0 || call.count > most)
    refuse(call, "count " + std::to_string(call.count) + " is not between 0 and " + std::to_string(most) +
                     "; pass how many elements there are, and more than that in several calls");
  if (collective.reduces) {
    if (call.reduction.op == Op::user ? call.reduction.function == nullptr
                                      : !engine::supports(call.type, call.reduction.op))
      refuse(call, "the operation " + std::string(base::name(call.reduction.op)) +
                       " does not go with elements of type " + std::string(base::name(call.type)) +
                       "; choose another, or pass a function");
    check_exact(call);
  }
  if (collectives::has_neighbors(call.kind) && (topology_ == nullptr || call.in_place))
    refuse(call, topology_ == nullptr
                     ? "this group has no neighbours; make one that has by cartesian, adjacent_graph or graph"
                     : "it cannot work in place; pass separate buffers");
  if (collective.varying) {
    check_varying(call);
    const bool along_edges = collectives::has_neighbors(call.kind);
    check_blocks(call, rank_, along_edges ? topology_->neighbors.sources : std::span<const collectives::Edge>());
  }
  if (collectives::has_neighbors(call.kind)) check_neighbors(call);
}

/// Edges that show this rank both ends, or one end twice.
void Planner::check_neighbors(const Call& call) const {
  const collectives::Neighbors& mine = topology_->neighbors;
  const auto edges = static_cast<Count>(std::max(mine.sources.size(), mine.destinations.size()));
  if (edges > 0 && call.count > std::numeric_limits<Count>::max() / static_cast<Count>(call.element) / edges)
    refuse(call, "count " + std::to_string(call.count) + " is too large for " + std::to_string(edges) + " neighbours");
  if (!collectives::get(call.kind).varying) return;
  const bool gathers = call.kind == Kind::neighbor_allgatherv;
  std::map<Rank, Count> given;  // by source, where one gives the same to all
  if (gathers) given[rank_] = call.send_counts[0];
  for (std::size_t slot = 0; slot < mine.sources.size(); ++slot) {
    const collectives::Edge& edge = mine.sources[slot];
    const Count takes = call.recv_counts[slot];
    Count gives = takes;
    if (edge.exists() && gathers)
      gives = given.try_emplace(edge.rank, takes).first->second;
    else if (edge.rank == rank_)
      gives = call.send_counts[static_cast<std::size_t>(edge.slot)];
    if (gives != takes)
      refuse(call, "neighbour " + std::to_string(slot) + " is rank " + std::to_string(edge.rank) + ", which gives " +
                       std::to_string(gives) + (collectives::has_parts(call.kind) ? " bytes" : " elements") +
                       " as this rank says elsewhere, and not " + std::to_string(takes) + "; make the counts equal");
  }
}

void Planner::check_varying(const Call& call) const {
  const bool root = rank_ == call.root;
  const auto group = static_cast<std::size_t>(size_);
  std::size_t sends = 0, receives = 0;  // entries needed
  switch (call.kind) {
    case Kind::gatherv:
      sends = 1, receives = root ? group : 0;
      break;
    case Kind::scatterv:
      sends = root ? group : 0, receives = 1;
      break;
    case Kind::allgatherv:
      sends = 1, receives = group;
      break;
    case Kind::reduce_scatter:
      receives = group;
      break;
    case Kind::neighbor_allgatherv:
      sends = 1, receives = topology_->neighbors.sources.size();
      break;
    case Kind::neighbor_alltoallv:
    case Kind::neighbor_alltoallw:
      sends = topology_->neighbors.destinations.size(), receives = topology_->neighbors.sources.size();
      break;
    default:
      sends = receives = group;
  }
  const auto side = [&](const char* which, std::span<const Count> counts, std::span<const Count> offsets,
                        std::size_t needed) {
    if (needed == 0 && !collectives::has_neighbors(call.kind)) return;  // this rank needs none
    const std::string name(which);
    const std::string each = needed == 1 ? "one" : std::string("one for each ") + partner(call.kind);
    if (counts.size() != needed)
      refuse(call, name + " counts: " + std::to_string(counts.size()) + " given, " + std::to_string(needed) +
                       " needed; pass " + each);
    if (!offsets.empty() && offsets.size() != needed)
      refuse(call, name + " offsets: " + std::to_string(offsets.size()) + " given, " + std::to_string(needed) +
                       " needed; pass " + each + ", or none for blocks side by side");
    const Count most = std::numeric_limits<Count>::max() / static_cast<Count>(call.element) / size_ / 2;
    const auto expect_number = [&](const char* what, std::size_t i, Count number) {
      if (number < 0 || number > most)
        refuse(call, name + what + std::to_string(i) + " is " + std::to_string(number) + ", and not between 0 and " +
                         std::to_string(most) + "; pass numbers of elements, and larger ones in several calls");
    };
    for (std::size_t i = 0; i < needed; ++i) {
      expect_number(" count ", i, counts[i]);
      if (!offsets.empty()) expect_number(" offset ", i, offsets[i]);
    }
  };
  side("send", call.send_counts, call.send_offsets, call.in_place && call.kind != Kind::scatterv ? 0 : sends);
  side("receive", call.recv_counts, call.recv_offsets, receives);
  if (call.kind == Kind::allgatherv && !call.in_place &&
      call.send_counts[0] != call.recv_counts[static_cast<std::size_t>(rank_)])
    refuse(call, "this rank gives " + std::to_string(call.send_counts[0]) + " elements, but its count is " +
                     std::to_string(call.recv_counts[static_cast<std::size_t>(rank_)]) + "; make them equal");
  if (!collectives::has_gaps(call.kind) && !call.recv_offsets.empty() &&
      !std::ranges::equal(call.recv_offsets, side_by_side(call.recv_counts)))
    refuse(call, "its blocks lie side by side; pass no offsets");
}

std::string shortage(std::string_view buffer, const Layout* layout, Count bytes) {
  if (layout == nullptr || layout->size() >= bytes) return {};
  return std::string(buffer) + " is laid out as " + layout->describe() + ", but " + std::to_string(bytes) +
         " bytes are needed; make it longer";
}

void Planner::check_layouts(const Call& call, const Reach& reach) const {
  const auto side = [&](const char* which, const Layout* layout, Count elements) {
    const std::string text = shortage(which, layout, elements * static_cast<Count>(call.element));
    if (!text.empty()) refuse(call, text);
  };
  side("in", call.input_layout, reach.input);
  side("out", call.output_layout, reach.output);
  if (call.output_layout == nullptr || !reach.writes || !call.output_layout->overlaps()) return;
  const layout::Clash clash = *layout::find_overlap(call.output_layout->form().node);
  const auto name = [&call](Count byte) {
    const Count element = byte / static_cast<Count>(call.element);
    if (!collectives::has_parts(call.kind)) return "element " + std::to_string(element);
    std::size_t rank = 0;
    for (Count left = element; rank < call.recv_counts.size() && left >= call.recv_counts[rank]; ++rank)
      left -= call.recv_counts[rank];
    return "a part of what comes from " + std::string(partner(call.kind)) + " " + std::to_string(rank);
  };
  refuse(call, "parts of out overlap: " + name(clash.first) + " lies where " + name(clash.second) +
                   " lies; what is received needs a place of its own");
}

Shape Planner::shape(const Call& call) const {
  Shape shape;
  shape.rank = rank_;
  shape.size = size_;
  shape.root = call.root;
  shape.count = call.count;
  shape.in_place = call.in_place;
  shape.commutative = call.reduction.op != Op::user || call.reduction.commutative;
  if (collectives::agrees_on_counts(call.kind)) shape.recv_counts = call.recv_counts;
  if (topology_ != nullptr) {
    shape.sources = topology_->neighbors.sources;
    shape.destinations = topology_->neighbors.destinations;
    shape.widest = topology_->widest;
  }
  shape.hosts = agreed_.hosts;
  if (agreed_.segment > 0) shape.least_segment = std::max<Count>(static_cast<Count>(agreed_.segment / call.element), 1);
  if (agreed_.board) shape.cell = engine::cells_of(call.element);
  return shape;
}

tune::Choice Planner::choose(const Call& call) const {
  if (!call.algorithm.empty()) {
    const tune::Choice choice = tune::named(call.kind, call.algorithm);
    const Algorithm& algorithm = collectives::algorithms()[static_cast<std::size_t>(choice.algorithm)];
    if (!collectives::applies(algorithm, shape(call), agreed_.single_copy))
      refuse(call, "the algorithm " + std::string(algorithm.name) + " cannot be used here (" +
                       std::string(algorithm.sentence) + "); leave the choice to the table, or choose another");
    return choice;
  }
  Count count = collectives::get(call.kind).varying ? 0 : call.count;
  if (collectives::agrees_on_counts(call.kind)) count = total(call.recv_counts) / size_;
  return agreed_.table->choose(shape(call), call.kind, count * static_cast<Count>(call.element), agreed_.single_copy);
}

std::shared_ptr<const Bound> Planner::make(const Call& call) {
  if (call.kind == Kind::plan) return make_plan(call);
  return is_exact(call) ? make_exact(call) : bind(call, call, choose(call), nullptr);
}

std::shared_ptr<const Bound> Planner::bind(const Call& call, const Call& carried, const tune::Choice& choice,
                                           const engine::ExactCall* exact) const {
  const Algorithm& algorithm = collectives::algorithms()[static_cast<std::size_t>(choice.algorithm)];
  Description says{call.kind,        call.type,  call.reduction.op,
                   call.element,     call.count, call.root,
                   choice.algorithm, 0,          exact == nullptr ? Exactness::none : call.exact};
  std::uint64_t agreed = base::combine(static_cast<std::uint64_t>(choice.parameters.segment),
                                       static_cast<std::uint64_t>(choice.parameters.radix));
  if (collectives::agrees_on_counts(call.kind))
    for (const Count count : call.recv_counts) agreed = base::combine(agreed, static_cast<std::uint64_t>(count));
  says.agreed_hash = static_cast<std::uint32_t>(agreed);

  Shape with = shape(carried);
  with.parameters = choice.parameters.of_elements(carried.element);
  with.send_counts = carried.send_counts;
  with.recv_counts = carried.recv_counts;
  std::vector<Count> sent, received;
  if (carried.send_offsets.empty()) sent = side_by_side(carried.send_counts);
  if (carried.recv_offsets.empty()) received = side_by_side(carried.recv_counts);
  with.send_offsets = carried.send_offsets.empty() ? sent : carried.send_offsets;
  with.recv_offsets = carried.recv_offsets.empty() ? received : carried.recv_offsets;
  plan::Plan plan = algorithm.build(with);
  if (carried.input_layout == nullptr && carried.output_layout == nullptr)
    return std::make_shared<const Bound>(std::move(plan), says, near_, engine::Layouts{}, exact);
  check_layouts(carried, {plan::reach(plan, plan::Buffer::input), plan::reach(plan, plan::Buffer::output),
                          plan::writes(plan, plan::Buffer::output)});
  const plan::Staging staging{carried.input_layout != nullptr, carried.output_layout != nullptr,
                              collectives::output_before(call.kind, with)};
  return std::make_shared<const Bound>(plan::staged(plan, staging), says, near_, engine::layouts_of(carried));
}

}  // namespace tutti::job
