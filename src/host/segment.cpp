// SPDX-License-Identifier: BSD-3-Clause
// Making, checking and mapping a segment. Its heap is in heap.cpp, its processes' lives in life.cpp.
#include "host/segment.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <new>

#include "tutti/error.hpp"

#ifndef MFD_NOEXEC_SEAL
#define MFD_NOEXEC_SEAL 0x0008U
#endif

namespace tutti::host {
namespace {

constexpr std::uint64_t usual_capacity = std::uint64_t{64} << 30;
constexpr int seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

[[noreturn]] void fail(const std::string& text) { throw Error(Cause::system, text); }
[[noreturn]] void fail(const std::string& text, int error) { fail(text + ": " + std::strerror(error)); }

std::string readable(std::uint64_t bytes) {
  constexpr const char* units[] = {" B", " KiB", " MiB", " GiB", " TiB"};
  int unit = 0;
  while (bytes >= 1024 && bytes % 1024 == 0 && unit < 4) bytes /= 1024, ++unit;
  return std::to_string(bytes) + units[unit];
}

bool fits(std::int32_t size, std::uint64_t capacity) { return layout(size, capacity).heap + least_heap <= capacity; }

/// At least half of it is heap.
std::uint64_t wanted_capacity(std::int32_t size) {
  std::uint64_t capacity = usual_capacity;
  while (layout(size, capacity).heap > capacity / 2) capacity *= 2;
  return capacity;
}

void check_size(int size) {
  if (size >= 1 && size <= max_processes) return;
  throw Error(Cause::usage,
              "a segment for " + std::to_string(size) + " processes: ask for 1 to " + std::to_string(max_processes));
}

[[noreturn]] void fail_small(int size, const std::string& why) {
  fail("shared memory for " + std::to_string(size) + " processes does not fit (" + why +
       "); raise the limit or start fewer processes");
}

int new_memfd() {
  // A kernel that knows it wants to be told that nothing here is a program; an older one refuses the flag.
  const int descriptor = memfd_create("tutti", MFD_CLOEXEC | MFD_ALLOW_SEALING | MFD_NOEXEC_SEAL);
  if (descriptor >= 0 || errno != EINVAL) return descriptor;
  return memfd_create("tutti", MFD_CLOEXEC | MFD_ALLOW_SEALING);
}

/// Gives the file the largest size it can have; returns it, and in `why` the reason when it is less than wanted.
std::uint64_t resize(int descriptor, int size, std::string& why) {
  std::uint64_t capacity = wanted_capacity(size);
  // Going over RLIMIT_FSIZE is a deadly signal (SIGXFSZ), not just an error: look before.
  rlimit limit{};
  if (getrlimit(RLIMIT_FSIZE, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY && limit.rlim_cur < capacity) {
    why = "the file size limit (ulimit -f) is " + readable(limit.rlim_cur);
    while (capacity > limit.rlim_cur) capacity /= 2;
  }
  for (; fits(size, capacity); capacity /= 2) {
    if (ftruncate(descriptor, static_cast<off_t>(capacity)) == 0) return capacity;
    why = "the kernel refused " + readable(capacity) + ": " + std::strerror(errno);
  }
  fail_small(size, why);
}

}  // namespace

std::shared_ptr<Segment> Segment::create(int size, std::uint64_t job) {
  check_size(size);
  std::shared_ptr<Segment> segment(new Segment);
  segment->descriptor_ = base::Descriptor(new_memfd());
  if (!segment->descriptor_) fail("cannot make shared memory (memfd_create)", errno);
  std::string why;
  const std::uint64_t capacity = resize(segment->descriptor(), size, why);
  if (fcntl(segment->descriptor(), F_ADD_SEALS, seals) != 0) fail("cannot seal the shared memory", errno);
  segment->open(size, capacity);
  segment->format(size, job);
  segment->why_ = readable(capacity) + " sealed memfd" + (why.empty() ? "" : ", as " + why);
  return segment;
}

std::shared_ptr<Segment> Segment::attach(int descriptor, std::uint64_t job) {
  std::shared_ptr<Segment> segment(new Segment);
  segment->descriptor_ = base::Descriptor(descriptor);
  const std::string refusal = "the shared memory from the launcher is refused: ";
  struct stat status {};
  if (fstat(descriptor, &status) != 0) fail(refusal + "it cannot be looked at", errno);
  if (!S_ISREG(status.st_mode)) fail(refusal + "it is not memory");
  const int found = fcntl(descriptor, F_GET_SEALS);
  if (found < 0 || (found & seals) != seals) fail(refusal + "it is not sealed");

  // Checked on a copy, and never read again: a header that changes later harms nobody.
  alignas(Header) std::byte copy[sizeof(Header)];
  if (pread(descriptor, copy, sizeof copy, 0) != static_cast<ssize_t>(sizeof copy)) fail(refusal + "it is too short");
  const Header& header = *std::launder(reinterpret_cast<const Header*>(copy));
  const std::string complaint = check(header, static_cast<std::uint64_t>(status.st_size), job);
  if (!complaint.empty()) fail(refusal + complaint);
  segment->open(header.size, header.capacity);
  segment->why_ = readable(header.capacity) + " sealed memfd of the launcher";
  return segment;
}

std::shared_ptr<Segment> Segment::local(int size, std::uint64_t job) {
  check_size(size);
  std::shared_ptr<Segment> segment(new Segment);
  std::string why;
  std::uint64_t capacity = wanted_capacity(size);
  for (; fits(size, capacity); capacity /= 2) {
    void* memory = mmap(nullptr, capacity, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) {
      segment->local_ = static_cast<std::byte*>(memory);
      break;
    }
    why = "the kernel refused " + readable(capacity) + ": " + std::strerror(errno);
  }
  if (segment->local_ == nullptr) fail_small(size, why);
  madvise(segment->local_, capacity, MADV_DONTDUMP);
  segment->open(size, capacity);
  segment->format(size, job);
  segment->why_ = readable(capacity) + " of this process" + (why.empty() ? "" : ", as " + why);
  return segment;
}

Segment::~Segment() {
  if (local_ != nullptr) {
    munmap(local_, capacity_);
    return;
  }
  for (const Large& large : large_) munmap(large.address, large.bytes);
  for (std::size_t i = 0; windows_ != nullptr && i * window_bytes < capacity_; ++i)
    if (std::byte* const window = windows_[i].load(std::memory_order_relaxed))
      munmap(window, std::min<std::uint64_t>(window_bytes, capacity_ - i * window_bytes));
}

void Segment::open(int size, std::uint64_t capacity) {
  size_ = size;
  capacity_ = capacity;
  layout_ = layout(size, capacity);
  if (local_ == nullptr)
    windows_ = std::make_unique<std::atomic<std::byte*>[]>((capacity + window_bytes - 1) / window_bytes);
  entered_ = std::make_unique<std::atomic<std::int32_t>[]>(static_cast<std::size_t>(size));
  header_ = reinterpret_cast<Header*>(at(0, sizeof(Header)));
  const std::size_t bytes = static_cast<std::size_t>(size) * sizeof(Process);
  processes_ = reinterpret_cast<Process*>(at(layout_.processes, bytes));
}

void Segment::format(int size, std::uint64_t job) {
  header_->magic = segment_magic;
  header_->version = wire_version;
  header_->size = size;
  header_->job = job;
  header_->capacity = capacity_;
  header_->processes = layout_.processes;
  header_->links = layout_.links;
  header_->pairs = layout_.pairs;
  header_->heap = layout_.heap;
  header_->heap_next.store(layout_.heap, std::memory_order_relaxed);
  for (int i = 0; i < size; ++i) {
    processes_[i].bell.awaited.store(-1, std::memory_order_relaxed);
    processes_[i].last.kind.store(0xffffffffu, std::memory_order_relaxed);
  }
}

std::byte* Segment::at(Offset offset, std::size_t bytes) {
  if (!has(offset, bytes))
    fail("a place outside the shared memory was asked for: " + std::to_string(bytes) + " bytes at " +
         std::to_string(offset) + " of " + std::to_string(capacity_));
  if (local_ != nullptr) return local_ + offset;
  const std::size_t inside = offset % window_bytes;
  if (bytes > window_bytes - inside) return map_large(offset, bytes);
  const std::size_t index = offset / window_bytes;
  std::byte* window = windows_[index].load(std::memory_order_acquire);  // Pairs with the store in map_window.
  if (window == nullptr) window = map_window(index);
  return window + inside;
}

std::byte* Segment::map(Offset start, std::size_t bytes) const {
  void* memory =
      mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, descriptor(), static_cast<off_t>(start));
  if (memory == MAP_FAILED)
    fail("cannot map " + readable(bytes) + " of shared memory (is there a limit, ulimit -v?)", errno);
  madvise(memory, bytes, MADV_DONTDUMP);
  return static_cast<std::byte*>(memory);
}

std::byte* Segment::map_window(std::size_t window) {
  const std::lock_guard lock(mutex_);
  std::byte* address = windows_[window].load(std::memory_order_relaxed);
  if (address != nullptr) return address;
  const Offset start = window * window_bytes;
  address = map(start, std::min<std::uint64_t>(window_bytes, capacity_ - start));
  windows_[window].store(address, std::memory_order_release);
  return address;
}

/// What crosses windows has a mapping of its own, of whole windows, so that parts of a large block share few of them.
/// It is kept as long as the others: its address must not change either.
std::byte* Segment::map_large(Offset offset, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  for (const Large& large : large_)
    if (large.start <= offset && offset + bytes <= large.start + large.bytes)
      return large.address + (offset - large.start);
  const Offset start = offset / window_bytes * window_bytes;
  const std::size_t length = std::min<std::uint64_t>(round_up(offset + bytes, window_bytes), capacity_) - start;
  std::byte* address = map(start, length);
  large_.push_back({start, length, address});
  return address + (offset - start);
}

}  // namespace tutti::host
