// SPDX-License-Identifier: BSD-3-Clause
// The waiting policy, and the protocol of sleeping and waking.
//
// No wake-up is lost. A sleeper (S) and a publisher (P) do, in program order:
//     S1  store asleep, awaited, its bit in sleepers        P1  store what it publishes (release)
//     S2  full fence                                        P2  full fence
//     S3  heard = word (acquire)                            P3  load sleepers, asleep, awaited
//     S4  poll: load what P publishes (acquire)             P4  if S may sleep: word + 1 (release)
//     S5  if not there: futex wait while word == heard      P5      futex wake
// The two fences have a place in the single total order of sequentially consistent operations.
//   - If S2 comes first, P3 sees S1 (or what S stored later, when it has announced something newer or is awake). So P
//     rings: if S3 came after P4, S read the new word, and by release and acquire S4 sees P1: S does not sleep. If S3
//     came before P4, either S5 comes before P5, which ends it, or the kernel compares, under the lock that P5 needs,
//     after P4: word != heard, and S5 returns at once.
//   - If P2 comes first, S4 sees P1: S does not sleep.
// Publishing is frequent and sleeping is rare, unless there is foreign load. So where the kernel offers it, S2 is a
// fence in all threads of the job (host/fence.hpp) and P2 is nothing but an order to the compiler: somewhere in P's
// program the fence has its place. If that is before P3, P3 sees S1. If it is after P3, it is after P1 too, and S4 sees
// P1. `fencing` says who makes the fences. P reads it between P1 and P3, S between S1 and S4. It changes through a
// state in which both do, and with a fence in all threads (C) before that state ends:
//   - To `publishers`: S relies on P2, having seen the state after C. P made no P2 if it read `fencing` before C.
//     Then P1 came before C, and S4 sees P1.
//   - To `sleepers`: P relies on S2, having seen the state after C. S made its fence for itself alone if it read
//     `fencing` before C. Then S1 came before C, and P3 sees S1.
// Without S2 or without P2 the load of one side may overtake its own store, and both miss each other. That is tested
// on a model of both sides with store buffers (tests/host/protocol_test.cpp), where leaving out a fence is caught.
// `sleepers`, `asleep` and `awaited` are stored by the sleeper's own process alone, under its lock, and with several
// sleeping threads `awaited` is -1: a thread that wakes takes nothing from one that still sleeps.
#include "host/waiting.hpp"

#include <sched.h>

#include <algorithm>
#include <utility>

#include "base/clock.hpp"
#include "base/crowd.hpp"

