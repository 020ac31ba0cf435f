// SPDX-License-Identifier: BSD-3-Clause
// The extension tutti._core: groups, requests and errors for the package in python/tutti, which documents them.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <array>
#include <memory>
#include <string>
#include <utility>

#include "place.hpp"
#include "plan.hpp"
#include "prepared.hpp"
#include "request.hpp"
#include "topology.hpp"
#include "tutti/error.hpp"
#include "tutti/group.hpp"
#include "tutti/memory.hpp"
#include "tutti/mpi_group.hpp"
#include "tutti/version.h"

namespace nb = nanobind;
using namespace nb::literals;

namespace tutti::python {

namespace {

std::unique_ptr<Prepared> prepared(const Group& group, int kind, nb::object send, nb::object recv, const Operation* op,
                                   Rank root, std::string algorithm, std::optional<std::vector<Count>> send_counts,
                                   std::optional<std::vector<Count>> send_offsets,
                                   std::optional<std::vector<Count>> recv_counts,
                                   std::optional<std::vector<Count>> recv_offsets) {
  return std::make_unique<Prepared>(
      group,
      Arguments{kind, std::move(send), std::move(recv), op == nullptr ? Operation() : *op, root, std::move(algorithm),
                std::move(send_counts), std::move(send_offsets), std::move(recv_counts), std::move(recv_offsets)});
}

template <class... Rest>
void run_one(const Group& group, int kind, nb::object send, nb::object recv, Rest... rest) {
  run(group, *prepared(group, kind, std::move(send), std::move(recv), std::move(rest)...));
}

template <class... Rest>
std::unique_ptr<Started> start_one(const Group& group, int kind, nb::object send, nb::object recv, Rest... rest) {
  nb::object result = recv;
  return start(group, prepared(group, kind, std::move(send), std::move(recv), std::move(rest)...), std::move(result));
}

template <class... Rest>
std::unique_ptr<Repeated> init_one(const Group& group, int kind, nb::object send, nb::object recv, Rest... rest) {
  nb::object result = recv;
  return init(group, prepared(group, kind, std::move(send), std::move(recv), std::move(rest)...), std::move(result));
}

/// The blocking form of what `start` starts. What a time-out or a signal cuts short is given up before Python sees
/// that: an exception keeps the frames that it came through, and with them a request that Python holds.
template <class... Arguments>
auto to_its_end(std::unique_ptr<Started> (*start)(const Group&, Arguments...)) {
  return [start](const Group& group, Arguments... arguments) {
    return start(group, std::forward<Arguments>(arguments)...)->wait(time_limit(group));
  };
}

template <bool blocks>
std::unique_ptr<Started> start_sum(const Group& group, nb::object values, nb::object total, std::string algorithm) {
  nb::object result = total;
  auto prepared = std::make_unique<Prepared>(std::move(values), std::move(total), std::move(algorithm));
  return start(group, std::move(prepared), std::move(result), blocks);
}

template <bool blocks>
std::unique_ptr<Started> start_send(const Group& group, const nb::object& data, Rank to, std::uint32_t tag) {
  auto prepared = std::make_unique<Prepared>(data, Memory::Use::read, "send: data");
  const Memory& memory = prepared->memory();
  say_call(blocks);
  Request request = without_gil([&] {
    return group.start_send(memory.data(), memory.count(), memory.type(), memory.element(), to, tag, nullptr,
                            memory.layout());
  });
  return std::make_unique<Started>(std::move(request), std::move(prepared), nb::none());
}

template <bool blocks>
std::unique_ptr<Started> start_recv(const Group& group, nb::object buffer, Rank from, std::uint32_t tag) {
  auto prepared = std::make_unique<Prepared>(buffer, Memory::Use::write, "recv: buffer");
  const Memory& memory = prepared->memory();
  say_call(blocks);
  Request request = without_gil([&] {
    return group.start_recv(memory.data(), memory.count(), memory.type(), memory.element(), from, tag, nullptr,
                            memory.layout());
  });
  return std::make_unique<Started>(std::move(request), std::move(prepared), std::move(buffer));
}

using Bytes = nb::ndarray<nb::numpy, std::uint8_t, nb::ndim<1>>;

/// Given back with the last array that is a view of it.
Bytes allocate_bytes(const Group& group, std::size_t bytes) {
  void* const memory = allocate(group, bytes);
  return Bytes(memory, {bytes}, nb::capsule(memory, [](void* given) noexcept { release(given); }));
}

/// A C++ Error becomes the class of tutti.errors that has its cause.
void translate(const std::exception_ptr& thrown, void*) {
  try {
    std::rethrow_exception(thrown);
  } catch (const Error& error) {
    constexpr std::array causes = {"usage", "mismatch", "peer_lost", "timeout", "broken", "system", "interrupted"};
    static_assert(causes.size() == static_cast<std::size_t>(Cause::interrupted) + 1);
    const nb::object make = nb::module_::import_("tutti.errors").attr("make");
    const nb::object made = make(error.what(), causes.at(static_cast<std::size_t>(error.cause())), error.peer());
    PyErr_SetObject(reinterpret_cast<PyObject*>(Py_TYPE(made.ptr())), made.ptr());
  }
}

template <class Function, class Class, class... Extra>
void define_collective(Class& group, const char* name, Function function, const Extra&... extra) {
  group.def(name, function, "kind"_a, "send"_a.none(), "recv"_a.none(), "op"_a.none() = nb::none(), "root"_a = 0,
            "algorithm"_a = "", "send_counts"_a = nb::none(), "send_offsets"_a = nb::none(),
            "recv_counts"_a = nb::none(), "recv_offsets"_a = nb::none(), extra...);
}

void define_messages_and_sums(nb::class_<Group>& group) {
  group.def("sum", to_its_end(&start_sum<true>), "The sum of whole arrays.")
      .def("send", to_its_end(&start_send<true>), "Sends a buffer.")
      .def("recv", to_its_end(&start_recv<true>), "Receives into a buffer.")
      .def("start_sum", &start_sum<false>, "Starts the sum of whole arrays.")
      .def("start_send", &start_send<false>, "Starts sending a buffer.")
      .def("start_recv", &start_recv<false>, "Starts receiving into a buffer.");
}

void define_group(nb::module_& module) {
  using Counts = std::optional<std::vector<Count>>;
  nb::class_<Group> group(module, "Group", "A group of processes, as the engine sees it.");
  const nb::class_<Handle, Group> handle(module, "Handle", "The same in Python's hands.");
  group.def_prop_ro("rank", &Group::rank, "This process's position.")
      .def_prop_ro("size", &Group::size, "The number of processes.")
      .def_prop_ro("name", &Group::name, "A name for messages.")
      .def_prop_ro("transport", &Group::transport, "How its bytes travel.")
      .def(
          "split",
          [](const Group& self, int colour, int key) { return make_group([&] { return self.split(colour, key); }); },
          "Collective; None for a negative colour.")
      .def(
          "dup", [](const Group& self) { return make_group([&] { return self.dup(); }); }, "Collective.")
      .def(
          "split_by_host",
          [](const Group& self, int key) { return make_group([&] { return self.split_by_host(key); }); }, "Collective.")
      .def(
          "create",
          [](const Group& self, const std::vector<Rank>& ranks) {
            return make_group([&] { return self.create(ranks); });
          },
          "Called by the ranks listed alone.")
      .def(
          "subgroup",
          [](const Group& self, const std::vector<Rank>& ranks) {
            return make_group([&] { return self.subgroup(ranks); });
          },
          "Collective; None for ranks that are not listed.")
      .def(
          "agree", [](const Group& self, bool flag) { return wait_inside([&] { return self.agree(flag); }); },
          "Whether all survivors say so.")
      .def(
          "shrink", [](const Group& self) { return make_group([&] { return self.shrink(); }); }, "The survivors.")
      .def("allocate", &allocate_bytes, "bytes"_a, "Memory that this rank's host shares.")
      .def_prop_ro("lost", &Group::lost, "The ranks found lost.")
      .def(
          "reproducible", [](const Group& self) { return Handle(self.reproducible()); },
          "The same group with sums that are rounded once.")
      .def_prop_ro("is_reproducible", &Group::is_reproducible, "Whether sums are rounded once.");
  define_collective(group, "run", &run_one<const Operation*, Rank, std::string, Counts, Counts, Counts, Counts>,
                    "Runs a collective.");
  define_collective(group, "start", &start_one<const Operation*, Rank, std::string, Counts, Counts, Counts, Counts>,
                    "Starts a collective.");
  define_collective(group, "init", &init_one<const Operation*, Rank, std::string, Counts, Counts, Counts, Counts>,
                    "Makes a collective ready for many calls.");
  define_messages_and_sums(group);
  define_plan_calls(group);
  module.def(
      "world", [] { return Handle(wait_inside([] { return world(); })); }, "All processes of the job.");
  module.def(
      "from_mpi",
      [](std::uintptr_t address) {
        return Handle(wait_inside([&] { return detail::from_mpi(reinterpret_cast<const void*>(address), ""); }));
      },
      "address"_a, "The ranks of the MPI communicator at this address.");
}

void define_request(nb::module_& module) {
  nb::class_<Repeated>(module, "Persistent", "A collective that is called again and again.")
      .def("start", &Repeated::start, "Calls it once more.")
      .def("wait", &Repeated::wait, "timeout"_a = nb::none(), "The result, once complete.")
      .def("run", &Repeated::run, "timeout"_a = nb::none(), "start and wait in one.")
      .def("test", &Repeated::test, "Whether it is complete.")
      .def("fileno", &Repeated::fileno, "A descriptor that becomes readable when it is complete.");
  nb::class_<Started>(module, "Request", "A started operation, as the engine sees it.")
      .def("wait", &Started::wait, "timeout"_a = nb::none(), "The result, once complete.")
      .def("test", &Started::test, "Whether it is complete.")
      .def("fileno", &Started::fileno, "A descriptor that becomes readable when it is complete.");
  module.def("wait_any", &Started::wait_any, "requests"_a, "timeout"_a = nb::none(),
             "The place of the first that is complete.");
}

/// The engine's numbers, by name: Python counts nothing itself.
void define_numbers(nb::module_& module) {
  nb::dict kinds, ops;
  for (int kind = 0; kind < operations; ++kind) kinds[std::string(name_of(static_cast<Kind>(kind))).c_str()] = kind;
  constexpr std::array<std::pair<const char*, Op>, 13> known = {{{"SUM", Op::sum},
                                                                 {"PROD", Op::prod},
                                                                 {"MIN", Op::min},
                                                                 {"MAX", Op::max},
                                                                 {"LAND", Op::land},
                                                                 {"LOR", Op::lor},
                                                                 {"LXOR", Op::lxor},
                                                                 {"BAND", Op::band},
                                                                 {"BOR", Op::bor},
                                                                 {"BXOR", Op::bxor},
                                                                 {"MINLOC", Op::minloc},
                                                                 {"MAXLOC", Op::maxloc},
                                                                 {"USER", Op::user}}};
  for (const auto& [name, op] : known) ops[name] = static_cast<int>(op);
  module.attr("kinds") = kinds;
  module.attr("ops") = ops;
}

void define_operation(nb::module_& module) {
  nb::class_<Operation>(module, "Operation", "How two elements become one.")
      .def(
          "__init__",
          [](Operation* self, int code, bool commutative, nb::object apply) {
            new (self) Operation{static_cast<Op>(code), commutative, std::move(apply)};
          },
          "code"_a, "commutative"_a = true, "apply"_a.none() = nb::none());
}

}  // namespace

}  // namespace tutti::python

NB_MODULE(_core, module) {
  using namespace tutti::python;
  nb::register_exception_translator(translate);
  // What a program holds at its end, a request in a global or one whose reduction refers back to it, is no news to it.
  nb::set_leak_warnings(false);
  module.doc() = "The engine under the package tutti.";
  module.attr("version") = TUTTI_VERSION;
  forget_threads_in_children();
  module.def("begin_to_end", &begin_to_end, "When the interpreter ends.");
  define_numbers(module);
  define_operation(module);
  define_request(module);
  define_plans(module);
  define_group(module);
  define_topology(module);
}
