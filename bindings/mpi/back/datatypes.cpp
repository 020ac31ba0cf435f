// SPDX-License-Identifier: BSD-3-Clause
// Datatypes become layouts by following how they were made; those that cannot be followed (darrays, pairs) by asking
// MPI_Pack where it takes each byte from.
#include "datatypes.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

#include "failure.hpp"
#include "real.hpp"

namespace tutti::mpi {
namespace {

struct Types {
  std::mutex lock;
  std::unordered_map<std::uintptr_t, std::unique_ptr<const Datatype>> by_handle;
};

/// What this thread asked for last.
struct LastType {
  std::uint64_t generation = 0;
  MPI_Datatype handle = MPI_DATATYPE_NULL;
  const Datatype* type = nullptr;
};
thread_local LastType last_type;

Types& types() {
  static Types& all = *std::make_unique<Types>().release();  // kept for ever: datatypes may be freed after main
  return all;
}

int forget_type(MPI_Datatype type, int, void*, void*) {
  const std::lock_guard lock(types().lock);
  handle_generation.fetch_add(1, std::memory_order_relaxed);
  types().by_handle.erase(number_of(type));
  return MPI_SUCCESS;
}

/// How a datatype was made, and how much there is to say of it.
struct Envelope {
  MPI_Count integers = 0, addresses = 0, counts = 0, types = 0;
  int combiner = MPI_COMBINER_NAMED;
};

/// Types of MPI 4's constructors, whose counts have 64 bits, are an error to the older functions.
Envelope envelope_of(MPI_Datatype type) {
  Envelope made;
  if (real.Type_get_envelope_c != nullptr) {
    if (real.Type_get_envelope_c(type, &made.integers, &made.addresses, &made.counts, &made.types, &made.combiner) !=
        MPI_SUCCESS)
      return {};
    return made;
  }
  int integers = 0, addresses = 0, types = 0;
  if (real.Type_get_envelope(type, &integers, &addresses, &types, &made.combiner) != MPI_SUCCESS) return {};
  made.integers = integers;
  made.addresses = addresses;
  made.types = types;
  return made;
}

bool is_predefined(MPI_Datatype type) { return envelope_of(type).combiner == MPI_COMBINER_NAMED; }

/// What a datatype was made of.
struct Recipe {
  int combiner = MPI_COMBINER_NAMED;
  /// All its numbers in the order in which its constructor of C takes them; a subarray's order of storage is the last.
  std::vector<Count> numbers;
  std::vector<MPI_Datatype> types;
};

/// None where the MPI does not say.
std::optional<Recipe> recipe_of(MPI_Datatype type, const Envelope& envelope) {
  // None of these arrays may be absent, even those with nothing in them.
  const auto room = [](MPI_Count count) { return static_cast<std::size_t>(count) + 1; };
  std::vector<int> integers(room(envelope.integers));
  std::vector<MPI_Aint> addresses(room(envelope.addresses));
  std::vector<MPI_Count> counts(room(envelope.counts));
  Recipe made{envelope.combiner, {}, std::vector<MPI_Datatype>(room(envelope.types))};
  const int code =
      real.Type_get_contents_c != nullptr
          ? real.Type_get_contents_c(type, envelope.integers, envelope.addresses, envelope.counts, envelope.types,
                                     integers.data(), addresses.data(), counts.data(), made.types.data())
          : real.Type_get_contents(type, static_cast<int>(envelope.integers), static_cast<int>(envelope.addresses),
                                   static_cast<int>(envelope.types), integers.data(), addresses.data(),
                                   made.types.data());
  if (code != MPI_SUCCESS) return std::nullopt;
  integers.pop_back();
  addresses.pop_back();
  counts.pop_back();
  made.types.pop_back();
  // Counts of 64 bits take the place of integers and of addresses, in the same order. The two integers that a subarray
  // keeps stand around them.
  const auto behind_first = integers.begin() + (integers.empty() ? 0 : 1);
  made.numbers.assign(integers.begin(), behind_first);
  made.numbers.insert(made.numbers.end(), counts.begin(), counts.end());
  made.numbers.insert(made.numbers.end(), behind_first, integers.end());
  made.numbers.insert(made.numbers.end(), addresses.begin(), addresses.end());
  return made;
}

/// Those of Fortran's with a given precision are predefined, too, though they have a combiner of their own.
bool may_be_freed(MPI_Datatype type) {
  switch (envelope_of(type).combiner) {
    case MPI_COMBINER_NAMED:
    case MPI_COMBINER_F90_REAL:
    case MPI_COMBINER_F90_COMPLEX:
    case MPI_COMBINER_F90_INTEGER:
      return false;
    default:
      return true;
  }
}

void free_parts(Recipe& recipe) {
  for (MPI_Datatype& part : recipe.types)
    if (may_be_freed(part)) real.Type_free(&part);
}

Layout flatten(MPI_Datatype type);

using Numbers = std::span<const Count>;

Layout blocks(const Layout& part, Numbers counts, Numbers offsets) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0) parts.push_back({offsets[i], part.repeat(counts[i])});
  return Layout::mixed(parts);
}

