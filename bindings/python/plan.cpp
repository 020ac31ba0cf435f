// SPDX-License-Identifier: BSD-3-Clause
#include "plan.hpp"
#include "place.hpp"

#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <memory>
#include <string>
#include <vector>

#include "prepared.hpp"
#include "request.hpp"
#include "tutti/plan.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tutti::python {

namespace {

using Slice = PlanBuilder::Slice;
using Steps = std::vector<std::int64_t>;

Slice slice(int buffer, Count offset, Count count) { return {static_cast<PlanBuilder::Buffer>(buffer), offset, count}; }

PlanBuilder::Side side(bool right) { return right ? PlanBuilder::Side::right : PlanBuilder::Side::left; }

std::vector<PlanBuilder::Step> steps_of(const PlanBuilder& plan, const Steps& numbers) {
  std::vector<PlanBuilder::Step> steps;
  for (const std::int64_t number : numbers) steps.push_back(plan.step(number));
  return steps;
}

/// What check found becomes an error, whose peer is the rank that it names.
void expect(const Verdict& verdict) {
  if (!verdict) throw Error(Cause::usage, verdict.text, verdict.rank);
}

void check_as(const std::vector<Plan>& plans, const std::string& collective, Count count, Rank root, bool commutative) {
  const auto kind = kind_named(collective);
  if (!kind)
    throw Error(Cause::usage, "there is no collective \"" + collective + "\"; pass a name such as \"allreduce\"");
  expect(check(plans, {*kind, count, root, commutative}));
}

void run_plan(const Group& group, const Plan& plan, nb::object send, nb::object recv, const Operation* op) {
  run(group, Prepared(plan, std::move(send), std::move(recv), op));
}

std::unique_ptr<Started> start_plan(const Group& group, const Plan& plan, nb::object send, nb::object recv,
                                    const Operation* op) {
  nb::object result = recv;
  return start(group, std::make_unique<Prepared>(plan, std::move(send), std::move(recv), op), std::move(result));
}

std::unique_ptr<Repeated> init_plan(const Group& group, const Plan& plan, nb::object send, nb::object recv,
                                    const Operation* op) {
  nb::object result = recv;
  return init(group, std::make_unique<Prepared>(plan, std::move(send), std::move(recv), op), std::move(result));
}

Plan cached(const Group& group, const std::string& key, const nb::callable& build) {
  return group.plan(key, [&build](Rank rank, Rank size) { return nb::cast<Plan>(build(rank, size)); });
}

void define_builder(nb::module_& module) {
  nb::class_<PlanBuilder>(module, "PlanBuilder", "A plan that is being built; steps are numbers.")
      .def(
          "__init__",
          [](PlanBuilder* self, const std::string& name, Rank rank, Rank size, Count in, Count out) {
            new (self) PlanBuilder(name, rank, size, {in, out});
          },
          "name"_a, "rank"_a, "size"_a, "send"_a, "recv"_a)
      .def(
          "scratch", [](PlanBuilder& self, Count count) { return self.scratch(count).offset; }, "Where it begins.")
      .def(
          "send",
          [](PlanBuilder& self, Rank to, int buffer, Count offset, Count count) {
            return self.send(to, slice(buffer, offset, count)).index();
          },
          "Adds a step.")
      .def(
          "recv",
          [](PlanBuilder& self, Rank from, int buffer, Count offset, Count count) {
            return self.recv(from, slice(buffer, offset, count)).index();
          },
          "Adds a step.")
      .def(
          "recv_reduce",
          [](PlanBuilder& self, Rank from, int buffer, Count offset, Count count, bool right) {
            return self.recv_reduce(from, slice(buffer, offset, count), side(right)).index();
          },
          "Adds a step.")
      .def(
          "reduce",
          [](PlanBuilder& self, int from, Count first, Count n, int to, Count offset, Count count, bool right) {
            return self.reduce(slice(from, first, n), slice(to, offset, count), side(right)).index();
          },
          "Adds a step.")
      .def(
          "copy",
          [](PlanBuilder& self, int from, Count first, Count n, int to, Count offset, Count count) {
            return self.copy(slice(from, first, n), slice(to, offset, count)).index();
          },
          "Adds a step.")
      .def(
          "after",
          [](PlanBuilder& self, std::int64_t step, const Steps& before) {
            self.step(step).after(steps_of(self, before));
          },
          "Adds edges.")
      .def(
          "after_any",
          [](PlanBuilder& self, std::int64_t step, const Steps& before) {
            self.step(step).after_any(steps_of(self, before));
          },
          "Adds edges.")
      .def("round", &PlanBuilder::round, "What follows starts after what is there.")
      .def("commit", &PlanBuilder::commit, "The finished plan.");
}

}  // namespace

void define_plans(nb::module_& module) {
  nb::class_<Plan>(module, "Plan", "A plan, as the engine sees it.")
      .def_prop_ro("name", &Plan::name, "What messages call it.")
      .def_prop_ro("rank", &Plan::rank, "Whose it is.")
      .def_prop_ro("size", &Plan::size, "For how many ranks.")
      .def_prop_ro("recv", &Plan::out, "The elements of recv.")
      .def_prop_ro("steps", &Plan::steps, "How many steps it has.")
      .def_prop_ro("text", &Plan::text, "A step a line.");
  define_builder(module);
  module.def(
      "check_plans", [](const std::vector<Plan>& plans) { expect(without_gil([&] { return check(plans); })); },
      "Raises what does not fit.");
  module.def("check_plans_as", &check_as, "Raises what is not what the collective does.");
  module.def(
      "draw_plans", [](const std::vector<Plan>& plans) { return without_gil([&] { return draw(plans); }); }, "An SVG.");
}

void define_plan_calls(nb::class_<Group>& group) {
  group.def("plan", &cached, "This rank's plan, built once.")
      .def("run_plan", &run_plan, "plan"_a, "send"_a.none(), "recv"_a.none(), "op"_a.none(), "Runs a plan.")
      .def("start_plan", &start_plan, "plan"_a, "send"_a.none(), "recv"_a.none(), "op"_a.none(), "Starts a plan.")
      .def("init_plan", &init_plan, "plan"_a, "send"_a.none(), "recv"_a.none(), "op"_a.none(),
           "Makes a plan ready for many starts.")
      .def(
          "check_plan",
          [](const Group& self, const Plan& plan) { expect(wait_inside([&] { return self.check(plan); })); },
          "Raises what does not fit.");
}

}  // namespace tutti::python
