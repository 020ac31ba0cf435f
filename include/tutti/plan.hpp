// SPDX-License-Identifier: BSD-3-Clause
// Plans of your own: what each rank of a group does for one operation, as data that is checked, drawn and started.
#pragma once

#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tutti/call.hpp"
#include "tutti/export.hpp"
#include "tutti/types.hpp"

namespace tutti {

namespace job {
struct PlanDraft;
}

/// What one rank does: steps on the buffers `in`, `out` and `scratch` of whoever starts it, each after the steps that
/// it waits for. It names no memory and no type, so it is built once and started on any buffers of its lengths by
/// Group::start, run and init. A handle: copies mean the same plan, which never changes.
class TUTTI_API Plan {
 public:
  Plan() = default;
  /// For the library itself.
  explicit Plan(std::shared_ptr<const job::UserPlan> plan) : plan_(std::move(plan)) {}
  explicit operator bool() const noexcept { return plan_ != nullptr; }

  const std::string& name() const;
  Rank rank() const;
  Rank size() const;
  Count in() const;       ///< Elements of the buffer `in`.
  Count out() const;      ///< Elements of the buffer `out`.
  Count scratch() const;  ///< Elements of scratch, which Tutti brings along.
  std::size_t steps() const;
  bool reduces() const;  ///< It combines elements, so that a start needs an operation.
  /// One step a line, as `tutti plan show` prints them; there the buffers are called input, output and scratch.
  std::string text() const;

  /// The call that starts it with the buffers, type and operation of `with`; for Group and the language bindings.
  /// Throws Error (usage) for an empty plan, and for buffers that are NULL or overlap. Valid as long as the plan.
  Call call(const Call& with) const;
  /// Throws Error (usage) for a buffer ("in", "out") of another length.
  void expect_length(const char* which, Count length) const;

  const job::UserPlan* get() const noexcept { return plan_.get(); }

 private:
  const job::UserPlan& of() const;
  std::shared_ptr<const job::UserPlan> plan_;
};

/// Writes one rank's plan: one call a step. Steps without an edge between them run at the same time, whatever their
/// order here; `after` and `round` make edges. Other ranks' steps order nothing here; only a received message does.
/// Throws Error (usage) that names plan, rank and step for what cannot be: a peer out of range, a slice beyond its
/// buffer, a wait for a later step. Whether the ranks' plans fit each other, `check` says.
///
///     tutti::Plan ring(tutti::Rank rank, tutti::Rank size) {  // everybody gets its left neighbour's element
///       tutti::PlanBuilder plan("shift", rank, size, {.in = 1, .out = 1});
///       if (size == 1) plan.copy(plan.in(), plan.out());
///       if (size > 1) plan.send((rank + 1) % size, plan.in());
///       if (size > 1) plan.recv((rank + size - 1) % size, plan.out());
///       return plan.commit();
///     }
class TUTTI_API PlanBuilder {
 public:
  enum class Buffer : std::uint8_t { in, out, scratch };
  /// Elements [offset, offset + count) of a buffer.
  struct Slice {
    Buffer buffer = Buffer::in;
    Count offset = 0;
    Count count = 0;
    /// `n` elements of this slice from its element `first` on.
    Slice part(Count first, Count n) const { return {buffer, offset + first, n}; }
  };
  /// Elements of the buffers that a start will bring, each rank's own.
  struct Lengths {
    Count in = 0;
    Count out = 0;
  };
  /// Where the incoming operand of a reduction stands: left: target = incoming op target (it is of lower ranks); right:
  /// target = target op incoming. It matters to operations that do not commute.
  enum class Side : std::uint8_t { left, right };

  /// A step just added, or none: waiting for none is no edge, so that what is optional needs no branch.
  class TUTTI_API Step {
   public:
    Step() = default;
    /// This step starts after all of these.
    Step after(std::initializer_list<Step> steps) const { return after(std::span(steps.begin(), steps.size())); }
    Step after(std::span<const Step> steps) const;
    Step after(const Step& step) const { return after(std::span(&step, 1)); }
    /// This step starts after the first of these; the others are cancelled, and nothing waits for them any more.
    Step after_any(std::span<const Step> steps) const;
    Step after_any(std::initializer_list<Step> steps) const {
      return after_any(std::span(steps.begin(), steps.size()));
    }
    explicit operator bool() const noexcept { return draft_ != nullptr; }
    /// Its number, as texts and messages have it: s0, s1, ...
    std::uint32_t index() const noexcept { return index_; }

