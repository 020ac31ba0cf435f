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

#include "base/descriptor.hpp"
#include "host/inside.hpp"
#include "host/waits.hpp"
#include "tutti/types.hpp"

namespace tutti::host {

inline constexpr std::size_t line = 128;  // two cache lines: the adjacent-line prefetcher pulls pairs
inline constexpr std::uint32_t wire_version = 11;
inline constexpr std::uint64_t segment_magic = 0x5455545449534547;  // "TUTTISEG"
inline constexpr std::int32_t max_processes = 32768;

/// Where something lies in the segment; the same on all processes, unlike its address.
using Offset = std::uint64_t;

inline constexpr std::size_t page = 4096;
constexpr std::uint64_t round_up(std::uint64_t value, std::uint64_t unit) { return (value + unit - 1) / unit * unit; }
inline constexpr std::size_t window_bytes = std::size_t{64} << 20;

/// How a process is.
enum class Life : std::uint32_t { absent, alive, left, dead };

/// Each process that is alive holds a record lock on the byte of the file at this place plus its rank.
inline constexpr std::int64_t life_locks = std::int64_t{1} << 62;

/// One process's place in the segment. It alone writes its own lines, except where said.
struct alignas(line) Process {
  // Line 1: identity, written once before `life` becomes alive.
  std::atomic<Life> life;  ///< Set to dead by whoever finds out first (compare-exchange from alive).
  std::int32_t pid;
  std::atomic<std::uint64_t> watched;  ///< When somebody asked the system for it last; see Segment::watch.
  // Line 2: the bell. Others write `word` alone.
  struct alignas(line) Bell {
    std::atomic<std::uint32_t> word;     ///< Futex; bumped by every ring.
    std::atomic<std::uint32_t> asleep;   ///< Threads of this process asleep or about to be.
    std::atomic<std::int32_t> awaited;   ///< The one process whose publishing ends the sleep, or -1 = anything.
    std::atomic<std::uint32_t> at_door;  ///< 1: one of these threads sleeps at the process's door, see door.hpp;
    std::atomic<std::uint64_t> door;     ///< its name.
  } bell;
  // Line 3: what it does, for the launcher's obituary and for `tutti why`.
  struct alignas(line) Last {
    std::atomic<std::uint64_t> context;
    std::atomic<std::uint64_t> sequence;
    std::atomic<std::uint32_t> kind;     ///< collectives::Kind, or none = 0xffffffff
    std::atomic<std::uint32_t> running;  ///< 1 between start and completion
    // As a Record of the board says it, in a group that has none on this host.
    std::atomic<std::uint32_t> signature;
    std::atomic<std::int32_t> algorithm;
    std::atomic<std::uint64_t> call;
    std::atomic<std::int64_t> count;
    std::atomic<std::uint64_t> site;
    Inside inside;
  } last;
  // Line 4: its stretch on a core since it last waited, so that others can tell who keeps theirs; see company.hpp.
  struct alignas(line) Stretch {
    std::atomic<std::uint64_t> began;  ///< When it last came back from a yield or a sleep; 0 = it is in one.
    std::atomic<std::uint32_t> core;   ///< Its place in Header::used.
  } stretch;
  Waits waits;  ///< What it waits for, once that has become slow.
};

/// A set of processes has a bit for each; in larger segments several share one.
inline constexpr std::int32_t process_bits = 1024;
inline constexpr std::size_t process_words = process_bits / 64;
constexpr std::size_t process_word(Rank rank) { return static_cast<std::size_t>(rank) / 64 % process_words; }

/// Who has something for a receiver, so that it need not look at all its rings.
struct alignas(line) Incoming {
  std::atomic<std::uint64_t> senders[process_words];
};

/// The pair area at Header::pairs: Incoming[size], then, page-aligned, size*size blocks of pair_bytes, receiver-major
/// (block receiver * size + sender). All zero at first; transport/shm says what a block holds.
inline constexpr std::size_t pair_bytes = page + 65536;
constexpr Offset pair_offset(int size, Rank receiver, Rank sender) {
  const Offset blocks = (static_cast<Offset>(size) * sizeof(Incoming) + page - 1) / page * page;
  return blocks +
         (static_cast<Offset>(receiver) * static_cast<Offset>(size) + static_cast<Offset>(sender)) * pair_bytes;
}
constexpr std::size_t pair_area_bytes(int size) { return pair_offset(size, size, 0); }

inline constexpr std::size_t cores_told_apart = 256;

/// The start of the segment. Everything read from here is checked before use.
struct alignas(line) Header {
  std::uint64_t magic;
  std::uint32_t version;
  std::int32_t size;       ///< Processes of the host (= of the job, on one host).
  std::uint64_t job;       ///< Identifies the job in messages and names.
  std::uint64_t capacity;  ///< Bytes of the sealed file.
  Offset processes;        ///< Process[size]
  Offset links;            ///< One word per page of the file: the free lists' links
  Offset pairs;            ///< Page-aligned; pair_area_bytes(size) bytes.
  Offset heap;             ///< Boards and loans are carved from here on.
  /// Where the ranks of other hosts can be asked, for readers from outside (launch/directory.hpp); 0 = there are none.
  std::atomic<Offset> directory;
  std::atomic<std::uint64_t> directory_bytes;
  alignas(line) std::atomic<std::uint64_t> alarm;  ///< Bumped when a process dies or leaves or a group breaks.
  /// Foreign load: until when (nanoseconds) all processes sleep at once instead of yielding; 0 = none was seen.
  alignas(line) std::atomic<std::uint64_t> foreign_until;
  std::atomic<std::uint64_t> foreign_interval;  ///< How long the last finding was believed.
  std::atomic<std::uint32_t> fencing;           ///< host::Fencing: who makes the fences; see waiting.cpp.
  struct alignas(line) Used {
    std::atomic<std::uint64_t> nanoseconds;
  } used[cores_told_apart];  ///< By core: what this job's ranks had of it between their waits.
  alignas(line) std::atomic<std::uint64_t> sleepers[process_words];  ///< It may be asleep.
  alignas(line) std::atomic<Offset> heap_next;                       ///< Bump pointer.
  alignas(line) std::atomic<std::uint64_t> free_lists[48];  ///< Per power of two: tag << 36 | page number, a stack.
};

/// Where the fixed parts of a segment of this size and capacity lie.
struct Layout {
  Offset processes, links, pairs, heap;
};
Layout layout(std::int32_t size, std::uint64_t capacity);
/// A segment with less heap than this is of no use.
inline constexpr std::uint64_t least_heap = std::uint64_t{1} << 20;

/// What is wrong with a header found in a file of `file_size` bytes; empty when it is this job's. Never reads past it.
std::string check(const Header& header, std::uint64_t file_size, std::uint64_t job);

/// A mapping of the segment. The file is sealed and sparse: 64 GiB that cost what is touched. It is mapped in windows,
/// on demand, so that thousands of groups (16000 of 2 ranks, 4000 of 8, 500 of 128) need neither more descriptors nor a
/// second segment.
///
/// The life lock is a POSIX record lock, which the kernel drops when its process closes *any* descriptor of the file:
/// a process must hold one descriptor of it, this one. Do not attach twice in a process that has entered.
///
/// fork: the child inherits the mappings (without them its clean-up would fault), but not the life lock. In the child
/// `leave` does nothing and closing the descriptor leaves the parent's lock alone; the engine refuses any other use.
class Segment {
 public:
  /// A new segment in a sealed memfd (for `tutti run`, and for a world of one when it needs one).
  static std::shared_ptr<Segment> create(int size, std::uint64_t job);
  /// The segment behind a descriptor that came from the launcher; takes the descriptor.
  /// Throws Error (system) when what lies there is not a segment of this job and version.
  static std::shared_ptr<Segment> attach(int descriptor, std::uint64_t job);
  /// Memory of this process (for inproc): the same layout, no descriptor.
  static std::shared_ptr<Segment> local(int size, std::uint64_t job);
  ~Segment();
  Segment(const Segment&) = delete;
  Segment& operator=(const Segment&) = delete;

