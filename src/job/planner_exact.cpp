// SPDX-License-Identifier: BSD-3-Clause
// Sums that are rounded once: which of the ways to make them a call takes. All ranks decide alike.
#include <algorithm>
#include <optional>

#include "base/names.hpp"
#include "job/blocks.hpp"
#include "job/planner.hpp"

namespace tutti::job {

using engine::ExactCall;

namespace {

bool is_floating(Type type) {
  return type == Type::float32 || type == Type::float64 || type == Type::complex64 || type == Type::complex128;
}

const collectives::Needs& needs_of(const tune::Choice& choice) {
  return collectives::algorithms()[static_cast<std::size_t>(choice.algorithm)].needs;
}

/// One that combines what fits a small cell at one place; nothing where none can be used. That moves a number sooner
/// than any algorithm moves the words for it.
std::optional<tune::Choice> small_at_one_place(Kind kind, const collectives::Shape& shape, bool single_copy) {
  const auto all = collectives::algorithms();
  const auto found = std::ranges::find_if(all, [&](const collectives::Algorithm& one) {
    return one.kind == kind && one.needs.fits_small && one.needs.at_one_place &&
           collectives::applies(one, shape, single_copy);
  });
  if (found == all.end()) return std::nullopt;
  return tune::Choice{static_cast<std::int32_t>(found - all.begin()), {}};
}

}  // namespace

bool Planner::is_exact(const Call& call) const {
  return call.exact != Exactness::none && collectives::get(call.kind).reduces && call.reduction.op == Op::sum &&
         is_floating(call.type);
}

void Planner::check_exact(const Call& call) const {
  if (call.exact == Exactness::none) return;
  if (call.exact == Exactness::folded && !is_floating(call.type))
    refuse(call,
           "elements of type " + std::string(base::name(call.type)) +
               " are not rounded; pass float32, float64, complex64 or complex128, or add up your own elements and "
               "call allreduce");
  if (call.reduction.op == Op::prod && is_floating(call.type))
    refuse(call,
           "products of floating-point numbers depend on their order and have no reproducible form; call it on the "
           "plain group");
  const std::size_t edges = topology_ == nullptr ? 0 : topology_->neighbors.sources.size();
  if (std::max(static_cast<std::size_t>(size_), edges) > ExactCall::most_ranks)
    refuse(call, "reproducible sums are for at most " + std::to_string(ExactCall::most_ranks) + " ranks or neighbours");
}

ExactCall Planner::exact_call(const Call& call) const {
  ExactCall made;
  made.type = call.type;
  made.rank = rank_;
  made.size = made.contributors = size_;
  made.gives = made.takes = call.count;
  made.in_place = call.in_place;
  if (call.exact == Exactness::folded) {
    made.gives = call.own;
    made.in_place = false;
  }
  switch (call.kind) {
    case Kind::reduce:
      if (rank_ != call.root) made.takes = 0;
      break;
    case Kind::reduce_scatter_block:
      made.gives = call.count * size_;
      break;
    case Kind::reduce_scatter:
      made.gives = total(call.recv_counts);
      made.takes = call.recv_counts[static_cast<std::size_t>(rank_)];
      break;
    case Kind::scan:
      made.contributors = rank_ + 1;
      break;
    case Kind::exscan:
      made.contributors = rank_;
      if (rank_ == 0) made.takes = 0;
      break;
    case Kind::neighbor_reduce:
      made.contributors = std::ranges::count_if(topology_->neighbors.sources, &collectives::Edge::exists);
      if (made.contributors == 0) made.takes = 0;
      break;
    default:
      break;
  }
  return made;
}

std::shared_ptr<const engine::Bound> Planner::make_exact(const Call& call) {
  ExactCall how = exact_call(call);
  Call carried = call;
  if (call.input_layout != nullptr || call.output_layout != nullptr) {
    check_layouts(call, {call.in_place ? 0 : how.gives, call.in_place ? std::max(how.gives, how.takes) : how.takes,
                         how.takes > 0});
    how.layouts = engine::layouts_of(call);
    carried.input_layout = carried.output_layout = nullptr;
  }
  if (call.exact == Exactness::each) {
    const tune::Choice choice = choose(call);
    // Of two numbers every algorithm makes one sum, at one place.
    if (needs_of(choice).at_one_place || size_ <= 2) return bind(call, carried, choice, &how);
    const auto small = small_at_one_place(call.kind, shape(call), agreed_.single_copy);
    // One that was asked for and takes small ones alone need not take the words that would travel for them.
    if (small && (call.algorithm.empty() || needs_of(choice).fits_small)) return bind(call, carried, *small, &how);
  }
  how.way = call.exact == Exactness::folded ? ExactCall::Way::folded : ExactCall::Way::as_words;
  carried.type = Type::int64;
  carried.element = ExactCall::word_bytes;
  carried.count = call.count * how.words();
  std::vector<Count> counts(call.recv_counts.begin(), call.recv_counts.end());
  for (Count& count : counts) count *= how.words();
  carried.recv_counts = counts;
  carried.recv_offsets = {};
  carried.exact = Exactness::none;
  check(carried);
  return bind(call, carried, choose(carried), &how);
}

}  // namespace tutti::job
