// SPDX-License-Identifier: BSD-3-Clause
#include "trace/record.hpp"

#include <algorithm>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <memory>
#include <utility>

#include "base/descriptor.hpp"
#include "trace/file.hpp"
#include "tutti/error.hpp"

namespace tutti::trace {
namespace {

[[noreturn]] void refuse(const std::string& why) {
  throw Error(Cause::system, "what a rank has recorded cannot be read: " + why);
}

/// The plain values of a header.
struct Extent {
  Header header;
  std::uint64_t events = 0, words = 0;
};

/// Of the first bytes of a file, checked against its length.
std::unique_ptr<Extent> extent_of(std::span<const std::byte> bytes, std::uint64_t length) {
  auto extent = std::make_unique<Extent>();
  if (bytes.size() < header_bytes) refuse("it is too short");
  std::memcpy(static_cast<void*>(&extent->header), bytes.data(), sizeof(Header));
  const Header& header = extent->header;
  if (header.magic != Header::right_magic) refuse("it is no record, or one of another version");
  const std::uint64_t room = length - header_bytes;
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

/// A file up to where its rank has noted anything.
struct Contents {
  std::unique_ptr<Extent> extent;
  std::vector<std::byte> bytes;
};

/// Whatever bears the name of a part: what is no file may never end, and how much is read has to be checked first.
Contents read_contents(const std::string& path) {
  std::error_code error;
  if (!std::filesystem::is_regular_file(path, error)) refuse(path + " is no file");
  std::ifstream file(path, std::ios::binary | std::ios::ate);
  const auto length = static_cast<std::uint64_t>(std::max<std::streamoff>(0, file ? std::streamoff(file.tellg()) : 0));
  Contents contents;
  const auto read_up_to = [&](std::uint64_t end) {
    const std::size_t begin = contents.bytes.size();
    contents.bytes.resize(end);
    file.read(reinterpret_cast<char*>(contents.bytes.data() + begin), static_cast<std::streamsize>(end - begin));
    if (!file) refuse("reading " + path + " failed");
  };
  file.seekg(0);
  read_up_to(std::min<std::uint64_t>(length, header_bytes));
  contents.extent = extent_of(contents.bytes, length);
  read_up_to(header_bytes + contents.extent->header.word_bytes + contents.extent->events * sizeof(Event));
  return contents;
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

namespace {

Record record_of(const Extent& extent, std::span<const std::byte> bytes) {
  const Header& header = extent.header;
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
  record.notes = notes_of(bytes.subspan(header_bytes, extent.words));
  const std::span<const std::byte> events = bytes.subspan(header_bytes + header.word_bytes);
  for (std::uint64_t i = 0; i < extent.events; ++i) {
    Event event;
    std::memcpy(&event, events.data() + i * sizeof event, sizeof event);
    if (is_sound(event)) record.events.push_back(event);
  }
  return record;
}

}  // namespace

Record parse(std::span<const std::byte> bytes) { return record_of(*extent_of(bytes, bytes.size()), bytes); }

Record read_record(const std::string& path) {
  const Contents contents = read_contents(path);
  return record_of(*contents.extent, contents.bytes);
}

bool is_recording(const std::string& path) {
  const base::Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  struct flock lock = recording_lock();
  // As a lock of the open file: this process's own lock shows, too.
  return file && fcntl(file.get(), F_OFD_GETLK, &lock) == 0 && lock.l_type != F_UNLCK;
}

std::vector<std::byte> compact(const std::string& path) {
  Contents contents = read_contents(path);
  const std::unique_ptr<Extent>& extent = contents.extent;
  std::vector<std::byte> bytes = std::move(contents.bytes);
  const std::uint64_t words = extent->words / 8 * 8;
  const auto begin = bytes.begin() + header_bytes;
  const auto events = begin + static_cast<std::ptrdiff_t>(extent->header.word_bytes);
  bytes.erase(begin + static_cast<std::ptrdiff_t>(words), events);
  std::memcpy(bytes.data() + offsetof(Header, word_bytes), &words, sizeof words);
  std::memcpy(bytes.data() + offsetof(Header, capacity), &extent->events, sizeof extent->events);
  return bytes;
}

}  // namespace tutti::trace
