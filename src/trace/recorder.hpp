// SPDX-License-Identifier: BSD-3-Clause
// Notes what one rank does, in its file.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/descriptor.hpp"
#include "base/ticks.hpp"
#include "trace/format.hpp"
#include "tutti/types.hpp"

namespace tutti::trace {

class Recorder {
 public:
  struct Options {
    std::string path;
    std::uint64_t job = 0;
    Rank rank = 0;
    int size = 1;
    Rank host = 0;
    std::uint64_t capacity = std::uint64_t{1} << 17;  ///< Events; a multiple of `block`.
  };
  /// Events are given out in blocks of so many.
  static constexpr std::uint64_t block = 32;

  /// Makes the file, of its full length, and touches its memory: a new one, whatever was there, since another process
  /// may still write to that. Throws Error (system).
  explicit Recorder(const Options& options);
  ~Recorder();
  Recorder(const Recorder&) = delete;
  Recorder& operator=(const Recorder&) = delete;

  const std::string& path() const { return path_; }
  /// Room for so many events (at most a block), or null when it is full; then one is counted as dropped. From any
  /// thread.
  Event* take(std::uint64_t count);
  /// One more word; its number, from any thread. Without room for it, it is counted as nameless.
  std::uint32_t note(Word kind, std::uint64_t key, std::string_view text);
  /// What stands for a place in a program without return addresses: a site of calls there.
  const void* place(const std::string& text);

  std::span<const Event> events() const;
  /// Reads the counter again, unless it was read just now: what this rank has noted is told in time, however it dies.
  /// For those who come often, from any thread.
  void read_again();
  /// Takes the last reading of the counter. What happens later is noted all the same.
  void finish();

 private:
  Header& header() const { return *static_cast<Header*>(memory_); }
  std::byte* words() const { return static_cast<std::byte*>(memory_) + header_bytes; }
  Event* first() const { return reinterpret_cast<Event*>(words() + header().word_bytes); }
  static Reading read();
  const Reading& last() const { return header().last[header().newest.load(std::memory_order_relaxed)]; }
  void read_last();  // it and `last` under the lock, so that relaxed is enough

  std::string path_;
  base::Descriptor file_;  // stays open for the lock's sake
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
  std::mutex lock_;  // guards the words, the last readings and what follows
  std::uint32_t words_ = 0;
  bool full_ = false;  // there is no room for another word
  std::map<std::string, std::uint32_t> places_;
};

/// What one group notes: one thread at a time.
class Track {
 public:
  /// `word`: the group's, which is noted with its first event: of groups that note nothing there may be very many.
  Track(Recorder& recorder, std::uint64_t context, std::string word)
      : recorder_(recorder), context_(context), word_(std::move(word)) {}

  /// The number of the group's word, of one that has taken an event.
  std::uint32_t group() const { return *group_; }
  /// Room for an event; null when it is full.
  Event* take() {
    if (next_ == end_ && !refill()) return nullptr;
    return next_++;
  }

 private:
  [[gnu::noinline]] bool refill();

  Recorder& recorder_;
  std::uint64_t context_;
  std::string word_;
  std::optional<std::uint32_t> group_;
  Event *next_ = nullptr, *end_ = nullptr;
};

}  // namespace tutti::trace
