// SPDX-License-Identifier: BSD-3-Clause
#include "trace/times.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "trace/file.hpp"
#include "tutti/error.hpp"

namespace tutti::trace {
namespace {

constexpr double most_nanoseconds = 1e18;  // that a machine has been up, or a rank has run: 30 years

/// What clocks have shown is added up afterwards: a damaged record must not make that overflow.
template <class Number>
Number checked(Number nanoseconds) {
  if (!(std::abs(static_cast<double>(nanoseconds)) < most_nanoseconds))
    throw Error(Cause::system, "a rank has recorded a time that no clock shows; record it again");
  return nanoseconds;
}

std::vector<measure::Moment> moments_of(const Record::Note& note) {
  std::vector<measure::Moment> moments(note.text.size() / sizeof(measure::Moment));
  std::memcpy(moments.data(), note.text.data(), moments.size() * sizeof(measure::Moment));
  for (const measure::Moment& moment : moments)
    for (const std::int64_t time : {moment.child, moment.parent, moment.error}) checked(time);
  return moments;
}

}  // namespace

std::uint64_t latest(const Record& record) {
  std::uint64_t latest = 0;
  for (const Event& event : record.events) latest = std::max({latest, event.begin, event.end});
  return latest;
}

Times::Times(const std::vector<Record>& records) {
  Rank hosts = 1;
  for (const Record& record : records) hosts = std::max(hosts, record.host + 1);
  std::vector<std::vector<measure::Moment>> found;
  for (const Record& record : records)
    for (const Record::Note& note : record.notes)
      if (record.rank == 0 && note.kind == Word::moments) found.push_back(moments_of(note));
  // Hosts of which no part is left were compared, too.
  std::erase_if(found, [&](const auto& moments) { return moments.size() < static_cast<std::size_t>(hosts); });
  std::erase_if(
      found, [all = found.empty() ? 0 : found.front().size()](const auto& moments) { return moments.size() != all; });
  if (hosts > 1 && found.size() < 2) quality_ = found.empty() ? Quality::unknown : Quality::without_drift;
  if (found.empty()) found.emplace_back(static_cast<std::size_t>(hosts));
  for (Rank host = 0; host < hosts; ++host)
    hosts_.emplace_back(host, measure::Scheme::tree, found.front(),
                        found.size() > 1 ? found.back() : std::vector<measure::Moment>());
  // A rank that died has read its counter last when it took room for events, or in a long wait; another of its host
  // perhaps later.
  std::vector<std::uint64_t> longest(static_cast<std::size_t>(hosts), 0);
  rates_.assign(static_cast<std::size_t>(hosts), 1);
  for (const Record& record : records) {
    const auto host = static_cast<std::size_t>(record.host);
    const std::uint64_t ticks = record.last.ticks - record.first.ticks;
    if (record.last.ticks <= record.first.ticks || record.last.nanoseconds <= record.first.nanoseconds ||
        ticks <= longest[host])
      continue;
    longest[host] = ticks;
    rates_[host] = static_cast<double>(record.last.nanoseconds - record.first.nanoseconds) / static_cast<double>(ticks);
  }
  if (std::ranges::any_of(records, [&](const Record& record) {
        return !record.events.empty() && longest[static_cast<std::size_t>(record.host)] == 0;
      }))
    quality_ = Quality::without_rate;
}

std::int64_t Times::local(const Record& record, std::uint64_t ticks) const {
  const auto since = static_cast<double>(static_cast<std::int64_t>(ticks - record.first.ticks));
  return checked(static_cast<std::int64_t>(record.first.nanoseconds)) +
         std::llround(checked(since * rates_[static_cast<std::size_t>(record.host)]));
}

std::int64_t Times::at(const Record& record, std::uint64_t ticks) const {
  return hosts_[static_cast<std::size_t>(record.host)].to_root(local(record, ticks));
}

std::pair<std::int64_t, std::int64_t> Times::ends(const Record& record, const Event& event,
                                                  std::uint64_t latest) const {
  const std::int64_t begin = at(record, event.begin);
  const std::int64_t end = std::max(begin, at(record, event.end != 0 ? event.end : latest));
  if (end - begin > longest_slice / static_cast<std::int64_t>(stands_for(event)))
    throw Error(Cause::system, "a call lasts longer than anything can; record it again");
  return {begin, end};
}

std::int64_t Times::error(const Record& record, std::uint64_t ticks) const {
  return hosts_[static_cast<std::size_t>(record.host)].error(local(record, ticks));
}

}  // namespace tutti::trace
