// SPDX-License-Identifier: BSD-3-Clause
#include "prepared.hpp"

#include <numeric>
#include <stdexcept>
#include <string_view>
#include <utility>

#include "interpreter.hpp"
#include "tutti/error.hpp"

namespace tutti::python {

namespace nb = nanobind;

Prepared::Prepared(const Group& group, Arguments arguments)
    : arguments_(std::move(arguments)), rank_(group.rank()), size_(group.size()) {
  call_.kind = static_cast<Kind>(arguments_.kind);
  call_.root = arguments_.root;
  call_.algorithm = arguments_.algorithm;
  call_.in_place = !arguments_.send.is_none() && arguments_.send.is(arguments_.recv);
  switch (call_.kind) {
    case Kind::barrier:
      break;
    case Kind::bcast:
      prepare_bcast();
      break;
    case Kind::reduce:
    case Kind::allreduce:
    case Kind::scan:
    case Kind::exscan:
      prepare_reduce();
      break;
    case Kind::gather:
    case Kind::allgather:
      prepare_gather();
      break;
    case Kind::scatter:
      prepare_scatter();
      break;
    case Kind::alltoall:
      prepare_alltoall();
      break;
    case Kind::gatherv:
    case Kind::allgatherv:
      prepare_gatherv();
      break;
    case Kind::scatterv:
      prepare_scatterv();
      break;
    case Kind::alltoallv:
      prepare_alltoallv();
      break;
    case Kind::reduce_scatter_block:
    case Kind::reduce_scatter:
      prepare_reduce_scatter();
      break;
    case Kind::alltoallw:
    case Kind::neighbor_alltoallw:
      prepare_parts(group);
      return;
    case Kind::neighbor_allgather:
    case Kind::neighbor_allgatherv:
    case Kind::neighbor_alltoall:
    case Kind::neighbor_alltoallv:
    case Kind::neighbor_reduce:
      prepare_neighbors(Graph(group));
      break;
    case Kind::sparse_exchange:
    case Kind::plan:
      refuse("it is not made from a number; use the method of that name");
  }
  point_at_counts();
}

void Prepared::point_at_counts() {
  call_.send_counts = send_counts_;
  call_.send_offsets = send_offsets_;
  call_.recv_counts = recv_counts_;
  call_.recv_offsets = recv_offsets_;
}

Prepared::Prepared(nb::object values, nb::object total, std::string algorithm) {
  arguments_.send = std::move(values);
  arguments_.recv = std::move(total);
  arguments_.algorithm = std::move(algorithm);
  arguments_.op.op = Op::sum;
  call_.kind = Kind::allreduce;
  call_.exact = Exactness::folded;
  call_.algorithm = arguments_.algorithm;
  take_operation();
  hold_send();
  hold_recv();
  expect(*recv_, "total", 1);
  call_.count = 1;
  call_.own = send_->count();
}

Prepared::Prepared(const Plan& plan, nb::object send, nb::object recv, const Operation* op) : plan_(plan) {
  arguments_.send = std::move(send);
  arguments_.recv = std::move(recv);
  if (op != nullptr) arguments_.op = *op;
  call_.kind = Kind::plan;
  if (!arguments_.send.is_none() || plan.in() > 0) hold_send();
  if (!arguments_.recv.is_none() || plan.out() > 0) hold_recv();
  if (send_) expect(*send_, "send", plan.in());
  if (recv_) expect(*recv_, "recv", plan.out());
  take_operation();
  call_ = plan_.call(call_);
}

Prepared::Prepared(const nb::object& buffer, Memory::Use use, const char* role) {
  auto& held = use == Memory::Use::read ? send_ : recv_;
  held.emplace(buffer.ptr(), use, role);
}

void throw_again(const std::exception_ptr& raised) {
  try {
    std::rethrow_exception(raised);
  } catch (const nb::python_error& once) {
    throw nb::python_error(once);
  }
}

void Prepared::rethrow() const {
  if (raised_) throw_again(raised_);
}

std::string Prepared::what() const {
  if (call_.exact == Exactness::folded) return "sum";
  return std::string(name_of(call_.kind)) + (plan_ ? " " + plan_.name() : "");
}

std::string Prepared::role(const char* which) const { return what() + ": " + which; }

void Prepared::refuse(const std::string& text) const { throw Error(Cause::usage, what() + ": " + text); }

void Prepared::hold_send() {
  if (arguments_.send.is_none()) refuse("this rank must pass send");
  send_.emplace(arguments_.send.ptr(), Memory::Use::read,
                role(call_.exact == Exactness::folded ? "values" : "send").c_str());
  use_elements(*send_);
  call_.input = send_->data();
  call_.input_layout = send_->layout();
}

void Prepared::hold_recv() {
  if (arguments_.recv.is_none()) refuse("this rank must pass recv");
  recv_.emplace(arguments_.recv.ptr(), Memory::Use::write, role("recv").c_str());
  if (send_ && !send_->same_elements(*recv_))
    refuse("send has " + send_->describe() + ", but recv has " + recv_->describe() + "; make them equal");
  use_elements(*recv_);
  call_.output = recv_->data();
  call_.output_layout = recv_->layout();
}

void Prepared::use_elements(const Memory& memory) {
  const bool built_in = arguments_.op.op != Op::none && arguments_.op.op != Op::user;
  if (built_in && memory.type() == Type::opaque)
    refuse("there is no arithmetic for elements of dtype " + memory.dtype() +
           "; convert them to bool, int8 to int64, uint8 to uint64, float32, float64, complex64 or complex128 in this "
           "machine's byte order" +
           (call_.exact == Exactness::folded ? "" : ", or pass a function (tutti.op)"));
  call_.type = memory.type();
  call_.element = memory.element();
}

void Prepared::find_in_place(const Memory& inner, const Memory& outer, Count first) {
  call_.in_place = false;  // the same array without elements overlaps nothing either
  if (inner.count() == 0 || outer.count() == 0) return;
  point_at_counts();
  const detail::Meeting found =
      detail::meeting_of_blocks(call_, detail::meeting(inner.lying(), outer.lying(), first, inner.element()));
  if (found == detail::Meeting::crossing)
    refuse("send and recv overlap; pass the same array for both to work in place, or separate ones");
  call_.in_place = found == detail::Meeting::same;
}

void Prepared::expect(const Memory& memory, const char* which, Count needed) const {
  if (memory.count() == needed) return;
  refuse(std::string(which) + " has " + std::to_string(memory.count()) + " elements and must have " +
         std::to_string(needed));
}

void Prepared::expect_room(const Memory& memory, const char* which, const std::vector<Count>& counts,
                           const std::vector<Count>& offsets) const {
  detail::expect_blocks(call_.kind, which, memory.count(), static_cast<Count>(counts.size()), counts, offsets);
}

std::vector<Count> Prepared::counts_of(std::optional<std::vector<Count>>& given, const char* which,
                                       Count needed) const {
  if (!given) refuse(std::string("this rank must pass ") + which);
  if (given->size() != static_cast<std::size_t>(needed))
    refuse(std::string(which) + " has " + std::to_string(given->size()) + " numbers and must have one per " +
           (call_.kind >= Kind::neighbor_allgather ? "neighbour, " : "rank, ") + std::to_string(needed));
  return std::move(*given);
}

std::vector<Count> Prepared::offsets_of(std::optional<std::vector<Count>>& given, const char* which,
                                        const std::vector<Count>& counts) const {
  if (given) return counts_of(given, which, static_cast<Count>(counts.size()));
  std::vector<Count> offsets(counts.size());
  std::exclusive_scan(counts.begin(), counts.end(), offsets.begin(), Count{0});
  return offsets;
}

void Prepared::prepare_bcast() {
  // The root's buffer is only read, so it need not be writable.
  const auto use = rank_ == call_.root ? Memory::Use::read : Memory::Use::write;
  recv_.emplace(arguments_.recv.ptr(), use, role("buffer").c_str());
  use_elements(*recv_);
  call_.output = recv_->data();
  call_.output_layout = recv_->layout();
  call_.count = recv_->count();
}

void Prepared::prepare_reduce() {
  take_operation();
  const bool writes = call_.kind != Kind::reduce || rank_ == call_.root;
  call_.in_place = call_.in_place && writes;
  if (!call_.in_place) hold_send();
  if (writes) hold_recv();
  const Memory& mine = call_.in_place ? *recv_ : *send_;
  call_.count = mine.count();
  if (!writes || call_.in_place) return;
  if (!send_->same_shape(*recv_))
    refuse("send has " + send_->describe() + ", but recv has " + recv_->describe() + "; make them equal");
  find_in_place(*send_, *recv_, 0);
}

void Prepared::prepare_reduce_scatter() {
  take_operation();
  const bool whole = call_.in_place;  // the array itself, not its first block
  if (!whole) hold_send();
  hold_recv();
  const Memory& operands = whole ? *recv_ : *send_;
  Count mine = operands.count() / size_;
  if (call_.kind == Kind::reduce_scatter) {
    recv_counts_ = counts_of(arguments_.recv_counts, "counts");
    recv_offsets_ = offsets_of(arguments_.recv_offsets, "offsets", recv_counts_);
    expect(operands, whole ? "recv" : "send", std::reduce(recv_counts_.begin(), recv_counts_.end()));
    mine = recv_counts_[static_cast<std::size_t>(rank_)];
  } else {
    call_.count = mine;
    expect(operands, whole ? "recv" : "send", mine * size_);
  }
  if (whole) return;
  expect(*recv_, "recv", mine);
  find_in_place(*recv_, *send_, 0);
  if (!call_.in_place) return;
  // The operands are taken from the output: it is the whole array, which begins where recv does.
  call_.output = send_->data();
  call_.output_layout = send_->layout();
}

void Prepared::prepare_gather() {
  const bool writes = call_.kind == Kind::allgather || rank_ == call_.root;
  call_.in_place = call_.in_place && writes;
  if (!call_.in_place) hold_send();
  if (writes) hold_recv();
  call_.count = call_.in_place ? recv_->count() / size_ : send_->count();
  if (writes) expect(*recv_, "recv", call_.count * size_);
  if (writes && send_) find_in_place(*send_, *recv_, call_.count * rank_);
}

void Prepared::prepare_scatter() {
  const bool root = rank_ == call_.root;
  call_.in_place = call_.in_place && root;
  if (root) hold_send();
  if (!call_.in_place) hold_recv();
  call_.count = root ? send_->count() / size_ : recv_->count();
  if (root) expect(*send_, "send", call_.count * size_);
  if (!call_.in_place) expect(*recv_, "recv", call_.count);
  if (root && recv_) find_in_place(*recv_, *send_, call_.count * rank_);
}

void Prepared::prepare_alltoall() {
  if (!call_.in_place) hold_send();
  hold_recv();
  call_.count = recv_->count() / size_;
  expect(*recv_, "recv", call_.count * size_);
  if (!send_) return;
  expect(*send_, "send", recv_->count());
  find_in_place(*send_, *recv_, 0);
}

void Prepared::prepare_gatherv() {
  const bool writes = call_.kind == Kind::allgatherv || rank_ == call_.root;
  call_.in_place = call_.in_place && writes;
  if (!call_.in_place) hold_send();
  if (writes) {
    hold_recv();
    recv_counts_ = counts_of(arguments_.recv_counts, "counts");
    recv_offsets_ = offsets_of(arguments_.recv_offsets, "offsets", recv_counts_);
    expect_room(*recv_, "recv", recv_counts_, recv_offsets_);
  }
  const auto own = static_cast<std::size_t>(rank_);
  send_counts_ = {send_ ? send_->count() : recv_counts_[own]};
  if (writes && send_) find_in_place(*send_, *recv_, recv_offsets_[own]);
  call_.in_place = call_.in_place && send_counts_[0] == recv_counts_[own];  // or refused
}

void Prepared::prepare_scatterv() {
  const bool root = rank_ == call_.root;
  call_.in_place = call_.in_place && root;
  if (root) {
    hold_send();
    send_counts_ = counts_of(arguments_.send_counts, "counts");
    send_offsets_ = offsets_of(arguments_.send_offsets, "offsets", send_counts_);
    expect_room(*send_, "send", send_counts_, send_offsets_);
  }
  if (!call_.in_place) hold_recv();
  const auto own = static_cast<std::size_t>(rank_);
  recv_counts_ = {recv_ ? recv_->count() : send_counts_[own]};
  if (root && recv_) find_in_place(*recv_, *send_, send_offsets_[own]);
  call_.in_place = call_.in_place && recv_counts_[0] == send_counts_[own];  // or refused
}

void Prepared::prepare_alltoallv() {
  const bool by_recv = call_.in_place && !arguments_.send_counts;
  if (!by_recv) hold_send();
  hold_recv();
  recv_counts_ = counts_of(arguments_.recv_counts, "recv_counts");
  recv_offsets_ = offsets_of(arguments_.recv_offsets, "recv_offsets", recv_counts_);
  expect_room(*recv_, "recv", recv_counts_, recv_offsets_);
  if (by_recv) {
    send_counts_ = recv_counts_;
    send_offsets_ = recv_offsets_;
    return;
  }
  send_counts_ = counts_of(arguments_.send_counts, "send_counts");
  send_offsets_ = offsets_of(arguments_.send_offsets, "send_offsets", send_counts_);
  expect_room(*send_, "send", send_counts_, send_offsets_);
  find_in_place(*send_, *recv_, 0);  // one array may also hold what is sent beside what is received
}

std::vector<Part> Prepared::parts_of(const nb::object& arrays, Memory::Use use, const char* which, void*& base) {
  std::vector<Part> parts;
  for (const nb::handle array : nb::cast<nb::list>(arrays)) {
    Part part;
    if (!array.is_none()) {
      const Memory& memory = *several_.emplace_back(std::make_unique<Memory>(array.ptr(), use, role(which).c_str()));
      part.layout = memory.layout() != nullptr ? *memory.layout() : Layout::bytes(memory.count() * memory.element());
      if (base == nullptr) base = memory.data();
      part.offset = static_cast<const char*>(memory.data()) - static_cast<const char*>(base);
    }
    parts.push_back(part);
  }
  return parts;
}

void Prepared::prepare_parts(const Group& group) {
  const bool all = call_.kind == Kind::alltoallw;
  const Count to = all ? size_ : Graph(group).outdegree(), from = all ? size_ : Graph(group).indegree();
  const char* const whom = all ? "rank" : "neighbour";
  const auto expect_one_each = [&](const std::vector<Part>& parts, const char* which, Count needed) {
    if (parts.size() != static_cast<std::size_t>(needed))
      refuse(std::string(which) + " has " + std::to_string(parts.size()) + " arrays and must have one per " + whom +
             " (or None), " + std::to_string(needed));
  };
  if (call_.in_place && !all) refuse("it cannot work in place; pass separate arrays");
  void *in = nullptr, *out = nullptr;
  std::vector<Part> send;
  if (!call_.in_place) {
    send = parts_of(arguments_.send, Memory::Use::read, "send", in);
    expect_one_each(send, "send", to);
  }
  const std::vector<Part> recv = parts_of(arguments_.recv, Memory::Use::write, "recv", out);
  expect_one_each(recv, "recv", from);
  parts_call_.emplace(call_.kind, in, send, out, recv);
  call_ = parts_call_->call(arguments_.algorithm, nullptr);
}

void Prepared::prepare_neighbors(const Graph& graph) {
  const Count sources = graph.indegree(), destinations = graph.outdegree();
  hold_send();
  hold_recv();
  find_in_place(*send_, *recv_, 0);  // refused by the planner
  if (call_.kind == Kind::neighbor_reduce) {
    take_operation();
    call_.count = send_->count();
    if (sources > 0 || recv_->count() > 0) expect(*recv_, "recv", call_.count);
    return;
  }
  if (call_.kind == Kind::neighbor_allgather || call_.kind == Kind::neighbor_alltoall) {
    const bool gathers = call_.kind == Kind::neighbor_allgather;
    call_.count = gathers ? send_->count() : counts_of(arguments_.send_counts, "count", 1)[0];
    expect(*send_, "send", gathers ? call_.count : destinations * call_.count);
    expect(*recv_, "recv", sources * call_.count);
    return;
  }
  const bool gathers = call_.kind == Kind::neighbor_allgatherv;  // whose callers give counts and offsets of one side
  recv_counts_ = counts_of(arguments_.recv_counts, gathers ? "counts" : "recv_counts", sources);
  recv_offsets_ = offsets_of(arguments_.recv_offsets, gathers ? "offsets" : "recv_offsets", recv_counts_);
  expect_room(*recv_, "recv", recv_counts_, recv_offsets_);
  if (gathers) {
    send_counts_ = {send_->count()};
    return;
  }
  send_counts_ = counts_of(arguments_.send_counts, "send_counts", destinations);
  send_offsets_ = offsets_of(arguments_.send_offsets, "send_offsets", send_counts_);
  expect_room(*send_, "send", send_counts_, send_offsets_);
}

void Prepared::take_operation() {
  call_.reduction = {arguments_.op.op, arguments_.op.commutative, nullptr, nullptr};
  if (arguments_.op.op == Op::user) {
    call_.reduction.function = &Prepared::reduce;
    call_.reduction.context = this;
  }
}

void Prepared::reduce(const void* in, void* inout, Count n, void* context) {
  auto& self = *static_cast<Prepared*>(context);
  const WithGil gil;
  if (!gil) throw std::runtime_error("the interpreter of its reduction function has ended");
  const WithoutCollector uncollected;
  try {
    const auto bytes = static_cast<Py_ssize_t>(n) * self.call_.element;
    auto* lower = static_cast<char*>(const_cast<void*>(in));
    self.arguments_.op.apply(nb::steal(PyMemoryView_FromMemory(lower, bytes, PyBUF_READ)),
                             nb::steal(PyMemoryView_FromMemory(static_cast<char*>(inout), bytes, PyBUF_WRITE)));
  } catch (...) {
    // This rank gets what was raised itself; the engine, which breaks the group, takes what needs no interpreter.
    self.raised_ = std::current_exception();
    throw std::runtime_error("its reduction function raised an exception");
  }
}

}  // namespace tutti::python
