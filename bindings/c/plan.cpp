// SPDX-License-Identifier: BSD-3-Clause
#include "tutti/plan.hpp"

#include <cerrno>
#include <cstring>
#include <exception>
#include <fstream>
#include <stdexcept>
#include <vector>

#include "base/names.hpp"
#include "c/calls.hpp"

using namespace tutti;
using namespace tutti::c;

/// What a tutti_plan_builder points to.
struct tutti_plan_builder_handle {
  PlanBuilder builder;
};

/// What a tutti_plan points to.
struct tutti_plan_handle {
  Plan plan;
  std::string text;
};

namespace {

using Slice = PlanBuilder::Slice;

static_assert(TUTTI_PLAN_SCRATCH == static_cast<int>(PlanBuilder::Buffer::scratch));
static_assert(TUTTI_RIGHT == static_cast<int>(PlanBuilder::Side::right));

PlanBuilder& builder_of(tutti_plan_builder builder) {
  if (builder == nullptr)
    refuse("the plan's builder is NULL; pass one from tutti_plan_begin that is not committed yet");
  return builder->builder;
}

const Plan& plan_of(tutti_plan plan) {
  if (plan == nullptr) refuse("the plan is NULL; pass one from tutti_plan_commit");
  return plan->plan;
}

Slice slice_of(const tutti_slice& slice) {
  if (slice.buffer < TUTTI_PLAN_IN || slice.buffer > TUTTI_PLAN_SCRATCH)
    refuse(std::to_string(slice.buffer) + " is no buffer of a plan; pass TUTTI_PLAN_IN, _OUT or _SCRATCH");
  return {static_cast<PlanBuilder::Buffer>(slice.buffer), slice.offset, slice.count};
}

PlanBuilder::Side side_of(tutti_side side) {
  if (side != TUTTI_LEFT && side != TUTTI_RIGHT) refuse("a side is TUTTI_LEFT or TUTTI_RIGHT");
  return static_cast<PlanBuilder::Side>(side);
}

/// Has `add(builder)` make a step and gives back its number.
template <class Add>
tutti_status add_step(tutti_plan_builder builder, tutti_step* step, Add add) {
  return guarded([&] {
    const PlanBuilder::Step added = add(builder_of(builder));
    if (step != nullptr) *step = added.index();
  });
}

std::vector<PlanBuilder::Step> steps_of(const PlanBuilder& builder, const tutti_step* numbers, size_t n) {
  if (n > 0 && numbers == nullptr) refuse("the steps to wait for are NULL; pass n numbers");
  std::vector<PlanBuilder::Step> steps;
  for (size_t i = 0; i < n; ++i) steps.push_back(builder.step(numbers[i]));
  return steps;
}

std::vector<Plan> plans_of(const tutti_plan* plans, size_t n) {
  if (n == 0 || plans == nullptr) refuse("there are no plans; pass one for each rank");
  std::vector<Plan> all;
  for (size_t i = 0; i < n; ++i) all.push_back(plan_of(plans[i]));
  return all;
}

void give(tutti_plan* out, Plan plan) {
  if (out == nullptr) refuse("nowhere to put the plan; pass the address of a tutti_plan");
  std::string text = plan.text();
  *out = std::make_unique<tutti_plan_handle>(tutti_plan_handle{std::move(plan), std::move(text)}).release();
}

/// What check found becomes an error, whose peer is the rank that it names.
void expect(const Verdict& verdict) {
  if (!verdict) throw Error(Cause::usage, verdict.text, verdict.rank);
}

Call call_of(const void* caller, tutti_plan plan, const void* in, void* out, tutti_type type, const tutti_op& op) {
  if (in == TUTTI_IN_PLACE || out == TUTTI_IN_PLACE)
    refuse("a plan takes no TUTTI_IN_PLACE; one that works in place is begun with 0 elements of in");
  const ElementType element = element_of(type);
  Call with;
  with.input = in;
  with.output = out;
  with.type = element.type;
  with.element = element.bytes;
  with.input_layout = element.in;
  with.output_layout = element.out;
  with.site = caller;
  if (op.code != TUTTI_NO_OP.code) with.reduction = reduction_of(op);
  return plan_of(plan).call(with);
}

}  // namespace

