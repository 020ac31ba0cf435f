// SPDX-License-Identifier: BSD-3-Clause
#include "job/settings.hpp"

#include <charconv>
#include <mutex>
#include <string>
#include <system_error>

#include "base/environment.hpp"
#include "base/hash.hpp"
#include "base/log.hpp"
#include "job/machine.hpp"
#include "tune/table.hpp"
#include "tutti/error.hpp"

namespace tutti::job {
namespace {

ProgressThread progress_from_environment() {
  const std::string text = base::variable("TUTTI_PROGRESS_THREAD");
  if (text.empty() || text == "off") return ProgressThread::off;
  if (text == "auto") return ProgressThread::automatic;
  if (text == "on") return ProgressThread::on;
  throw Error(Cause::usage, "TUTTI_PROGRESS_THREAD=" + text + " means nothing; write off, auto or on");
}

/// This rank's alone: others need not say the same.
engine::Caches caches_from_environment() {
  const std::string text = base::variable("TUTTI_CACHES");
  if (text.empty()) return engine::Caches::measured;
  if (text == "shared") return engine::Caches::shared;
  if (text == "apart") return engine::Caches::apart;
  throw Error(Cause::usage, "TUTTI_CACHES=" + text + " means nothing; write shared or apart, or leave it out");
}

std::string algorithms_from_environment() {
  std::string text = base::variable("TUTTI_ALGORITHMS");
  tune::lines_of(text);
  return text;
}

/// Nanoseconds; 0 when it is not set.
std::uint64_t time_from_environment(const char* name) {
  const std::string text = base::variable(name);
  if (text.empty()) return 0;
  double seconds = 0;  // whatever the program's locale has between 2 and 5
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), seconds);
  if (error != std::errc() || end != text.data() + text.size() || !(seconds >= 0.001 && seconds <= 1e9))
    throw Error(Cause::usage, std::string(name) + "=" + text +
                                  " is not a number of seconds from 0.001 to 1e9; write 2.5, or leave it out");
  return static_cast<std::uint64_t>(seconds * 1e9);
}

}  // namespace

std::uint64_t timeout_from_environment() { return time_from_environment("TUTTI_TIMEOUT"); }

std::uint64_t trace_patience_from_environment() {
  constexpr std::uint64_t usual = 10'000'000'000;
  const std::uint64_t set = time_from_environment("TUTTI_TRACE_PATIENCE");
  return set == 0 ? usual : set;
}

void tell_of_trouble(const tune::Source& source) {
  static std::once_flag told;  // a program may make many groups from its MPI's communicators
  if (!source.trouble.empty()) std::call_once(told, [&] { base::log(source.trouble); });
}

Offer own_offer(const tune::Source& source) {
  Offer offer;
  offer.algorithms = algorithms_from_environment();
  offer.lines = source.lines;
  offer.table = source.name;
  offer.asked_for = source.asked_for;
  offer.processor = source.conditions.processor;
  offer.cache = source.conditions.cache;
  offer.progress = progress_from_environment();
  return offer;
}

Process process_from_environment(const Offer& agreed, const tune::Source& own) {
  Process process;
  process.algorithms = agreed.algorithms;
  process.table = {agreed.lines,    agreed.table, own.why, own.trouble, {agreed.processor, agreed.cache},
                   agreed.asked_for};
  process.progress = agreed.progress;
  process.single_copy = single_copy_wanted();
  process.caches = caches_from_environment();
  return process;
}

Unused::Unused(const Offer& mine, const Offer& theirs) {
  if (theirs.algorithms != mine.algorithms && !mine.algorithms.empty())
    lines_.push_back("TUTTI_ALGORITHMS=" + mine.algorithms + " is not used; rank 0's \"" + theirs.algorithms +
                     "\" holds for all");
  // On a machine that nobody has measured, nothing of anybody's is left unused.
  const bool set = !mine.lines.empty() || !base::variable("TUTTI_TABLE").empty();
  if (theirs.lines != mine.lines && set)
    lines_.push_back("the table of algorithms \"" + mine.table + "\" is not used; rank 0's \"" + theirs.table +
                     "\" holds for all");
}

std::uint64_t Unused::mark() const {
  std::uint64_t mark = 0;
  for (const std::string& line : lines_)
    for (const char letter : line) mark = base::combine(mark, static_cast<unsigned char>(letter));
  return mark;
}

void Unused::tell(Rank rank, bool first, std::uint64_t mark_of_first) const {
  if (!first && mark() == mark_of_first) return;
  for (const std::string& line : lines_) base::log("rank " + std::to_string(rank) + ": " + line);
}

}  // namespace tutti::job
