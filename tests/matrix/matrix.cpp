// SPDX-License-Identifier: BSD-3-Clause
#include "matrix.hpp"

#include <algorithm>
#include <cstring>
#include <memory_resource>
#include <numeric>
#include <optional>
#include <span>
#include <stdexcept>

#include "../graphs.hpp"
#include "arrangement.hpp"
#include "base/hash.hpp"
#include "engine/cells.hpp"
#include "job/runtime.hpp"
#include "tune/table.hpp"
#include "tutti/memory.hpp"
#include "tutti/parts.hpp"

namespace tutti::matrix {

using collectives::Problem;
using collectives::Shape;
using collectives::Shapes;

namespace {

constexpr std::size_t guard_bytes = 64;
constexpr std::byte guard{0xa5}, poison{0x5a};

/// x -> a x + b modulo 2^64: composing two does not commute, and is exact.
struct Affine {
  std::uint64_t a, b;
  bool operator==(const Affine&) const = default;
};

template <class T>
T value_of(const plan::Contribution& from);
template <>
std::uint64_t value_of(const plan::Contribution& from) {
  return base::combine(static_cast<std::uint64_t>(from.rank), static_cast<std::uint64_t>(from.offset));
}
template <>
Affine value_of(const plan::Contribution& from) {
  const std::uint64_t seed = value_of<std::uint64_t>(from);
  return {seed | 1, base::mix(seed)};
}

std::uint64_t combine(std::uint64_t x, std::uint64_t y) { return x + y; }
Affine combine(const Affine& x, const Affine& y) { return {x.a * y.a, x.a * y.b + x.b}; }

/// Memory of the host.
class Lent final : public std::pmr::memory_resource {
 public:
  explicit Lent(Group group) : group_(std::move(group)) {}

 private:
  void* do_allocate(std::size_t bytes, std::size_t) override { return tutti::allocate(group_, bytes); }
  void do_deallocate(void* memory, std::size_t, std::size_t) override { tutti::release(memory); }
  bool do_is_equal(const memory_resource& other) const noexcept override { return this == &other; }

  Group group_;
};

/// A buffer between guards, poisoned so that what nobody wrote is seen.
template <class T>
class Guarded {
 public:
  Guarded(Count count, int arrangement, std::pmr::memory_resource* memory)
      : arrangement_(arrange(arrangement, count, sizeof(T))),
        bytes_(2 * guard_bytes + arrangement_.bytes, poison, memory) {
    std::fill_n(bytes_.begin(), guard_bytes, guard);
    std::fill_n(bytes_.end() - guard_bytes, guard_bytes, guard);
  }
  std::byte* data() { return bytes_.data() + guard_bytes; }
  const Arrangement& arrangement() const { return arrangement_; }
  const Layout* layout() const { return arrangement_.layout ? &*arrangement_.layout : nullptr; }
  void put(Count first, const std::vector<std::byte>& elements) {
    for (std::size_t i = 0; i < elements.size() / sizeof(T); ++i)
      std::memcpy(data() + arrangement_.places[static_cast<std::size_t>(first) + i], elements.data() + i * sizeof(T),
                  sizeof(T));
  }
  bool operator==(const Guarded& other) const { return bytes_ == other.bytes_; }
  std::size_t first_difference(const Guarded& other) const {
    return static_cast<std::size_t>(std::mismatch(bytes_.begin(), bytes_.end(), other.bytes_.begin()).first -
                                    bytes_.begin());
  }

