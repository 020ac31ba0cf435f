// SPDX-License-Identifier: BSD-3-Clause
#include "scenario.hpp"

#include <algorithm>
#include <cstdlib>

#include "base/names.hpp"
#include "base/sanitizers.hpp"

namespace tutti::faults {
namespace {

constexpr std::uint64_t share = base::sanitized ? 7 : 1;

constexpr Rank smallest = 2, sizes = 4;
constexpr int paths = 3;

std::vector<Count> counts(Path path, Rank lent) {
  switch (path) {
    case Path::board:
      if (lent != 0) return {6000};  // several that stay where they are
      return {1, 700};               // one cell, and several large ones
    case Path::messages:
      return {1, 3000};  // one record of the ring, and fragments
    default:
      return {20'000};  // large enough that freeing it unmaps it
  }
}

}  // namespace

Scenario::Scenario(std::uint64_t from) : seed(from) {
  // Kinds, paths and sizes in turn, so that a few hundred seeds meet all of them; the rest by chance.
  kind = static_cast<Kind>(seed % kinds);
  path = static_cast<Path>(seed / kinds % paths);
  base::Random random(base::mix(seed + 1'000'000));
  size = smallest + static_cast<Rank>(random.below(sizes));
  victim = static_cast<Rank>(random.below(static_cast<std::uint64_t>(size)));
  blow = static_cast<Blow>(random.below(3));
  if (blow == Blow::inside_reduction && !collectives::get(kind).reduces) blow = Blow::between_start_and_wait;
  step = random.below(blow == Blow::inside_reduction ? 100 : 12);
  delay = random.below(20'000);
  obituary = random.once_in(2);
  lent = static_cast<Rank>(random.below(3));
}

std::string Scenario::text() const {
  constexpr const char* path_names[] = {"board", "messages", "single copy"};
  constexpr const char* during_names[] = {"collectives", "split", "start"};
  constexpr const char* blow_names[] = {"from outside", "between start and wait", "inside a reduction"};
  return "seed " + std::to_string(seed) + ": " + std::string(name_of(kind)) + " by " +
         path_names[static_cast<int>(path)] + ", P=" + std::to_string(size) + ", during " +
         during_names[static_cast<int>(during)] + ", rank " + std::to_string(victim) + " is struck " +
         blow_names[static_cast<int>(blow)] + " at step " + std::to_string(step) + " or after " +
         std::to_string(delay) + " us" + (obituary ? ", with an obituary" : "") +
         (lent == 0 ? "" : ", buffers in memory of the host on every rank that " + std::to_string(lent) + " divides");
}

std::vector<matrix::Case> Scenario::cases() const {
  std::vector<matrix::Case> list =
      matrix::cases(size, counts(path, lent), size, path == Path::board, path == Path::single_copy);
  std::erase_if(list, [this](const matrix::Case& one) {
    const collectives::Needs& needs = one.algorithm->needs;
    const bool through_board = needs.board && !needs.single_copy;
    return one.problem.kind != kind || (path == Path::messages && through_board);
  });
  // Where the path has algorithms of its own, the others are left to the other paths.
  const auto own = [this](const matrix::Case& one) {
    const collectives::Needs& needs = one.algorithm->needs;
    return path == Path::board ? needs.board && !needs.single_copy : path == Path::single_copy && needs.single_copy;
  };
  if (seed / (kinds * paths) % 2 == 0 && std::any_of(list.begin(), list.end(), own))
    std::erase_if(list, [&own](const matrix::Case& one) { return !own(one); });
  return matrix::lent(std::move(list), lent);
}

std::vector<std::uint64_t> seeds(std::uint64_t first, std::uint64_t count) {
  if (const char* const alone = std::getenv("TUTTI_SEED")) return {std::strtoull(alone, nullptr, 10)};
  if (const char* const base = std::getenv("TUTTI_BASE")) first += std::strtoull(base, nullptr, 10);
  std::vector<std::uint64_t> list;
  for (std::uint64_t seed = first; seed < first + count; seed += share) list.push_back(seed);
  return list;
}

std::vector<matrix::Case> quick_cases(Rank size, bool board) {
  return matrix::cases(size, {5}, 1, board && size > 1, false);
}

}  // namespace tutti::faults
