// SPDX-License-Identifier: BSD-3-Clause
// The problems that every registered algorithm must solve, and what is needed to check one.
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "../graphs.hpp"
#include "base/random.hpp"
#include "collectives/collective.hpp"
#include "plan/checker.hpp"

namespace tutti::collectives {

inline bool has_in_place(Kind kind) { return kind != Kind::barrier && kind != Kind::bcast && !has_neighbors(kind); }

/// Every rank has blocks for all, and combines them: a count means more steps than elsewhere.
inline bool reduces_blocks(Kind kind) { return kind == Kind::reduce_scatter || kind == Kind::reduce_scatter_block; }

/// Long enough for segments and pieces. Leaders of hosts have everybody's blocks on their hands: with longer ones,
/// random problems alone took the sweep most of a minute.
inline Count long_count(const Algorithm& algorithm) {
  const Kind kind = algorithm.kind;
  const bool of_all = kind == Kind::allgather || kind == Kind::allgatherv || kind == Kind::alltoall;
  return reduces_blocks(kind) ? 200 : algorithm.needs.hosts && of_all ? 100 : 1000;
}

/// Counts of a v-form around `count`, some of them 0; the same for the same problem.
inline std::vector<Count> counts_around(const Problem& problem) {
  const auto size = static_cast<std::size_t>(problem.size);
  std::vector<Count> counts(is_matrix(problem.kind) ? size * size : size);
  for (std::size_t i = 0; i < counts.size(); ++i)
    counts[i] = (i + static_cast<std::size_t>(problem.count)) % 3 == 1
                    ? 0
                    : (problem.count + static_cast<Count>(i * 5)) % (problem.count + 2);
  return counts;
}

/// `root`: of a rooted collective; for one along edges, which graph.
inline Problem problem_of(Kind kind, Rank size, Rank root, Count count, bool in_place, bool commutative) {
  Problem problem{
      .kind = kind, .size = size, .root = root, .count = count, .in_place = in_place, .commutative = commutative};
  if (get(kind).varying) {
    problem.counts = counts_around(problem);
    problem.gap = count % 3;
  }
  if (has_neighbors(kind)) give_edges(problem, std::exchange(problem.root, 0));
  return problem;
}

/// How ranks may lie on hosts.
enum class Deal {
  blocks,  ///< even blocks, the last one shorter
  steps,   ///< blocks of 1, 2, 3, ... ranks
  around,  ///< dealt one by one
  mixed    ///< every third on the next host, the others on the same
};
inline constexpr int deals = 4;

/// Hosts of `size` ranks, numbered in the order of their lowest ranks; at most `most` hosts.
inline std::vector<Rank> deal(Rank size, Rank most, Deal how) {
  std::vector<Rank> hosts;
  const Rank block = (size + most - 1) / most;
  for (Rank rank = 0, next = 0, left = 1, length = 1; rank < size; ++rank) {
    if (how == Deal::blocks) hosts.push_back(rank / block);
    if (how == Deal::around) hosts.push_back(rank % most);
    if (how == Deal::steps) {
      if (left-- == 0) left = length++, next = std::min(next + 1, most - 1);
      hosts.push_back(next);
    }
    if (how == Deal::mixed) {
      if (rank % 3 == 2) next = (next + 1) % most;
      hosts.push_back(next);
    }
  }
  return hosts;
}

inline std::string describe(const Algorithm& algorithm, const Problem& problem) {
  std::string hosts;
  for (const Rank host : problem.hosts) hosts += (hosts.empty() ? " hosts=" : ",") + std::to_string(host);
  return std::string(name_of(problem.kind)) + "/" + std::string(algorithm.name) + " P=" + std::to_string(problem.size) +
         " root=" + std::to_string(problem.root) + " count=" + std::to_string(problem.count) +
         (problem.in_place ? " in place" : "") + (problem.commutative ? "" : " not commutative") +
         (problem.lattice.dims.empty() ? "" : " grid of " + std::to_string(problem.lattice.dims.size())) +
         " segment=" + std::to_string(problem.parameters.segment) +
         " radix=" + std::to_string(problem.parameters.radix) +
         " least segment=" + std::to_string(problem.least_segment) + hosts;
}

/// All ranks' plans; none when the algorithm does not apply.
inline std::vector<plan::Plan> build(const Algorithm& algorithm, const Problem& problem) {
  const Shapes shapes(problem);
  std::vector<plan::Plan> plans;
  for (Rank rank = 0; rank < problem.size; ++rank) {
    if (!applies(algorithm, shapes[rank], true)) return {};
    plans.push_back(algorithm.build(shapes[rank]));
  }
  return plans;
}

/// Gives a problem of an algorithm for several hosts one of some ways to place the ranks.
inline Problem placed(const Algorithm& algorithm, Problem problem, int number) {
  if (!algorithm.needs.hosts) return problem;
  const bool in_order =
      algorithm.needs.contiguous || (algorithm.needs.contiguous_or_commutative && !problem.commutative);
  const Rank most = std::clamp<Rank>(static_cast<Rank>(2 + number / deals % 5), 1, problem.size);
  const Deal how = algorithm.needs.even_hosts && number % 3 > 0 ? Deal::blocks : static_cast<Deal>(number % deals);
  problem.hosts = deal(problem.size, most, how);
  if (in_order) std::ranges::sort(problem.hosts);
  return problem;
}

/// Calls function(problem) for all roots, counts and forms of one algorithm at one size. Where it is for several hosts,
/// each problem has the next of some ways to place the ranks, and of the large groups one in four is enough: random
/// ones come on top.
template <class Function>
void for_each_problem(const Algorithm& algorithm, Rank size, Function function) {
  const Collective& collective = get(algorithm.kind);
  if (algorithm.needs.hosts && size > 20 && size % 4 != 1) return;
  std::vector<Rank> roots = {0};
  if (has_neighbors(algorithm.kind))
    for (Rank variant = 1; variant < graph_variants; ++variant) roots.push_back(variant);
  else if (collective.rooted && size > 17)
    roots = {0, 1, size / 2, size - 1};
  else if (collective.rooted)
    for (Rank root = 1; root < size; ++root) roots.push_back(root);
  std::vector<Count> counts = {0, 1, size - 1, size, size + 1, long_count(algorithm)};
  if (algorithm.kind == Kind::barrier) counts = {0};
  std::ranges::sort(counts);
  counts.erase(std::unique(counts.begin(), counts.end()), counts.end());
  int number = 0;
  for (const Rank root : roots)
    for (const Count count : counts)
      for (const bool in_place : {false, true})
        for (const bool commutative : {true, false}) {
          if (in_place && !has_in_place(algorithm.kind)) continue;
          if (!commutative && !collective.reduces) continue;
          function(placed(algorithm, problem_of(algorithm.kind, size, root, count, in_place, commutative), number++));
        }
}

/// Up to 16 hosts, of any sizes.
inline std::vector<Rank> random_hosts(Rank size, base::Random& random) {
  const auto most = static_cast<Rank>(1 + random.below(static_cast<std::uint64_t>(std::min<Rank>(size, 16))));
  if (random.once_in(2)) return deal(size, most, static_cast<Deal>(random.below(deals)));
  std::vector<Rank> hosts;
  for (Rank rank = 0, next = 0; rank < size; ++rank) {
    hosts.push_back(static_cast<Rank>(random.below(static_cast<std::uint64_t>(std::min(next + 1, most)))));
    next = std::max(next, hosts.back() + 1);
  }
  if (random.once_in(2)) std::ranges::sort(hosts);
  return hosts;
}

/// A problem drawn at random, its parameters too.
inline Problem random_problem(const Algorithm& algorithm, Rank most, base::Random& random) {
  const Collective& collective = get(algorithm.kind);
  const auto size = static_cast<Rank>(1 + random.below(static_cast<std::uint64_t>(most)));
  const std::uint64_t roots = collective.rooted               ? static_cast<std::uint64_t>(size)
                              : has_neighbors(algorithm.kind) ? 64
                                                              : 1;
  const auto root = static_cast<Rank>(random.below(roots));
  const std::uint64_t large = long_count(algorithm) < 1000 ? 100 : 3000;
  Problem problem =
      problem_of(algorithm.kind, size, root, static_cast<Count>(random.below(random.once_in(2) ? 40 : large)),
                 has_in_place(algorithm.kind) && random.once_in(2), !collective.reduces || random.once_in(2));
  problem.cell.small = static_cast<Count>(1 + random.below(64));
  problem.cell.medium = problem.cell.small + static_cast<Count>(random.below(64));
  problem.cell.large = static_cast<Count>(64 + random.below(512));
  problem.parameters.segment = random.once_in(2) ? 0 : static_cast<Count>(16 + random.below(1000));
  problem.parameters.radix = random.once_in(2) ? 0 : static_cast<int>(2 + random.below(7));
  if (algorithm.needs.hosts) problem.hosts = random_hosts(problem.size, random);
  if (random.once_in(2)) problem.least_segment = static_cast<Count>(1 + random.below(100));
  return problem;
}

}  // namespace tutti::collectives
