// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/obituary.hpp"

#include <atomic>
#include <cstdio>

#include "launch/system.hpp"
#include "tutti/call.hpp"

namespace tutti::launcher {

namespace {

constexpr std::uint32_t no_kind = 0xffffffff;

std::string group_number(std::uint64_t context) {
  char text[24];
  std::snprintf(text, sizeof text, "group %016llx", static_cast<unsigned long long>(context));
  return text;
}

}  // namespace

std::string End::text() const {
  if (!killed) return "exited with status " + std::to_string(number);
  return "was killed by " + launch::signal_name(number) + (dumped ? ", which left a core dump" : "");
}

std::string last_collective(host::Segment& segment, Rank rank, IsWorld is_world) {
  const host::Process::Last& last = segment.process(rank).last;
  // The rank may be alive and write beside us; a line for people may be one operation behind.
  const std::uint32_t kind = last.kind.load(std::memory_order_relaxed);
  const std::uint64_t sequence = last.sequence.load(std::memory_order_relaxed);
  const std::uint64_t context = last.context.load(std::memory_order_relaxed);
  if (kind == no_kind || (context == 0 && sequence == 0)) return "before its first collective";
  std::string text = last.running.load(std::memory_order_relaxed) != 0 ? "in " : "its last collective was ";
  text += kind < static_cast<std::uint32_t>(operations) ? name_of(static_cast<Kind>(kind)) : "operation";
  text += " #" + std::to_string(sequence) + " of ";
  return text + (is_world(context, segment.header().job) ? "the world" : group_number(context));
}

}  // namespace tutti::launcher
