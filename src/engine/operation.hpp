// SPDX-License-Identifier: BSD-3-Clause
// A plan in flight: the state of its steps, and the one executor of all verbs.
#pragma once

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <stdexcept>
#include <vector>

#include "base/descriptor.hpp"
#include "engine/bound.hpp"
#include "engine/slots.hpp"
#include "host/board.hpp"
#include "host/waits.hpp"
#include "trace/recorder.hpp"
#include "transport/transport.hpp"
#include "tutti/error.hpp"

namespace tutti::engine {

class Channel;
class Mailbox;
class Operation;

/// The memory of one operation. Unused buffers are null.
struct Buffers {
  const std::byte* input = nullptr;
  std::byte* output = nullptr;
  Count own = 0;  ///< Elements of an input that is summed up, each rank's own.
};

/// Memory that another rank exposes: in its process, and in this one where it is lent by the segment.
struct Exposed {
  std::uint64_t there = 0;
  std::byte* here = nullptr;
  explicit operator bool() const { return there != 0; }
};

enum class Phase : std::uint32_t { idle, pending, done, failed };

/// One started operation. Everything but `phase` and the reference count is guarded by its channel's lock.
class Operation {
 public:
  explicit Operation(Channel& channel) : channel_(channel) {}
  ~Operation();
  Operation(const Operation&) = delete;
  Operation& operator=(const Operation&) = delete;

  /// Finished, one way or the other. Acquire: pairs with the release store in finish, so that results are visible.
  bool finished() const { return phase_.load(std::memory_order_acquire) >= Phase::done; }
  bool failed() const { return phase_.load(std::memory_order_acquire) == Phase::failed; }
  /// Why it failed; valid once failed.
  const Error& error() const { return *error_; }

  Channel& channel() const { return channel_; }
  std::uint64_t sequence() const { return sequence_; }
  const Bound& bound() const { return *bound_; }
  /// A message of the user's, or one that makes a group: no collective.
  bool user_lane() const { return lane_ != transport::Lane::collective; }
  transport::Lane lane() const { return lane_; }

  /// A wait gave up: from now on destroying the request breaks the group instead of waiting.
  void remember_timeout() { timed_out_.store(true, std::memory_order_relaxed); }  // relaxed: the waiter's own note
  bool timed_out() const { return timed_out_.load(std::memory_order_relaxed); }

  /// Gives up one reference; the last one returns the operation to its channel. Takes the channel's lock.
  void release();

  // Used by Channel, under its lock.
  /// Makes it ready, as the one of that number. Changes nothing before it has all memory that it needs.
  void prepare(const Bound& bound, Buffers buffers, const Reduction& reduction, std::uint64_t sequence,
               std::uint64_t cell_base, std::uint32_t chain);
  /// Runs what can be run; true when anything moved. What a user's reduction throws breaks the group.
  bool advance();
  /// The place of the process whose publishing alone would move it on, or -1.
  Rank awaited() const;
  /// Group ranks it is blocked on now.
  void blockers(std::vector<Rank>& ranks) const;
  /// Takes all its messages back: nobody touches its buffers through the transport any more.
  void withdraw();
  void fail(std::shared_ptr<const Error> error);
  /// Whether waiting for it is noted down beside it.
  bool notes_waits() const;
  /// A thread of the program has waited for it since then. For such an operation that was handed out.
  void note_wait(trace::Recorder& recorder, std::uint64_t since) const;
  /// What it waits for, for readers from outside.
  host::Wait tell() const;

 private:
  friend class Channel;

  // Kept small by leaving what is rare or long out of line: it runs several times in a call of 100 ns.
  bool run(const Instruction& step);  // starts a step; true when complete
  bool poll(plan::Index index);       // looks at a blocked step; true when complete
  void complete(plan::Index index);
  void count_down(plan::Index index);  // those that wait for it wait for one less
  void cancel_others(plan::Index chosen, plan::Index successor);
  bool advance_steps();
  bool run_ready();
  bool advance_in_order();
  bool stopped() const;
  bool at_end() const { return at_ == bound_->steps; }
  std::uint64_t& progress(const Instruction& step) {
    return bound_->in_order ? progress_at_ : progress_[bound_->index_of(step)];
  }
  std::uint64_t progress(const Instruction& step) const {
    return bound_->in_order ? progress_at_ : progress_[bound_->index_of(step)];
  }
  /// The part of `advance`, of preparing and of the end that plain plans do not need.
  [[gnu::noinline]] bool advance_otherwise();
  [[gnu::noinline]] void reset_otherwise(Count own, const Reduction& reduction);
  [[gnu::noinline]] void end();
  /// As far as it goes in order; true at the end.
  bool run_in_order();
  void finish(Phase phase);
  [[gnu::noinline]] void signal_event() const;
  // What is noted down (recording.cpp).
  void note_start(trace::Track& track, trace::Form form);
  void note_end(trace::Outcome outcome);
  void note_step(plan::Index index, std::uint64_t since);
  /// As `poll`, and notes the step when it has waited or moved much.
  bool poll_noted(plan::Index index);
  bool run_in_order_noted();
  void open(std::shared_ptr<Mailbox> mailbox);