  Header& header() const { return *header_; }
  Process& process(Rank world_rank) const { return processes_[world_rank]; }
  int descriptor() const { return descriptor_.get(); }  ///< -1 for local memory.
  int size() const { return size_; }
  std::uint64_t capacity() const { return capacity_; }
  /// How large it is and why it is no larger: for `tutti info`.
  const std::string& why() const { return why_; }

  /// Where boards and loans lie, and nothing of the segment's own.
  bool in_heap(Offset offset, std::size_t bytes) const { return offset >= layout_.heap && has(offset, bytes); }
  bool has(Offset offset, std::size_t bytes) const { return offset < capacity_ && bytes <= capacity_ - offset; }
  /// The address of `bytes` bytes at `offset`; maps the window when needed. Throws Error (system) when the range
  /// leaves the segment. The address stays valid as long as the Segment.
  std::byte* at(Offset offset, std::size_t bytes);

  /// Zeroed memory, for a board or for a program (loan.hpp); any process. Throws Error (system) when the segment is
  /// full. `spared`: so many bytes of what was never used stay for others.
  Offset allocate(std::size_t bytes, std::uint64_t spared = 0);
  void free(Offset offset, std::size_t bytes);
  /// How large the block is that so many bytes take.
  static std::size_t block_bytes(std::size_t bytes);

