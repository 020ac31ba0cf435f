// SPDX-License-Identifier: BSD-3-Clause
#include "diagnose/snapshot.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <new>
#include <optional>
#include <span>
#include <tuple>
#include <utility>

#include "base/utf8.hpp"

namespace tutti::diagnose {

namespace {

using host::Offset;

/// A process that dies while it tells something leaves an odd version for ever; one that is busy is done in no time.
constexpr int most_attempts = 100;
constexpr std::uint64_t longest_directory = std::uint64_t{1} << 22;
constexpr std::uint32_t board_told = 2;  // BoardHeader::broken with its details
constexpr std::uint32_t causes = static_cast<std::uint32_t>(Cause::interrupted) + 1;

/// A copy of something that lies in the file; its bytes may be anything.
template <class T>
class Copy {
 public:
  bool read(const Source& source, Offset offset) { return source.read(offset, bytes_); }
  const T& operator*() const { return *std::launder(reinterpret_cast<const T*>(bytes_)); }
  const T* operator->() const { return &**this; }

 private:
  alignas(T) std::byte bytes_[sizeof(T)] = {};
};

[[noreturn]] void refuse(const std::string& reason) {
  throw Error(Cause::system, "this is not the shared memory of a job: " + reason);
}

/// The header, checked.
Copy<host::Header> read_header(const Source& source) {
  const std::uint64_t bytes = source.bytes();
  if (bytes == 0) refuse("it is no memory");
  Copy<host::Header> header;
  if (!header.read(source, 0)) refuse("it is too short");
  const std::string complaint = host::check(*header, bytes, header->job);
  if (!complaint.empty()) refuse(complaint);
  return header;
}

/// Text up to its zero.
template <std::size_t N>
std::string text_of(const char (&from)[N]) {
  return base::printable({from, strnlen(from, N)});
}

/// What can be shown of a wait; nothing when it cannot be one.
std::optional<host::Wait> sound(host::Wait wait, std::int32_t size) {
  if (wait.what > host::Waited::shrink || wait.blocked > static_cast<std::uint32_t>(size)) return std::nullopt;
  if (wait.what == host::Waited::collective && static_cast<std::uint8_t>(wait.call) >= operations) return std::nullopt;
  const auto listed = std::span(wait.blockers).first(std::min<std::size_t>(wait.blocked, host::Wait::most_blockers));
  if (std::ranges::any_of(listed, [size](Rank rank) { return rank < 0 || rank >= size; })) return std::nullopt;
  wait.set_place(text_of(wait.place));
  return wait;
}

void read_waits(const Source& source, Offset place, std::int32_t size, Process& process) {
  Copy<host::Waits> waits, again;
  for (int attempt = 0; attempt < most_attempts; ++attempt) {
    if (!waits.read(source, place) || !again.read(source, place)) return;
    const std::uint64_t version = waits->version.load(std::memory_order_relaxed);  // relaxed: a copy of our own
    // Equal before and after: nobody wrote while the first copy was made.
    if (version % 2 != 0 || again->version.load(std::memory_order_relaxed) != version) continue;
    process.told_at = waits->told_at.load(std::memory_order_relaxed);
    process.waited_at = waits->waited_at.load(std::memory_order_relaxed);
    process.in_flight = waits->in_flight.load(std::memory_order_relaxed);
    const std::size_t listed = std::min<std::size_t>(process.in_flight, host::Waits::most);
    for (const host::Wait& wait : std::span(waits->waits).first(listed))
      if (const auto checked = sound(wait, size)) process.waits.push_back(*checked);
    return;
  }
}

/// Whoever believes it has to see the same odd number in another snapshot.
InMpi read_inside(const host::Inside& inside) {
  char letters[sizeof(host::Inside::Name)];
  for (std::size_t i = 0; i < inside.name.size(); ++i) {
    const std::uint64_t some = inside.name[i].load(std::memory_order_relaxed);  // relaxed here and below: a copy
    std::memcpy(letters + i * sizeof some, &some, sizeof some);
  }
  return {inside.calls.load(std::memory_order_relaxed), inside.site.load(std::memory_order_relaxed),
          inside.peer.load(std::memory_order_relaxed), inside.tag.load(std::memory_order_relaxed), text_of(letters)};
}

/// Whether both copies were made of one call.
bool same_call(const host::Process::Last& a, const host::Process::Last& b) {
  const auto words = [](const host::Process::Last& last) {
    // Relaxed: copies of our own.
    return std::tuple(last.context.load(std::memory_order_relaxed), last.sequence.load(std::memory_order_relaxed),
                      last.kind.load(std::memory_order_relaxed), last.signature.load(std::memory_order_relaxed),
                      last.algorithm.load(std::memory_order_relaxed), last.call.load(std::memory_order_relaxed),
                      last.count.load(std::memory_order_relaxed), last.site.load(std::memory_order_relaxed));
  };
  return words(a) == words(b);
}

Process read_process(const Source& source, const host::Header& header, std::int32_t ranks, Rank rank) {
  const Offset place = header.processes + static_cast<Offset>(rank) * sizeof(host::Process);
  Process process;
  Copy<host::Process> found;
  Copy<host::Process::Last> again;
  if (!found.read(source, place) || !again.read(source, place + offsetof(host::Process, last))) return process;
  const host::Life life = found->life.load(std::memory_order_relaxed);  // relaxed here and below: a copy of our own
  process.life = life <= host::Life::dead ? life : host::Life::absent;
  process.pid = std::max(found->pid, 0);
  process.last_kind = found->last.kind.load(std::memory_order_relaxed);
  process.called = process.last_kind < static_cast<std::uint32_t>(operations);
  process.last_context = found->last.context.load(std::memory_order_relaxed);
  process.last_sequence = found->last.sequence.load(std::memory_order_relaxed);
  process.last = {process.last_sequence,
                  found->last.signature.load(std::memory_order_relaxed),
                  found->last.call.load(std::memory_order_relaxed),
                  found->last.count.load(std::memory_order_relaxed),
                  found->last.algorithm.load(std::memory_order_relaxed),
                  found->last.site.load(std::memory_order_relaxed)};
  // Half written, or of another call: then two calls that are alike would be told as a mismatch.
  if (static_cast<std::uint8_t>(process.last.call) != process.last_kind || !same_call(found->last, *again))
    process.last = {process.last_sequence, 0, process.last_kind, 0, -1, 0, {}, false};
  process.mpi = read_inside(found->last.inside);
  read_waits(source, place + offsetof(host::Process, waits), ranks, process);
  return process;
}

std::vector<Called> read_calls(std::span<const host::Record> first, std::span<const host::Record> second) {
  std::vector<Called> calls;
  for (std::size_t i = 0; i < first.size(); ++i) {
    const host::Record& record = first[i];
    // Written between the two copies, or not yet whole.
    if (!std::ranges::equal(std::as_bytes(first.subspan(i, 1)), std::as_bytes(second.subspan(i, 1)))) continue;
    const std::uint64_t sequence = record.sequence.load(std::memory_order_relaxed);
    Called called{sequence - 1,
                  static_cast<std::uint32_t>(record.signatures.load(std::memory_order_relaxed)),
                  record.call.load(std::memory_order_relaxed),
                  record.count.load(std::memory_order_relaxed),
                  record.algorithm.load(std::memory_order_relaxed),
                  record.site.load(std::memory_order_relaxed),
                  {record.label[0].load(std::memory_order_relaxed), record.label[1].load(std::memory_order_relaxed)}};
    if (sequence == 0 || static_cast<std::uint8_t>(called.call) >= operations) continue;
    calls.push_back(called);
  }
  std::ranges::sort(calls, {}, &Called::sequence);
  return calls;
}

/// Who is in the group; false when that cannot be.
bool read_members(const Source& source, Offset place, const host::BoardLayout& layout, std::int32_t processes,
                  Group& group) {
  const std::size_t size = group.members.size();
  Copy<host::BoardIdentity> identity;
  std::vector<std::int32_t> world(size);
  if (!identity.read(source, place + layout.identity) ||
      !source.read(place + layout.identity + sizeof(host::BoardIdentity), std::as_writable_bytes(std::span(world))))
    return false;
  group.name = text_of(identity->name);
  std::vector<bool> seen(static_cast<std::size_t>(processes));
  for (std::size_t i = 0; i < size; ++i) {
    const auto rank = static_cast<std::size_t>(world[i]);
    if (world[i] < 0 || world[i] >= processes || seen[rank]) return false;
    seen[rank] = true;
    group.members[i].world = world[i];
  }
  return true;
}

/// `ranks`: of the job. Of a group over several hosts not all members are known here.
void read_break(const host::BoardHeader& header, const host::Header& segment, std::int32_t ranks, Group& group) {
  const auto cause = header.cause.load(std::memory_order_relaxed);
  if (header.broken.load(std::memory_order_relaxed) != board_told || cause >= causes) return;
  const auto member = [&](Rank rank) -> Rank {
    if (rank < 0) return -1;
    if (ranks == segment.size)
      return std::cmp_less(rank, group.members.size()) ? group.members[static_cast<std::size_t>(rank)].world : -1;
    return group.context == host::world_context(segment.job) && rank < ranks ? rank : -1;
  };
  group.broken = true;
  group.cause = static_cast<Cause>(cause);
  group.who = member(header.who.load(std::memory_order_relaxed));
  group.whom = member(header.whom.load(std::memory_order_relaxed));
  group.sequence = header.sequence.load(std::memory_order_relaxed);
}

/// The board there, if it is one in use; `bytes`: how much of the heap it takes.
std::optional<Group> read_board(const Source& source, Offset place, const host::Header& segment, std::int32_t ranks,
                                std::size_t& bytes) {
  Copy<host::BoardHeader> header;
  if (!header.read(source, place) || header->magic.load(std::memory_order_relaxed) != host::board_magic) return {};
  const std::int32_t size = header->size.load(std::memory_order_relaxed);
  if (size < 1 || size > segment.size || header->users.load(std::memory_order_relaxed) < 1) return {};
  const host::BoardLayout layout(size);
  if (layout.bytes > segment.capacity - place) return {};
  Group group;
  group.context = header->context.load(std::memory_order_relaxed);
  group.members.resize(static_cast<std::size_t>(size));
  if (!read_members(source, place, layout, segment.size, group)) return {};
  read_break(*header, segment, ranks, group);
  const std::size_t all = group.members.size() * host::records;
  std::vector<host::Record> first(all), second(all);
  if (!source.read(place + layout.records, std::as_writable_bytes(std::span(first))) ||
      !source.read(place + layout.records, std::as_writable_bytes(std::span(second))))
    return {};
  for (std::size_t i = 0; i < group.members.size(); ++i)
    group.members[i].calls = read_calls(std::span(first).subspan(i * host::records, host::records),
                                        std::span(second).subspan(i * host::records, host::records));
  bytes = layout.bytes;
  return group;
}

/// Boards stand in no list. But each lies at a multiple of its size, rounded up to a power of two, and starts with a
/// magic number: they are found by looking at every place where one can be. Of a board that was given back, nothing is
/// left.
std::vector<Group> read_groups(const Source& source, const host::Header& header, std::int32_t ranks) {
  std::vector<Group> groups;
  const std::uint64_t step = std::bit_ceil(host::BoardLayout(2).bytes);
  const auto up = [step](Offset offset) { return (offset + step - 1) / step * step; };
  const Offset end = std::min<Offset>(header.heap_next.load(std::memory_order_relaxed), header.capacity);
  for (Offset place = up(header.heap); place < end;) {
    const Offset data = source.data_from(place);  // over what was never written
    if (data >= end) break;
    if (const Offset next = data / step * step; next > place) {
      place = next;
      continue;
    }
    std::size_t bytes = 0;
    std::optional<Group> group = read_board(source, place, header, ranks, bytes);
    if (group) groups.push_back(std::move(*group));
    place += group ? std::bit_ceil(bytes) : step;
  }
  return groups;
}

}  // namespace

const Called* Member::find(std::uint64_t sequence) const {
  const auto found = std::ranges::find(calls, sequence, &Called::sequence);
  return found == calls.end() ? nullptr : &*found;
}

const Group* Snapshot::group(std::uint64_t context) const {
  const auto found = std::ranges::find(groups, context, &Group::context);
  return found == groups.end() ? nullptr : &*found;
}

std::uint64_t job_of(int descriptor) { return read_header(File(descriptor))->job; }

Snapshot read_snapshot(int descriptor) { return read_snapshot(File(descriptor)); }

Snapshot read_snapshot(const Source& source, std::int32_t ranks) {
  const Copy<host::Header> header = read_header(source);
  Snapshot snapshot;
  snapshot.job = header->job;
  if (ranks == 0) ranks = header->size;
  snapshot.groups = read_groups(source, *header, ranks);
  for (Rank rank = 0; rank < header->size; ++rank)
    snapshot.processes.push_back(read_process(source, *header, ranks, rank));
  snapshot.taken_at = source.now();
  return snapshot;
}

std::string read_directory(const Source& source) {
  const Copy<host::Header> header = read_header(source);
  const Offset place = header->directory.load(std::memory_order_relaxed);  // relaxed: a copy of our own
  const std::uint64_t bytes = header->directory_bytes.load(std::memory_order_relaxed);
  if (place < header->heap || place >= header->capacity || bytes > longest_directory) return {};
  std::string text(bytes, '\0');
  return source.read(place, std::as_writable_bytes(std::span(text))) ? text : std::string();
}

}  // namespace tutti::diagnose