Layout structure(std::span<const MPI_Datatype> types, Numbers counts, Numbers offsets) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0) parts.push_back({offsets[i], flatten(types[i]).repeat(counts[i])});
  return Layout::mixed(parts);
}

Layout subarray(const Layout& part, Numbers numbers) {
  const auto n = static_cast<std::size_t>(numbers[0]);
  const auto from = [&](std::size_t first) { return numbers.begin() + static_cast<std::ptrdiff_t>(first); };
  std::vector<Count> whole(from(1), from(1 + n)), some(from(1 + n), from(1 + 2 * n));
  std::vector<Count> first(from(1 + 2 * n), from(1 + 3 * n));
  if (numbers[1 + 3 * n] == MPI_ORDER_FORTRAN) {
    std::reverse(whole.begin(), whole.end());
    std::reverse(some.begin(), some.end());
    std::reverse(first.begin(), first.end());
  }
  return part.box(whole, some, first);
}

/// The layout of a recipe that is understood; its lower bound and extent are not MPI's yet.
std::optional<Layout> follow(const Recipe& recipe) {
  const Numbers n = recipe.numbers;
  const auto count = n.empty() ? std::size_t{0} : static_cast<std::size_t>(n[0]);
  switch (recipe.combiner) {
    case MPI_COMBINER_DUP:
    case MPI_COMBINER_RESIZED:
      return flatten(recipe.types[0]);
    case MPI_COMBINER_CONTIGUOUS:
      return flatten(recipe.types[0]).repeat(n[0]);
    case MPI_COMBINER_VECTOR:
      return flatten(recipe.types[0]).strided(n[0], n[1], n[2]);
    case MPI_COMBINER_HVECTOR:
      return flatten(recipe.types[0]).strided_bytes(n[0], n[1], n[2]);
    case MPI_COMBINER_INDEXED:
      return flatten(recipe.types[0]).indexed(n.subspan(1, count), n.subspan(1 + count, count));
    case MPI_COMBINER_INDEXED_BLOCK:
      return flatten(recipe.types[0]).indexed(std::vector<Count>(count, n[1]), n.subspan(2, count));
    case MPI_COMBINER_HINDEXED:
      return blocks(flatten(recipe.types[0]), n.subspan(1, count), n.subspan(1 + count, count));
    case MPI_COMBINER_HINDEXED_BLOCK:
      return blocks(flatten(recipe.types[0]), std::vector<Count>(count, n[1]), n.subspan(2, count));
    case MPI_COMBINER_STRUCT:
      return structure(recipe.types, n.subspan(1, count), n.subspan(1 + count, count));
    case MPI_COMBINER_SUBARRAY:
      return subarray(flatten(recipe.types[0]), n);
    default:
      return std::nullopt;
  }
}

/// Bytes of a stream that lie side by side in memory.
struct Run {
  Count place = 0, count = 0;
};

/// Runs whose places are known modulo 256 to the power of `digit`, with one digit more, which each byte of the stream
/// says of itself: where they fall apart. There are never more than the layout has.
std::vector<Run> refined(const std::vector<Run>& runs, const std::vector<std::uint8_t>& stream, int digit) {
  const Count known = (Count{1} << 8 * digit) - 1, all = (Count{1} << 8 * (digit + 1)) - 1;
  std::vector<Run> finer;
  std::size_t at = 0;
  for (const Run& run : runs)
    for (Count i = 0; i < run.count; ++i, ++at) {
      const Count place = ((run.place + i) & known) | static_cast<Count>(stream[at]) << 8 * digit;
      if (!finer.empty() && ((finer.back().place + finer.back().count) & all) == place)
        ++finer.back().count;
      else
        finer.push_back({place, 1});
    }
  return finer;
}

