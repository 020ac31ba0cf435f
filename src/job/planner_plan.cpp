// SPDX-License-Identifier: BSD-3-Clause
// Calls of plans that users have built.
#include <limits>

#include "base/hash.hpp"
#include "engine/reduction.hpp"
#include "job/planner.hpp"
#include "job/user_plan.hpp"
#include "plan/staging.hpp"

namespace tutti::job {

namespace {

std::uint32_t hash_of(const base::Label& label) {
  return static_cast<std::uint32_t>(base::combine(base::combine(0, label[0]), label[1]));
}

}  // namespace

void Planner::check_plan(const Call& call) const {
  if (call.plan == nullptr) refuse(call, "there is no plan; pass one that PlanBuilder::commit has made");
  const UserPlan& mine = *call.plan;
  if (mine.plan.rank != rank_ || mine.plan.size != size_)
    refuse(call, "it is the plan of rank " + std::to_string(mine.plan.rank) + " of " + std::to_string(mine.plan.size) +
                     ", but this is rank " + std::to_string(rank_) + " of " + std::to_string(size_) +
                     "; build it for this rank and size");
  if (mine.plan.cells > 0 && !agreed_.hosts.empty())
    refuse(call,
           "it goes through cells, and ranks of this group are on several hosts; build it from messages, or start "
           "it on the group of one host (split_by_host)");
  if (!call.algorithm.empty()) refuse(call, "it is an algorithm itself; choose none");
  if (call.element == 0) refuse(call, "the elements have no bytes; pass their size");
  const Count most = std::numeric_limits<Count>::max() / static_cast<Count>(call.element);
  if (mine.in > most || mine.out > most || mine.plan.scratch > most)
    refuse(call, "its buffers have more bytes than can be counted");
  const Op op = call.reduction.op;
  if (mine.reduces && op == Op::none) refuse(call, "it combines elements; pass an operation, such as sum");
  if (op != Op::none && (op == Op::user ? call.reduction.function == nullptr : !engine::supports(call.type, op)))
    refuse(call, "the operation " + std::string(base::name(op)) + " does not go with elements of type " +
                     std::string(base::name(call.type)) + "; choose another, or pass a function");
  if (call.exact != Exactness::none && mine.reduces)
    refuse(call,
           "it combines elements in the order of its steps, and this group rounds sums once; start it on the plain "
           "group");
}

std::shared_ptr<const engine::Bound> Planner::make_plan(const Call& call) const {
  const UserPlan& mine = *call.plan;
  engine::Description says;
  says.kind = call.kind;
  says.type = call.type;
  says.op = call.reduction.op;
  says.element = call.element;
  says.label = base::label_of(mine.name);
  says.agreed_hash = hash_of(says.label);
  if (call.input_layout == nullptr && call.output_layout == nullptr)
    return std::make_shared<const engine::Bound>(mine.plan, says);
  check_layouts(call, {mine.in, mine.out, plan::writes(mine.plan, plan::Buffer::output)});
  const plan::Staging staging{
      call.input_layout != nullptr, call.output_layout != nullptr, {plan::Builder::output(0, mine.out)}};
  return std::make_shared<const engine::Bound>(plan::staged(mine.plan, staging), says, std::span<const Rank>(),
                                               engine::layouts_of(call));
}

}  // namespace tutti::job