tutti_status tutti_plan_begin(const char* name, int32_t rank, int32_t size, int64_t in, int64_t out,
                              tutti_plan_builder* builder) {
  return guarded([&] {
    if (builder == nullptr) refuse("nowhere to put the builder; pass the address of a tutti_plan_builder");
    PlanBuilder made(name == nullptr ? "" : name, rank, size, {in, out});
    *builder = std::make_unique<tutti_plan_builder_handle>(tutti_plan_builder_handle{std::move(made)}).release();
  });
}

tutti_status tutti_plan_scratch(tutti_plan_builder builder, int64_t count, tutti_slice* slice) {
  return guarded([&] {
    if (slice == nullptr) refuse("nowhere to put the slice; pass the address of a tutti_slice");
    const Slice made = builder_of(builder).scratch(count);
    *slice = {TUTTI_PLAN_SCRATCH, made.offset, made.count};
  });
}

tutti_status tutti_plan_send(tutti_plan_builder builder, int32_t to, tutti_slice source, tutti_step* step) {
  return add_step(builder, step, [&](PlanBuilder& plan) { return plan.send(to, slice_of(source)); });
}

tutti_status tutti_plan_recv(tutti_plan_builder builder, int32_t from, tutti_slice target, tutti_step* step) {
  return add_step(builder, step, [&](PlanBuilder& plan) { return plan.recv(from, slice_of(target)); });
}

tutti_status tutti_plan_recv_reduce(tutti_plan_builder builder, int32_t from, tutti_slice target, tutti_side side,
                                    tutti_step* step) {
  return add_step(builder, step,
                  [&](PlanBuilder& plan) { return plan.recv_reduce(from, slice_of(target), side_of(side)); });
}

tutti_status tutti_plan_reduce(tutti_plan_builder builder, tutti_slice source, tutti_slice target, tutti_side side,
                               tutti_step* step) {
  return add_step(builder, step,
                  [&](PlanBuilder& plan) { return plan.reduce(slice_of(source), slice_of(target), side_of(side)); });
}

tutti_status tutti_plan_copy(tutti_plan_builder builder, tutti_slice source, tutti_slice target, tutti_step* step) {
  return add_step(builder, step, [&](PlanBuilder& plan) { return plan.copy(slice_of(source), slice_of(target)); });
}

tutti_status tutti_plan_after(tutti_plan_builder builder, tutti_step step, const tutti_step* before, size_t n) {
  return guarded([&] {
    const PlanBuilder& plan = builder_of(builder);
    plan.step(step).after(steps_of(plan, before, n));
  });
}

tutti_status tutti_plan_after_any(tutti_plan_builder builder, tutti_step step, const tutti_step* before, size_t n) {
  return guarded([&] {
    const PlanBuilder& plan = builder_of(builder);
    plan.step(step).after_any(steps_of(plan, before, n));
  });
}

tutti_status tutti_plan_round(tutti_plan_builder builder) {
  return guarded([&] { builder_of(builder).round(); });
}

tutti_status tutti_plan_commit(tutti_plan_builder* builder, tutti_plan* plan) {
  return guarded([&] {
    if (builder == nullptr || plan == nullptr) refuse("tutti_plan_commit: pass the addresses of a builder and a plan");
    give(plan, builder_of(*builder).commit());
    const std::unique_ptr<tutti_plan_builder_handle> gone(std::exchange(*builder, nullptr));
  });
}