  [[gnu::noinline]] void make_room_for_areas() { areas_.resize(std::max(areas_.size(), bound_->written.size())); }
  /// Throws Error (system).
  [[gnu::noinline]] void make_room_for_scratch();
  /// Own cells are written only when nobody reads what they held before.
  bool may_write(const Place& target) const;
  /// The last cell that everybody must be done with before this rank writes its cell of that sequence, and that of the
  /// plan's areas.
  std::uint64_t in_the_way(std::uint64_t sequence, std::int32_t area) const;
  void blockers(plan::Index index, std::vector<Rank>& ranks) const;
  /// Adds the ranks that it is blocked on now, for each step as that function does.
  using ByStep = void (Operation::*)(plan::Index, std::vector<Rank>&) const;
  void blocked_on(std::vector<Rank>& ranks, ByStep by_step) const;
  /// Those that still read what this rank has lent, where it waits for nothing else.
  void readers(std::vector<Rank>& ranks) const;
  /// The same, but of a step that awaits everyone all that have not come, and not just the next.
  void unseen(plan::Index index, std::vector<Rank>& ranks) const;
  /// Of a step that is blocked while no other can run; nullptr where there is none.
  const Instruction* first_blocked() const;
  /// Whether all ranks of this core have done their part in what it waits for, so that they wait as well.
  bool awaits_other_cores() const;
  /// The cell of this rank that the step writes; its cell is -1 where it writes none.
  static Place written_cell(const Instruction& step);
  [[gnu::noinline]] bool start_transfer(const Instruction& step);
  void address_to(const Instruction& step, transport::Transfer& transfer) const;
  transport::State post(const Instruction& step);
  void post_ahead();
  bool poll_transfer(const Instruction& step);
  bool conclude(const Instruction& step, transport::State state);
  void cancel(const Instruction& step);
  void take_back(transport::Transfer& transfer);
  bool publish(const Instruction& step);
  /// In a cell of which the payload lies elsewhere.
  [[gnu::noinline]] void say_where(const Place& source, std::size_t bytes, host::Cell& mine) const;
  // Owners of cells are rows of the board.
  bool seen(const Instruction& step, Rank owner);
  bool is_missing(const Instruction& step, Rank owner) const;  // another one, whose cell is awaited
  [[gnu::noinline]] void doubt(const Instruction& step, Rank owner, bool same_call);
  [[gnu::noinline]] bool await_everyone(const Instruction& step);
  [[gnu::noinline]] void give_back(const Instruction& step);
  Rank next_owner(const Instruction& step) const;
  bool combine(const Instruction& step);  // copy and reduce
  void combine_at_once(const Instruction& step);
  [[gnu::noinline]] bool combine_otherwise(const Instruction& step);
  [[gnu::noinline]] bool combine_pieces(const Instruction& step);
  [[gnu::noinline]] bool combine_laid_out(const Instruction& step);  // packing.cpp
  struct Laid;                                                       // one piece of such a step
  /// What another process has written into the board cannot be, or there are no addresses for what it lends.
  struct Unreadable : std::runtime_error {
    using std::runtime_error::runtime_error;
  };
  // Payloads that are read where they lie (lending.cpp).
  bool lend(const Instruction& step);
  std::byte* lent_payload(const Place& place) const;
  std::byte* lent_at(host::Offset lent, const Place& place, std::size_t bytes) const;
  bool reads_lent(const Place& place) const;
  /// Nobody reads what this rank has lent any more. Asked when nothing else is left to do, and then this rank is done
  /// with the others' cells.
  bool read_by_all() { return lent_until_ == 0 || look_for_readers(); }
  [[gnu::noinline]] bool look_for_readers();
  void say_ahead();
  [[noreturn]] void damaged(Rank owner, const char* what) const;  // throws it
  bool combine_piece(const Laid& piece, const Instruction& step);
  void move(const Instruction& step, std::byte* to, const std::byte* from, std::size_t bytes);
  /// A reduce step, or a piece of it that begins `done` bytes into its target.
  void reduce_into(const Instruction& step, std::size_t done, std::byte* target, const std::byte* source, Count count);
  void begin_exact(Count own);
  /// The exposed bytes of `source`, as they lie or copied to `to`; null: the operation has failed.
  const std::byte* in_place(const Place& source, std::size_t bytes);
  const std::byte* fetch(const Place& source, std::span<std::byte> to);
  bool deliver(std::span<const std::byte> from, const Place& target);
  Exposed exposed(const Place& place, std::size_t bytes);
  /// Whether such a step may use exposed memory where it lies: not a user's function, for that memory is filled anew
  /// when the group breaks meanwhile.
  bool reads_in_place(const Instruction& step) const;
  std::byte* address(const Place& place) const;
  [[gnu::noinline]] std::byte* address_in_area(const Place& place) const;
  std::byte*& base(plan::Buffer buffer) { return bases_[static_cast<std::size_t>(buffer)]; }
  host::Cell& cell(Rank owner, std::int32_t number) const;
  std::uint64_t cell_sequence(std::int32_t cell) const { return cell_base_ + 1 + static_cast<std::uint64_t>(cell); }
  const Slots::Given& area(std::int32_t number) const { return areas_[static_cast<std::size_t>(number)]; }
  std::uint64_t word(std::uint64_t sequence) const;
  transport::Tag tag(const Instruction& step) const;

