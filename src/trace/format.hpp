// SPDX-License-Identifier: BSD-3-Clause
// The file in which one rank notes what it does: a header, words, events. It is mapped while the rank runs, so that
// what a rank has noted is there whatever becomes of it.
#pragma once

#include <fcntl.h>

#include <array>
#include <atomic>
#include <bit>
#include <cstddef>
#include <cstdint>

namespace tutti::trace {

enum class What : std::uint8_t {
  none,     ///< Nothing was noted here.
  call,     ///< A collective, from its start to its end.
  message,  ///< A send or recv of the program's.
  step,     ///< Of a collective's plan: one that waited, or moved much.
  wait,     ///< Of the program, for something that it had started.
};
inline constexpr int whats = 5;

/// How a collective was called.
enum class Form : std::uint8_t { blocking, request };
enum class Outcome : std::uint8_t { pending, done, failed };

/// One line of memory. Times are base::ticks.
struct Event {
  std::uint64_t begin = 0, end = 0;  ///< `end` is 0 until it has ended.
  std::uint64_t sequence = 0;        ///< Of the operation, in its group.
  std::uint64_t site = 0;            ///< call, message: of the call in the program; above `places`: a word's number.
  std::uint64_t bytes = 0;
  std::uint32_t group = 0;      ///< Number of the group's word.
  std::int32_t peer = -1;       ///< Rank of the group: a call's root, who sends, receives or is awaited.
  std::int32_t algorithm = -1;  ///< Position in the registry.
  std::uint32_t message = 0;    ///< Of a step that sends or receives; message: the user's tag.
  What what = What::none;
  std::uint8_t kind = 0;  ///< call: tutti::Kind; message, step: plan::Verb.
  Form form = Form::blocking;
  Outcome outcome = Outcome::pending;
  std::uint32_t unused = 0;
};
static_assert(sizeof(Event) == 64);

/// Of a group's calls all of the first are noted, then one of 2, of 4, of 8 ...: by their number, and so the same ones
/// on all its ranks. A long run has room, and small calls that are very many cost little more than without.
inline constexpr std::uint64_t all_noted = std::uint64_t{1} << 12;
/// Of how many calls this one is the one that is noted, or would be.
constexpr std::uint64_t stands_for(std::uint64_t sequence) {
  return sequence < all_noted ? 1 : 2 * std::bit_floor(sequence / all_noted);
}
constexpr bool is_noted(std::uint64_t sequence) { return (sequence & (stands_for(sequence) - 1)) == 0; }

/// Sites from here on are no addresses of programs, which end far below.
inline constexpr std::uint64_t places = std::uint64_t{1} << 63;

/// What a word is about. Words follow each other, each with a head, padded to 8 bytes.
enum class Word : std::uint32_t {
  group,    ///< "0 4 world": this rank in it, its size, its name; key: its context.
  place,    ///< "solver.py:12 in step".
  site,     ///< "solver: step()+0x1c"; key: the address.
  modules,  ///< Lines of /proc/self/maps: what this process may run.
  command,  ///< "solver input.txt"
  moments,  ///< measure::Moment of each host's first rank, in the order of hosts; rank 0's, one at the start, one at
            ///< the end.
};
inline constexpr std::uint32_t word_kinds = 6;
struct WordHead {
  Word kind{};
  std::uint32_t length = 0;
  std::uint64_t key = 0;
};

/// The same moment by the counter and by the clock.
struct Reading {
  std::uint64_t ticks = 0, nanoseconds = 0;
};

struct Header {
  static constexpr std::uint64_t right_magic = 0x3265636172742d74;  // "t-trace2"
  std::uint64_t magic = 0;
  std::uint64_t job = 0;     ///< Its number.
  std::int64_t started = 0;  ///< Nanoseconds since 1970, by the clock that dates files.
  std::int32_t rank = 0, size = 0, host = 0, pid = 0;
  std::uint64_t word_bytes = 0;  ///< Room for words.
  std::uint64_t capacity = 0;    ///< Room for events.
  std::array<char, 64> host_name{};
  Reading first;  ///< As early as possible.
  /// The last one stands at `newest`; the next is written beside it, so that who dies meanwhile leaves a whole one.
  std::array<Reading, 2> last;
  std::atomic<std::uint32_t> newest;
  /// Given out. A rank may die at any moment: what was given out need not be written.
  std::atomic<std::uint64_t> events, words;
  std::atomic<std::uint64_t> dropped;   ///< Events that there was no room for.
  std::atomic<std::uint64_t> nameless;  ///< Words that there was no room for.
  std::atomic<std::uint32_t> finished;
};
inline constexpr std::size_t header_bytes = 4096;
static_assert(sizeof(Header) <= header_bytes);

/// A rank that records holds this POSIX record lock, on a byte of its file far behind the end: it goes with the
/// process, however that ends, and a forked child does not inherit it.
inline struct flock recording_lock() {
  struct flock lock {};
  lock.l_type = F_WRLCK;
  lock.l_whence = SEEK_SET;
  lock.l_start = std::int64_t{1} << 62;
  lock.l_len = 1;
  return lock;
}

}  // namespace tutti::trace
