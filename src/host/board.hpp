// SPDX-License-Identifier: BSD-3-Clause
// The board: a group's cells on one host. Per rank a ring of cells, and a ring of areas for payloads that are too large
// for a cell; single writer.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include "base/hash.hpp"
#include "host/segment.hpp"

namespace tutti::host {

inline constexpr int cells = 512, medium_areas = 64, areas = 8;
/// Bytes of a cell, and of areas of either size.
inline constexpr std::size_t small_payload = 96, medium_payload = 8192, large_payload = 65536;
inline constexpr std::uint32_t board_magic = 0x424f4152;  // "BOAR"

/// The context of the group of all processes of a job.
constexpr std::uint64_t world_context(std::uint64_t job) { return base::combine(job, 0x776f726c64); }

/// A cell: a word that says which operation's, and a payload, in the cell if it fits, else in an area of
/// the writer's, who gives them out in turn. The writer fills length, address and payload, then stores the word
/// (release); a reader that sees the word it expects (acquire) may read the rest.
struct alignas(line) Cell {
  std::atomic<std::uint64_t> word;  ///< 32-bit sequence (low), 32-bit signature (high); a sequence starts at 1.
  std::uint64_t length;             ///< Bytes published: of the payload, or of the exposed memory.
  /// Exposed memory in the owner's address space; of a payload 0, or anything else if it lies in the segment.
  std::uint64_t address;
  /// Of a payload that is too large for the cell: the first of its area's slots, or where it lies in the segment. Of
  /// exposed memory: the same; 0 = not there.
  std::uint64_t area;
  std::byte payload[small_payload];
};
static_assert(sizeof(Cell) == line);

/// What a rank called: written before the operation's first cell or message, read by whoever finds a mismatch.
struct alignas(64) Record {
  std::atomic<std::uint64_t>
      sequence;  ///< The operation's number in its group + 1; 0 = never used. Stored last (release).
  std::atomic<std::uint64_t> signatures;  ///< Low: its own; high: of it and all earlier ones, as cells carry it.
  std::atomic<std::uint64_t> call;        ///< Kind, type and op, a byte each; high: the root.
  std::atomic<std::int64_t> count;
  std::atomic<std::uint64_t> site;  ///< Return address of the call, or 0.
  std::atomic<std::int32_t> algorithm;
  std::atomic<std::uint64_t> label[2];  ///< The name of a user's plan; of other calls anything.
};
static_assert(sizeof(Record) == 64);
inline constexpr int records = 16;
/// An area takes as many slots, side by side, as its payload needs. From slot to slot: no power of two, so that their
/// beginnings do not share the same lines of a cache.
inline constexpr std::size_t slot_stride = 8192 + line;
constexpr int slots_of(std::size_t payload) { return static_cast<int>((payload + slot_stride - 1) / slot_stride); }
/// A payload that does not fit behind the last one begins at slot 0: `areas` of the largest fit even so, and more than
/// `medium_areas` of that size.
inline constexpr int least_slots = (areas + 1) * slots_of(large_payload);
static_assert(least_slots >= medium_areas * slots_of(medium_payload));
/// Slots of each rank of a board of that size. Two megabytes are twice a core's own cache, see engine/slots.hpp; boards
/// of up to eight ranks fill a power of two, which they are given anyway. Of large boards they would be too much.
inline constexpr int most_slots = 239;
constexpr int slots(int size) { return std::clamp(8 * most_slots / size, least_slots, most_slots); }
/// How many of them it uses: those of all ranks of a core are two megabytes, or they would not fit the cache that all
/// cores share (AMD EPYC, 8 ranks on 2 cores: allreduce of 1 MiB 926 -> 610 us, alltoall of 128 KiB 432 -> 324).
constexpr int slots_used(int size, int ranks_per_core) {
  return std::clamp(slots(size) / ranks_per_core, least_slots, slots(size));
}

/// A rank's lines on the board that others only read.
struct alignas(line) Member {
  /// All cells with sequence <= this, and their areas, may be reused, as far as this rank is concerned.
  std::atomic<std::uint64_t> consumed;
  std::atomic<std::int32_t> touching;  ///< Row whose exposed memory this rank writes, or -1; see Channel::while_whole.
};

/// The start of a board.
struct alignas(line) BoardHeader {
  std::atomic<std::uint64_t> context;
  std::atomic<std::int32_t> size;
  std::atomic<std::int32_t> users;   ///< Members that still hold it; the last frees it.
  std::atomic<std::uint32_t> magic;  ///< board_magic. Stored last (release).
  /// Who broke the group: 0 = intact; otherwise the cause and its details. Set once by compare-exchange 0 -> 1, then
  /// the details, then 2 (release).
  alignas(line) std::atomic<std::uint32_t> broken;
  std::atomic<std::uint32_t> cause;     ///< tutti::Cause
  std::atomic<std::int32_t> who, whom;  ///< Group ranks: who found it, whom it concerns.
  std::atomic<std::uint64_t> sequence;  ///< The operation.
  /// What `whom` called, where calls did not match and it is on another host: ends with a zero; a longer text is cut.
  std::array<std::atomic<char>, 2 * line> called;
};

/// Who the group is, for readers from outside: complete before the magic number is there. The members' ranks in the
/// world follow, one std::int32_t each.
struct alignas(line) BoardIdentity {
  char name[line];  ///< Ends with a zero; a longer name is cut.
};

/// Where the parts of a board of that size lie, from its start.
struct BoardLayout {
  explicit BoardLayout(int size);
  std::size_t members, ahead, cells, areas, records, identity, bytes;
};

/// A view of a board. Cheap to use: all addresses are computed once.
///
/// In memory: BoardHeader; per rank its Member; per rank what it is done with ahead of others; the cells, those of one
/// operation side by side, so that a rank that has just got its core touches one page and not one per member; per rank
/// its areas; per rank its records; who they are.
class Board {
 public:
  static std::size_t bytes(int size);
  /// Prepares fresh memory; called by one process before others attach.
  static void format(std::byte* memory, int size, std::uint64_t context, int users, std::string_view name = {},
                     std::span<const Rank> world = {});