namespace tutti::host {
namespace {

constexpr std::uint32_t polls_with_a_core = 2000;
/// 5 us or so: two or three ranks of another core run meanwhile, one after the other.
constexpr std::uint32_t polls_for_other_cores = 300;
constexpr std::uint64_t yield_for = 300'000;   // 0.3 ms
constexpr std::uint64_t long_yield = 700'000;  // 0.7 ms: longer than ranks that communicate keep a core
/// Yields that take so long on average give the core to several others. Who waits for other hosts is then woken by what
/// comes sooner than by a turn of all who yield. (A barrier of 4, 8 and 16 processes on 2 cores takes 64, 250 and 1280
/// us with yields alone, and 85, 300 and 830 if each sleeps that has met another.)
constexpr std::uint64_t crowded_yield = 40'000, crowded_for = 2'000'000;
constexpr std::uint64_t hand_over = 5'000;  // what each rank that shares the core may take of that, besides
constexpr std::uint64_t foreign_first = 20'000'000, foreign_least = 100'000'000, foreign_most = 400'000'000;
constexpr std::uint64_t probe_share = 50;  // A probe of two yields that took t each is repeated after 50 t: 4 %.
constexpr int probe_yields = 8;
constexpr std::uint64_t between_visits = 20'000;  // a visit costs up to 1 us
constexpr std::uint32_t scheduled_tick = 64;      // yields, in case the scheduler's clock stands still

std::string describe(const Policy& policy, int cores, int ranks) {
  std::string text = std::to_string(ranks) + (ranks == 1 ? " rank on " : " ranks on ") + std::to_string(cores) +
                     (cores == 1 ? " core: " : " cores: ");
  if (policy.spins != 0) text += "spin for " + std::to_string(policy.spins) + " polls, then ";
  text += "yield for " + std::to_string(policy.yield_for / 1000) + " us";
  if (policy.patience != 0)
    text +=
        ", each time after " + std::to_string(policy.patience) + " polls where only ranks of other cores are awaited";
  return text + ", then sleep; sleep at once while foreign load shows";
}

}  // namespace

Waiting::Waiting(Segment& segment, Rank world_rank, int cores, int ranks_on_host, Scheduler* scheduler)
    : segment_(segment),
      header_(segment.header()),
      rank_(world_rank),
      scheduler_(scheduler),
      cores_(std::max(cores, 1)),
      joined_(scheduler == nullptr && join_fences()) {
  policy_.spins = scheduler == nullptr && ranks_on_host <= cores_ ? polls_with_a_core : 0;
  policy_.patience = scheduler == nullptr && cores_ > 1 && policy_.spins == 0 ? polls_for_other_cores : 0;
  policy_.yield_for = yield_for;
  policy_.long_yield = long_yield + hand_over * static_cast<std::uint64_t>(ranks_on_host / cores_);
  policy_.why = scheduler != nullptr ? "a test's scheduler decides" : describe(policy_, cores_, ranks_on_host);
  take_core(segment_, rank_, base::now());
}

Policy Waiting::policy() const {
  Policy policy = policy_;
  policy.foreign = foreign_shows();
  return policy;
}

std::uint64_t Waiting::now() const { return scheduler_ != nullptr ? scheduler_->now() : base::now(); }

bool Waiting::Round::pause_slowly(Rank awaited, std::uint64_t until) {
  if (waiting_.scheduler_ != nullptr) return pause_scheduled(until);
  if (announced_) {
    if (awaited == awaited_) return sleep(until);
    waiting_.announce_again(awaited);
    awaited_ = awaited;
    heard_ = waiting_.segment_.process(waiting_.rank_).bell.word.load(std::memory_order_acquire);
    return false;
  }
  const std::uint64_t now = base::now();
  if (started_ == 0) started_ = tick_ = visited_ = now;
  if (companion_ != nullptr && now - visited_ >= between_visits) {
    companion_->visit();
    visited_ = now;
  }
  if (waiting_.packed_ || waiting_.sleep_at_once(now) || (awaited < 0 && waiting_.is_crowded(now))) {
    announce(awaited);
    return due(now, until);
  }
  const std::uint64_t longer = companion_ == nullptr ? 0 : companion_->yield_for();
  if (now - started_ < std::max(waiting_.policy_.yield_for, longer)) return yield(now, until);
  announce(awaited);
  tick_ = now;
  return true;
}

bool Waiting::Round::pause_scheduled(std::uint64_t until) {
  waiting_.scheduler_->yield();
  const std::uint64_t now = waiting_.scheduler_->now();
  if (started_ == 0) started_ = tick_ = now;
  if (!due(now, until) && ++yields_ < scheduled_tick) return false;
  yields_ = 0;
  return true;
}

bool Waiting::Round::yield(std::uint64_t now, std::uint64_t until) { return due(waiting_.yield_from(now), until); }

std::uint64_t Waiting::yield_from(std::uint64_t now) {
  const Absence absence = give_core(segment_, rank_, now);
  sched_yield();
  const std::uint64_t after = base::now();
  take_core(segment_, rank_, after);
  note_yield(after - now, after);
  if (after - now > policy_.long_yield && !was_ours(segment_, absence, after)) {
    foreign_seen(absence, after);
    return after;
  }
  int left = probes_left_.load(std::memory_order_relaxed);
  while (left > 0 && !probes_left_.compare_exchange_weak(left, left - 1, std::memory_order_relaxed)) {
  }
  if (left == 1) {
    header_.foreign_until.store(0, std::memory_order_relaxed);
    change_fencing(Fencing::publishers, Fencing::sleepers);
  }
  return after;
}

bool Waiting::yield() {
  if (scheduler_ != nullptr || policy_.spins != 0 || packed_) return false;
  const std::uint64_t now = base::now();
  if (sleep_at_once(now)) return false;
  yield_from(now);
  return true;
}

void Waiting::Round::announce(Rank awaited) {
  waiting_.announce(awaited);
  announced_ = true;
  awaited_ = awaited;
  heard_ = waiting_.segment_.process(waiting_.rank_).bell.word.load(std::memory_order_acquire);
}

/// The announcement stays until the round ends: who was woken for nothing sleeps again at once.
bool Waiting::Round::sleep(std::uint64_t until) {
  // A visit may take its time; who rings meanwhile changes the word, and the sleep ends at once.
  if (companion_ != nullptr) companion_->visit();
  const std::uint64_t before = base::now();
  std::uint64_t slice = longest_sleep(before);
  if (until != 0) {
    if (before >= until) return true;
    slice = std::min(slice, until - before);
  }
  const auto& word = waiting_.segment_.process(waiting_.rank_).bell.word;
  give_core(waiting_.segment_, waiting_.rank_, before);
  const int result = sleep_for(slice);
  heard_ = word.load(std::memory_order_acquire);  // S3 of the next sleep: before the caller polls.
  const std::uint64_t after = base::now();
  take_core(waiting_.segment_, waiting_.rank_, after);
  return due(after, until) || result == EINTR;
}

int Waiting::Round::sleep_for(std::uint64_t nanoseconds) {
  // To be woken at the door costs twice a futex. Who waits for one rank of this host stays away from it: what comes
  // from other hosts meanwhile is nothing that this rank waits for, and is looked at when the sleep ends, after a tick.
  if (waiting_.door_ != nullptr && !at_door_ && awaited_ < 0) at_door_ = waiting_.go_to_door();
  const auto& word = waiting_.segment_.process(waiting_.rank_).bell.word;
  // Sequentially consistent: pairs with `wake`. Who rang before he could see this rank at its door changed the word.
  if (word.load(std::memory_order_seq_cst) != heard_) return 0;
  return at_door_ ? waiting_.door_->sleep(nanoseconds) : futex_wait(word, heard_, nanoseconds);
}

std::uint64_t Waiting::Round::longest_sleep(std::uint64_t now) const {
  return companion_ == nullptr ? tick_length : std::min(tick_length, companion_->longest_sleep(now - started_));
}

bool Waiting::Round::due(std::uint64_t now, std::uint64_t until) {
  if (now - tick_ >= tick_length) {
    tick_ = now;
    return true;
  }
  return until != 0 && now >= until;
}

/// A kernel that begins to refuse (a filter set by the program) costs at most a tick: no sleep is longer.
void Waiting::sleeper_fence() const {
  std::atomic_signal_fence(std::memory_order_seq_cst);  // S1 stays before, for the compiler
  // Acquire: pairs with the store in change_fencing, when publishers have begun to make their own.
  const auto fencing = static_cast<Fencing>(header_.fencing.load(std::memory_order_acquire));
  if (fencing == Fencing::publishers || !fence_everywhere()) full_fence();
}

void Waiting::fence_for_all() {
  fences_agreed_.store(true, std::memory_order_relaxed);  // relaxed: whoever misses it changes nothing
  change_fencing(Fencing::publishers, Fencing::sleepers);
}

void Waiting::change_fencing(Fencing from, Fencing to) {
  if (!fences_agreed_.load(std::memory_order_relaxed)) return;  // relaxed: set before this rank's first long wait
  // Relaxed: the fence between the two stores orders them, for every thread.
  auto expected = static_cast<std::uint32_t>(from);
  if (!header_.fencing.compare_exchange_strong(expected, static_cast<std::uint32_t>(Fencing::changing),
                                               std::memory_order_relaxed))
    return;  // another rank does it
  // Release: whoever acts on the new state has the fence behind him.
  header_.fencing.store(static_cast<std::uint32_t>(fence_everywhere() ? to : Fencing::changing),
                        std::memory_order_release);
}

void Waiting::announce(Rank awaited) {
  {
    const std::lock_guard lock(mutex_);
    Process::Bell& bell = segment_.process(rank_).bell;
    ++threads_;
    bell.awaited.store(threads_ == 1 ? awaited : -1, std::memory_order_relaxed);
    bell.asleep.store(static_cast<std::uint32_t>(threads_), std::memory_order_relaxed);
    only_.store(threads_ == 1 ? std::this_thread::get_id() : std::thread::id(), std::memory_order_relaxed);
    header_.sleepers[process_word(rank_)].fetch_or(std::uint64_t{1} << (rank_ % 64), std::memory_order_relaxed);
  }
  sleeper_fence();  // S2: pairs with P2 in ring and in Segment::raise_alarm.
}

void Waiting::announce_again(Rank awaited) {
  {
    const std::lock_guard lock(mutex_);
    segment_.process(rank_).bell.awaited.store(threads_ == 1 ? awaited : -1, std::memory_order_relaxed);
  }
  sleeper_fence();  // As in announce.
}

/// One thread at a time: of several that sleep there, the first would take the others' knocks.
bool Waiting::go_to_door() {
  std::uint32_t nobody = 0;
  // Sequentially consistent: see sleep_for.
  return segment_.process(rank_).bell.at_door.compare_exchange_strong(nobody, 1, std::memory_order_seq_cst);
}

void Waiting::retract(bool at_door) {
  const std::lock_guard lock(mutex_);
  --threads_;
  Process::Bell& bell = segment_.process(rank_).bell;
  bell.asleep.store(static_cast<std::uint32_t>(threads_), std::memory_order_relaxed);
  only_.store({}, std::memory_order_relaxed);
  if (at_door) {
    bell.at_door.store(0, std::memory_order_seq_cst);  // as above
    if (threads_ > 0) wake(bell);                      // another thread goes there
  }
  // Of more than 1024 processes several share a bit: it then stays, and `asleep` alone tells.
  if (threads_ == 0 && segment_.size() <= process_bits)
    header_.sleepers[process_word(rank_)].fetch_and(~(std::uint64_t{1} << (rank_ % 64)), std::memory_order_relaxed);
}

void Waiting::wake(std::uint64_t asleep, Rank first) {
  for (; asleep != 0; asleep &= asleep - 1) {
    const Rank rank = first + std::countr_zero(asleep);
    if (rank >= segment_.size()) return;
    Process::Bell& bell = segment_.process(rank).bell;
    if (bell.asleep.load(std::memory_order_relaxed) == 0) continue;
    const Rank awaited = bell.awaited.load(std::memory_order_relaxed);
    // A thread of this very process may wait for what another of its threads has just completed.
    if (awaited != -1 && awaited != rank_ && rank != rank_) continue;
    wake(bell);
  }
}

/// P4, P5. The word is changed before the door is looked at: pairs with sleep_for. The thread itself, between two looks
/// of its own, sees the word and needs no more.
void Waiting::wake(Process::Bell& bell) {
  bell.word.fetch_add(1, std::memory_order_seq_cst);  // at least a release: pairs with S3
  // Relaxed: no other thread stores this one's. Of a second sleeper that is not seen here, the look comes after P1.
  if (only_.load(std::memory_order_relaxed) == std::this_thread::get_id() && &bell == &segment_.process(rank_).bell &&
      bell.asleep.load(std::memory_order_relaxed) == 1)
    return;
  const std::uint32_t at_door = bell.at_door.load(std::memory_order_seq_cst);
  if (bell.asleep.load(std::memory_order_relaxed) > at_door) futex_wake_all(bell.word);
  if (at_door != 0 && door_ != nullptr) door_->knock(bell.door.load(std::memory_order_relaxed));
}

void Waiting::watch(int set, int ranks_per_core) {
  door_ = std::make_unique<const Door>(set);
  packed_ = ranks_per_core >= base::sleeping_crowd;
  policy_.why += packed_ ? "; sleep at once: hosts that share these cores have " + std::to_string(ranks_per_core) +
                               " ranks for each"
                         : "; for other hosts no spin, and sleep at once while others want the core";
  // Relaxed: ordered by the store of at_door, which is looked at first.
  segment_.process(rank_).bell.door.store(door_->name(), std::memory_order_relaxed);
}

void Waiting::ring(Rank world_rank) {
  if (scheduler_ != nullptr) return scheduler_->happened();
  publisher_fence();  // P2
  Process::Bell& bell = segment_.process(world_rank).bell;
  if (bell.asleep.load(std::memory_order_relaxed) != 0) wake(bell);
}

/// Foreign load is one finding for the whole host: were each rank to probe for itself, all would wait for each probe.
/// When the finding is old, one process yields again while the others go on believing it: one that has met it, if such
/// a one waits.
bool Waiting::sleep_at_once(std::uint64_t now) {
  std::uint64_t until = header_.foreign_until.load(std::memory_order_relaxed);
  if (until == 0 || probes_left_.load(std::memory_order_relaxed) > 0) return false;
  const bool met_it = foreign_at_.load(std::memory_order_relaxed) != 0;
  if (now < until + (met_it ? 0 : foreign_first)) return true;
  if (!header_.foreign_until.compare_exchange_strong(until, now + foreign_first, std::memory_order_relaxed))
    return true;
  probes_left_.store(probe_yields, std::memory_order_relaxed);
  return false;
}

/// Relaxed, all of it: hints, of which threads may lose some.
void Waiting::note_yield(std::uint64_t took, std::uint64_t now) {
  if (door_ == nullptr) return;
  const std::uint64_t before = usual_yield_.load(std::memory_order_relaxed);
  const std::uint64_t usual = before - before / 8 + std::min(took, 2 * crowded_yield) / 8;
  usual_yield_.store(usual, std::memory_order_relaxed);
  if (usual > crowded_yield) crowded_until_.store(now + crowded_for, std::memory_order_relaxed);
}

bool Waiting::is_crowded(std::uint64_t now) const {
  // Relaxed: a hint.
  return door_ != nullptr && now < crowded_until_.load(std::memory_order_relaxed);
}

void Waiting::foreign_seen(const Absence& absence, std::uint64_t now) {
  const std::uint64_t took = now - absence.from;
  const std::uint64_t before = foreign_at_.exchange(absence.used + 1, std::memory_order_relaxed);
  if (before == 0 || !yields_to_foreign(took, absence.used + 1 - before)) return;
  const bool probed = probes_left_.exchange(0, std::memory_order_relaxed) > 0;
  const std::uint64_t last = header_.foreign_interval.load(std::memory_order_relaxed);
  const std::uint64_t interval =
      probed ? std::max(std::clamp(last * 2, foreign_least, foreign_most), took * probe_share) : foreign_first;
  header_.foreign_interval.store(interval, std::memory_order_relaxed);
  header_.foreign_until.store(now + interval, std::memory_order_relaxed);
  change_fencing(Fencing::sleepers, Fencing::publishers);
}

}  // namespace tutti::host