/// Where MPI_Pack takes each byte from: memory whose bytes are the digits of their own places, a digit at a time.
Layout probe(MPI_Datatype type, Count size, Count begin, Count span) {
  constexpr int most_digits = 7;  // no memory is larger
  std::vector<std::uint8_t> memory(static_cast<std::size_t>(span)), stream(static_cast<std::size_t>(size) + 64);
  MPI_Datatype copy = MPI_DATATYPE_NULL;  // a part of another type need not be committed
  real.Type_dup(type, &copy);
  real.Type_commit(&copy);
  std::vector<Run> runs{{0, size}};
  for (int digit = 0; digit < most_digits && (digit == 0 || (span - 1) >> (8 * digit) != 0); ++digit) {
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::uint8_t>(i >> (8 * digit));
    int position = 0;
    real.Pack(memory.data() - begin, 1, copy, stream.data(), static_cast<int>(stream.size()), &position, MPI_COMM_SELF);
    runs = refined(runs, stream, digit);
  }
  real.Type_free(&copy);
  std::vector<Count> counts, offsets;
  for (const Run& run : runs) {
    offsets.push_back(run.place);
    counts.push_back(run.count);
  }
  return Layout::bytes(1).indexed(counts, offsets).moved(begin);
}

Layout flatten(MPI_Datatype type) {
  MPI_Count size = 0, lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  real.Type_size_x(type, &size);
  real.Type_get_extent_x(type, &lower, &extent);
  real.Type_get_true_extent_x(type, &true_lower, &true_extent);
  if (size == 0) return Layout::bytes(0).resized(lower, extent);
  const Envelope envelope = envelope_of(type);
  std::optional<Layout> followed;
  if (envelope.combiner != MPI_COMBINER_NAMED) {
    if (std::optional<Recipe> recipe = recipe_of(type, envelope)) {
      followed = follow(*recipe);
      free_parts(*recipe);
    }
  } else if (size == true_extent) {  // dense; what is derived may permute
    followed = Layout::bytes(size).moved(true_lower);
  }
  const Layout found = followed && followed->size() == size ? *followed : probe(type, size, true_lower, true_extent);
  return found.resized(lower, extent);
}

std::unique_ptr<const Datatype> describe(MPI_Datatype type) {
  auto made = std::make_unique<Datatype>();
  made->layout = flatten(type);
  made->size = made->layout.size();
  made->extent = made->layout.extent();
  made->begin = made->layout.begin();
  made->dense = made->layout.contiguous() && made->size == made->extent;
  return made;
}

/// So that it is forgotten with the datatype; predefined ones are never freed.
void watch_type(MPI_Datatype type) {
  if (is_predefined(type)) return;
  static const int keyval = [] {
    int made = MPI_KEYVAL_INVALID;
    real.Type_create_keyval(MPI_TYPE_NULL_COPY_FN, &forget_type, &made, nullptr);
    return made;
  }();
  real.Type_set_attr(type, keyval, nullptr);
}

const Datatype* find(MPI_Datatype type) {
  if (type == MPI_DATATYPE_NULL) return nullptr;
  Types& all = types();
  {
    const std::lock_guard lock(all.lock);
    const auto found = all.by_handle.find(number_of(type));
    if (found != all.by_handle.end()) return found->second.get();
  }
  MPI_Count size = MPI_UNDEFINED;
  {
    const Unraised unraised;
    if (real.Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return nullptr;
  }
  auto made = describe(type);
  const Datatype* known = nullptr;
  bool is_first = false;
  {
    const std::lock_guard lock(all.lock);
    const auto [at, fresh] = all.by_handle.try_emplace(number_of(type), std::move(made));
    known = at->second.get();
    is_first = fresh;
  }
  // Another thread may have found it meanwhile, and use it: to watch it twice would make the MPI forget the first time.
  if (is_first) watch_type(type);
  return known;
}

}  // namespace

const Datatype* datatype(MPI_Datatype type) {
  const std::uint64_t generation = handle_generation.load(std::memory_order_relaxed);
  if (last_type.generation == generation && last_type.handle == type) return last_type.type;
  const Datatype* found = find(type);
  if (found != nullptr) last_type = {generation, type, found};
  return found;
}

}  // namespace tutti::mpi
