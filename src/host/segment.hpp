// SPDX-License-Identifier: BSD-3-Clause
// The memory that the processes of one host share, and the fixed part at its start.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "tutti/types.hpp"

namespace tutti::host {

inline constexpr std::size_t line = 128;  // two cache lines: the adjacent-line prefetcher pulls pairs
inline constexpr std::uint32_t wire_version = 1;
inline constexpr std::uint64_t segment_magic = 0x5455545449534547;  // "TUTTISEG"

/// Where something lies in the segment; the same on all processes, unlike its address.
using Offset = std::uint64_t;

/// How a process is.
enum class Life : std::uint32_t { absent, alive, left, dead };

/// One process's place in the segment. It alone writes its own lines, except where said.
struct alignas(line) Process {
  // Line 1: identity, written once before `life` becomes alive.
  std::atomic<Life> life;  ///< Set to dead by whoever finds out first (compare-exchange from alive).
  std::int32_t pid;
  std::atomic<std::uint64_t> alarm_seen;
  // Line 2: the bell. Others write here.
  struct alignas(line) Bell {
    std::atomic<std::uint32_t> word;    ///< Futex; bumped by every ring.
    std::atomic<std::uint32_t> asleep;  ///< Threads of this process asleep or about to be.
    std::atomic<std::int32_t> awaited;  ///< The one world rank whose publishing ends the sleep, or -1 = anything.
  } bell;
  // Line 3: what it does, for the launcher's obituary and for `tutti why`.
  struct alignas(line) Last {
    std::atomic<std::uint64_t> context;
    std::atomic<std::uint64_t> sequence;
    std::atomic<std::uint32_t> kind;     ///< collectives::Kind, or none = 0xffffffff
    std::atomic<std::uint32_t> running;  ///< 1 between start and completion
  } last;
};

/// Who has something for a receiver: bit per sender (mod 1024), so that it need not look at all its rings.
struct alignas(line) Incoming {
  std::atomic<std::uint64_t> senders[16];
};

/// The pair area at Header::pairs: Incoming[size], then, page-aligned, size*size blocks of pair_bytes, receiver-major
/// (block receiver * size + sender). All zero at first; transport/shm says what a block holds.
inline constexpr std::size_t pair_bytes = 4096 + 65536;
constexpr Offset pair_offset(int size, Rank receiver, Rank sender) {
  const Offset blocks = (static_cast<Offset>(size) * sizeof(Incoming) + 4095) / 4096 * 4096;
  return blocks +
         (static_cast<Offset>(receiver) * static_cast<Offset>(size) + static_cast<Offset>(sender)) * pair_bytes;
}
constexpr std::size_t pair_area_bytes(int size) { return pair_offset(size, size, 0); }

/// The start of the segment. Everything read from here is checked before use.
struct alignas(line) Header {
  std::uint64_t magic;
  std::uint32_t version;
  std::int32_t size;                               ///< Processes of the host (= of the job, on one host).
  std::uint64_t job;                               ///< Identifies the job in messages and names.
  std::uint64_t capacity;                          ///< Bytes of the sealed file.
  Offset processes;                                ///< Process[size]
  Offset pairs;                                    ///< Page-aligned; pair_area_bytes(size) bytes.
  Offset heap;                                     ///< Boards are carved from here on.
  alignas(line) std::atomic<std::uint64_t> alarm;  ///< Bumped on each death or broken group: one word to look at.
  alignas(line) std::atomic<std::uint64_t> sleepers[16];  ///< Bit per process (mod 1024): it may be asleep.
  alignas(line) std::atomic<Offset> heap_next;            ///< Bump pointer.
  std::atomic<std::uint64_t> free_lists[48];              ///< Per power of two: (tag << 48 | offset / 128), a stack.
};

/// A mapping of the segment. The file is sealed and sparse: 64 GiB that cost what is touched. It is mapped in windows,
/// on demand, so that ten thousand groups need neither more descriptors nor a second segment.
class Segment {
 public:
  /// A new segment in a sealed memfd (for `tutti run`, and for a world of one when it needs one).
  static std::shared_ptr<Segment> create(int size, std::uint64_t job);
  /// The segment behind a descriptor that came from the launcher; takes the descriptor.
  /// Throws Error (system) when what lies there is not a segment of this job and version.
  static std::shared_ptr<Segment> attach(int descriptor, std::uint64_t job);
  /// Private memory of this process (for inproc): the same layout, no descriptor.
  static std::shared_ptr<Segment> local(int size, std::uint64_t job);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  Header& header() const;
  Process& process(Rank world_rank) const;
  int descriptor() const;  ///< -1 for local memory.
  int size() const;

  /// The address of `bytes` bytes at `offset`; maps the window when needed. Throws Error (system) when the range
  /// leaves the segment. The address stays valid as long as the Segment.
  std::byte* at(Offset offset, std::size_t bytes);

  /// Zeroed memory for a board; any process. Throws Error (system) when the segment is full.
  Offset allocate(std::size_t bytes);
  void free(Offset offset, std::size_t bytes);

  /// Takes this process's place: records the pid, holds the life lock, becomes alive.
  void enter(Rank world_rank);
  /// Leaves in order: life becomes `left`, the lock is given back, sleepers are woken.
  void leave(Rank world_rank);
  /// Whether the process can still act. A lock query for processes of other mappings (one system call), the word alone
  /// for local memory. A death found here is recorded, raises the alarm and wakes all sleepers.
  Life probe(Rank world_rank);
  /// Records a death that was learnt elsewhere (a test, the launcher).
  void declare_dead(Rank world_rank);
  /// Bumps the alarm and wakes everybody who sleeps.
  void raise_alarm();

 private:
  Segment() = default;
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace tutti::host
