// SPDX-License-Identifier: BSD-3-Clause
// A group as the engine sees it: members, board, operations in flight, and whether it is broken.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "engine/lock.hpp"
#include "engine/operation.hpp"
#include "host/board.hpp"

namespace tutti::engine {

class Engine;

/// Who is in a group, and where its board lies.
struct Membership {
  std::uint64_t context = 0;
  std::string name;
  Rank rank = 0;
  std::vector<Rank> world;  ///< World rank of each member.
  host::Offset board = 0;   ///< 0: no board (a group of one).
};

class Channel : public std::enable_shared_from_this<Channel> {
 public:
  Channel(Engine& engine, Membership membership);
  ~Channel();

  Engine& engine() const { return engine_; }
  Rank rank() const { return who_.rank; }
  Rank size() const { return static_cast<Rank>(who_.world.size()); }
  const Membership& who() const { return who_; }
  const host::Board& board() const { return board_; }

  /// What a start needs beside the plan.
  struct Start {
    std::shared_ptr<const Bound> bound;
    Buffers buffers;
    Reduction reduction;
    std::unique_ptr<Continuation> continuation;  ///< With a plan that exchanges counts first.
    transport::Lane lane = transport::Lane::collective;
    std::uint32_t user_tag = 0;
    const void* site = nullptr;
  };
  /// Starts an operation and returns it with one reference. Throws what the group is broken with, or Error (usage).
  Operation* start(Start start);
  /// Starts it and stays a little: returns nothing when it is done by then, else as `start`.
  Operation* run(Start start);

  /// Moves all operations on, if the lock is free; true when anything moved. `awaited`: see Operation::awaited.
  bool advance(Rank& awaited);
  /// No operation is in flight, as far as can be seen without waiting for the lock.
  bool idle();
  /// Looks for deaths, broken boards and mismatches. For the slow ticks of a wait. Takes the lock if it is free.
  void inspect();
  /// Breaks the group: every operation in flight and every later one fails with this error. Tells the other members.
  void give_up(const Operation& operation);

  LockWord& lock() { return lock_; }
  std::shared_ptr<const Error> broken() const { return broken_; }
  /// "allreduce #12 of group world on rank 3"
  std::string describe(const Operation& operation) const;
  /// "waits for rank 2 and 5"
  std::string waits_for(const Operation& operation);

 private:
  friend class Operation;
  friend class Engine;

  // All of these run under the lock.
  void lock_to_start();
  Operation* begin(Start& start);
  void check_usable();
  bool advance_operations();
  void settle();  // wakes others, takes finished operations out of the list
  void drop_finished();
  void update_consumed();
  bool space(plan::Ring ring, std::uint64_t sequence);
  void write_record(const Operation& operation, const void* site);
  void recycle(Operation* operation);
  /// At least `bytes` bytes to fetch exposed memory into.
  std::byte* fetched(std::size_t bytes);
  bool read_exposed(Operation& operation, Rank owner, std::uint64_t from, std::span<std::byte> to);

  void inspect_locked();
  void look_at_alarm();
  void find_lost_blockers(Operation& operation);
  void find_mismatch(const Operation& operation);
  void check_record(const Operation& operation, Rank other);
  void mismatch(const Operation& operation, Rank peer);
  void counts_disagree(const Operation& operation, Rank peer, std::uint64_t theirs, std::uint64_t mine);
  void peer_lost(Rank peer, const char* how);
  void adopt_broken_board();
  void break_with(std::shared_ptr<const Error> error, Rank whom, std::uint64_t sequence);
  std::string called(const host::Record& record) const;
  bool record_of(Rank other, const Operation& operation, std::uint32_t& signature) const;
  void fence_readers();

  Engine& engine_;
  Membership who_;
  host::Board board_;
  LockWord lock_;
  std::vector<std::uint64_t> mask_;  // members as bits, for bells
  std::uint64_t next_sequence_ = 0;
  std::array<std::uint64_t, 2> next_cell_{};     // per ring: cells given out so far
  std::array<std::uint64_t, 2> consumed_{};      // per ring: what this rank has told
  std::array<std::uint64_t, 2> all_consumed_{};  // per ring: cached minimum over members
  Operation* first_ = nullptr;                   // operations in order of start
  Operation* last_ = nullptr;
  std::vector<std::unique_ptr<Operation>> operations_;
  std::vector<Operation*> idle_;
  std::uint64_t alarm_seen_ = 0;
  std::vector<std::byte> fetched_;
  std::shared_ptr<const Error> broken_;
};

}  // namespace tutti::engine