  // What every call touches stands first, on few lines of the cache.
  Channel& channel_;
  const Bound* bound_ = nullptr;
  std::array<std::byte*, plan::buffer_kinds>
      bases_{};  // by plan::Buffer; those that are no memory of this process: null
  std::uint64_t sequence_ = 0;
  std::uint64_t cell_base_ = 0;
  std::uint64_t cells_end_ = 0;    // the last cell sequence of this operation
  std::uint64_t released_ = 0;     // this rank is done with all cells up to this sequence
  std::uint64_t lent_until_ = 0;   // the last cell whose payload others read where it lies; 0: there is none
  std::uint32_t chain_ = 0;        // signature of this and all earlier operations of the group; send, recv: its own
  plan::Index at_ = 0;             // of a plan that runs in order: the next step
  std::uint64_t progress_at_ = 0;  // of that step: await: ranks seen; copy, reduce: bytes done
  std::atomic<Phase> phase_{Phase::idle};
  std::atomic<std::uint32_t> references_{0};
  std::atomic<bool> timed_out_{false};
  bool plain_ = false;  // its plan is, and it is not noted
  bool posted_ahead_ = false;
  bool worked_ = false;     // on a step that is not complete: its next piece waits for nobody
  bool published_ = false;  // since the last look: somebody may have to be woken
  transport::Lane lane_ = transport::Lane::collective;
  std::uint32_t user_tag_ = 0;
  const void* site_ = nullptr;     // of the call, for reports
  Operation* previous_ = nullptr;  // the channel's list of operations in order
  Operation* next_ = nullptr;      // of that list, or of those that are idle
  base::Descriptor event_;         // made by fileno
  std::vector<transport::Transfer> transfers_;
  std::vector<std::byte> scratch_;

  std::vector<Slots::Given> areas_;          // of what the plan writes
  std::shared_ptr<const Bound> keep_bound_;  // once it outlives the call that started it
  std::shared_ptr<Channel> keep_;            // keeps the channel while a request is out
  std::shared_ptr<const Error> error_;
  std::byte* exact_output_ = nullptr;  // the user's, where the plan has another
  Reduction reduction_;                // of a plan that is not plain
  std::vector<std::uint32_t> missing_;
  std::vector<plan::Index> ready_, blocked_;
  std::vector<std::uint64_t> progress_;  // as progress_at_, per step of a plan that does not run in order
  std::size_t steps_left_ = 0;           // of such a plan
  // Of what is noted down: the call, and since when each step waits or moves (0: it does neither).
  trace::Event* noted_ = nullptr;
  trace::Track* track_ = nullptr;
  std::vector<std::uint64_t> since_;
  std::shared_ptr<Mailbox> mailbox_;  // sparse_exchange's: the plan runs when it lets it

  friend class Engine;
};

/// In line: it is a part of every start, and most of what it is given is at hand there.
[[gnu::always_inline]] inline void Operation::prepare(const Bound& bound, Buffers buffers, const Reduction& reduction,
                                                      std::uint64_t sequence, std::uint64_t cell_base,
                                                      std::uint32_t chain) {
  bound_ = &bound;
  plain_ = bound.plain;
  if (bound.slots > 0) make_room_for_areas();
  if (scratch_.size() < bound.scratch_bytes) make_room_for_scratch();
  sequence_ = sequence;
  chain_ = chain;
  cell_base_ = released_ = cell_base;
  cells_end_ = cell_base + static_cast<std::uint64_t>(bound.plan.cells);
  timed_out_.store(false, std::memory_order_relaxed);                 // relaxed: nobody else knows it yet
  base(plan::Buffer::input) = const_cast<std::byte*>(buffers.input);  // the checker proves it is only read
  base(plan::Buffer::output) = buffers.output;
  base(plan::Buffer::scratch) = scratch_.data();
  at_ = 0;
  progress_at_ = 0;
  transfers_.clear();
  if (!plain_) reset_otherwise(buffers.own, reduction);
  // Relaxed: nobody else knows the operation yet; handing out the request publishes it.
  phase_.store(Phase::pending, std::memory_order_relaxed);
}

}  // namespace tutti::engine
