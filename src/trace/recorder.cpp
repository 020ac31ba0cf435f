// SPDX-License-Identifier: BSD-3-Clause
#include "trace/recorder.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <new>

#include "tutti/error.hpp"

namespace tutti::trace {
namespace {

/// Of the counter: less than a millisecond of a processor's, some of a slower one. A reading costs as much as 20
/// events.
constexpr std::uint64_t between_readings = std::uint64_t{1} << 20;

/// A group takes a block of events before it has a name: there is room for 256 bytes with each block, and no less than
/// for what a large program runs.
constexpr std::size_t word_room(std::uint64_t capacity) {
  return std::max<std::size_t>(std::size_t{1} << 20, capacity / Recorder::block * 256);
}

/// Nanoseconds since 1970, by the clock that files are dated by: it stands still for milliseconds.
std::int64_t file_time() {
  timespec now{};
  clock_gettime(CLOCK_REALTIME_COARSE, &now);
  return now.tv_sec * std::int64_t{1'000'000'000} + now.tv_nsec;
}

std::size_t padded(std::size_t bytes) { return (bytes + 7) / 8 * 8; }

[[noreturn]] void fail(const std::string& path, int error) {
  throw Error(Cause::system, "cannot record in " + path + ": " + std::strerror(error) +
                                 "; name a file in a folder that can be written to and has room (TUTTI_TRACE)");
}

}  // namespace

Recorder::Recorder(const Options& options)
    : path_(options.path), bytes_(header_bytes + word_room(options.capacity) + options.capacity * sizeof(Event)) {
  unlink(path_.c_str());
  file_ = base::Descriptor(open(path_.c_str(), O_RDWR | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!file_) fail(path_, errno);
  // Where the file system has no locks, nobody sees that this rank records: it can do so all the same.
  struct flock lock = recording_lock();
  fcntl(file_.get(), F_SETLK, &lock);
  // A page without a block on the disk would end the program when it is first touched.
  int error = posix_fallocate(file_.get(), 0, static_cast<off_t>(bytes_));
  if (error == 0) memory_ = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_POPULATE, file_.get(), 0);
  if (memory_ == MAP_FAILED) error = errno;
  if (error != 0) {
    unlink(path_.c_str());  // it holds nothing, and what room the disk had
    fail(path_, error);
  }
#ifdef MADV_POPULATE_WRITE
  madvise(memory_, bytes_, MADV_POPULATE_WRITE);  // where the kernel cannot, the first touch does
#endif
  Header* const made = new (memory_) Header;
  made->job = options.job;
  made->started = file_time();
  made->rank = options.rank;
  made->size = options.size;
  made->host = options.host;
  made->pid = getpid();
  made->word_bytes = word_room(options.capacity);
  made->capacity = options.capacity;
  gethostname(made->host_name.data(), made->host_name.size() - 1);
  made->first = made->last[0] = read();
  made->magic = Header::right_magic;
}

Recorder::~Recorder() {
  if (memory_ != nullptr) munmap(memory_, bytes_);
}

/// Of some the one that took the shortest: the process may lose its core in the middle of one.
Reading Recorder::read() {
  constexpr int times = 10;
  std::uint64_t shortest = ~std::uint64_t{0};
  Reading best{};
  for (int i = 0; i < times; ++i) {
    const std::uint64_t before = base::ticks(), time = base::now(), took = base::ticks() - before;
    if (took >= shortest) continue;
    shortest = took;
    best = {before + took / 2, time};
  }
  return best;
}

Event* Recorder::take(std::uint64_t count) {
  // Relaxed: a number that nobody else gets; the events are for readers after the end.
  const std::uint64_t at = header().events.fetch_add(count, std::memory_order_relaxed);
  if (at + count > header().capacity) {
    header().events.fetch_sub(count, std::memory_order_relaxed);  // so that it never wraps
    header().dropped.fetch_add(1, std::memory_order_relaxed);     // relaxed: a count
    return nullptr;
  }
  return first() + at;
}

std::uint32_t Recorder::note(Word kind, std::uint64_t key, std::string_view text) {
  const std::lock_guard lock(lock_);
  const WordHead head{kind, static_cast<std::uint32_t>(text.size()), key};
  const std::uint64_t at = header().words.load(std::memory_order_relaxed);  // relaxed: written under the lock alone
  const std::size_t bytes = sizeof head + padded(text.size());
  full_ = full_ || bytes > header().word_bytes - at;  // of all later ones too: words are numbered by where they stand
  if (full_) {
    header().nameless.fetch_add(1, std::memory_order_relaxed);  // relaxed: a count
    return words_++;
  }
  std::memcpy(words() + at, &head, sizeof head);
  std::ranges::copy(std::as_bytes(std::span(text)), words() + at + sizeof head);
  // Release: pairs with the acquire of a reader of the file, though none reads before this rank has ended.
  header().words.store(at + bytes, std::memory_order_release);
  return words_++;
}

const void* Recorder::place(const std::string& text) {
  std::uint32_t number = 0;
  {
    const std::lock_guard lock(lock_);
    if (const auto found = places_.find(text); found != places_.end())
      return reinterpret_cast<const void*>(places +
                                           found->second);  // NOLINT(performance-no-int-to-ptr): never followed
  }
  number = note(Word::place, 0, text);
  const std::lock_guard lock(lock_);
  number = places_.try_emplace(text, number).first->second;
  return reinterpret_cast<const void*>(places + number);  // NOLINT(performance-no-int-to-ptr): never followed
}

std::span<const Event> Recorder::events() const {
  // Relaxed: for the thread that ends the program.
  return {first(), std::min(header().events.load(std::memory_order_relaxed), header().capacity)};
}

/// Under the lock.
void Recorder::read_last() {
  // Relaxed: written under the lock alone.
  const std::uint32_t next = 1 - header().newest.load(std::memory_order_relaxed);
  header().last[next] = read();
  // Release: pairs with whoever reads the file of a rank that was killed here: the reading is whole before it counts.
  header().newest.store(next, std::memory_order_release);
}

void Recorder::read_again() {
  const std::unique_lock lock(lock_, std::try_to_lock);
  if (!lock) return;  // another thread notes something, and this one comes again
  const std::uint64_t since = last().ticks;
  if (since == header().first.ticks || base::ticks() - since >= between_readings) read_last();
}

void Recorder::finish() {
  const std::lock_guard lock(lock_);
  read_last();
  header().finished.store(1, std::memory_order_relaxed);  // relaxed: for readers of the file
}

bool Track::refill() {
  recorder_.read_again();
  next_ = recorder_.take(Recorder::block);
  end_ = next_ == nullptr ? nullptr : next_ + Recorder::block;
  if (next_ != nullptr && !group_) group_ = recorder_.note(Word::group, context_, word_);
  return next_ != nullptr;
}

}  // namespace tutti::trace