  Board() = default;
  /// Throws Error (system) when the memory is not a board of this context and size.
  Board(std::byte* memory, int size, Rank rank, std::uint64_t context);

  explicit operator bool() const { return memory_ != nullptr; }
  int size() const { return size_; }
  Rank rank() const { return rank_; }
  BoardHeader& header() const { return *reinterpret_cast<BoardHeader*>(memory_); }
  Member& member(Rank rank) const {
    return *reinterpret_cast<Member*>(memory_ + sizeof(BoardHeader) + static_cast<std::size_t>(rank) * sizeof(Member));
  }
  /// Of the operation whose cells begin behind this sequence: where they end, if the rank is done with them although
  /// not with all cells before; else anything less, or more.
  std::atomic<std::uint64_t>& ahead(Rank rank, std::uint64_t sequence) const {
    return ahead_[static_cast<std::size_t>(rank) * cells + sequence % cells];
  }
  Record& record(Rank rank, std::uint64_t operation) const {
    return records_[static_cast<std::size_t>(rank) * records + operation % records];
  }
  Cell& cell(Rank rank, std::uint64_t sequence) const {
    const std::size_t index = sequence % cells * static_cast<std::size_t>(size_) + static_cast<std::size_t>(rank);
    return *reinterpret_cast<Cell*>(cells_ + index * sizeof(Cell));
  }
  /// Sees to it that the pages of the cells with these sequences, of the first round, are there, as far as they are
  /// this rank's share: others see to the rest. Changes nothing else.
  void touch_cells(std::uint64_t begin, std::uint64_t end) const;
  /// The area that begins at that slot; nothing when there is no such slot, for what others say is checked here.
  std::byte* area(Rank rank, std::uint64_t slot) const {
    if (slot >= slots_) return nullptr;
    return areas_ + (static_cast<std::size_t>(rank) * slots_ + slot) * slot_stride;
  }

 private:
  std::byte* memory_ = nullptr;
  std::atomic<std::uint64_t>* ahead_ = nullptr;
  std::byte* cells_ = nullptr;
  std::byte* areas_ = nullptr;
  Record* records_ = nullptr;
  std::size_t slots_ = 0;
  int size_ = 0;
  Rank rank_ = 0;
};

}  // namespace tutti::host
