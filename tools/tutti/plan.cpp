// SPDX-License-Identifier: BSD-3-Clause
// tutti plan: lists the algorithms, prints, draws and checks their plans.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <cstdio>
#include <fstream>
#include <memory>
#include <span>
#include <sstream>
#include <string>
#include <vector>

#include "collectives/collective.hpp"
#include "commands.hpp"
#include "engine/cells.hpp"
#include "plan/checker.hpp"
#include "plan/mutants.hpp"
#include "plan/svg.hpp"
#include "plan/text.hpp"
#include "tutti/error.hpp"

namespace tutti::command {

namespace {

struct PlanOptions {
  std::string action = "list", collective, algorithm, file;
  Rank ranks = 4, root = 0;
  Count count = 8, segment = 0;
  int radix = 0;
  std::vector<Rank> hosts;
};

/// All ranks' plans of what was asked for, with what they promise.
struct Plans {
  collectives::Problem problem;
  std::vector<plan::Plan> plans;
  plan::Contract contract;
  plan::Board board;
};

const collectives::Collective* find(const std::string& name) {
  if (const collectives::Collective* collective = collectives::find(name)) return collective;
  throw Error(Cause::usage, "no collective \"" + name + "\"; see tutti plan list");
}

void require_hosts(std::span<const Rank> hosts, Rank ranks) {
  if (!hosts.empty() && hosts.size() != static_cast<std::size_t>(ranks))
    throw Error(Cause::usage, "--hosts names " + std::to_string(hosts.size()) + " hosts for " + std::to_string(ranks) +
                                  " ranks; give each rank's");
  Rank next = 0;
  for (const Rank host : hosts) {
    if (host > next)
      throw Error(Cause::usage, "--hosts: hosts are numbered from 0 in the order of their lowest ranks; " +
                                    std::to_string(next) + " comes before " + std::to_string(host));
    next = std::max(next, host + 1);
  }
}

Plans build(const PlanOptions& given) {
  if (given.collective.empty() || given.algorithm.empty())
    throw Error(Cause::usage,
                "which plan? tutti plan " + given.action + " COLLECTIVE ALGORITHM, as tutti plan list " + "names them");
  const collectives::Collective* collective = find(given.collective);
  const collectives::Algorithm* algorithm = collectives::find(collective->kind, given.algorithm);
  if (algorithm == nullptr)
    throw Error(Cause::usage, given.collective + " has no algorithm \"" + given.algorithm + "\"; see tutti plan list");
  Plans made;
  collectives::Problem& problem = made.problem;
  problem.kind = collective->kind;
  problem.size = given.ranks;
  problem.root = given.root;
  problem.count = given.count;
  problem.parameters = {given.segment, given.radix};
  problem.hosts = given.hosts;
  problem.cell = engine::cells_of(sizeof(double));
  const auto group = static_cast<std::size_t>(given.ranks);
  if (collective->varying)
    problem.counts.assign(collectives::is_matrix(problem.kind) ? group * group : group, given.count);
  if (collectives::has_neighbors(problem.kind)) {  // a ring
    problem.lattice = {{given.ranks}, {true}};
    for (Rank rank = 0; rank < given.ranks; ++rank)
      problem.neighbors.push_back(collectives::neighbors(problem.lattice, rank));
  }
  require_hosts(given.hosts, given.ranks);
  if (given.root >= given.ranks) throw Error(Cause::usage, "the root is not one of the ranks");
  const collectives::Shapes shapes(problem);
  if (!collectives::applies(*algorithm, shapes[0], true))
    throw Error(Cause::usage, "this algorithm is not for this many ranks or elements, or not for ranks on these hosts");
  for (Rank rank = 0; rank < given.ranks; ++rank) made.plans.push_back(algorithm->build(shapes[rank]));
  made.contract = collective->contract(problem);
  made.board = collectives::board_of(problem);
  return made;
}

int list(const std::string& only) {
  if (!only.empty()) find(only);
  for (const collectives::Collective& collective : collectives::all()) {
    if (!only.empty() && name_of(collective.kind) != only) continue;
    fmt::print("{}: {}\n", name_of(collective.kind), collective.sentence);
    for (const collectives::Algorithm& algorithm : collectives::algorithms())
      if (algorithm.kind == collective.kind) fmt::print("  {:<20} {}\n", algorithm.name, algorithm.sentence);
  }
  return 0;
}

int say(const plan::Verdict& verdict, const char* proved) {
  fmt::print("{}\n", verdict ? proved : verdict.text);
  return verdict ? 0 : 1;
}

int check(const Plans& made) {
  return say(plan::check(made.plans, made.contract, made.board),
             "proved: right result, every message matched, no deadlock, no race");
}

/// The plans of all ranks.
std::vector<plan::Plan> read_plans(const std::string& name) {
  std::ifstream file(name);
  if (!file) throw Error(Cause::usage, "no plans can be read from " + name);
  std::ostringstream text;
  text << file.rdbuf();
  try {
    return plan::parse_all(text.view());
  } catch (const Error& error) {
    throw Error(error.cause(), name + ": " + error.what());
  }
}

/// Plans that a user built and printed.
int run_file(const PlanOptions& given) {
  const std::vector<plan::Plan> plans = read_plans(given.file);
  if (given.action == "check")
    return say(plan::check_user(plans, {.hosts = given.hosts}),
               "proved: every message matched, no deadlock, no race, nothing undefined read");
  if (given.action == "draw") {
    fmt::print("{}", plan::draw(plans, given.hosts));
  } else if (given.action == "show") {
    for (const plan::Plan& one : plans) fmt::print("{}", plan::print(one));
  } else {
    throw Error(Cause::usage, "--file goes with show, draw and check");
  }
  return 0;
}

int mutants(const Plans& made) {
  plan::Checker checker;
  const plan::MutationReport report = plan::mutate(made.plans, made.contract, made.board, checker);
  fmt::print("{}\n", report.text());
  return report.unproved() == 0 ? 0 : 1;
}

int run(const PlanOptions& given) {
  if (!given.file.empty()) return run_file(given);
  if (given.action == "list") return list(given.collective);
  const Plans made = build(given);
  if (given.action == "check") return check(made);
  if (given.action == "mutants") return mutants(made);
  if (given.action == "draw") {
    fmt::print("{}", plan::draw(made.plans, made.problem.hosts));
  } else {
    for (const plan::Plan& one : made.plans) fmt::print("{}", plan::print(one));
  }
  return 0;
}

}  // namespace

Action add_plan(CLI::App& program) {
  const auto given = std::make_shared<PlanOptions>();
  CLI::App* plan = program.add_subcommand("plan", "List the algorithms; show, draw or check their plans.");
  plan->add_option("ACTION", given->action,
                   "list, show (text), draw (SVG), check (proof), mutants (proof of the proof)")
      ->check(CLI::IsMember({"list", "show", "draw", "check", "mutants"}))
      ->capture_default_str();
  plan->add_option("COLLECTIVE", given->collective, "As in bcast");
  plan->add_option("ALGORITHM", given->algorithm, "As in binomial");
  plan->add_option("-n,--ranks", given->ranks, "How many ranks")->check(CLI::Range(1, 1024))->capture_default_str();
  plan->add_option("--root", given->root, "The root")->check(CLI::Range(0, 1023));
  plan->add_option("--count", given->count, "Elements (8 bytes each)")
      ->check(CLI::Range(0, 1 << 30))
      ->capture_default_str();
  plan->add_option("--segment", given->segment, "Elements of a segment")->check(CLI::Range(0, 1 << 30));
  plan->add_option("--radix", given->radix, "Fan-out of a tree")->check(CLI::Range(0, 1024));
  plan->add_option("--hosts", given->hosts, "Each rank's host, as in 0,0,1,1; without, all ranks share one")
      ->delimiter(',')
      ->check(CLI::Range(0, 1023));
  plan->add_option("--file", given->file, "Plans of your own instead: the texts of all ranks' plans, by rank");
  return [given] { return run(*given); };
}

}  // namespace tutti::command