tutti_status tutti_plan_builder_free(tutti_plan_builder* builder) {
  return guarded([&] {
    if (builder == nullptr) refuse("tutti_plan_builder_free: pass the address of a tutti_plan_builder");
    const std::unique_ptr<tutti_plan_builder_handle> gone(std::exchange(*builder, nullptr));
  });
}

tutti_status tutti_plan_free(tutti_plan* plan) {
  return guarded([&] {
    if (plan == nullptr) refuse("tutti_plan_free: pass the address of a tutti_plan");
    const std::unique_ptr<tutti_plan_handle> gone(std::exchange(*plan, nullptr));
  });
}

const char* tutti_plan_text(tutti_plan plan) { return plan == nullptr ? "" : plan->text.c_str(); }

tutti_status tutti_plan_check(const tutti_plan* plans, size_t n) {
  return guarded([&] { expect(check(plans_of(plans, n))); });
}

tutti_status tutti_plan_check_as(const tutti_plan* plans, size_t n, const char* collective, int64_t count,
                                 int32_t root) {
  return guarded([&] {
    const Kind kind = kind_of("tutti_plan_check_as", collective);
    expect(check(plans_of(plans, n), {.kind = kind, .count = count, .root = root}));
  });
}

tutti_status tutti_plan_draw(const tutti_plan* plans, size_t n, const char* file) {
  return guarded([&] {
    if (file == nullptr) refuse("tutti_plan_draw: the file's name is NULL");
    const std::string picture = draw(plans_of(plans, n));
    std::ofstream written(file);
    written << picture << std::flush;
    if (!written)
      throw Error(Cause::system, std::string("the picture cannot be written to ") + file + ": " + std::strerror(errno));
  });
}

tutti_status tutti_plan_cached(tutti_group group, const char* key, tutti_plan_function build, void* context,
                               tutti_plan* plan) {
  tutti_status status = TUTTI_OK;  // the builder's own, with the error that it has left
  const tutti_status outer = guarded([&] {
    if (key == nullptr || build == nullptr || plan == nullptr)
      refuse("tutti_plan_cached: pass a key, a function and the address of a tutti_plan");
    give(plan, handle_of(group).group.plan(key, [&](Rank rank, Rank size) {
      tutti_plan made = nullptr;
      try {
        status = build(rank, size, context, &made);
      } catch (const std::exception&) {
        throw;
      } catch (...) {
        throw std::runtime_error("tutti_plan_cached: the function that builds the plan threw something unknown");
      }
      const std::unique_ptr<tutti_plan_handle> owned(made);
      if (status != TUTTI_OK) throw Error(Cause::usage, tutti_last_error(), tutti_last_error_peer());
      return plan_of(made);
    }));
  });
  return status == TUTTI_OK ? outer : status;
}

tutti_status tutti_plan_run(tutti_group group, tutti_plan plan, const void* in, void* out, tutti_type type,
                            tutti_op op) {
  const void* const caller = TUTTI_CALLER;
  return guarded([&] { handle_of(group).group.run(call_of(caller, plan, in, out, type, op)); });
}

tutti_status tutti_plan_start(tutti_group group, tutti_plan plan, const void* in, void* out, tutti_type type,
                              tutti_op op, tutti_request* request) {
  const void* const caller = TUTTI_CALLER;
  return guarded([&] {
    void* const place = place_of(request);
    new (place) Request(handle_of(group).group.start(call_of(caller, plan, in, out, type, op)));
  });
}

tutti_status tutti_plan_init(tutti_group group, tutti_plan plan, const void* in, void* out, tutti_type type,
                             tutti_op op, tutti_persistent* persistent) {
  const void* const caller = TUTTI_CALLER;
  return guarded([&] {
    void* const place = place_of(persistent);
    new (place) Persistent(handle_of(group).group.init(call_of(caller, plan, in, out, type, op)));
  });
}

tutti_status tutti_plan_check_all(tutti_group group, tutti_plan plan) {
  return guarded([&] { expect(handle_of(group).group.check(plan_of(plan))); });
}
