// SPDX-License-Identifier: BSD-3-Clause
// Every registered algorithm keeps its collective's contract: P = 1..64, all roots up to P = 17, small and large
// counts, in place and not; random shapes beyond; and sequences of everything on the same rings.
#include <gtest/gtest.h>

#include <atomic>
#include <map>
#include <mutex>
#include <random>
#include <thread>

#include "problems.hpp"

namespace tutti::collectives {
namespace {

/// Collects what failed, the first few of each algorithm.
class Findings {
 public:
  void add(const Algorithm& algorithm, const std::string& text) {
    const std::scoped_lock lock(mutex_);
    if (++failed_[&algorithm] <= 2) ADD_FAILURE() << text;
  }
  void count(std::uint64_t checks, std::uint64_t steps) {
    checks_ += checks;
    steps_ += steps;
  }
  void report() {
    for (const auto& [algorithm, times] : failed_)
      ADD_FAILURE() << name_of(algorithm->kind) << "/" << algorithm->name << " failed " << times << " times";
    std::printf("%llu checks, %llu steps\n", static_cast<unsigned long long>(checks_),
                static_cast<unsigned long long>(steps_));
    EXPECT_GT(checks_, 0u);
  }

 private:
  std::mutex mutex_;
  std::map<const Algorithm*, std::uint64_t> failed_;
  std::atomic<std::uint64_t> checks_ = 0, steps_ = 0;
};

/// Runs function(i, checker) for i in [0, count) on two threads.
template <class Function>
void on_two_threads(std::size_t count, Function function) {
  std::atomic<std::size_t> next = 0;
  const auto work = [&] {
    plan::Checker checker;
    for (std::size_t i = next++; i < count; i = next++) function(i, checker);
  };
  std::thread other(work);
  work();
  other.join();
}

void check_problem(const Algorithm& algorithm, const Problem& problem, plan::Checker& checker, Findings& findings) {
  std::uint64_t steps = 0;
  try {
    const std::vector<plan::Plan> plans = build(algorithm, problem);
    if (plans.empty()) return;
    for (const plan::Plan& plan : plans) steps += plan.steps.size();
    const plan::Verdict verdict = checker.check(plans, get(problem.kind).contract(problem), board_of(problem));
    if (!verdict.ok) findings.add(algorithm, describe(algorithm, problem) + ": " + verdict.text);
  } catch (const std::exception& error) {
    findings.add(algorithm, describe(algorithm, problem) + ": " + error.what());
  }
  findings.count(1, steps);
}

/// Every algorithm in groups of up to `most`. problems(algorithm, size, check) calls check(problem) for each of them.
template <class Problems>
void check_sizes(Rank most, Problems problems) {
  const auto algorithms = collectives::algorithms();
  Findings findings;
  on_two_threads(algorithms.size() * static_cast<std::size_t>(most), [&](std::size_t i, plan::Checker& checker) {
    // Large groups first, so that both threads end together.
    const auto size = most - static_cast<Rank>(i / algorithms.size());
    const Algorithm& algorithm = algorithms[i % algorithms.size()];
    problems(algorithm, size, [&](const Problem& problem) { check_problem(algorithm, problem, checker, findings); });
  });
  findings.report();
}

TEST(CheckSweep, EveryAlgorithmKeepsItsContract) {
  check_sizes(
      64, [](const Algorithm& algorithm, Rank size, const auto& check) { for_each_problem(algorithm, size, check); });
}

TEST(CheckSweep, EveryAlgorithmTakesRandomShapesAndParameters) {
  const std::uint64_t seed = std::random_device()();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  SCOPED_TRACE("seed " + std::to_string(seed));
  const auto algorithms = collectives::algorithms();
  Findings findings;
  on_two_threads(algorithms.size(), [&](std::size_t i, plan::Checker& checker) {
    base::Random random(seed + i * 7919);
    for (int n = 0; n < 60; ++n)
      check_problem(algorithms[i], random_problem(algorithms[i], n % 10 == 0 ? 100 : 24, random), checker, findings);
  });
  findings.report();
}

/// Segments far shorter than any that pay, and every radix up to beyond the number of ranks.
TEST(CheckSweep, EveryAlgorithmTakesShortSegmentsAndAnyRadix) {
  check_sizes(17, [](const Algorithm& algorithm, Rank size, const auto& check) {
    const Collective& collective = get(algorithm.kind);
    for (int radix = 1; radix <= size + 1; ++radix)
      for (const Count count : {Count{0}, Count{1}, size * Count{3} + 2})
        for (const bool other : {false, true}) {
          const bool commutative = !collective.reduces || algorithm.needs.commutative || other;
          Problem problem = problem_of(algorithm.kind, size, collective.rooted ? size / 2 : 0, count,
                                       has_in_place(algorithm.kind) && radix % 2 == 0, commutative);
          problem.parameters = {.segment = 1 + radix % 4, .radix = radix};
          check(problem);
        }
  });
}

/// Groups of up to 64 ranks on up to 16 hosts, dealt in any way.
TEST(CheckSweep, EveryAlgorithmTakesAnyHosts) {
  const std::uint64_t seed = std::random_device()();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  SCOPED_TRACE("seed " + std::to_string(seed));
  std::vector<const Algorithm*> algorithms;
  for (const Algorithm& algorithm : collectives::algorithms())
    if (algorithm.needs.hosts) algorithms.push_back(&algorithm);
  Findings findings;
  on_two_threads(algorithms.size(), [&](std::size_t i, plan::Checker& checker) {
    base::Random random(seed + i * 7919);
    for (int n = 0; n < 500; ++n)
      check_problem(*algorithms[i], random_problem(*algorithms[i], n % 5 == 0 ? 64 : 16, random), checker, findings);
  });
  findings.report();
}

/// On several hosts, of which some lack what an algorithm takes of the rings, those for hosts and those for any ranks
/// follow each other.
TEST(CheckSweep, AlgorithmsFollowEachOtherOnSeveralHosts) {
  const std::uint64_t seed = std::random_device()();
  std::printf("seed %llu\n", static_cast<unsigned long long>(seed));
  SCOPED_TRACE("seed " + std::to_string(seed));
  const auto algorithms = collectives::algorithms();
  Findings findings;
  on_two_threads(500, [&](std::size_t i, plan::Checker& checker) {
    base::Random random(seed + i * 7919);
    const auto size = static_cast<Rank>(2 + random.below(8));
    Problem last{.size = size, .hosts = random_hosts(size, random)};
    std::vector<std::vector<plan::Plan>> operations;
    while (operations.size() < 24) {
      const Algorithm& algorithm = algorithms[random.below(algorithms.size())];
      if (has_neighbors(algorithm.kind) || (!algorithm.needs.hosts && random.once_in(2))) continue;
      const bool rooted = get(algorithm.kind).rooted;
      const auto root = static_cast<Rank>(rooted ? random.below(static_cast<std::uint64_t>(size)) : 0);
      const auto count = static_cast<Count>(random.below(random.once_in(2) ? 8 : 80));
      Problem problem = problem_of(algorithm.kind, size, root, count, false, true);
      problem.hosts = last.hosts;
      problem.parameters.segment = static_cast<Count>(random.below(8));
      std::vector<plan::Plan> next = build(algorithm, problem);
      if (!next.empty()) operations.push_back(std::move(next));
    }
    const plan::Verdict verdict = checker.check_sequence(operations, board_of(last));
    findings.count(1, 0);
    if (!verdict.ok) findings.add(algorithms[0], "hosts " + describe(algorithms[0], last) + ": " + verdict.text);
  });
  findings.report();
}

/// Operations that follow each other take cells of the same rings, more than the rings have.
TEST(CheckSweep, AlgorithmsFollowEachOther) {
  const auto algorithms = collectives::algorithms();
  Findings findings;
  on_two_threads(algorithms.size() * 4, [&](std::size_t i, plan::Checker& checker) {
    constexpr Rank sizes[] = {2, 3, 5, 8};
    const Algorithm& first = algorithms[i / 4];
    const auto plans = [&](const Algorithm& algorithm, Rank root) {
      return build(algorithm,
                   problem_of(algorithm.kind, sizes[i % 4],
                              get(algorithm.kind).rooted || has_neighbors(algorithm.kind) ? root : 0, 16, false, true));
    };
    for (const Algorithm& second : algorithms) {
      std::vector<std::vector<plan::Plan>> operations;
      for (int n = 0; n < 20; ++n) {
        std::vector<plan::Plan> next = plans(n % 3 == 1 ? second : first, n % sizes[i % 4]);
        if (!next.empty()) operations.push_back(std::move(next));
      }
      if (operations.empty()) continue;
      const plan::Verdict verdict = checker.check_sequence(operations, board_of(Problem{}));
      findings.count(1, 0);
      if (!verdict.ok)
        findings.add(first, std::string(first.name) + " and " + std::string(second.name) + ": " + verdict.text);
    }
  });
  findings.report();
}

}  // namespace
}  // namespace tutti::collectives