  /// Takes this process's place: records the pid, holds the life lock, becomes alive.
  void enter(Rank world_rank);
  /// Leaves in order: life becomes `left`, the lock is given back, the alarm is raised, sleepers are woken.
  void leave(Rank world_rank);
  /// Whether the process can still act. A lock query for processes of other mappings (one system call), the word alone
  /// for local memory. A death found here is recorded, raises the alarm and wakes all sleepers.
  Life probe(Rank world_rank);
  /// The same for those who look again and again while they wait. Whoever comes first asks for all of them, twice in a
  /// tick at most: if each asked for each, the system calls would grow with the square of the processes, and the list
  /// of locks that each of them walks grows, too. `now`: nanoseconds of the system's clock.
  Life watch(Rank world_rank, std::uint64_t now);
  /// Whether some thread of another process may still run, whatever is noted of its life.
  bool is_locked(Rank world_rank) const;
  /// Records a death that was learnt elsewhere (a test, the launcher), also of a process that never entered.
  void declare_dead(Rank world_rank);
  /// Bumps the alarm and wakes everybody who sleeps.
  void raise_alarm();

 private:
  struct Large {
    Offset start;
    std::size_t bytes;
    std::byte* address;
  };

  Segment() = default;
  void format(int size, std::uint64_t job);
  void open(int size, std::uint64_t capacity);
  std::byte* map(Offset start, std::size_t bytes) const;
  std::byte* map_window(std::size_t window);
  std::byte* map_large(Offset offset, std::size_t bytes);

  bool return_to_system(Offset offset, std::size_t bytes);
  Offset pop(int order);
  Offset pop_larger(int order);
  Offset bump(int order, std::uint64_t end);
  void push(Offset block, int order, bool zeroed);
  std::atomic<std::uint64_t>& link(Offset block);

  void check_rank(Rank world_rank) const;
  bool entered_here(Rank world_rank) const;
  void died(Rank world_rank);

  base::Descriptor descriptor_;
  Header* header_ = nullptr;
  Process* processes_ = nullptr;
  int size_ = 0;
  std::uint64_t capacity_ = 0;
  Layout layout_{};
  std::byte* local_ = nullptr;  ///< The whole of it, for local memory.
  std::unique_ptr<std::atomic<std::byte*>[]> windows_;
  std::vector<Large> large_;
  std::unique_ptr<std::atomic<std::int32_t>[]> entered_;  ///< The pid that entered as this rank through this mapping.
  std::mutex mutex_;                                      ///< Guards mapping: windows_ for writing, large_.
  std::string why_;
};

}  // namespace tutti::host
