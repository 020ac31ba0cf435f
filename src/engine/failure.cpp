// SPDX-License-Identifier: BSD-3-Clause
// How a channel finds out that something is wrong, and what it says about it.
#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <mutex>
#include <string>
#include <utility>

#include "base/names.hpp"
#include "engine/channel.hpp"
#include "engine/engine.hpp"
#include "host/fence.hpp"

namespace tutti::engine {

using host::Life;

namespace {

enum Broken : std::uint32_t { intact = 0, breaking = 1, told = 2 };

constexpr const char* same_calls =
    "All ranks of a group must call the same collectives in the same order, with the same type, count, operation, root "
    "and algorithm, and plans of the same name.";

std::string number(Rank rank) { return "rank " + std::to_string(rank); }

}  // namespace

void Channel::check_usable() {
  // Acquire: pairs with the release in Segment::raise_alarm; one word to look at while nothing is wrong.
  const std::uint64_t alarm = engine_.segment().header().alarm.load(std::memory_order_acquire);
  if (alarm != alarm_seen_) look_at_alarm();
  if (broken_) raise(*broken_);
}

void Channel::look_at_alarm() {
  alarm_seen_ = engine_.segment().header().alarm.load(std::memory_order_acquire);  // acquire: as in check_usable
  if (broken_) return;
  adopt_broken_board();
  adopt_notice();
  adopt_agreement();
  for (const Rank other : near_) {
    // Acquire: pairs with the compare-exchange that declared the death.
    if (!broken_ && engine_.segment().process(place_of(other)).life.load(std::memory_order_acquire) == Life::dead)
      peer_lost(other, "is gone");
  }
}

void Channel::inspect() {
  const std::unique_lock guard(lock_, std::try_to_lock);
  if (!guard) return;
  broken_ ? void(fail_operations()) : inspect_locked();
  settle();
}

void Channel::inspect_locked() {
  const std::uint64_t now = engine_.waiting().now();
  for (const Rank other : near_)
    if (other != rank()) engine_.segment().watch(place_of(other), now);
  look_at_alarm();
  for (Rank other = 0; other < board_.size() && !broken_; ++other)
    if (other != row()) check_records(other);
  if (notices_ && !broken_) compare_calls();
  for (Operation* operation = first_; operation != nullptr && !broken_; operation = operation->next_)
    if (!operation->finished()) find_lost_blockers(*operation);
}

void Channel::find_lost_blockers(Operation& operation) {
  const auto gone = [this](Rank other) {
    const Rank place = place_of(other);
    // Acquire: pairs with the release in Segment::leave; what the process sent before it left is visible now.
    return place >= 0 && engine_.segment().process(place).life.load(std::memory_order_acquire) == Life::left;
  };
  std::vector<Rank> lost;
  operation.blockers(lost);
  if (spans_hosts()) {
    const std::lock_guard lock(engine_.transport_lock());
    for (const Rank other : lost) engine_.transport().call(who_.world[static_cast<std::size_t>(other)]);
  }
  std::erase_if(lost, std::not_fn(gone));
  if (lost.empty()) return;
  {
    const std::lock_guard lock(engine_.transport_lock());
    engine_.transport().progress();
  }
  operation.advance();  // it may have given what was awaited before it left
  if (operation.finished() || broken_) return;
  std::vector<Rank> after;
  operation.blockers(after);
  // Whoever left during the advance may have given it as well: the next inspection looks at that one.
  for (const Rank other : after)
    if (std::find(lost.begin(), lost.end(), other) != lost.end())
      return peer_gone(other, "has ended without taking part");
}

bool Channel::entry_of(Rank row, std::uint64_t slot, Entry& entry) const {
  const host::Record& record = board_.record(row, slot);
  // Acquire: pairs with the release in write_record.
  const std::uint64_t is = record.sequence.load(std::memory_order_acquire);
  if (is == 0) return false;
  const std::uint64_t signatures = record.signatures.load(std::memory_order_relaxed);
  entry = {is - 1, static_cast<std::uint32_t>(signatures), static_cast<std::uint32_t>(signatures >> 32)};
  // The record may have been overwritten meanwhile: a fence, then the sequence once more (a seqlock's reader).
  std::atomic_thread_fence(std::memory_order_acquire);
  return record.sequence.load(std::memory_order_relaxed) == is;
}

/// Compares what the other rank has recorded with what this rank called then. A difference stays in the chain, so that
/// calls that did not match are found in a later operation where nothing of their own could show it: two ranks that
/// both believe to be the root of a bcast. Usually one record is looked at; of a rank that is behind, its last ones.
void Channel::check_records(Rank row) {
  record();
  if (!board_ || next_sequence_ == 0) return;
  std::uint64_t from = next_sequence_ - 1;  // the oldest operation in flight, if there is one
  for (const Operation* operation = last_; operation != nullptr; operation = operation->previous_)
    if (!operation->user_lane() && !operation->finished()) from = operation->sequence();
  for (std::uint64_t back = 0; back < host::records; ++back) {
    Entry theirs;
    if (!entry_of(row, from + host::records - back, theirs)) continue;
    if (theirs.sequence >= next_sequence_ || next_sequence_ - theirs.sequence > chains_.size()) continue;
    if (theirs.chain != chains_[theirs.sequence % chains_.size()]) mismatch(row, theirs.sequence);
    return;
  }
}

/// The oldest operation up to `sequence` that both ranks still have records of, and that is not the same on both.
std::uint64_t Channel::first_difference(Rank other, std::uint64_t sequence) const {
  std::uint64_t found = sequence;
  for (std::uint64_t slot = 0; slot < host::records; ++slot) {
    Entry mine, theirs;
    if (entry_of(row(), slot, mine) && entry_of(other, slot, theirs) && mine.sequence == theirs.sequence &&
        mine.sequence < found && mine.signature != theirs.signature)
      found = mine.sequence;
  }
  return found;
}

std::string Channel::called(Rank member, std::uint64_t sequence) const {
  Entry entry;
  const Rank row = row_of(member);
  if (!board_ && member == rank()) return called_here(sequence);
  if (!board_ || row < 0 || !entry_of(row, sequence, entry) || entry.sequence != sequence) return "another operation";
  const host::Record& record = board_.record(row, sequence);
  // Relaxed: checked by entry_of.
  return call_text(record.call.load(std::memory_order_relaxed), record.count.load(std::memory_order_relaxed),
                   record.algorithm.load(std::memory_order_relaxed),
                   {record.label[0].load(std::memory_order_relaxed), record.label[1].load(std::memory_order_relaxed)});
}

/// Where no board keeps records of what was called: as far as it is still under way.
std::string Channel::called_here(std::uint64_t sequence) const {
  for (const Operation* operation = first_; operation != nullptr; operation = operation->next_)
    if (!operation->user_lane() && operation->sequence() == sequence) {
      const Description& says = operation->bound().description;
      return call_text(operation->bound().call_word, says.count, says.algorithm, says.label);
    }
  return "another operation";
}

/// A user's plan has a name, everything else an algorithm.
std::string Channel::call_text(std::uint64_t call, Count count, std::int32_t algorithm,
                               const base::Label& label) const {
  std::string by;
  if (static_cast<Kind>(static_cast<std::uint8_t>(call)) == Kind::plan)
    by = base::text_of(label);
  else if (engine_.setup().algorithm_name != nullptr)
    by = engine_.setup().algorithm_name(algorithm);
  return base::call_text(call, count, by);
}

std::string Channel::describe(const Operation& operation) const {
  const std::string where = " of group " + who_.name + " on rank " + std::to_string(rank());
  if (operation.user_lane()) return (operation.lane() == transport::Lane::group ? "create" : "send or recv") + where;
  const Description& says = operation.bound().description;
  return base::name(says.kind, says.label) + " #" + std::to_string(operation.sequence()) + where;
}

std::string Channel::waits_for(const Operation& operation) {
  std::vector<Rank> ranks;
  {
    const std::lock_guard guard(lock_);
    operation.blockers(ranks);
  }
  std::sort(ranks.begin(), ranks.end());
  ranks.erase(std::unique(ranks.begin(), ranks.end()), ranks.end());
  if (ranks.empty()) return "waits for nobody";
  std::string text = "waits for rank";
  for (const Rank other : ranks) text += (other == ranks.front() ? " " : ", ") + std::to_string(other);
  return text;
}

void Channel::mismatch(Rank row, std::uint64_t sequence) {
  const std::uint64_t first = first_difference(row, sequence);
  const Rank peer = near_[static_cast<std::size_t>(row)];
  called_otherwise(first, peer, called(peer, first));
}

void Channel::called_otherwise(std::uint64_t sequence, Rank peer, const std::string& theirs) {
  record();
  const std::string mine = called(rank(), sequence);
  std::string text = "operation #" + std::to_string(sequence) + " of group " + who_.name +
                     " does not match: " + number(rank()) + " called " + mine + ", " + number(peer) + " called " +
                     theirs + (mine == theirs ? ", and something else before" : "") + ". " + same_calls;
  break_with(std::make_shared<const Error>(Cause::mismatch, std::move(text), peer), peer, sequence);
}

/// A message says that it belongs to another call.
void Channel::wrong_signature(const Operation& operation, Rank peer) {
  record();
  if (const Rank row = row_of(peer); board_ && row >= 0 && !operation.user_lane()) check_records(row);
  if (broken_) return;
  const std::string text =
      describe(operation) + " does not match: " +
      (operation.lane() == transport::Lane::group
           ? number(peer) + " makes a group of other ranks; create takes the same list on all of them."
       : operation.user_lane()
           ? "the message from " + number(peer) + " has another element type; send and recv must name the same type."
           : number(rank()) + " called " + called(rank(), operation.sequence()) + ", " + number(peer) +
                 " another operation, now or before. " + same_calls);
  break_with(std::make_shared<const Error>(Cause::mismatch, text, peer), peer, operation.sequence());
}

void Channel::mailbox_failed(const Operation& operation, Rank peer, bool lost) {
  lost ? peer_gone(peer, "is gone") : wrong_signature(operation, peer);
}

void Channel::counts_disagree(const Operation& operation, Rank peer, std::uint64_t theirs, std::uint64_t mine) {
  const std::size_t element = operation.bound().element;
  const auto elements = [element](std::uint64_t bytes) {
    return bytes % element == 0 ? std::to_string(bytes / element) + " elements" : std::to_string(bytes) + " bytes";
  };
  std::string text = describe(operation) + " does not match: " + number(rank()) + " expects " + elements(mine) +
                     " from " + number(peer) + ", which gives " + elements(theirs) +
                     ". Both sides must name the same count for what goes from one to the other.";
  break_with(std::make_shared<const Error>(Cause::mismatch, std::move(text), peer), peer, operation.sequence());
}

/// The peer does not answer any more. It may have gone because the group was broken, and then that is the cause.
void Channel::peer_gone(Rank peer, const char* how) {
  look_at_alarm();
  if (!broken_ && row_of(peer) < 0 && is_early()) return;
  // Sequentially consistent, as where it is stored. `breaking`: the next look finds the cause, or its finder dead.
  if (!broken_ && (!board_ || board_.header().broken.load(std::memory_order_seq_cst) == intact)) peer_lost(peer, how);
}

/// The word of what broke the group may come a little later than the end of one who has heard it. Whoever waits asks
/// again.
bool Channel::is_early() {
  constexpr std::uint64_t grace = 100'000'000;
  const std::uint64_t now = engine_.waiting().now();
  if (gone_since_ == 0) gone_since_ = now;
  return now - gone_since_ < grace;
}

void Channel::peer_lost(Rank peer, const char* how) { peer_lost(peer, how, {Cause::peer_lost, rank(), peer, 0, {}}); }

void Channel::peer_lost(Rank peer, const char* how, const Notice& found) {
  const Rank place = place_of(peer);
  std::string unreached;
  if (place < 0) {
    const std::lock_guard lock(engine_.transport_lock());
    unreached = engine_.transport().unreached(who_.world[static_cast<std::size_t>(peer)]);
  }
  std::string text =
      number(peer) + " of group " + who_.name + " (rank " + std::to_string(who_.world[static_cast<std::size_t>(peer)]) +
      " of the job, " +
      (place >= 0 ? "process " + std::to_string(engine_.segment().process(place).pid) : "on another host") + ") " +
      (unreached.empty() ? how : "could not be reached at " + unreached);
  for (const Operation* operation = first_; operation != nullptr; operation = operation->next_)
    if (!operation->finished()) {
      text += " while " + describe(*operation) + " was under way";
      break;
    }
  text += ". The group is broken; groups without that process go on. Look at that process's own output for the cause";
  text += unreached.empty() ? "."
                            : "; if it lives, open these ports between the hosts, or choose another network with "
                              "TUTTI_NETWORK.";
  break_with(std::make_shared<const Error>(Cause::peer_lost, std::move(text), peer), found);
}

void Channel::declare_lost(Rank member) {
  const std::lock_guard guard(lock_);
  if (!broken_) peer_lost(member, "is gone");
  settle();
}

void Channel::leave_out(const Error& why) {
  const std::lock_guard guard(lock_);
  if (!broken_) break_with(std::make_shared<const Error>(why), rank(), next_sequence_);
  settle();
}

void Channel::give_up(const Operation& operation) {
  const std::lock_guard guard(lock_);
  if (!broken_ && !operation.finished())
    break_with(std::make_shared<const Error>(
                   Cause::broken,
                   describe(operation) +
                       " was given up: its request was destroyed after a "
                       "wait had timed out or was interrupted. The group is broken; wait again to go on instead.",
                   rank()),
               rank(), operation.sequence());
  settle();
}

void Channel::end(const std::shared_ptr<const Error>& error) {
  const std::lock_guard guard(lock_);
  const Operation* open = first_;
  while (open != nullptr && open->finished()) open = open->next_;
  if (!broken_ && open != nullptr) break_with(error, rank(), open->sequence());
  settle();
}

void Channel::broken_off(const Operation& operation, const char* why, Cause cause) {
  break_with(
      std::make_shared<const Error>(
          cause, describe(operation) + " broke off: " + why + ". The group is broken; the other ranks are told so.",
          rank()),
      rank(), operation.sequence());
}

void Channel::adopt_broken_board() {
  // Acquire: pairs with the release in tell_members; the details are complete.
  if (!board_ || board_.header().broken.load(std::memory_order_acquire) != told) return;
  const host::BoardHeader& header = board_.header();
  Notice found{static_cast<Cause>(header.cause.load(std::memory_order_relaxed)),
               header.who.load(std::memory_order_relaxed),
               header.whom.load(std::memory_order_relaxed),
               header.sequence.load(std::memory_order_relaxed),
               {}};
  const auto member = [this](Rank r) { return r >= 0 && r < size(); };
  if (!member(found.who) || !member(found.whom) || found.cause > Cause::interrupted)
    return;  // nobody writes such: not a word to rely on
  // Relaxed: complete, as the rest.
  std::string far;
  for (const auto& letter : header.called)
    if (const char is = letter.load(std::memory_order_relaxed); is != '\0')
      far += is;
    else
      break;
  if (!far.empty()) std::swap(found.who, found.whom);
  found.called = far.empty() ? called(found.who, found.sequence) : far;
  adopt(found);
}

void Channel::adopt_notice() {
  if (!notices_ || broken_) return;
  const std::optional<Notice> found = notices_->hear();
  const auto member = [this](Rank r) { return r >= 0 && r < size(); };
  if (!found || !member(found->who) || !member(found->whom)) return;
  heard_ = true;
  adopt(*found);
}

/// Whoever was to send a notice may have died before it did.
void Channel::adopt_agreement() {
  if (!notices_ || broken_) return;
  const std::optional<Rank> lost = engine_.agreements().lost_to_others(who_.context);
  if (lost && *lost < size() && *lost != rank()) peer_lost(*lost, "is gone");
}

void Channel::adopt(const Notice& found) {
  const auto [cause, who, whom, sequence, call] = found;
  if (cause == Cause::peer_lost) return peer_lost(whom, ("is gone, or out of reach of " + number(who)).c_str(), found);
  std::string text = "group " + who_.name + " was broken ";
  if (cause == Cause::mismatch) {
    text += "by calls that do not match: " + number(who) + " called " + call + ", " + number(whom) + " called " +
            called(whom, sequence) + " as operation #" + std::to_string(sequence) + ". " + same_calls;
  } else {
    text += "by " + number(who) + ", which gave up operation #" + std::to_string(sequence) + " after " +
            (cause == Cause::broken ? "a time-out, an interruption or an exception of its reduction function."
                                    : "an error of its own. Look at that process's own output for the cause.");
  }
  break_with(std::make_shared<const Error>(cause, std::move(text), who == rank() ? whom : who), found);
}

void Channel::tell_members(const Notice& found) {
  bool first = !heard_;
  // The board has records of its own members alone: of two calls that do not match, it names one of those first, and
  // says what the other was.
  const bool records = found.cause != Cause::mismatch || row_of(found.who) >= 0;
  const Rank who = records ? found.who : rank(), whom = records ? found.whom : found.who;
  if (board_) {
    host::BoardHeader& header = board_.header();
    std::uint32_t seen = intact;
    // Sequentially consistent: who touches exposed memory announces himself, then looks here (while_whole); this side
    // breaks, then looks for him (is_touched). One of the two sees the other.
    if (header.broken.compare_exchange_strong(seen, breaking, std::memory_order_seq_cst)) {
      header.cause.store(static_cast<std::uint32_t>(found.cause), std::memory_order_relaxed);
      header.who.store(who, std::memory_order_relaxed);
      header.whom.store(whom, std::memory_order_relaxed);
      header.sequence.store(found.sequence, std::memory_order_relaxed);
      const std::size_t most = records ? 0 : std::min(found.called.size(), header.called.size() - 1);
      for (std::size_t i = 0; i < most; ++i) header.called[i].store(found.called[i], std::memory_order_relaxed);
      header.broken.store(told, std::memory_order_seq_cst);  // also the release that adopt_broken_board acquires
      engine_.segment().raise_alarm();
    } else {
      first = false;
      host::full_fence();  // partner: still_whole, for whose break this rank gives its memory back as well
    }
  }
  if (!notices_) return;
  std::vector<Rank> far;
  for (const Rank world : who_.world)
    if (engine_.setup().place_of(world) < 0) far.push_back(world);
  notices_->tell(far, first ? Notices::Whom::all : Notices::Whom::connected, found);
}

void Channel::break_with(std::shared_ptr<const Error> error, Rank whom, std::uint64_t sequence) {
  if (broken_) return;
  record();
  const Notice found{error->cause(), rank(), whom, sequence, called(rank(), sequence)};
  break_with(std::move(error), found);
}

void Channel::break_with(std::shared_ptr<const Error> error, const Notice& found) {
  if (broken_) return;
  record();
  broken_ = std::move(error);
  if (!who_.of_tutti) engine_.note_broken();
  tell_members(found);
  for (Operation* operation = first_; operation != nullptr; operation = operation->next_) operation->withdraw();
  fail_operations();
  {
    const std::lock_guard lock(engine_.transport_lock());
    engine_.transport().forget(who_.context);
  }
  if (notices_) engine_.courier().see_off();  // the program may compute for long now
}

}  // namespace tutti::engine