   private:
    friend class PlanBuilder;
    Step(std::shared_ptr<job::PlanDraft> draft, std::uint32_t index) : draft_(std::move(draft)), index_(index) {}
    std::shared_ptr<job::PlanDraft> draft_;
    std::uint32_t index_ = 0;
  };

  /// `name`: what messages, `tutti why` and mismatches call the plan; 1 to 16 letters, digits, "_", "." and "-". Ranks
  /// that start plans of different names together get a Mismatch.
  PlanBuilder(std::string_view name, Rank rank, Rank size, Lengths lengths);

  Rank rank() const;
  Rank size() const;

  Slice in() const;   ///< All of it.
  Slice out() const;  ///< All of it.
  static Slice in(Count offset, Count count) { return {Buffer::in, offset, count}; }
  static Slice out(Count offset, Count count) { return {Buffer::out, offset, count}; }
  /// `count` fresh elements of scratch. What they hold is undefined until a step writes them.
  Slice scratch(Count count);

  /// Messages from one rank to another are matched in the order in which both ends add them. A send is done when its
  /// source may be written again, which may need the receiver: a ring in which all send and then receive may not end.
  Step send(Rank to, Slice source);
  Step recv(Rank from, Slice target);
  /// The message is combined into target by the operation of the start.
  Step recv_reduce(Rank from, Slice target, Side side = Side::left);
  Step reduce(Slice source, Slice target, Side side = Side::left);
  Step copy(Slice source, Slice target);

  /// Everything added from now on starts after everything added before.
  void round();

  /// The step of that number, for languages that keep numbers. Throws Error (usage) for one that is not yet there.
  Step step(std::int64_t index) const;

  /// The finished plan. Nothing can be added afterwards.
  Plan commit();

 private:
  template <class Add>
  Step add(Add step);
  std::shared_ptr<job::PlanDraft> draft_;
};

/// A function that builds the plan of any rank.
template <class F>
concept PlanFunction = std::is_invocable_r_v<Plan, const F&, Rank, Rank>;

/// What `check` found: true when all is well.
struct Verdict {
  bool ok = true;
  Rank rank = -1;          ///< Of the first step that is wrong; -1: none.
  std::int64_t step = -1;  ///< Its number; -1: it concerns no single step.
  std::string text;        ///< Which rank, which step and why.
  explicit operator bool() const { return ok; }
};

/// A collective that plans claim to be, for `check`: any of those without counts per rank and without neighbours, with
/// the buffers of its method of Group.
struct Purpose {
  Kind kind = Kind::barrier;
  Count count = 0;  ///< As in Call.
  Rank root = 0;
  bool commutative = true;  ///< False: combined in the order of the ranks, for operations that do not commute.
  bool in_place = false;    ///< What a rank gives lies in `out`, as it does for Group's methods.
};

/// Proves the plans of all ranks, in the order of the ranks, without running them: every message has one sender and one
/// receiver and the same length at both, nothing waits for ever even when a send waits for its receive, no two steps
/// that may run at the same time touch the same elements unless both read, and no step reads scratch that none has
/// written. `after_any` is tried with each choice.
TUTTI_API Verdict check(std::span<const Plan> plans);
/// And that they do what this collective does, exactly: each element of `out` ends with what it must.
TUTTI_API Verdict check(std::span<const Plan> plans, const Purpose& purpose);
/// A picture of the plans of all ranks: an SVG with a lane for each rank, time from left to right, and an arrow for
/// each message. Throws Error (usage) for plans that do not fit each other.
TUTTI_API std::string draw(std::span<const Plan> plans);

/// The plans of all ranks of a group of that size.
template <PlanFunction F>
std::vector<Plan> all_plans(const F& build, Rank size) {
  std::vector<Plan> plans;
  for (Rank rank = 0; rank < size; ++rank) plans.push_back(build(rank, size));
  return plans;
}
template <PlanFunction F>
Verdict check(const F& build, Rank size) {
  return check(all_plans(build, size));
}
template <PlanFunction F>
Verdict check(const F& build, Rank size, const Purpose& purpose) {
  return check(all_plans(build, size), purpose);
}
template <PlanFunction F>
std::string draw(const F& build, Rank size) {
  return draw(all_plans(build, size));
}

}  // namespace tutti
