// SPDX-License-Identifier: BSD-3-Clause
// A group as the engine sees it: members, board, operations in flight, and whether it is broken.
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "engine/area_writer.hpp"
#include "engine/cells.hpp"
#include "engine/lock.hpp"
#include "engine/notices.hpp"
#include "engine/operation.hpp"
#include "engine/output_writer.hpp"
#include "engine/slots.hpp"
#include "host/board.hpp"
#include "trace/recorder.hpp"

namespace tutti::engine {

class Engine;
struct Setup;

/// Of an operation that somebody has waited for so long that others are told.
struct Slowness {
  int awaited = 0;    ///< Threads that wait for it now.
  std::string place;  ///< File and line, where the language knows them.
};
using SlowOperations = std::unordered_map<const Operation*, Slowness>;

/// Who is in a group, and where its board lies.
struct Membership {
  std::uint64_t context = 0;
  std::string name;
  Rank rank = 0;
  std::vector<Rank> world;  ///< World rank of each member.
  host::Offset board = 0;   ///< Of the members on this host; 0: none (there is no other).
  bool of_tutti = false;    ///< No program's: who leaves when it is broken has no less patience for that.
};

/// Members of a group on the host of one of them, ascending: the rows of their board.
std::vector<Rank> near_members(const Membership& who, const Setup& setup);

class Channel : public std::enable_shared_from_this<Channel> {
 public:
  /// Requests keep their channel, and the channel its engine.
  Channel(std::shared_ptr<Engine> engine, Membership membership);
  ~Channel();

  Engine& engine() const { return engine_; }
  Rank rank() const { return who_.rank; }
  Rank size() const { return static_cast<Rank>(who_.world.size()); }
  const Membership& who() const { return who_; }
  const host::Board& board() const { return board_; }
  /// The members on this host, by the rows of the board.
  std::span<const Rank> near() const { return near_; }
  bool spans_hosts() const { return near_.size() < who_.world.size(); }

  /// What a start needs beside the plan.
  struct Start {
    Buffers buffers;                            ///< First: two addresses side by side are copied as one.
    const std::shared_ptr<const Bound>& bound;  ///< Shared by an operation that outlives the start.
    const Reduction& reduction;
    transport::Lane lane = transport::Lane::collective;
    std::uint32_t user_tag = 0;
    const void* site = nullptr;
    const std::shared_ptr<Mailbox>* mailbox = nullptr;  ///< sparse_exchange's.
    bool kept = false;  ///< The caller keeps the plan and the channel for as long as the operation is there.
  };
  /// The right to start operations, held while a call is made ready and started. Throws Error (usage) when another
  /// thread has it, and in a forked child.
  class Turn {
   public:
    explicit Turn(Channel& channel);
    ~Turn() { end(); }
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;
    void end() {
      if (channel_ != nullptr) std::exchange(channel_, nullptr)->lock_.unlock();
    }

   private:
    Channel* channel_;
  };
  /// Starts an operation, ends the turn and returns the operation with one reference. Throws what the group is broken
  /// with, or Error (usage).
  Operation* start(Turn& turn, const Start& start);
  /// Starts it and stays a little: returns nothing when it is done by then, else as `start`.
  Operation* run(Turn& turn, const Start& start);

  /// Stays a little with an operation that was started: true when it has succeeded, and then it is gone, reference and
  /// all.
  bool finish_soon(Operation& operation);

  /// Moves all operations on, if the lock is free; true when anything moved. `awaited`: see Operation::awaited.
  bool advance(Rank& awaited);
  /// No operation is in flight, as far as can be seen without waiting for the lock: takes the channel off the engine's
  /// list, of which it is told again by the next operation.
  bool retire();
  /// Looks for deaths, broken boards and mismatches. For the slow ticks of a wait. Takes the lock if it is free.
  void inspect();
  /// Adds what its operations wait for, for readers from outside. Nothing if the lock is not free.
  void tell(std::vector<host::Wait>& waits, const SlowOperations& slow);
  /// Breaks the group: every operation in flight and every later one fails with this error. Tells the other members.
  void give_up(const Operation& operation);
  /// Breaks the group with this error if operations are in flight.
  void end(const std::shared_ptr<const Error>& error);

