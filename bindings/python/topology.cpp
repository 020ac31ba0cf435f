// SPDX-License-Identifier: BSD-3-Clause
#include "topology.hpp"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "memory.hpp"
#include "place.hpp"
#include "request.hpp"
#include "tutti/exchange.hpp"
#include "tutti/topology.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace tutti::python {

namespace {

using Parcels = std::vector<std::pair<Rank, nb::object>>;

/// A sparse_exchange in Python's hands: it keeps what is sent alive until it is complete.
class StartedExchange {
 public:
  /// `like`: an array of the elements, for ranks that send nothing.
  StartedExchange(const Group& group, const Parcels& parcels, const nb::object& like) {
    const Memory elements(like.ptr(), Memory::Use::read, "sparse_exchange: dtype");
    std::vector<RawExchange::Parcel> raw;
    for (const auto& [rank, data] : parcels) {
      const Memory& memory =
          *memory_.emplace_back(std::make_unique<Memory>(data.ptr(), Memory::Use::read, "sparse_exchange: data"));
      if (!memory.same_elements(elements))
        throw Error(Cause::usage, "sparse_exchange: the data for rank " + std::to_string(rank) + " are " +
                                      memory.describe() + " and not " + elements.describe() +
                                      "; send one type of elements");
      raw.push_back({rank, side_by_side(memory), memory.count()});
    }
    const WithoutGil released;
    raw_ = RawExchange(group, raw, elements.type(), elements.element(), nullptr);
  }
  StartedExchange(const StartedExchange&) = delete;
  StartedExchange& operator=(const StartedExchange&) = delete;
  ~StartedExchange() {
    if (is_left(raw_.request())) {
      leave(std::move(raw_), std::move(memory_), std::move(packed_));
      return;
    }
    drop(raw_.request(), given_up_);
    const WithoutGil released;
    raw_ = RawExchange();
  }

  /// What came: ranks and bytes. Once.
  nb::list wait(Seconds timeout) {
    const Turn::Hold mine(turn_);
    expect_time(timeout);
    given_up_ = true;  // unless the wait comes to its end
    python::wait(raw_.request(), timeout);
    given_up_ = false;
    nb::list all;
    for (const RawExchange::Delivery& one : raw_.take()) {
      const auto* bytes = reinterpret_cast<const char*>(one.bytes.data());
      all.append(nb::make_tuple(
          one.from, nb::steal(PyByteArray_FromStringAndSize(bytes, static_cast<Py_ssize_t>(one.bytes.size())))));
    }
    return all;
  }
  bool test() {
    const Turn::Hold mine(turn_);
    const WithoutGil released;
    return raw_.request().test();
  }
  int fileno() {
    const Turn::Hold mine(turn_);
    const WithoutGil released;
    return raw_.request().fileno();
  }

 private:
  const void* side_by_side(const Memory& memory) {
    if (memory.layout() == nullptr) return memory.data();
    std::vector<std::byte>& packed = packed_.emplace_back(static_cast<std::size_t>(memory.layout()->size()));
    memory.layout()->pack(memory.data(), 0, packed);
    return packed.data();
  }

  std::vector<std::unique_ptr<Memory>> memory_;
  std::list<std::vector<std::byte>> packed_;  // of arrays that are not contiguous
  Turn turn_;
  bool given_up_ = false;  // a time-out or a signal ended a wait: dropping it does not block
  RawExchange raw_;        // last: its operation ends before its buffers go
};

void define_grid(nb::module_& module) {
  module.def("dims_create", &dims_create, "Sizes of a grid.");
  module.def(
      "cartesian",
      [](const Group& group, const std::vector<int>& dims, const std::vector<bool>& periodic, bool reorder) {
        return make_group([&] { return cartesian(group, dims, periodic, reorder); });
      },
      "Collective; None for ranks that are left over.");
  module.def(
      "sub_grid",
      [](const Group& group, const std::vector<bool>& keep) {
        return make_group([&] { return Grid(group).sub(keep); });
      },
      "Collective.");
  module.def(
      "dims", [](const Group& group) { return Grid(group).dims(); }, "A grid's dimensions.");
  module.def(
      "periodic", [](const Group& group) { return Grid(group).periodic(); }, "Which of them go around.");
  module.def(
      "coordinates", [](const Group& group, Rank rank) { return Grid(group).coordinates(rank); },
      "Where a rank stands.");
  module.def(
      "rank_at", [](const Group& group, const std::vector<int>& at) { return Grid(group).rank_at(at); },
      "Who stands there; -1: nobody.");
  module.def(
      "shift",
      [](const Group& group, int dimension, int by) {
        const Grid::Shift shift = Grid(group).shift(dimension, by);
        return std::pair(shift.source, shift.destination);
      },
      "Source and destination; -1: nobody.");
}

void define_graph(nb::module_& module) {
  module.def(
      "adjacent_graph",
      [](const Group& group, const std::vector<Rank>& sources, const std::vector<Rank>& destinations) {
        return make_group([&] { return adjacent_graph(group, sources, destinations); });
      },
      "Collective.");
  module.def(
      "graph",
      [](const Group& group, const std::vector<std::pair<Rank, Rank>>& edges) {
        std::vector<GraphEdge> all;
        for (const auto& [source, destination] : edges) all.push_back({source, destination});
        return make_group([&] { return graph(group, all); });
      },
      "Collective.");
  module.def(
      "sources", [](const Group& group) { return Graph(group).sources(); }, "Ranks; -1: nobody.");
  module.def(
      "destinations", [](const Group& group) { return Graph(group).destinations(); }, "Ranks; -1: nobody.");
}

}  // namespace

void define_topology(nb::module_& module) {
  define_grid(module);
  define_graph(module);
  nb::class_<StartedExchange>(module, "Exchange", "A started sparse_exchange.")
      .def(nb::init<const Group&, const Parcels&, const nb::object&>())
      .def("wait", &StartedExchange::wait, "timeout"_a = nb::none(), "What came: ranks and bytes.")
      .def("test", &StartedExchange::test, "Whether it is complete.")
      .def("fileno", &StartedExchange::fileno, "A descriptor that becomes readable when it is complete.");
  module.def(
      "sparse_exchange",
      [](const Group& group, const Parcels& parcels, const nb::object& like) {
        return StartedExchange(group, parcels, like).wait(time_limit(group));
      },
      "What came: ranks and bytes.");
}

}  // namespace tutti::python
