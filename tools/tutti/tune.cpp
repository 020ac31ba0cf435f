// SPDX-License-Identifier: BSD-3-Clause
// tutti tune: measures the algorithms on this machine, and writes the table that jobs on it use from then on.
#include <fmt/core.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <exception>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/descriptor.hpp"
#include "commands.hpp"
#include "host/topology.hpp"
#include "job/machine.hpp"
#include "job/runtime.hpp"
#include "launch/environment.hpp"
#include "launcher/launcher.hpp"
#include "tune/table.hpp"
#include "tuner/candidates.hpp"
#include "tuner/guidelines.hpp"
#include "tuner/rounds.hpp"
#include "tuner/store.hpp"
#include "tutti/error.hpp"
#include "tutti/version.h"
#include "words.hpp"

namespace tutti::command {

namespace {

using Clock = std::chrono::steady_clock;

struct TuneOptions {
  std::vector<std::string> collectives;
  std::string ranks, sizes = "8:2M", result;
  double minutes = 10, seconds = 60;
  bool quick = false;
};

std::vector<Kind> read_kinds(const std::vector<std::string>& names) {
  std::vector<Kind> kinds;
  for (const std::string& name : names) {
    const Kind kind = read_collective(name).kind;
    if (tuner::form_of(kind) == nullptr)
      throw Error(Cause::usage,
                  name + " depends on what the program has, a graph or layouts of each pair; leave it out");
    if (std::ranges::find(kinds, kind) == kinds.end()) kinds.push_back(kind);
  }
  if (kinds.empty())
    for (const tuner::Form& form : tuner::forms()) kinds.push_back(form.kind);
  return kinds;
}

/// 2, 4, 8, and so on to the number of cores.
std::string default_ranks(int cores) {
  std::string text = "2,4,8";
  for (int ranks = 16; ranks <= std::min(cores, 1024); ranks *= 2) text += "," + std::to_string(ranks);
  return text;
}

tuner::Plan plan_of(const TuneOptions& given) {
  tuner::Plan plan;
  plan.kinds = read_kinds(given.collectives);
  plan.sizes = read_sizes(given.sizes);
  plan.seconds = given.seconds;
  if (given.quick) plan.rounds = 3, plan.batch = 3e-4;
  return plan;
}

/// A rank of a job that measures. Rank 0 writes the result to where the command reads it.
int measure(const TuneOptions& given) {
  const Group world = tutti::world();
  const job::Runtime& runtime = world.member()->runtime();
  const tuner::Plan plan = plan_of(given);
  tune::Machine machine = job::this_machine(host::usable_cores().usable);
  machine.single_copy = runtime.place().single_copy;
  const auto begin = Clock::now();
  tuner::Measurements found = tuner::measure(world, plan, machine, [&](int rounds, std::size_t left) {
    const double seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    fmt::print(stderr, "{} ranks: {} of {} rounds, {:.0f} s, {} candidates left\n", world.size(), rounds, plan.rounds,
               seconds, left);
  });
  if (world.rank() != 0) return 0;
  if (const std::string text = tuner::left_out(plan, world.size()); !text.empty()) {
    fmt::print(stderr, "tutti: {}\n", text);
    found.remarks.push_back(text);
  }
  const std::string& why = world.member()->runtime().engine().waiting().policy().why;
  found.remarks.push_back("waiting: " + why + (runtime.place().single_copy ? "" : "; no single copy"));
  std::ofstream file(given.result, std::ios::binary | std::ios::trunc);
  file << tuner::to_json(found);
  if (!file.flush()) throw Error(Cause::system, "cannot hand over the measurements through " + given.result);
  return 0;
}

/// Memory of this process that a rank can write to by its name.
class Mailbox {
 public:
  Mailbox() : file_(memfd_create("tutti-tune", MFD_CLOEXEC)) {
    if (!file_) throw Error(Cause::system, std::string("no memory for measurements: ") + std::strerror(errno));
  }
  std::string path() const { return fmt::format("/proc/{}/fd/{}", getpid(), file_.get()); }
  std::string text() const {
    std::ifstream file(path(), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }

 private:
  base::Descriptor file_;
};

/// A table is for all jobs of this machine: what the user's variables change of one, such as a record, is not measured.
void forget_settings() {
  // The first is of what a table is for; the others change no time.
  constexpr std::string_view kept[] = {"TUTTI_SINGLE_COPY", "TUTTI_LOG", "TUTTI_NETWORK"};
  std::vector<std::string> names;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string_view name = std::string_view(*entry).substr(0, std::string_view(*entry).find('='));
    if (name.starts_with("TUTTI_") && std::ranges::find(kept, name) == std::end(kept)) names.emplace_back(name);
  }
  for (const std::string& name : names) unsetenv(name.c_str());
}

/// The launcher wants a process of its own. Its status, as a shell has it.
int launch(const launcher::Options& options) {
  std::fflush(nullptr);
  const pid_t pid = fork();
  if (pid < 0) throw Error(Cause::system, std::string("cannot start a job: ") + std::strerror(errno));
  if (pid == 0) {
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    forget_settings();
    try {
      _exit(launcher::run(options));
    } catch (const std::exception& error) {
      std::fprintf(stderr, "tutti: %s\n", error.what());
      _exit(1);
    }
  }
  // Ctrl-C reaches the launcher too, which ends the job; this process tells what became of it.
  const auto before = std::signal(SIGINT, SIG_IGN);
  int status = 0;
  while (waitpid(pid, &status, 0) < 0 && errno == EINTR) continue;
  std::signal(SIGINT, before);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// The same options again, for the ranks of one job.
launcher::Options job_of(const TuneOptions& given, Rank ranks, double seconds, const std::string& result) {
  launcher::Options options;
  options.ranks = ranks;
  // What is measured depends on nothing that this machine's table says.
  options.environment = {"TUTTI_TABLE=standard"};
  options.command = {std::filesystem::read_symlink("/proc/self/exe").string(), "tune"};
  options.command.insert(options.command.end(), given.collectives.begin(), given.collectives.end());
  for (const std::string& word : {std::string("--sizes"), given.sizes, std::string("--seconds"),
                                  fmt::format("{:.3f}", seconds), std::string("--result"), result})
    options.command.push_back(word);
  if (given.quick) options.command.emplace_back("--quick");
  return options;
}

std::string now_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  gmtime_r(&now, &parts);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%d %H:%M UTC", &parts);
  return text;
}

/// How much faster the new choices are than the standard table's, where they differ.
void compare_with_standard(const tuner::Measurements& measurements, const tune::Machine& machine,
                           const std::string& lines) {
  const std::string behind = tune::Table::standard(machine.conditions());
  const tune::Table standard = tune::Table::parse(behind), tuned = tune::Table::parse(lines + behind);
  std::vector<double> gains;
  std::size_t points = 0;
  for (const tuner::Point& point : measurements.points) {
    if (!point.settled()) continue;
    ++points;
    const tuner::CallShape shape(point.kind, point.ranks, point.bytes);
    const auto time = [&](const tune::Table& table) {
      const auto choice = table.choose(shape.of(0), point.kind, shape.table_bytes(), machine.single_copy);
      const tuner::Candidate* candidate = point.find(tune::text_of(choice));
      return candidate == nullptr ? 0 : candidate->time();
    };
    const double before = time(standard), after = time(tuned);
    if (before > 0 && after > 0 && before != after) gains.push_back(before / after);
  }
  fmt::print("{} points; another choice than the standard table's at {} of them", points, gains.size());
  if (!gains.empty()) fmt::print(", there {:.2f} times as fast in the median", tuner::median(gains));
  fmt::print("\n");
}

void report(const tuner::Measurements& measurements, const tune::Machine& machine, const tuner::Repaired& repaired) {
  for (const tuner::Violation& violation : repaired.violations) fmt::print("guideline: {}\n", violation.text());
  const auto open = std::ranges::count(repaired.violations, std::string(), &tuner::Violation::repair);
  fmt::print("{} guidelines broken, {} of them repaired\n", repaired.violations.size(),
             static_cast<std::ptrdiff_t>(repaired.violations.size()) - open);
  compare_with_standard(measurements, machine, repaired.lines);
}

/// Too short to be relied on.
void report_trial(const tuner::Measurements& measurements, const tune::Machine& machine) {
  const tuner::Repaired repaired = tuner::derive_and_repair(measurements, machine);
  fmt::print("{}", repaired.lines);
  report(measurements, machine, repaired);
  fmt::print("This was a trial, and is not kept; without --quick it is.\n");
}

/// What else runs. Says so at once when that spoils the measurements.
std::string foreign_load(int cores) {
  double load[1] = {0};
  if (getloadavg(load, 1) != 1) return "load before: unknown";
  if (load[0] > 0.25 * cores)
    fmt::print(stderr, "tutti: other programs keep {:.1f} cores busy; the measurements tell of them, too\n", load[0]);
  return fmt::format("load before: {:.2f}", load[0]);
}

/// The jobs of all numbers of ranks, one after the other. What earlier ones have measured outlives one that fails.
tuner::Measurements measure_all(const TuneOptions& given, const std::vector<Rank>& ranks, int& status) {
  tuner::Measurements found;
  const auto begin = Clock::now();
  for (std::size_t i = 0; i < ranks.size(); ++i) {
    const double used = std::chrono::duration<double>(Clock::now() - begin).count();
    const double share = std::max(1.0, (given.minutes * 60 - used) / static_cast<double>(ranks.size() - i));
    const Mailbox mailbox;
    status = launch(job_of(given, ranks[i], share, mailbox.path()));
    if (status != 0) break;
    const tuner::Measurements one = tuner::from_json(mailbox.text());
    found.points.insert(found.points.end(), one.points.begin(), one.points.end());
    found.duels.insert(found.duels.end(), one.duels.begin(), one.duels.end());
    if (i == 0) found.combining = one.combining;  // with as few neighbours as possible
    for (const std::string& remark : one.remarks) found.remarks.push_back(remark);
  }
  return found;
}

/// Whether there is something to choose by. Says for what the time was too short.
bool tell_of_unsettled(const tuner::Measurements& found) {
  std::map<Rank, int> open;
  for (const tuner::Point& point : found.points)
    if (!point.settled()) ++open[point.ranks];
  for (const auto& [ranks, points] : open)
    fmt::print(stderr,
               "tutti: on {} ranks the time was too short for {} points, which stay as they were; "
               "give more --minutes, or fewer collectives, sizes or ranks\n",
               ranks, points);
  return std::ranges::any_of(found.points, &tuner::Point::settled);
}

int tune_machine(TuneOptions given) {
  if (std::getenv(launch::rank_variable) != nullptr)
    throw Error(Cause::usage, "tutti tune starts its ranks itself; leave out tutti run");
  const tune::Machine machine = job::this_machine(host::usable_cores().usable);
  if (given.quick) {
    given.sizes = "8,4K";
    if (given.ranks.empty()) given.ranks = "2";
    given.minutes = std::min(given.minutes, 0.5);
  }
  const std::vector<Rank> ranks = read_ranks(given.ranks.empty() ? default_ranks(machine.cores) : given.ranks);
  plan_of(given);
  const std::string path = tune::table_path(machine);
  if (path.empty()) throw Error(Cause::usage, "neither XDG_CACHE_HOME nor HOME says where the table shall be; set one");
  std::string trouble;
  if (!given.quick) {
    tuner::require_place(path);
    tuner::read_measurements(tuner::measurements_path(path), machine, trouble);
    if (!trouble.empty()) std::fprintf(stderr, "tutti: %s\n", trouble.c_str());
  }

  const std::string load = foreign_load(machine.cores);
  int status = 0;
  tuner::Measurements found = measure_all(given, ranks, status);
  const bool settled = tell_of_unsettled(found);
  if (!settled && status == 0) status = 1;
  if (!settled) return status;
  found.remarks.insert(found.remarks.begin(), load);
  found.machine = machine.text();
  found.date = now_text();
  found.version = fmt::format("{}, wire version {}", TUTTI_VERSION, host::wire_version);

  if (given.quick) {
    report_trial(found, machine);
    return status;
  }
  tuner::Repaired repaired;
  const auto lines_of = [&](const tuner::Measurements& all) {
    repaired = tuner::derive_and_repair(all, machine);
    return repaired.lines;
  };
  std::string now;  // another tutti tune may have added to the files meanwhile, or somebody harmed them
  const tuner::Measurements all = tuner::add_to_saved(path, machine, found, lines_of, now);
  if (!now.empty() && now != trouble) std::fprintf(stderr, "tutti: %s\n", now.c_str());
  report(all, machine, repaired);
  fmt::print("Jobs on this machine use {} from now on; tutti explain says why.\n", path);
  return status;
}

}  // namespace

Action add_tune(CLI::App& program) {
  const auto given = std::make_shared<TuneOptions>();
  CLI::App* tune = program.add_subcommand(
      "tune", "Measure the algorithms on this machine, and write the table that its jobs use from then on.");
  tune->add_option("COLLECTIVE", given->collectives, "As in allreduce; none: all of them");
  tune->add_option("-n,--ranks", given->ranks, "Numbers of ranks [2,4,8 and on to the number of cores]");
  tune->add_option("--sizes", given->sizes, "Bytes of one rank's block: 8:2M (each 4 times the last), 8:2M:2 or 8,64K")
      ->capture_default_str();
  tune->add_option("--minutes", given->minutes, "How long, about")
      ->check(CLI::Range(0.01, 10000.0))
      ->capture_default_str();
  tune->add_flag("--quick", given->quick, "Two sizes on two ranks, for a moment: does it work?");
  tune->add_option("--result", given->result, "For its own ranks")->group("");
  tune->add_option("--seconds", given->seconds, "For its own ranks")->group("");
  return [given] { return given->result.empty() ? tune_machine(*given) : measure(*given); };
}

}  // namespace tutti::command
