// SPDX-License-Identifier: BSD-3-Clause
// A call from Python with everything it points to: buffers, counts, the function that reduces.
#pragma once

#include <nanobind/nanobind.h>

#include <exception>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "memory.hpp"
#include "tutti/call.hpp"
#include "tutti/parts.hpp"
#include "tutti/plan.hpp"
#include "tutti/topology.hpp"

namespace tutti::python {

/// A reduction as Python holds it. `apply(lower, higher)` combines two memoryviews of bytes into the second.
struct Operation {
  Op op = Op::none;
  bool commutative = true;
  nanobind::object apply;
};

/// What Python passes to a collective. None where it passes nothing.
struct Arguments {
  int kind = 0;
  nanobind::object send, recv;
  Operation op;  ///< A copy: an i-form outlives the object it was passed.
  Rank root = 0;
  std::string algorithm;
  std::optional<std::vector<Count>> send_counts, send_offsets, recv_counts, recv_offsets;
};

/// Throws what is kept, as often as one likes: a python_error itself can be handed to Python once.
[[noreturn]] void throw_again(const std::exception_ptr& raised);

/// Lives until the operation is complete. Made and destroyed with the GIL held.
class Prepared {
 public:
  /// Checks buffers against each other and the group. Throws Error (usage).
  Prepared(const Group& group, Arguments arguments);
  /// The sum of a whole array into one element.
  Prepared(nanobind::object values, nanobind::object total, std::string algorithm);
  /// A plan of the user's; None where it has no buffer, nullptr where it has no operation.
  Prepared(const Plan& plan, nanobind::object send, nanobind::object recv, const Operation* op);
  /// A message: `buffer` is read or written.
  Prepared(const nanobind::object& buffer, Memory::Use use, const char* role);
  Prepared(const Prepared&) = delete;
  Prepared& operator=(const Prepared&) = delete;

  const Call& call() const { return call_; }
  const Memory& memory() const { return recv_ ? *recv_ : *send_; }
  /// Throws what the user's reduction raised, if it did: the operation has then failed.
  void rethrow() const;
  /// Before it is started again.
  void forget_raised() { raised_ = nullptr; }

 private:
  /// What messages call it: "allreduce", "plan ring".
  std::string what() const;
  std::string role(const char* which) const;
  [[noreturn]] void refuse(const std::string& text) const;
  void hold_send();
  void hold_recv();
  void use_elements(const Memory& memory);
  /// Finds out whether `inner` is block `first` of `outer`: then the call is in place. Any other overlap is refused, of
  /// blocks where the call has counts.
  void find_in_place(const Memory& inner, const Memory& outer, Count first);
  void expect(const Memory& memory, const char* which, Count needed) const;
  void expect_room(const Memory& memory, const char* which, const std::vector<Count>& counts,
                   const std::vector<Count>& offsets) const;
  /// One number per rank, or for each of `needed` neighbours.
  std::vector<Count> counts_of(std::optional<std::vector<Count>>& given, const char* which, Count needed) const;
  std::vector<Count> counts_of(std::optional<std::vector<Count>>& given, const char* which) const {
    return counts_of(given, which, size_);
  }
  std::vector<Count> offsets_of(std::optional<std::vector<Count>>& given, const char* which,
                                const std::vector<Count>& counts) const;

  void prepare_bcast();
  void prepare_reduce();
  void prepare_reduce_scatter();
  void prepare_gather();
  void prepare_scatter();
  void prepare_alltoall();
  void prepare_gatherv();
  void prepare_scatterv();
  void prepare_alltoallv();
  /// alltoallw and neighbor_alltoallw: an array for each block.
  void prepare_parts(const Group& group);
  /// Arrays, or None; `base`: what their offsets count from.
  std::vector<Part> parts_of(const nanobind::object& arrays, Memory::Use use, const char* which, void*& base);
  void prepare_neighbors(const Graph& graph);
  void point_at_counts();
  void take_operation();
  static void reduce(const void* in, void* inout, Count n, void* context);

  Arguments arguments_;
  Plan plan_;
  Call call_;
  Rank rank_ = 0, size_ = 1;
  std::optional<Memory> send_, recv_;
  std::vector<std::unique_ptr<Memory>> several_;  // alltoallw's
  std::optional<PartsCall> parts_call_;
  std::vector<Count> send_counts_, send_offsets_, recv_counts_, recv_offsets_;
  std::exception_ptr raised_;
};

}  // namespace tutti::python
