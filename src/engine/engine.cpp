// SPDX-License-Identifier: BSD-3-Clause
#include "engine/engine.hpp"

#include <pthread.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <optional>

#include "base/log.hpp"
#include "base/names.hpp"
#include "base/quiet_thread.hpp"
#include "engine/reduction.hpp"

namespace tutti::engine {
namespace {

/// Rounds of progress in a row, after which a waiter looks at slow things although it never paused.
constexpr int moves_between_ticks = 1024;

/// What the progress thread takes over from a companion: how long it may sleep. What else there is to be moved on is
/// for those who wait.
class Pace final : public host::Companion {
 public:
  explicit Pace(const host::Companion& companion) : companion_(companion) {}
  void visit() noexcept override {}
  std::uint64_t longest_sleep(std::uint64_t waited) const override { return companion_.longest_sleep(waited); }

 private:
  const host::Companion& companion_;
};

std::uint32_t current_generation() {
  static const int registered = pthread_atfork(nullptr, nullptr, [] {
    fork_generation.fetch_add(1, std::memory_order_relaxed);  // relaxed: the child has one thread
  });
  static_cast<void>(registered);
  return fork_generation.load(std::memory_order_relaxed);
}

}  // namespace

Engine::Engine(const Setup& setup)
    : setup_(setup),
      waiting_(*setup.segment, setup.place_of(setup.world_rank), setup.cores, setup.ranks_sharing_cores(),
               setup.scheduler),
      process_(current_generation()) {}

Engine::~Engine() { leave(); }

void Engine::leave() {
  if (forked()) {  // the thread is not there to join
    if (thread_.joinable()) thread_.detach();
    courier_.abandon();
    return;
  }
  courier_.stop();
  stop_progress_thread();
  stop_.store(true, std::memory_order_relaxed);  // relaxed: one that is asked for now ends at once
  see_off();
}

/// What was sent arrives also where its receiver comes late, who may compute for hours: the transport finds the dead.
/// Where a group has broken, or waits have a limit, it may be the receiver that hangs, and this process shall end.
void Engine::see_off() {
  constexpr std::uint64_t look = 100'000'000, worth_a_word = 5'000'000'000, patience = 10'000'000'000;
  if (std::exchange(seen_off_, true)) return;
  bool told = false;
  std::vector<Rank> awaited, before;
  for (const std::uint64_t begun = waiting_.now();; before = awaited) {
    std::unique_lock lock(transport_lock_);
    if (!transport_) return;
    awaited = transport_->drain(before.empty() ? 0 : look);
    std::erase_if(before, [&](Rank peer) { return transport_->fate(peer) != transport::Fate::silent; });
    lock.unlock();
    const std::string me = "rank " + std::to_string(setup_.world_rank) + ": ";
    // Relaxed: a break by another thread that is missed now is seen at the next look.
    const bool broke = broke_.load(std::memory_order_relaxed);
    if (!broke && !before.empty())
      base::log(me + base::list_ranks(before) + " cannot be reached: what was sent there is lost");
    if (awaited.empty()) return;
    const std::uint64_t waited = waiting_.now() - begun;
    if ((broke || setup_.timeout != 0) && waited >= std::max(patience, setup_.timeout))
      return base::log(me + base::list_ranks(awaited) + " did not take what was sent there in time: it is lost");
    if (waited >= worth_a_word && !std::exchange(told, true))
      base::log(me + "the program has ended, and waits until " + base::list_ranks(awaited) +
                " takes what was sent there, at its next call of Tutti");
  }
}

void Engine::end(const Error& error) {
  if (forked() || ended_.load(std::memory_order_relaxed)) return;  // relaxed: one thread ends it
  end_ = std::make_shared<const Error>(error);
  ended_.store(true, std::memory_order_release);  // pairs with the acquire in check_process: end_ is there
  {
    const std::lock_guard lock(channels_lock_);
    for (Channel* channel : channels_) channel->end(end_);
  }
  await_failures();
  leave();
}

/// An operation whose memory another rank is at stays pending until he is done. Later nobody looks for that any more.
void Engine::await_failures() {
  host::Waiting::Round round(waiting_);
  for (Rank awaited = -1; has_open();)
    if (!progress(awaited)) round.pause(-1, 0);
}

void Engine::stop_progress_thread() {
  const std::lock_guard lock(thread_lock_);
  if (!thread_.joinable()) return;
  stop_.store(true, std::memory_order_relaxed);  // relaxed: the ring below wakes the thread, which looks again
  waiting_.ring(place());
  thread_.join();
  threaded_.store(false, std::memory_order_relaxed);
  stop_.store(false, std::memory_order_relaxed);  // relaxed: under the lock, and nobody is there to read it
}

void Engine::refuse_process() const {
  if (ended_.load(std::memory_order_acquire)) raise(*end_);  // pairs with the release in end
  throw Error(Cause::usage, "this process is a fork of rank " + std::to_string(setup_.world_rank) +
                                " and not a member of the job; call Tutti in the parent alone, or exec a new program");
}

void Engine::add(Channel& channel) {
  const std::lock_guard lock(channels_lock_);
  channels_.push_back(&channel);
}

void Engine::remove(Channel& channel) {
  const std::lock_guard lock(channels_lock_);
  std::erase(channels_, &channel);
}

bool Engine::progress(Rank& awaited) {
  awaited = -1;
  // Whoever holds the lock is doing this already. Holding it also keeps the channels from going away.
  const std::unique_lock lock(channels_lock_, std::try_to_lock);
  if (!lock) return false;
  bool moved = false;
  {
    const std::lock_guard transport(transport_lock_);
    moved = transport_->progress_in_turns();
  }
  moved = agreements_.serve() || moved;
  for (std::size_t i = 0; i < channels_.size();) {
    Channel& channel = *channels_[i];
    moved = channel.advance(awaited) || moved;
    if (channel.retire())
      channels_.erase(channels_.begin() + static_cast<std::ptrdiff_t>(i));
    else
      ++i;
  }
  if (channels_.size() != 1) awaited = -1;
  return moved;
}

void Engine::visit() {
  Rank awaited = -1;
  progress(awaited);
  // Whether things move says nothing: see wait_until.
  if (!uninspected()) return;
  const std::unique_lock lock(channels_lock_, std::try_to_lock);
  if (lock) inspect();
}

/// For a tick. Relaxed: threads that miss each other's look inspect once more.
bool Engine::uninspected() const {
  return waiting_.now() - inspected_.load(std::memory_order_relaxed) >= host::tick_length;
}

void Engine::tick() {
  const std::unique_lock lock(channels_lock_, std::try_to_lock);
  if (!lock) return;
  inspect();
  tell();
}

void Engine::inspect() {
  inspected_.store(waiting_.now(), std::memory_order_relaxed);  // relaxed: partner is uninspected, which may miss it
  for (Channel* channel : channels_) channel->inspect();
}

template <class Done>
bool Engine::wait_until(std::span<Operation* const> operations, Done done, std::uint64_t until) {
  refuse_inside_reduction();
  SlowWait slow(*this, operations);
  host::Waiting::Round round(waiting_, companion_);
  for (unsigned moves = 0;;) {
    if (done()) return true;
    Rank awaited = -1;
    // What moves may be other people's traffic without end: now and then look at the clock and for deaths all the same.
    const bool moved = progress(awaited);
    if (moved && ++moves % moves_between_ticks != 0) continue;
    if (done()) return true;
    if (!moved && !round.pause(awaited, until)) continue;
    slow.tick();
    if (until != 0 && waiting_.now() >= until) return done();
  }
}

bool Engine::wait(Operation& operation, std::uint64_t until) {
  check_process();
  return wait_to_the_end(operation, until);
}

bool Engine::wait_to_the_end(Operation& operation, std::uint64_t until) {
  Operation* const one = &operation;
  const bool noted = setup_.recorder != nullptr && !operation.finished() && operation.notes_waits();
  const std::uint64_t since = noted ? base::ticks() : 0;
  const bool finished = wait_until(
      {&one, 1}, [&] { return operation.finished(); }, until);
  if (noted) operation.note_wait(*setup_.recorder, since);
  return finished;
}

bool Engine::wait_for(const std::function<bool()>& done, std::uint64_t until) {
  check_process();
  return wait_until({}, done, until);
}

std::optional<std::size_t> Engine::wait_any(std::span<Operation* const> operations, std::uint64_t until) {
  check_process();
  std::optional<std::size_t> found;
  const auto look = [&] {
    for (std::size_t i = 0; i < operations.size() && !found; ++i)
      if (operations[i] != nullptr && operations[i]->finished()) found = i;
    return found.has_value();
  };
  const bool noted = setup_.recorder != nullptr && !look();
  const std::uint64_t since = noted ? base::ticks() : 0;
  wait_until(operations, look, until);
  // It was waited for the one that came; in vain for any of them.
  const auto one = found ? operations.begin() + static_cast<std::ptrdiff_t>(*found)
                         : std::ranges::find_if(operations, [](const Operation* each) { return each != nullptr; });
  if (noted && one != operations.end() && (*one)->notes_waits()) (*one)->note_wait(*setup_.recorder, since);
  return found;
}

void Engine::start_progress_thread() {
  const std::lock_guard lock(thread_lock_);
  if (thread_.joinable()) return;
  if (!no_thread_.empty()) throw Error(Cause::usage, no_thread_);
  thread_ = base::quiet_thread([this] { progress_loop(); }, "progress between calls");
  threaded_.store(true,
                  std::memory_order_relaxed);  // relaxed: a start that misses it is seen by the thread's next tick
}

void Engine::progress_loop() {
  std::optional<Pace> pace;
  if (companion_ != nullptr) pace.emplace(*companion_);
  // Otherwise it sleeps until somebody starts something or sends, and rings.
  const auto listens = [&] { return pace && has_open(); };
  // Relaxed: stop_ is looked at after every sleep, and `leave` rings.
  while (!stop_.load(std::memory_order_relaxed)) {
    const bool listening = listens();
    host::Waiting::Round round(waiting_, listening ? &*pace : nullptr);
    for (bool moved = false; !moved && listening == listens() && !stop_.load(std::memory_order_relaxed);) {
      Rank awaited = -1;
      moved = progress(awaited);
      // What moves may be other people's traffic without end, and then no round lasts until its tick.
      if (moved ? uninspected() : round.pause(awaited, 0)) tick();
    }
  }
}

bool Engine::has_open() {
  const std::lock_guard lock(channels_lock_);
  return !channels_.empty();
}

int Engine::event_of(Operation& operation) {
  start_progress_thread();
  LockWord& lock = operation.channel().lock();
  lock.lock();
  if (!operation.event_)
    operation.event_ = base::Descriptor(eventfd(operation.finished() ? 1 : 0, EFD_CLOEXEC | EFD_NONBLOCK));
  const int descriptor = operation.event_.get();
  const int error = errno;
  lock.unlock();
  waiting_.ring(place());
  if (descriptor >= 0) return descriptor;
  throw Error(Cause::system, std::string("no descriptor for a request: ") + std::strerror(error) +
                                 "; raise the limit of open files (ulimit -n)");
}

}  // namespace tutti::engine