  /// Breaks the group, unless it is broken: members have agreed that this one is lost.
  void declare_lost(Rank member);
  /// The same: this rank has been left out by the others, or cannot know who is left.
  void leave_out(const Error& why);

  /// A message of a mailbox ended badly: the peer is lost, or called something else.
  void mailbox_failed(const Operation& operation, Rank peer, bool lost);

  /// The program has waited, since the counter showed that, for something that is no operation.
  void note_wait(const void* site, std::uint64_t since);  // recording.cpp

  LockWord& lock() { return lock_; }
  /// "allreduce #12 of group world on rank 3"
  std::string describe(const Operation& operation) const;
  /// "waits for rank 2 and 5"
  std::string waits_for(const Operation& operation);

 private:
  friend class Operation;
  friend class Engine;

  // All of these run under the lock.
  Operation* begin(const Start& start, trace::Form form);
  [[gnu::noinline]] void add_operation();  // an idle one
  void lay_aside(Operation& operation);    // until it is used again
  void give_areas(Operation& operation);
  /// Of `touched_`: nothing is left to touch, or there is no board.
  static constexpr std::uint64_t all_touched = std::numeric_limits<std::uint64_t>::max();
  [[gnu::noinline]] void touch_cells();
  void stay(const Operation& operation);  // in the hope that it finishes soon
  /// The same, of an operation that goes on when ranks of other cores have come, if at all; whether it has finished.
  bool stay_for_other_cores(const Operation& operation);
  bool poll(const Operation& operation, std::uint32_t times);  // whether it has finished
  void hand_out(Operation& operation, const Start& start);
  void list();
  void check_usable();
  bool advance_operations();
  [[gnu::noinline]] void settle();  // wakes others, takes finished operations out of the list
  /// The same for the only operation in flight, which has finished inside its own start: nobody else knows it.
  void settle_alone(Operation& operation);
  void ring_bells();
  void drop_finished();
  [[gnu::noinline]] void update_consumed();
  void fetch_next(const Bound& bound);
  [[gnu::noinline]] void fetch_next_area(const Bound& bound);
  /// Everybody is done with all cells up to this sequence.
  bool consumed(std::uint64_t sequence) { return sequence <= all_consumed_ || look_for_consumed(sequence); }
  bool look_for_consumed(std::uint64_t sequence);
  /// Asks who has read what before there is no space left: that costs a cache line of each member.
  void look_ahead(const Operation& operation);
  /// Adds the ranks of the group that are not.
  void readers_behind(std::uint64_t sequence, std::vector<Rank>& ranks) const;
  std::uint64_t consumed_by(Rank row) const;
  // The operation with the cells behind `begin`; of other members (lending.cpp).
  bool is_done_with(Rank row, std::uint64_t begin, std::uint64_t end) const;
  bool all_done_with(std::uint64_t begin, std::uint64_t end) const;
  /// Before anybody is told of a mismatch, and at the latest when the operation has taken its first steps.
  void record();
  void write_record(const Operation& operation);
  void recycle(Operation* operation);
  /// At least `bytes` bytes to fetch exposed memory into, or to pack what goes there.
  std::byte* fetched(std::size_t bytes);
  /// Of the member in that row.
  bool read_exposed(Operation& operation, Rank row, const Exposed& from, std::span<std::byte> to);
  /// Whether what was read of exposed memory counts: its owner has it to itself when the group is broken.
  bool still_whole();
  /// To the member in that row, which has opened its memory.
  bool write_exposed(Operation& operation, Rank row, const Exposed& to, std::span<const std::byte> from);
  /// Does that work on the memory of the member in that row unless the group is broken; whether it did.
  template <class Work>
  bool while_whole(Rank row, Work work);
  /// Whether the system let this rank touch another's memory; if not, the group is broken.
  bool allowed(Operation& operation, Rank row, const char* verb, int refused);

