// SPDX-License-Identifier: BSD-3-Clause
#include "trace/record.hpp"

#include <algorithm>
#include <cstring>
#include <fstream>
#include <memory>

#include "tutti/error.hpp"

namespace tutti::trace {
namespace {

constexpr int most_ranks = 1 << 20;  // that anybody can have

[[noreturn]] void refuse(const std::string& why) {
  throw Error(Cause::system, "what a rank has recorded cannot be read: " + why);
}

std::vector<std::byte> bytes_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  if (!file) refuse("there is no " + path);
  const std::streamoff length = file.tellg();  // a folder has none
  std::vector<std::byte> bytes(static_cast<std::size_t>(std::max<std::streamoff>(0, length)));
  file.seekg(0);
  if (!file.read(reinterpret_cast<char*>(bytes.data()), static_cast<std::streamsize>(bytes.size())))
    refuse("reading " + path + " failed");
  return bytes;
}

/// The plain values of a header.
struct Extent {
  Header header;
  std::uint64_t events = 0, words = 0;
};

/// Checked against the length of the file.
std::unique_ptr<Extent> extent_of(std::span<const std::byte> bytes) {
  auto extent = std::make_unique<Extent>();
  if (bytes.size() < header_bytes) refuse("it is too short");
  std::memcpy(static_cast<void*>(&extent->header), bytes.data(), sizeof(Header));
  const Header& header = extent->header;
  if (header.magic != Header::right_magic) refuse("it is no record, or one of another version");
  const std::uint64_t room = bytes.size() - header_bytes;
  if (header.word_bytes > room || header.word_bytes % 8 != 0 ||
      header.capacity > (room - header.word_bytes) / sizeof(Event))
    refuse("it is shorter than it says");
  if (header.size < 1 || header.size > most_ranks || header.rank < 0 || header.rank >= header.size || header.host < 0 ||
      header.host >= header.size)
    refuse("there is no such rank");
  // Relaxed: a copy.
  extent->events = std::min(header.events.load(std::memory_order_relaxed), header.capacity);
  extent->words = std::min(header.words.load(std::memory_order_relaxed), header.word_bytes);
  return extent;
}

std::vector<Record::Note> notes_of(std::span<const std::byte> words) {
  std::vector<Record::Note> notes;
  while (words.size() >= sizeof(WordHead)) {
    WordHead head;
    std::memcpy(&head, words.data(), sizeof head);
    words = words.subspan(sizeof head);
    if (static_cast<std::uint32_t>(head.kind) >= word_kinds || head.length > words.size()) break;
    notes.push_back({head.kind, head.key, {reinterpret_cast<const char*>(words.data()), head.length}});
    words = words.subspan(std::min<std::size_t>((std::size_t{head.length} + 7) / 8 * 8, words.size()));
  }
  return notes;
}

/// It was begun, and whoever reads it can rely on what it says.
bool is_sound(const Event& event) {
  return event.what != What::none && static_cast<int>(event.what) < whats && event.begin != 0 &&
         (event.end == 0 || event.end >= event.begin) && event.form <= Form::request &&
         event.outcome <= Outcome::failed;
}

}  // namespace

const Record::Note* Record::find(Word kind) const {
  const auto found = std::ranges::find(notes, kind, &Note::kind);
  return found == notes.end() ? nullptr : &*found;
}

Record parse(std::span<const std::byte> bytes) {
  const std::unique_ptr<Extent> extent = extent_of(bytes);
  const Header& header = extent->header;
  Record record;
  record.job = header.job;
  record.started = header.started;
  record.rank = header.rank;
  record.host = header.host;
  record.size = header.size;
  record.pid = header.pid;
  record.host_name.assign(header.host_name.data(), strnlen(header.host_name.data(), header.host_name.size()));
  record.first = header.first;
  record.last = header.last[header.newest.load(std::memory_order_relaxed) % header.last.size()];  // relaxed: a copy
  record.dropped = header.dropped.load(std::memory_order_relaxed);                                // relaxed: a copy
  record.nameless = header.nameless.load(std::memory_order_relaxed);                              // relaxed: a copy
  record.finished = header.finished.load(std::memory_order_relaxed) != 0;                         // relaxed: a copy
  record.notes = notes_of(bytes.subspan(header_bytes, extent->words));
  const std::span<const std::byte> events = bytes.subspan(header_bytes + header.word_bytes);
  for (std::uint64_t i = 0; i < extent->events; ++i) {
    Event event;
    std::memcpy(&event, events.data() + i * sizeof event, sizeof event);
    if (is_sound(event)) record.events.push_back(event);
  }
  return record;
}

Record read_record(const std::string& path) { return parse(bytes_of(path)); }

std::vector<std::byte> compact(const std::string& path) {
  std::vector<std::byte> bytes = bytes_of(path);
  const std::unique_ptr<Extent> extent = extent_of(bytes);
  const std::uint64_t words = extent->words / 8 * 8;
  const auto begin = bytes.begin() + header_bytes;
  const auto events = begin + static_cast<std::ptrdiff_t>(extent->header.word_bytes);
  bytes.erase(events + static_cast<std::ptrdiff_t>(extent->events * sizeof(Event)), bytes.end());
  bytes.erase(begin + static_cast<std::ptrdiff_t>(words), events);
  std::memcpy(bytes.data() + offsetof(Header, word_bytes), &words, sizeof words);
  std::memcpy(bytes.data() + offsetof(Header, capacity), &extent->events, sizeof extent->events);
  return bytes;
}

}  // namespace tutti::trace
