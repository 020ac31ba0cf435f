// SPDX-License-Identifier: BSD-3-Clause
// tutti why: who waits for whom in a job, and who is missing.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <memory>
#include <string>

#include "commands.hpp"
#include "diagnose/report.hpp"
#include "job/runtime.hpp"
#include "launch/system.hpp"

namespace tutti::command {

namespace {

struct WhyOptions {
  std::string job;
  bool json = false;
};

int run(const WhyOptions& given) {
  // The programs of all ranks are open at once, and hosts are asked side by side.
  launch::allow_open_files(RLIM_INFINITY);
  if (given.job.empty()) {
    const std::vector<diagnose::Job> jobs = diagnose::find_jobs();
    fmt::print("{}", given.json ? diagnose::list_json(jobs) : diagnose::list_text(jobs));
    return 0;
  }
  const diagnose::Job job = diagnose::find_job(given.job);
  diagnose::Report report(job, job::algorithm_name);
  fmt::print("{}", given.json ? report.json() : report.text());
  return 0;
}

}  // namespace

Action add_why(CLI::App& program) {
  const auto given = std::make_shared<WhyOptions>();
  CLI::App* why = program.add_subcommand("why", "Say who waits for whom in a job that hangs; alone: list the jobs.");
  why->footer("Only looks: the job goes on as if nothing had happened, also when its ranks are stopped or dead.");
  why->add_option("JOB", given->job, "A job's number, or the PID of its launcher or of a rank");
  why->add_flag("--json", given->json, "Print JSON");
  return [given] { return run(*given); };
}

}  // namespace tutti::command