  void inspect_locked();
  void look_at_alarm();
  void find_lost_blockers(Operation& operation);
  void check_records(Rank row);
  /// The same with ranks of other hosts, which have to be asked (comparison.cpp).
  void compare_calls();
  /// Those of other ranks that have come.
  void answer_questions();
  void answer(const Question& question);
  void mismatch(Rank row, std::uint64_t sequence);
  void called_otherwise(std::uint64_t sequence, Rank peer, const std::string& theirs);
  void wrong_signature(const Operation& operation, Rank peer);
  void counts_disagree(const Operation& operation, Rank peer, std::uint64_t theirs, std::uint64_t mine);
  void peer_gone(Rank peer, const char* how);
  bool is_early();
  void peer_lost(Rank peer, const char* how);
  void peer_lost(Rank peer, const char* how, const Notice& found);
  /// As another rank has found it broken: on this host, on another.
  void adopt_broken_board();
  void adopt_notice();
  void adopt_agreement();
  void adopt(const Notice& found);
  void broken_off(const Operation& operation, const char* why, Cause cause);
  void break_with(std::shared_ptr<const Error> error, Rank whom, std::uint64_t sequence);
  /// The same with what another rank has found.
  void break_with(std::shared_ptr<const Error> error, const Notice& found);
  /// Tells the members on this host and on others.
  void tell_members(const Notice& found);
  /// Of a record: what is compared.
  struct Entry {
    std::uint64_t sequence = 0;
    std::uint32_t signature = 0, chain = 0;
  };
  /// The entry of record `slot`; false when there is none, or none that holds still.
  bool entry_of(Rank row, std::uint64_t slot, Entry& entry) const;
  std::uint64_t first_difference(Rank row, std::uint64_t sequence) const;
  /// What a member called as this operation, as far as its record still says so.
  std::string called(Rank member, std::uint64_t sequence) const;
  std::string called_here(std::uint64_t sequence) const;
  std::string call_text(std::uint64_t call, Count count, std::int32_t algorithm, const base::Label& label) const;
  bool is_touched() const;
  bool fail_operations();

  std::unique_ptr<trace::Track> make_track(trace::Recorder& recorder) const;  // recording.cpp

  /// This rank's row.
  Rank row() const { return board_.rank(); }
  /// A member's row; -1: it is on another host.
  Rank row_of(Rank member) const;
  /// A member's place in the segment; -1: it is on another host.
  Rank place_of(Rank member) const;

  const std::shared_ptr<Engine> keeps_engine_;
  // What every call touches stands side by side, on few lines of the cache.
  Engine& engine_;
  LockWord lock_;
  bool listed_ = false;         // the engine moves this channel on
  bool untold_ = false;         // this rank has read cells and has not told
  bool heard_ = false;          // that it is broken, from another host, which tells all
  Operation* first_ = nullptr;  // operations in order of start
  Operation* last_ = nullptr;
  Operation* idle_ = nullptr;  // operations that are not in use
  host::Board board_;
  std::uint64_t next_sequence_ = 0;
  std::uint64_t history_ = 0;              // hash of all operations so far
  std::uint64_t next_cell_ = 0;            // cells given out so far
  std::uint64_t touched_ = all_touched;    // so many cells, from the first, need no touch any more
  std::uint64_t consumed_ = 0;             // what this rank has told
  std::uint64_t all_consumed_ = 0;         // cached minimum over members
  const Operation* unrecorded_ = nullptr;  // has just begun: its record is not written yet
  std::uint64_t alarm_seen_ = 0;
  host::Process::Last& last_call_;  // of this rank, for an obituary
  std::shared_ptr<const Error> broken_;
  std::unique_ptr<trace::Track> track_;  // where what it does is noted; null: nowhere
  std::vector<std::uint64_t> mask_;      // members on this host as bits, for bells
  // The last chains, more than there are records: a rank that is far behind is compared with what was said then.
  std::array<std::uint32_t, 256> chains_{};

  Slots slots_;  // of this rank's areas
  AreaWriter area_writer_;
  OutputWriter output_writer_;
  Membership who_;
  std::vector<Rank> near_;
  std::vector<std::unique_ptr<Operation>> operations_;
  std::vector<std::byte> fetched_;
  std::unique_ptr<Notices> notices_;  // of a group over several hosts
  int begun_since_answer_ = 0;
  struct {
    std::uint64_t sequence = 0, at = 0, pause = 0;
  } next_question_;               // about which operation, and when
  std::uint64_t gone_since_ = 0;  // when it was seen first that a member on another host is gone
};

}  // namespace tutti::engine
