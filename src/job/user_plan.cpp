// SPDX-License-Identifier: BSD-3-Clause
#include "job/user_plan.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "base/names.hpp"
#include "collectives/collective.hpp"
#include "plan/builder.hpp"
#include "plan/checker.hpp"
#include "plan/svg.hpp"
#include "plan/text.hpp"
#include "tutti/error.hpp"
#include "tutti/group.hpp"

namespace tutti {

namespace job {

/// A plan that is being built.
struct PlanDraft {
  PlanDraft(std::string_view given, Rank rank, Rank size, PlanBuilder::Lengths lengths)
      : name(given), builder(rank, size), in(lengths.in), out(lengths.out) {
    builder.bound(in, out);
  }

  std::string name;
  plan::Builder builder;
  Count in, out;
  std::vector<plan::Handle> steps;
  bool reduces = false, committed = false;
};

}  // namespace job

namespace {

using job::PlanDraft;
using job::UserPlan;

/// Runs what may be refused; the error then says which plan, rank and step it is about.
template <class Work>
void within(const PlanDraft& draft, std::optional<std::size_t> step, Work work) {
  const auto refuse = [&](std::string text) {
    constexpr std::string_view general = "plan: ";
    if (text.starts_with(general)) text.erase(0, general.size());
    std::string where = "plan " + draft.name + ", rank " + std::to_string(draft.builder.rank());
    if (step) where += ", step s" + std::to_string(*step);
    throw Error(Cause::usage, where + ": " + text);
  };
  if (draft.committed) refuse("it is committed, and nothing changes it any more; build another plan");
  try {
    work();
  } catch (const Error& error) {
    refuse(error.what());
  }
}

plan::Slice inner(const PlanBuilder::Slice& slice) {
  constexpr std::array buffers = {plan::Buffer::input, plan::Buffer::output, plan::Buffer::scratch};
  const auto index = static_cast<std::size_t>(slice.buffer);
  return {index < buffers.size() ? buffers[index] : plan::Buffer::none, -1, -1, slice.offset, slice.count};
}

plan::Side inner(PlanBuilder::Side side) {
  return side == PlanBuilder::Side::left ? plan::Side::left : plan::Side::right;
}

/// Whether so many elements of the call's input and of its output share memory.
bool overlap(const Call& call, Count in, Count out) {
  const Count most = std::numeric_limits<Count>::max() / std::max<Count>(call.element, 1);  // more is refused later
  if (in == 0 || out == 0 || in > most || out > most) return false;
  const detail::Lying input{call.input, call.input_layout, in}, output{call.output, call.output_layout, out};
  return detail::meeting(input, output, 0, call.element) != detail::Meeting::apart;
}

void require_name(std::string_view name) {
  if (name.empty() || name.size() > base::longest_label || !std::ranges::all_of(name, base::is_in_label))
    throw Error(Cause::usage, "\"" + std::string(name) + "\" cannot be the name of a plan; give it 1 to " +
                                  std::to_string(base::longest_label) + " letters, digits, '_', '.' and '-'");
}

}  // namespace

const UserPlan& Plan::of() const {
  if (plan_) return *plan_;
  throw Error(Cause::usage, "this plan is empty; make one by PlanBuilder and commit");
}

const std::string& Plan::name() const { return of().name; }
Rank Plan::rank() const { return of().plan.rank; }
Rank Plan::size() const { return of().plan.size; }
Count Plan::in() const { return of().in; }
Count Plan::out() const { return of().out; }
Count Plan::scratch() const { return of().plan.scratch; }
std::size_t Plan::steps() const { return of().plan.steps.size(); }
bool Plan::reduces() const { return of().reduces; }

std::string Plan::text() const {
  return "// " + name() + ": input " + std::to_string(in()) + ", output " + std::to_string(out()) + "\n" +
         plan::print(of().plan);
}

void Plan::expect_length(const char* which, Count length) const {
  const Count needed = which == std::string_view("in") ? in() : out();
  if (length != needed)
    throw Error(Cause::usage, "plan " + name() + ": `" + which + "` has " + std::to_string(length) +
                                  " elements and must have " + std::to_string(needed));
}

Call Plan::call(const Call& with) const {
  const UserPlan& mine = of();
  const auto refuse = [&](const char* text) { throw Error(Cause::usage, "plan " + mine.name + ": " + text); };
  if ((mine.in > 0 && with.input == nullptr) || (mine.out > 0 && with.output == nullptr))
    refuse("a buffer that has elements is NULL; pass memory for `in` and for `out`");
  if (overlap(with, mine.in, mine.out))
    refuse("`in` and `out` overlap; pass separate buffers, or build a plan that works on `out` alone");
  Call made = with;
  made.kind = Kind::plan;
  made.plan = plan_.get();
  return made;
}

PlanBuilder::Step PlanBuilder::Step::after(std::span<const Step> steps) const {
  std::vector<plan::Handle> before;
  for (const Step& step : steps)
    if (step) before.push_back(step.draft_->steps[step.index_]);
  if (draft_) within(*draft_, index_, [&] { draft_->steps[index_].after(before); });
  return *this;
}

PlanBuilder::Step PlanBuilder::Step::after_any(std::span<const Step> steps) const {
  std::vector<plan::Handle> before;
  for (const Step& step : steps)
    if (step) before.push_back(step.draft_->steps[step.index_]);
  if (draft_) within(*draft_, index_, [&] { draft_->steps[index_].after_any(before); });
  return *this;
}

PlanBuilder::PlanBuilder(std::string_view name, Rank rank, Rank size, Lengths lengths) {
  require_name(name);
  draft_ = std::make_shared<PlanDraft>(name, rank, size, lengths);
}

Rank PlanBuilder::rank() const { return draft_->builder.rank(); }
Rank PlanBuilder::size() const { return draft_->builder.size(); }
PlanBuilder::Slice PlanBuilder::in() const { return in(0, draft_->in); }
PlanBuilder::Slice PlanBuilder::out() const { return out(0, draft_->out); }

PlanBuilder::Slice PlanBuilder::scratch(Count count) {
  Slice fresh;
  within(*draft_, std::nullopt, [&] {
    const plan::Slice made = draft_->builder.scratch(count);
    fresh = {Buffer::scratch, made.offset, made.count};
  });
  return fresh;
}

template <class Add>
PlanBuilder::Step PlanBuilder::add(Add step) {
  const std::size_t index = draft_->steps.size();
  within(*draft_, index, [&] { draft_->steps.push_back(step(draft_->builder)); });
  return {draft_, static_cast<std::uint32_t>(index)};
}

PlanBuilder::Step PlanBuilder::send(Rank to, Slice source) {
  return add([&](plan::Builder& plan) { return plan.send(to, inner(source)); });
}

PlanBuilder::Step PlanBuilder::recv(Rank from, Slice target) {
  return add([&](plan::Builder& plan) { return plan.recv(from, inner(target)); });
}

PlanBuilder::Step PlanBuilder::recv_reduce(Rank from, Slice target, Side side) {
  const Step added = add([&](plan::Builder& plan) { return plan.recv_reduce(from, inner(target), inner(side)); });
  draft_->reduces = true;
  return added;
}

PlanBuilder::Step PlanBuilder::reduce(Slice source, Slice target, Side side) {
  const Step added = add([&](plan::Builder& plan) { return plan.reduce(inner(source), inner(target), inner(side)); });
  draft_->reduces = true;
  return added;
}

PlanBuilder::Step PlanBuilder::copy(Slice source, Slice target) {
  return add([&](plan::Builder& plan) { return plan.copy(inner(source), inner(target)); });
}

void PlanBuilder::round() {
  within(*draft_, std::nullopt, [&] { draft_->builder.round(); });
}

PlanBuilder::Step PlanBuilder::step(std::int64_t index) const {
  const auto steps = static_cast<std::int64_t>(draft_->steps.size());
  if (index < 0 || index >= steps)
    throw Error(Cause::usage, "plan " + draft_->name + ", rank " + std::to_string(rank()) + ": there is no step s" +
                                  std::to_string(index) + "; " + std::to_string(steps) +
                                  " are there so far, from s0 on, and a step waits for earlier ones alone");
  return {draft_, static_cast<std::uint32_t>(index)};
}

Plan PlanBuilder::commit() {
  static std::atomic<std::uint64_t> plans{0};
  auto made = std::make_shared<UserPlan>();
  within(*draft_, std::nullopt, [&] { made->plan = draft_->builder.build(); });
  draft_->committed = true;
  made->name = draft_->name;
  made->in = draft_->in;
  made->out = draft_->out;
  made->reduces = draft_->reduces;
  made->id = plans.fetch_add(1, std::memory_order_relaxed) + 1;  // relaxed: nothing but a number
  return Plan(std::move(made));
}

namespace {

std::vector<plan::Plan> inner(std::span<const Plan> plans) {
  std::vector<plan::Plan> all;
  for (const Plan& one : plans) {
    if (!one) throw Error(Cause::usage, "an empty plan among those of all ranks; pass one for each rank");
    all.push_back(one.get()->plan);
  }
  return all;
}

Verdict outer(const plan::Verdict& found, std::span<const Plan> plans) {
  if (found) return {};
  const std::int64_t step = found.step == plan::Verdict::no_step ? -1 : static_cast<std::int64_t>(found.step);
  const std::string name = plans.empty() ? "" : "plan " + plans.front().name() + ", ";
  return {false, found.rank, step, name + found.text};
}

}  // namespace

Verdict check(std::span<const Plan> plans) {
  for (const Plan& one : plans)
    if (one && one.name() != plans.front().name())
      return {false, one.rank(), -1,
              "rank " + std::to_string(one.rank()) + ": its plan is called " + one.name() + " and not " +
                  plans.front().name() + ", as rank 0's; give all ranks' plans one name"};
  return outer(plan::check_user(inner(plans), {}), plans);
}

Verdict check(std::span<const Plan> plans, const Purpose& purpose) {
  if (Verdict general = check(plans); !general) return general;
  if (static_cast<int>(purpose.kind) >= kinds || collectives::get(purpose.kind).varying ||
      collectives::has_neighbors(purpose.kind))
    throw Error(Cause::usage, "check: " + std::string(name_of(purpose.kind)) +
                                  " has counts per rank or neighbours, and plans are not compared with it");
  collectives::Problem problem;
  problem.kind = purpose.kind;
  problem.size = static_cast<Rank>(plans.size());
  problem.root = purpose.root;
  problem.count = purpose.count;
  problem.commutative = purpose.commutative;
  const Count most = std::numeric_limits<Count>::max() / std::max<Count>(problem.size, 1);  // of one rank's block
  if (purpose.root < 0 || purpose.root >= problem.size || purpose.count < 0 || purpose.count > most)
    throw Error(Cause::usage, "check: root " + std::to_string(purpose.root) + " or count " +
                                  std::to_string(purpose.count) + " cannot be; name a rank, and 0 to " +
                                  std::to_string(most) + " elements");
  problem.in_place = purpose.in_place;
  return outer(plan::check(inner(plans), collectives::get(purpose.kind).contract(problem), {}), plans);
}

std::string draw(std::span<const Plan> plans) { return plan::draw(inner(plans)); }

Verdict Group::check(const Plan& plan, const std::optional<Purpose>& purpose) const {
  if (!plan || plan.rank() != rank() || plan.size() != size())
    throw Error(Cause::usage, "check on group " + name() + ": pass the plan of rank " + std::to_string(rank()) +
                                  " of " + std::to_string(size()));
  const auto ranks = static_cast<std::size_t>(size());
  const UserPlan& mine = *plan.get();
  const std::string text = mine.name + "\n" + plan::print(mine.plan);
  const std::array<Count, 3> lengths = {static_cast<Count>(text.size()), mine.in, mine.out};
  std::vector<Count> all_lengths(3 * ranks), counts(ranks);
  allgather(lengths, all_lengths);
  for (std::size_t r = 0; r < ranks; ++r) counts[r] = all_lengths[3 * r];
  std::string all(static_cast<std::size_t>(std::accumulate(counts.begin(), counts.end(), Count{0})), '\0');
  allgatherv(text, all, counts);
  std::vector<Plan> plans;
  std::string_view rest = all;
  for (std::size_t r = 0; r < ranks; ++r) {
    const std::string_view theirs = rest.substr(0, static_cast<std::size_t>(counts[r]));
    rest.remove_prefix(theirs.size());
    const std::size_t line = std::min(theirs.find('\n'), theirs.size());
    auto one = std::make_shared<UserPlan>();
    one->name = theirs.substr(0, line);
    one->in = all_lengths[3 * r + 1];
    one->out = all_lengths[3 * r + 2];
    one->plan = plan::parse(theirs.substr(line));
    plans.emplace_back(std::move(one));
  }
  return purpose ? tutti::check(plans, *purpose) : tutti::check(plans);
}

}  // namespace tutti
