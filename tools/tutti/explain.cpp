// SPDX-License-Identifier: BSD-3-Clause
// tutti explain: which algorithm serves a call on this machine, why, and what would change that.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "commands.hpp"
#include "host/topology.hpp"
#include "job/machine.hpp"
#include "launch/environment.hpp"
#include "tuner/explain.hpp"
#include "tuner/store.hpp"
#include "tutti/error.hpp"
#include "words.hpp"

namespace tutti::command {

namespace {

struct ExplainOptions {
  std::string collective, bytes;
  int ranks = 2;
  bool json = false, no_single_copy = false, ordered = false;
};

tuner::Question read(const ExplainOptions& given, const tune::Machine& machine) {
  tuner::Question question;
  const collectives::Collective& collective = read_collective(given.collective);
  question.kind = collective.kind;
  if (given.bytes.empty() && question.kind != Kind::barrier)
    throw Error(Cause::usage,
                "of how many bytes? tutti explain " + given.collective + " BYTES, of one rank's block, as in 8 or 64K");
  question.bytes = given.bytes.empty() ? 0 : read_size(given.bytes);
  question.ranks = given.ranks;
  question.single_copy = machine.single_copy && !given.no_single_copy;
  question.commutative = !given.ordered;
  if (given.ordered && !collective.reduces)
    throw Error(Cause::usage, given.collective + " combines nothing; leave out --ordered");
  return question;
}

int run(const ExplainOptions& given) {
  const tune::Machine machine = job::this_machine(host::usable_cores().usable);
  const tuner::Question question = read(given, machine);
  const tune::Source source = tune::find_table(machine);
  const char* overrides = std::getenv("TUTTI_ALGORITHMS");
  std::string trouble;
  tuner::Measurements measurements;
  const std::string path = tune::table_path(machine);
  if (!path.empty()) measurements = tuner::read_measurements(tuner::measurements_path(path), machine, trouble);
  if (!trouble.empty()) std::fprintf(stderr, "tutti: %s\n", trouble.c_str());
  const tuner::Explanation explanation =
      tuner::explain(question, overrides == nullptr ? "" : overrides, source, &measurements);
  fmt::print("{}", given.json ? explanation.json() : explanation.text());
  return 0;
}

}  // namespace

Action add_explain(CLI::App& program) {
  const auto given = std::make_shared<ExplainOptions>();
  CLI::App* explain =
      program.add_subcommand("explain", "Say which algorithm serves a call, why, and what would change that.");
  explain->add_option("COLLECTIVE", given->collective, "As in allreduce")->required();
  explain->add_option("BYTES", given->bytes, "Of one rank's block, as in 8 or 64K");
  explain->add_option("-n,--ranks", given->ranks, "On how many ranks")
      ->check(CLI::Range(1, launch::most_ranks))
      ->capture_default_str();
  explain->add_flag("--json", given->json, "For programs");
  explain->add_flag("--no-single-copy", given->no_single_copy, "As if processes could not read each other's memory");
  explain->add_flag("--ordered", given->ordered, "For an operation that does not commute");
  return [given] { return run(*given); };
}

}  // namespace tutti::command
