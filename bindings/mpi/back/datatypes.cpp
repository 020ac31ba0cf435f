// SPDX-License-Identifier: BSD-3-Clause
// Datatypes become layouts by following how they were made; those that cannot be followed (darrays, 64-bit counts) by
// asking MPI_Pack where it takes each byte from.
#include "datatypes.hpp"

#include <algorithm>
#include <mutex>
#include <numeric>
#include <optional>
#include <unordered_map>
#include <utility>
#include <vector>

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

/// How a datatype was made.
struct Recipe {
  int combiner = MPI_COMBINER_NAMED;
  std::vector<int> integers;
  std::vector<MPI_Aint> addresses;
  std::vector<MPI_Datatype> types;
};

void free_parts(Recipe& recipe) {
  for (MPI_Datatype& part : recipe.types) {
    int integers = 0, addresses = 0, types = 0, combiner = 0;
    if (real.Type_get_envelope(part, &integers, &addresses, &types, &combiner) == MPI_SUCCESS &&
        combiner != MPI_COMBINER_NAMED)
      real.Type_free(&part);
  }
}

std::vector<Count> wide(const int* numbers, std::size_t count) { return {numbers, numbers + count}; }

Layout flatten(MPI_Datatype type);

Layout blocks(const Layout& part, std::span<const Count> counts, const MPI_Aint* offsets) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < counts.size(); ++i)
    if (counts[i] > 0) parts.push_back({static_cast<Count>(offsets[i]), part.repeat(counts[i])});
  return Layout::mixed(parts);
}

Layout structure(const Recipe& recipe) {
  std::vector<Part> parts;
  const auto count = static_cast<std::size_t>(recipe.integers[0]);
  for (std::size_t i = 0; i < count; ++i)
    if (recipe.integers[i + 1] > 0)
      parts.push_back(
          {static_cast<Count>(recipe.addresses[i]), flatten(recipe.types[i]).repeat(recipe.integers[i + 1])});
  return Layout::mixed(parts);
}

Layout subarray(const Layout& part, const std::vector<int>& numbers) {
  const auto n = static_cast<std::size_t>(numbers[0]);
  auto whole = wide(&numbers[1], n), some = wide(&numbers[1 + n], n), first = wide(&numbers[1 + 2 * n], n);
  if (numbers[1 + 3 * n] == MPI_ORDER_FORTRAN) {
    std::reverse(whole.begin(), whole.end());
    std::reverse(some.begin(), some.end());
    std::reverse(first.begin(), first.end());
  }
  return part.box(whole, some, first);
}

/// The layout of a recipe that is understood; its lower bound and extent are not MPI's yet.
std::optional<Layout> follow(const Recipe& recipe) {
  const auto& n = recipe.integers;
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
      return flatten(recipe.types[0]).strided_bytes(n[0], n[1], static_cast<Count>(recipe.addresses[0]));
    case MPI_COMBINER_INDEXED:
      return flatten(recipe.types[0]).indexed(wide(&n[1], count), wide(&n[1 + count], count));
    case MPI_COMBINER_INDEXED_BLOCK:
      return flatten(recipe.types[0]).indexed(std::vector<Count>(count, n[1]), wide(&n[2], count));
    case MPI_COMBINER_HINDEXED:
      return blocks(flatten(recipe.types[0]), wide(&n[1], count), recipe.addresses.data());
    case MPI_COMBINER_HINDEXED_BLOCK:
      return blocks(flatten(recipe.types[0]), std::vector<Count>(count, n[1]), recipe.addresses.data());
    case MPI_COMBINER_STRUCT:
      return structure(recipe);
    case MPI_COMBINER_SUBARRAY:
      return subarray(flatten(recipe.types[0]), n);
    default:
      return std::nullopt;
  }
}

/// Where MPI_Pack takes each byte from: memory whose bytes are the digits of their own places, a digit at a time.
Layout probe(MPI_Datatype type, Count size, Count begin, Count span) {
  std::vector<std::uint8_t> memory(static_cast<std::size_t>(span)), stream(static_cast<std::size_t>(size) + 64);
  std::vector<Count> places(static_cast<std::size_t>(size), 0);
  MPI_Datatype copy = MPI_DATATYPE_NULL;  // a part of another type need not be committed
  real.Type_dup(type, &copy);
  real.Type_commit(&copy);
  for (int digit = 0; digit < 8 && (digit == 0 || (span - 1) >> (8 * digit) != 0); ++digit) {
    for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::uint8_t>(i >> (8 * digit));
    int position = 0;
    real.Pack(memory.data() - begin, 1, copy, stream.data(), static_cast<int>(stream.size()), &position, MPI_COMM_SELF);
    for (std::size_t i = 0; i < places.size(); ++i) places[i] |= static_cast<Count>(stream[i]) << (8 * digit);
  }
  real.Type_free(&copy);
  std::vector<Count> counts, offsets;
  for (const Count place : places) {
    if (!offsets.empty() && offsets.back() + counts.back() == place) {
      ++counts.back();
    } else {
      offsets.push_back(place);
      counts.push_back(1);
    }
  }
  return Layout::bytes(1).indexed(counts, offsets).moved(begin);
}

Layout flatten(MPI_Datatype type) {
  MPI_Count size = 0, lower = 0, extent = 0, true_lower = 0, true_extent = 0;
  real.Type_size_x(type, &size);
  real.Type_get_extent_x(type, &lower, &extent);
  real.Type_get_true_extent_x(type, &true_lower, &true_extent);
  if (size == 0) return Layout::bytes(0).resized(lower, extent);
  if (size == true_extent) {
    // Dense but for what a derived one may permute.
    int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
    real.Type_get_envelope(type, &integers, &addresses, &types, &combiner);
    if (combiner == MPI_COMBINER_NAMED) return Layout::bytes(size).moved(true_lower).resized(lower, extent);
  }
  Recipe recipe;
  int integers = 0, addresses = 0, types = 0;
  std::optional<Layout> followed;
  if (real.Type_get_envelope(type, &integers, &addresses, &types, &recipe.combiner) == MPI_SUCCESS &&
      recipe.combiner != MPI_COMBINER_NAMED) {
    recipe.integers.resize(static_cast<std::size_t>(integers) + 1);
    recipe.addresses.resize(static_cast<std::size_t>(addresses) + 1);
    recipe.types.resize(static_cast<std::size_t>(types));
    if (real.Type_get_contents(type, integers, addresses, types, recipe.integers.data(), recipe.addresses.data(),
                               recipe.types.data()) == MPI_SUCCESS) {
      followed = follow(recipe);
      free_parts(recipe);
    }
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
  int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
  real.Type_get_envelope(type, &integers, &addresses, &types, &combiner);
  if (combiner == MPI_COMBINER_NAMED) return;
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
  if (real.Type_size_x(type, &size) != MPI_SUCCESS || size < 0) return nullptr;
  auto made = describe(type);
  watch_type(type);
  const std::lock_guard lock(all.lock);
  // Another thread may have found it meanwhile, and use it.
  return all.by_handle.try_emplace(number_of(type), std::move(made)).first->second.get();
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