 private:
  Arrangement arrangement_;
  std::pmr::vector<std::byte> bytes_;  // its copies are in memory of the program's own
};

/// The contributions to a value combined, element by element.
template <class T>
std::vector<std::byte> fold(const plan::Value& value, Count count) {
  std::vector<std::byte> bytes(static_cast<std::size_t>(count) * sizeof(T));
  for (Count i = 0; i < count; ++i) {
    std::optional<T> all;
    for (const plan::Contribution& from : value) {
      const T one = value_of<T>({from.rank, from.offset + i});
      all = all ? combine(*all, one) : one;
    }
    std::memcpy(bytes.data() + static_cast<std::size_t>(i) * sizeof(T), &*all, sizeof(T));
  }
  return bytes;
}

template <class T>
void fill(Guarded<T>& buffer, plan::Buffer which, const std::vector<plan::Piece>& pieces, const Expected& expected) {
  for (const plan::Piece& piece : pieces) {
    if (piece.buffer != which) continue;
    const Folded* const folded = expected.find(piece);
    const std::vector<std::byte> bytes =
        folded == nullptr ? fold<T>(piece.value, piece.count) : std::vector<std::byte>();
    buffer.put(piece.offset, folded == nullptr ? bytes : folded->bytes);
  }
}

template <class T>
void compare(const Case& the_case, Rank rank, const char* which, const Guarded<T>& is, const Guarded<T>& should) {
  if (is == should) return;
  const auto at = static_cast<std::ptrdiff_t>(is.first_difference(should)) - static_cast<std::ptrdiff_t>(guard_bytes);
  throw std::runtime_error(name(the_case) + ": rank " + std::to_string(rank) + ": " + which + " is wrong at byte " +
                           std::to_string(at) + " (element " +
                           std::to_string(at / static_cast<std::ptrdiff_t>(sizeof(T))) + ")");
}

/// Bytes of an element of a problem: see `run`.
std::size_t element_of(bool commutative) { return commutative ? sizeof(std::uint64_t) : sizeof(Affine); }

/// As users name it, with its parameters.
std::string algorithm_of(const Case& the_case) {
  const auto number = static_cast<std::int32_t>(the_case.algorithm - collectives::algorithms().data());
  const auto [segment, radix] = the_case.problem.parameters;
  return tune::text_of({number, {segment * static_cast<Count>(element_of(the_case.problem.commutative)), radix}});
}

Call call_of(const Case& the_case, const Shape& shape, std::string_view algorithm) {
  Call call;
  call.kind = the_case.problem.kind;
  call.in_place = shape.in_place;
  call.count = shape.count;
  call.root = shape.root;
  call.send_counts = shape.send_counts;
  call.send_offsets = shape.send_offsets;
  call.recv_counts = shape.recv_counts;
  call.recv_offsets = shape.recv_offsets;
  call.algorithm = algorithm;
  return call;
}

void perform(const Group& group, const Call& call, Form form, const Hooks& hooks) {
  if (hooks.instead) return hooks.instead(group, call);
  if (form == Form::blocking) return group.run(call);
  const auto wait = [&hooks](auto started) {
    if (hooks.before_wait) hooks.before_wait();
    hooks.limit ? started.wait(*hooks.limit) : started.wait();
  };
  if (form == Form::request) return wait(group.start(call));
  Persistent again = group.init(call);
  again.start();
  wait(std::move(again));
}

/// How a rank's buffer is arranged in a case.
int arrangement_of(const Case& the_case, Rank rank, int buffer) {
  return the_case.layouts == 0 ? 0 : (rank * 3 + the_case.layouts * 2 + buffer * 4) % arrangements;
}

/// The parts of a buffer that go to each rank, or come from it.
std::vector<Part> parts_of(const Arrangement& arrangement, std::span<const Count> counts,
                           std::span<const Count> offsets, std::size_t element) {
  std::vector<Part> parts;
  for (std::size_t r = 0; r < counts.size(); ++r) parts.push_back(part_of(arrangement, offsets[r], counts[r], element));
  return parts;
}

/// alltoallw and neighbor_alltoallw as users call them: a layout for each block.
template <class T>
void exchange(const Group& group, const Case& the_case, const Shape& shape, Guarded<T>& input, Guarded<T>& output,
              const Hooks& hooks) {
  std::vector<Part> send;
  if (!shape.in_place) send = parts_of(input.arrangement(), shape.send_counts, shape.send_offsets, sizeof(T));
  const std::vector<Part> recv = parts_of(output.arrangement(), shape.recv_counts, shape.recv_offsets, sizeof(T));
  PartsCall made(the_case.problem.kind, input.data(), send, output.data(), recv);
  perform(group, made.call(algorithm_of(the_case), nullptr), the_case.form, hooks);
}

template <class T>
void run_typed(const Group& group, const Case& the_case, const Expected& expected, const Reduction& reduction,
               const Hooks& hooks) {
  give_neighbors(group, the_case.problem);
  const Rank rank = group.rank();
  const plan::Promise& promise = expected.contract.ranks[static_cast<std::size_t>(rank)];
  Lent lent(group);
  const bool lends = the_case.lent != 0 && rank % the_case.lent == 0;
  std::pmr::memory_resource* const memory = lends ? &lent : std::pmr::get_default_resource();
  Guarded<T> input(promise.input, arrangement_of(the_case, rank, 0), memory);
  Guarded<T> output(promise.output, arrangement_of(the_case, rank, 1), memory);
  fill(input, plan::Buffer::input, promise.before, expected);
  fill(output, plan::Buffer::output, promise.before, expected);
  Guarded<T> expected_input = input, expected_output = output;
  fill(expected_output, plan::Buffer::output, promise.after, expected);

  const std::string algorithm = algorithm_of(the_case);
  Call call = call_of(the_case, expected.shapes[rank], algorithm);
  call.input = input.data();
  call.output = output.data();
  call.type = type_of<T>;
  call.element = sizeof(T);
  call.input_layout = input.layout();
  call.output_layout = output.layout();
  if (collectives::get(call.kind).reduces) call.reduction = reduction;
  if (collectives::has_parts(call.kind) && the_case.layouts != 0)
    exchange(group, the_case, expected.shapes[rank], input, output, hooks);
  else
    perform(group, call, the_case.form, hooks);
  compare(the_case, rank, "input", input, expected_input);
  compare(the_case, rank, "output", output, expected_output);
}

void add_varying(std::vector<Case>& list, Case the_case, const std::vector<Count>& counts) {
  Problem& problem = the_case.problem;
  const auto blocks = static_cast<std::size_t>(problem.size) *
                      (collectives::is_matrix(problem.kind) ? static_cast<std::size_t>(problem.size) : 1);
  for (const Count most : counts)
    for (const Count gap : {Count{0}, Count{3}}) {
      if (gap > 0 && !collectives::has_gaps(problem.kind)) continue;
      problem.gap = gap;
      problem.counts.resize(blocks);
      for (std::size_t i = 0; i < blocks; ++i)
        problem.counts[i] =
            static_cast<Count>(base::mix(i + static_cast<std::size_t>(most)) % static_cast<std::uint64_t>(most + 1));
      list.push_back(the_case);
    }
}

void add(std::vector<Case>& list, const Case& the_case, const std::vector<Count>& counts) {
  const collectives::Collective& collective = collectives::get(the_case.problem.kind);
  if (collective.varying) return add_varying(list, the_case, counts);
  for (const Count count : counts) {
    list.push_back(the_case);
    list.back().problem.count = count;
    if (the_case.problem.kind == Kind::barrier) return;
  }
}

}  // namespace

void give_neighbors(const Group& group, const Problem& problem) {
  if (!collectives::has_neighbors(problem.kind)) return;
  std::size_t widest = 0;
  for (const collectives::Neighbors& one : problem.neighbors) widest = std::max(widest, one.destinations.size());
  group.member()->attach(std::make_shared<const job::Topology>(
      job::Topology{problem.neighbors[static_cast<std::size_t>(group.rank())], static_cast<std::int32_t>(widest),
                    problem.lattice, !problem.lattice.dims.empty()}));
}

std::string name(const Case& the_case) {
  const Problem& p = the_case.problem;
  return std::string(name_of(p.kind)) + "/" + algorithm_of(the_case) + " P=" + std::to_string(p.size) +
         " root=" + std::to_string(p.root) + " count=" + std::to_string(p.count) + " gap=" + std::to_string(p.gap) +
         (p.in_place ? " in-place" : "") + (p.commutative ? "" : " ordered") +
         (the_case.layouts == 0 ? "" : " layouts " + std::to_string(the_case.layouts)) +
         (the_case.lent == 0 ? "" : " lent " + std::to_string(the_case.lent)) + " " +
         std::string(forms[static_cast<std::size_t>(the_case.form)]);
}

std::vector<Case> cases(Rank size, const std::vector<Count>& counts, int roots, bool board, bool single_copy,
                        std::optional<Kind> only, std::span<const Rank> hosts) {
  std::vector<Case> list;
  for (const collectives::Algorithm& algorithm : collectives::algorithms()) {
    if (only && algorithm.kind != *only) continue;
    const collectives::Collective& collective = collectives::get(algorithm.kind);
    const bool along_edges = collectives::has_neighbors(algorithm.kind);
    const Rank variants = collective.rooted ? std::min<Rank>(size, roots)
                          : along_edges     ? std::min<Rank>(collectives::graph_variants, roots + 1)
                                            : 1;
    std::vector<Case> candidates;
    for (const Form form : {Form::blocking, Form::request, Form::persistent})
      for (Rank root = 0; root < variants; ++root)
        for (const bool in_place : {false, true})
          for (const bool commutative : {true, false}) {
            if (in_place && (algorithm.kind == Kind::barrier || algorithm.kind == Kind::bcast ||
                             collectives::has_neighbors(algorithm.kind)))
              continue;
            if (!commutative && !collective.reduces) continue;
            Case made{{}, &algorithm, form};
            made.problem.kind = algorithm.kind;
            made.problem.size = size;
            made.problem.hosts.assign(hosts.begin(), hosts.end());
            if (along_edges)
              give_edges(made.problem, root);
            else
              made.problem.root = root;
            made.problem.in_place = in_place;
            made.problem.commutative = commutative;
            made.problem.cell = board ? engine::cells_of(element_of(commutative)) : plan::Cells{};
            add(candidates, made, counts);
          }
    for (Case& candidate : candidates)
      if (collectives::applies(algorithm, Shapes(candidate.problem)[0], single_copy))
        list.push_back(std::move(candidate));
  }
  return list;
}

std::vector<Case> with(const collectives::Parameters& parameters, std::vector<Case> cases) {
  for (Case& each : cases) each.problem.parameters = parameters;
  return cases;
}

std::vector<Case> lent(std::vector<Case> cases, Rank every) {
  for (Case& each : cases) each.lent = every;
  return cases;
}

std::vector<Case> laid_out(std::vector<Case> cases, int layouts) {
  for (Case& each : cases) each.layouts = layouts;
  return cases;
}

Expected::Expected(const Problem& problem)
    : shapes(problem), contract(collectives::get(problem.kind).contract(problem)) {
  for (const plan::Promise& promise : contract.ranks)
    for (const plan::Piece& piece : promise.after)
      if (piece.value.size() > 1 && find(piece) == nullptr)
        folded_.push_back({piece.value, problem.commutative ? fold<std::uint64_t>(piece.value, piece.count)
                                                            : fold<Affine>(piece.value, piece.count)});
}

const Folded* Expected::find(const plan::Piece& piece) const {
  if (piece.value.size() == 1) return nullptr;
  const auto found = std::ranges::find(folded_, piece.value, &Folded::value);
  return found == folded_.end() ? nullptr : &*found;
}

void run(const Group& group, const Case& the_case, const Hooks& hooks) {
  run(group, the_case, Expected(the_case.problem), hooks);
}

void run(const Group& group, const Case& the_case, const Expected& expected, const Hooks& hooks) {
  if (the_case.problem.commutative)
    return run_typed<std::uint64_t>(group, the_case, expected, {Op::sum, true, nullptr, nullptr}, hooks);
  const auto compose = [](const void* in, void* inout, Count n, void* context) {
    if (const auto& reducing = static_cast<const Hooks*>(context)->reducing) reducing();
    const auto* left = static_cast<const Affine*>(in);
    auto* right = static_cast<Affine*>(inout);
    for (Count i = 0; i < n; ++i) right[i] = combine(left[i], right[i]);
  };
  run_typed<Affine>(group, the_case, expected, {Op::user, false, compose, const_cast<Hooks*>(&hooks)}, hooks);
}

}  // namespace tutti::matrix
