// SPDX-License-Identifier: BSD-3-Clause
// Starting operations on a group and moving them on. What happens when something fails stands in failure.cpp.
#include "engine/channel.hpp"

#include <algorithm>
#include <mutex>
#include <utility>

#include "engine/engine.hpp"
#include "engine/reduction.hpp"
#include "host/futex.hpp"

namespace tutti::engine {

namespace {

/// Polls, or with more ranks than cores yields, before the wait proper begins, which looks after everything else too.
constexpr std::uint32_t brief = 100;
constexpr int brief_yields = 8;
/// A rank that never waits long, for the others are always late, would not look at what they ask: so many operations
/// later it does.
constexpr int between_answers = 64;

}  // namespace

std::vector<Rank> near_members(const Membership& who, const Setup& setup) {
  std::vector<Rank> near;
  for (std::size_t member = 0; member < who.world.size(); ++member)
    if (setup.place_of(who.world[member]) >= 0) near.push_back(static_cast<Rank>(member));
  return near;
}

Channel::Channel(std::shared_ptr<Engine> engine, Membership membership)
    : keeps_engine_(std::move(engine)),
      engine_(*keeps_engine_),
      last_call_(engine_.segment().process(engine_.place()).last),
      area_writer_(engine_.setup().caches),
      who_(std::move(membership)),
      near_(near_members(who_, engine_.setup())) {
  if (who_.board != 0) {
    const auto rows = static_cast<int>(near_.size());
    std::byte* memory = engine_.segment().at(who_.board, host::Board::bytes(rows));
    board_ = host::Board(memory, rows, row_of(rank()), who_.context);
    touched_ = 0;
    slots_ = Slots(static_cast<std::size_t>(host::slots_used(rows, engine_.setup().ranks_per_core())));
  }
  mask_.assign(static_cast<std::size_t>(engine_.segment().size() - 1) / 64 + 1, 0);
  for (const Rank member : near_) {
    const Rank place = place_of(member);
    mask_[static_cast<std::size_t>(place) / 64] |= std::uint64_t{1} << (place % 64);
  }
  if (engine_.setup().recorder != nullptr) track_ = make_track(*engine_.setup().recorder);
  if (spans_hosts()) notices_ = std::make_unique<Notices>(engine_.transport(), engine_.transport_lock(), who_.context);
}

Rank Channel::row_of(Rank member) const {
  const auto found = std::ranges::lower_bound(near_, member);
  return found != near_.end() && *found == member ? static_cast<Rank>(found - near_.begin()) : -1;
}

Rank Channel::place_of(Rank member) const {
  return engine_.setup().place_of(who_.world[static_cast<std::size_t>(member)]);
}

Channel::~Channel() {
  if (engine_.forked()) {  // the board, the locks and the letters under way are the parent's
    static_cast<void>(notices_.release());
    return;
  }
  engine_.remove(*this);
  if (!board_ || broken_) return;  // a broken board stays: a member that is gone never gives it back
  // Acquire-release: the last user sees everybody else's last use before it frees the memory.
  if (board_.header().users.fetch_sub(1, std::memory_order_acq_rel) == 1)
    engine_.segment().free(who_.board, host::Board::bytes(board_.size()));
}

Operation* Channel::begin(const Start& start, trace::Form form) {
  check_usable();
  if (idle_ == nullptr) add_operation();
  Operation* const operation = idle_;
  const Bound& bound = *start.bound;
  const bool collective = start.lane == transport::Lane::collective;
  // Nothing has changed yet when this finds no memory.
  const std::uint32_t signature = bound.signature;
  const std::uint64_t history = (history_ ^ signature) * 0x9e3779b97f4a7c15u;  // a bijection: no difference is lost
  const auto chain = static_cast<std::uint32_t>(history >> 32);
  operation->prepare(bound, start.buffers, start.reduction, collective ? next_sequence_ : 0, next_cell_,
                     collective ? chain : signature);
  idle_ = operation->next_;
  if (collective) {
    chains_[next_sequence_++ % chains_.size()] = chain;
    history_ = history;
  }
  next_cell_ = operation->cells_end_;
  if (next_cell_ > touched_ / 2) touch_cells();
  if (bound.slots > 0) give_areas(*operation);
  operation->references_.store(1, std::memory_order_relaxed);  // relaxed: the list's; nobody else knows it yet
  operation->previous_ = last_;
  operation->next_ = nullptr;
  (last_ != nullptr ? last_->next_ : first_) = operation;
  last_ = operation;
  operation->lane_ = start.lane;
  operation->user_tag_ = start.user_tag;
  operation->site_ = start.site;
  unrecorded_ = collective ? operation : nullptr;
  // Others wait for what it publishes first; the record is for those who find an error, and for an obituary when a
  // function of the user's does not come back. A plan's first message may be what does not match: its name is there
  // before.
  if (track_) operation->note_start(*track_, form);
  if (!bound.plain) {
    if (start.reduction.function != nullptr || bound.description.kind == Kind::plan) record();
    if (start.mailbox != nullptr) operation->open(*start.mailbox);
  }
  operation->advance();
  record();
  if (!bound.plain && notices_ != nullptr && ++begun_since_answer_ >= between_answers) {
    begun_since_answer_ = 0;
    answer_questions();
  }
  return operation;
}

void Channel::add_operation() {
  operations_.push_back(std::make_unique<Operation>(*this));
  lay_aside(*operations_.back());
}

void Channel::lay_aside(Operation& operation) {
  operation.next_ = idle_;
  idle_ = &operation;
}

/// The first that come to a fresh page would meet there, and all but one of them sleep while it is made: 25 us on two
/// ranks. Touched long before, each by one rank, it costs that one 1.3 us. Few cells are touched where few are used.
void Channel::touch_cells() {
  constexpr std::uint64_t first = 16;
  while (next_cell_ > touched_ / 2) {
    const std::uint64_t more = std::max(first, 2 * touched_);
    if (more <= host::cells) board_.touch_cells(touched_, more);
    touched_ = more <= host::cells ? more : all_touched;
  }
}

/// A slot is written again when everybody is done with the cell that it was given out for before. Between two payloads
/// of one operation that share one there are at least as many others as plans reckon with.
void Channel::give_areas(Operation& operation) {
  constexpr std::size_t largest = host::slots_of(host::large_payload), least = host::least_slots;
  slots_.expect(std::min(operation.bound().slots + largest, least));
  std::size_t number = 0;
  for (const Bound::Area& area : operation.bound().written)
    operation.areas_[number++] = slots_.give(area.wanted, operation.cell_sequence(area.cell),
                                             [this](std::uint64_t sequence) { return consumed(sequence); });
}

void Channel::record() {
  if (unrecorded_ != nullptr) write_record(*std::exchange(unrecorded_, nullptr));
}

Channel::Turn::Turn(Channel& channel) : channel_(&channel) {
  // Before the lock: in a child it may have been inherited from a thread that is not there to give it back.
  channel.engine_.check_process();
  if (channel.lock_.lock_to_start(inside_reduction)) return;
  refuse_inside_reduction();
  throw Error(Cause::usage, "two threads start operations on group " + channel.who_.name +
                                " at the same moment; give each thread a group of its own (dup) or take turns");
}

void Channel::hand_out(Operation& operation, const Start& start) {
  operation.references_.store(2, std::memory_order_relaxed);  // relaxed: and the caller's; still under the lock
  if (!start.kept) {
    operation.keep_bound_ = start.bound;
    operation.keep_ = shared_from_this();
  }
  if (!operation.finished()) list();
}

void Channel::list() {
  if (!std::exchange(listed_, true)) engine_.add(*this);
}

Operation* Channel::start(Turn& turn, const Start& start) {
  Operation* operation = begin(start, trace::Form::request);
  hand_out(*operation, start);
  // The others are as they were: with nothing new they need not be gone through, and there may be thousands.
  if (operation->finished() || operation->published_ || untold_) settle();
  turn.end();
  if (engine_.has_progress_thread()) engine_.waiting().ring(engine_.place());
  return operation;
}

void Channel::stay(const Operation& operation) {
  // What others need of this rank, and it of them, is seen to while it waits.
  settle();
  if (board_) look_ahead(operation);
  if (operation.bound().messages) return;  // messages need more than this channel's steps
  host::Waiting& waiting = engine_.waiting();
  if (waiting.spins_now() > 0) {
    poll(operation, brief);
  } else {
    for (int i = 0; i < brief_yields && !stay_for_other_cores(operation) && waiting.yield(); ++i) advance_operations();
  }
}

bool Channel::stay_for_other_cores(const Operation& operation) {
  if (operation.finished()) return true;
  const std::uint32_t polls = engine_.waiting().patience_now();
  return polls > 0 && operation.awaits_other_cores() && poll(operation, polls);
}

bool Channel::poll(const Operation& operation, std::uint32_t times) {
  for (; times > 0 && !operation.finished(); --times) advance_operations();
  return operation.finished();
}

Operation* Channel::run(Turn& turn, const Start& start) {
  Operation* operation = begin(start, trace::Form::blocking);
  if (!operation->finished()) stay(*operation);
  if (operation->phase_.load(std::memory_order_relaxed) == Phase::done) {  // relaxed: this thread finished it
    first_ == last_ ? settle_alone(*operation) : settle();
    turn.end();
    return nullptr;
  }
  hand_out(*operation, start);
  settle();
  turn.end();
  return operation;
}

bool Channel::finish_soon(Operation& operation) {
  std::shared_ptr<Channel> keep;  // given up when the lock has been
  std::shared_ptr<const Bound> keep_bound;
  const std::unique_lock guard(lock_, std::try_to_lock);
  if (!guard) return false;
  if (!operation.finished()) stay(operation);
  // Relaxed: this thread, or the one that had the lock before, has finished it and given up its references.
  const bool gone = first_ == &operation && last_ == &operation &&
                    operation.phase_.load(std::memory_order_relaxed) == Phase::done &&
                    operation.references_.load(std::memory_order_relaxed) == 2;
  if (gone) {
    keep = std::move(operation.keep_);
    keep_bound = std::move(operation.keep_bound_);
    operation.event_.reset();
    settle_alone(operation);
  } else if (operation.finished()) {
    settle();  // others may have finished with it, and the program may never wait for them
  }
  return gone;
}

bool Channel::advance_operations() {
  if (broken_) return fail_operations();
  bool moved = false;
  for (Operation* operation = first_; operation != nullptr; operation = operation->next_) {
    if (operation->finished()) continue;
    moved = operation->advance() || moved;
  }
  return moved;
}

bool Channel::advance(Rank& awaited) {
  const std::unique_lock guard(lock_, std::try_to_lock);
  if (!guard) return false;
  const bool moved = advance_operations();
  settle();
  const bool alone = first_ != nullptr && first_ == last_;
  awaited = alone ? first_->awaited() : -1;
  return moved;
}

bool Channel::retire() {
  const std::unique_lock guard(lock_, std::try_to_lock);
  if (!guard) return false;
  const bool none = first_ == nullptr;
  if (none) listed_ = false;
  return none;
}

void Channel::settle() {
  bool published = false, tell = untold_;
  for (Operation* operation = first_; operation != nullptr; operation = operation->next_) {
    published = published || operation->published_;
    tell = tell || published || operation->finished();
    operation->published_ = false;
  }
  if (!tell) return;
  const std::uint64_t consumed = consumed_;
  update_consumed();
  drop_finished();
  // Without news for others only threads of this rank are woken: what a message has brought its other end knows.
  published || consumed_ != consumed ? ring_bells() : engine_.waiting().ring(engine_.place());
}

void Channel::settle_alone(Operation& operation) {
  first_ = last_ = nullptr;
  operation.phase_.store(Phase::idle, std::memory_order_relaxed);  // relaxed: as in recycle
  lay_aside(operation);
  // Nobody waits for these few as long as others are free; the next operation tells of them while it waits.
  const std::uint64_t untold = next_cell_ - consumed_;
  untold_ = untold_ || untold > 0;
  fetch_next(operation.bound());
  const bool tell = untold > operation.bound().most_untold;
  if (tell) update_consumed();
  if (tell || operation.published_) ring_bells();
  operation.published_ = false;
}

void Channel::ring_bells() {
  if (board_)
    engine_.waiting().ring(mask_.data(), static_cast<int>(mask_.size()));
  else
    engine_.waiting().ring(engine_.place());
}

void Channel::drop_finished() {
  Operation* next = nullptr;
  for (Operation* operation = first_; operation != nullptr; operation = next) {
    next = operation->next_;
    if (!operation->finished()) continue;
    (operation->previous_ != nullptr ? operation->previous_->next_ : first_) = next;
    (next != nullptr ? next->previous_ : last_) = operation->previous_;
    // Acquire: a request that is gone has given its reference up in Operation::release. Nobody can take a new one.
    if (operation->references_.load(std::memory_order_acquire) == 1 ||
        operation->references_.fetch_sub(1, std::memory_order_acq_rel) == 1)  // as in Operation::release
      recycle(operation);
  }
}

void Channel::recycle(Operation* operation) {
  operation->phase_.store(Phase::idle, std::memory_order_relaxed);  // relaxed: nobody refers to it any more
  operation->keep_bound_.reset();
  operation->event_.reset();
  operation->error_.reset();
  lay_aside(*operation);
}

void Channel::update_consumed() {
  untold_ = false;
  if (!board_) return;
  if (next_cell_ == consumed_) return;
  const auto done = [](const Operation& operation) { return operation.released_ == operation.cells_end_; };
  const Operation* first = first_;  // that is not
  while (first != nullptr && done(*first)) first = first->next_;
  const std::uint64_t consumed = first != nullptr ? first->released_ : next_cell_;
  if (consumed == consumed_) return;
  consumed_ = consumed;
  // Release: pairs with the acquire in `consumed_by`; the writer reuses a cell only after this rank's reads of it.
  board_.member(row()).consumed.store(consumed, std::memory_order_release);
}

/// The lines of the next cells and area are still at their readers: fetched back now, they are here when the next
/// operation writes them. Not from readers that may be at them.
void Channel::fetch_next(const Bound& bound) {
  if (!board_) return;
  for (std::int32_t cell = 0; cell < bound.next_cells; ++cell)
    host::prefetch_to_write(&board_.cell(row(), next_cell_ + 1 + static_cast<std::uint64_t>(cell)));
  if (bound.next_area > 0) fetch_next_area(bound);
}

void Channel::fetch_next_area(const Bound& bound) {
  const std::size_t slot = slots_.begin(bound.written.front().wanted.slots);
  if (slots_.cell(slot) > all_consumed_) return;
  host::prefetch_to_write(board_.area(row(), slot), bound.next_area);
}

void Channel::look_ahead(const Operation& operation) {
  const Bound& bound = operation.bound();
  std::uint64_t length = bound.areas ? host::areas : host::cells;
  if (bound.slots > 0) length = std::max<std::uint64_t>(length, slots_.room(bound.slots));
  if (next_cell_ > all_consumed_ + length / 2) look_for_consumed(next_cell_);
}

bool Channel::look_for_consumed(std::uint64_t sequence) {
  all_consumed_ = consumed_;
  for (Rank other = 0; other < board_.size(); ++other)
    if (other != row()) all_consumed_ = std::min(all_consumed_, consumed_by(other));
  return sequence <= all_consumed_;
}

std::uint64_t Channel::consumed_by(Rank row) const {
  // Acquire: pairs with the release in `update_consumed`.
  return board_.member(row).consumed.load(std::memory_order_acquire);
}

void Channel::readers_behind(std::uint64_t sequence, std::vector<Rank>& ranks) const {
  for (Rank other = 0; other < board_.size(); ++other)
    if (other != row() && sequence > consumed_by(other)) ranks.push_back(near_[static_cast<std::size_t>(other)]);
}

void Channel::write_record(const Operation& operation) {
  const Description& says = operation.bound().description;
  host::Process::Last& last = last_call_;
  last.context.store(who_.context, std::memory_order_relaxed);  // relaxed: an obituary, read when this rank is dead
  last.sequence.store(operation.sequence(), std::memory_order_relaxed);
  last.kind.store(static_cast<std::uint32_t>(says.kind), std::memory_order_relaxed);
  const auto site = reinterpret_cast<std::uint64_t>(operation.site_);
  if (!board_) {  // relaxed: whoever looks from outside looks twice
    last.signature.store(operation.bound().signature, std::memory_order_relaxed);
    last.algorithm.store(says.algorithm, std::memory_order_relaxed);
    last.call.store(operation.bound().call_word, std::memory_order_relaxed);
    last.count.store(says.count, std::memory_order_relaxed);
    last.site.store(site, std::memory_order_relaxed);
    return;
  }
  host::Record& record = board_.record(row(), operation.sequence());
  // Release fence after: whoever sees a field of the new record in entry_of sees that the old one is void.
  record.sequence.store(0, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_release);
  record.signatures.store(operation.bound().signature | std::uint64_t{operation.chain_} << 32,
                          std::memory_order_relaxed);
  record.call.store(operation.bound().call_word, std::memory_order_relaxed);
  record.count.store(says.count, std::memory_order_relaxed);
  record.algorithm.store(says.algorithm, std::memory_order_relaxed);
  if (says.kind == Kind::plan)
    for (std::size_t i = 0; i < says.label.size(); ++i) record.label[i].store(says.label[i], std::memory_order_relaxed);
  record.site.store(site, std::memory_order_relaxed);
  // Release: pairs with the acquire in entry_of.
  record.sequence.store(operation.sequence() + 1, std::memory_order_release);
}

std::byte* Channel::fetched(std::size_t bytes) {
  if (fetched_.size() < bytes) fetched_.resize(bytes);
  return fetched_.data();
}

}  // namespace tutti::engine
