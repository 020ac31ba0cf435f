// SPDX-License-Identifier: BSD-3-Clause
// tutti info: what this installation is, what a job on this machine uses, and why.
#include <fmt/core.h>

#include <CLI/App.hpp>
#include <CLI/Config.hpp>
#include <CLI/Formatter.hpp>
#include <CLI/Validators.hpp>
#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "base/copy.hpp"
#include "base/words.hpp"
#include "commands.hpp"
#include "drop_in.hpp"
#include "engine/area_writer.hpp"
#include "host/board.hpp"
#include "host/segment.hpp"
#include "host/topology.hpp"
#include "job/runtime.hpp"
#include "launch/environment.hpp"
#include "launch/member.hpp"
#include "launcher/launcher.hpp"
#include "transport/interfaces.hpp"
#include "tutti/version.h"

namespace tutti::command {

namespace {

void row(const std::string& what, const std::string& text) { fmt::print("{:<14} {}\n", what, text); }

/// Where other hosts may reach this one.
std::string network() {
  std::string text;
  for (const auto& one : transport::own_addresses(true)) base::add_word(text, one.interface + " " + one.address);
  return text + (std::getenv("TUTTI_NETWORK") == nullptr ? "" : ", by TUTTI_NETWORK");
}

/// Inside a job: rank 0 says what the job uses.
int print() {
  const Group world = tutti::world();
  if (world.rank() != 0) return 0;
  const job::Runtime& runtime = world.member()->runtime();
  engine::Engine& engine = world.member()->runtime().engine();
  row("version", fmt::format("{}, wire version {}", TUTTI_VERSION, host::wire_version));
  const std::vector<Rank>& hosts = runtime.place().hosts;
  const auto counted = [](int count, const char* what) {
    return fmt::format("{} {}{}", count, what, count == 1 ? "" : "s");
  };
  row("hosts", counted(hosts.empty() ? 1 : std::ranges::max(hosts) + 1, "host") + ", " + counted(world.size(), "rank"));
  row("launcher", runtime.place().launcher);
  row("cores", host::usable_cores().why);
  row("network", network());
  row("waiting", engine.waiting().policy().why);
  row("wake-ups", !hosts.empty() ? "a fence after each publish: between hosts, sleep is frequent"
                  : engine.waiting().can_fence_for_all()
                      ? "a fence at the sleeper (membarrier), while nothing else runs here"
                      : "a fence after each publish: the kernel offers no membarrier");
  row("progress", runtime.progress());
  row("board", fmt::format("{} cells of {} bytes and {} areas of {} bytes a rank", host::cells, host::small_payload,
                           host::areas, host::large_payload));
  const transport::Transport& transport = engine.transport();
  row("transport", fmt::format("{}, messages up to {} bytes leave without their receiver", transport.name(),
                               transport.capabilities().eager));
  row("copies", base::how_copied());
  row("", engine::how_filled(engine.setup().caches));
  row("single copy", fmt::format("{}: {}", runtime.place().single_copy ? "on" : "off", transport.capabilities().why));
  const tune::Source& table = runtime.place().source;
  row("algorithms", fmt::format("table {}: {}", table.name, table.why));
  if (!table.trouble.empty()) row("", table.trouble);
  if (!runtime.place().algorithms.empty())
    row("", fmt::format("TUTTI_ALGORITHMS goes before it: {}", runtime.place().algorithms));
  row("segment",
      fmt::format("{} GiB of sparse memory, sealed; nothing in /dev/shm", engine.segment().header().capacity >> 30));
  row("MPI drop-in", describe_drop_in());
  return 0;
}

int run(int ranks) {
  if (launch::in_job()) return print();
  unsetenv("TUTTI_TRACE");  // a record of the job that only answers would take the place of the user's
  launcher::Options options;
  options.ranks = ranks;
  options.command = {std::filesystem::read_symlink("/proc/self/exe").string(), "info"};
  return launcher::run(options);
}

}  // namespace

Action add_info(CLI::App& program) {
  const auto ranks = std::make_shared<int>(2);
  CLI::App* info = program.add_subcommand("info", "Say what a job on this machine uses, and why.");
  info->add_option("-n,--ranks", *ranks, "Of how many ranks")
      ->check(CLI::Range(1, launch::most_ranks))
      ->capture_default_str();
  return [ranks] { return run(*ranks); };
}

}  // namespace tutti::command
