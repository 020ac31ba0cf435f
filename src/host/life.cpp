// SPDX-License-Identifier: BSD-3-Clause
// Who is alive. Each process holds a POSIX record lock on a byte of the segment's file far behind its end; the kernel
// gives it back when the process ends, however it ends, and a forked child does not inherit it.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "host/fence.hpp"
#include "host/futex.hpp"
#include "host/segment.hpp"
#include "tutti/error.hpp"

namespace tutti::host {
namespace {

struct flock life_lock(Rank world_rank, short type) {
  struct flock lock {};
  lock.l_type = type;
  lock.l_whence = SEEK_SET;
  lock.l_start = life_locks + world_rank;
  lock.l_len = 1;
  return lock;
}

}  // namespace

void Segment::check_rank(Rank world_rank) const {
  if (world_rank >= 0 && world_rank < size_) return;
  throw Error(Cause::usage, "there is no process " + std::to_string(world_rank) + " among " + std::to_string(size_));
}

bool Segment::entered_here(Rank world_rank) const {
  return entered_[world_rank].load(std::memory_order_relaxed) == getpid();
}

void Segment::enter(Rank world_rank) {
  check_rank(world_rank);
  const std::string taken = "rank " + std::to_string(world_rank) + " of this job is already taken by a process";
  if (descriptor_) {
    struct flock lock = life_lock(world_rank, F_WRLCK);
    if (fcntl(descriptor(), F_SETLK, &lock) != 0) {
      if (errno == EAGAIN || errno == EACCES) throw Error(Cause::system, taken + " that runs");
      throw Error(Cause::system, std::string("the shared memory cannot be locked: ") + std::strerror(errno));
    }
  }
  Process& self = process(world_rank);
  if (self.life.load(std::memory_order_acquire) != Life::absent) {
    if (descriptor_ && !entered_here(world_rank)) {
      struct flock lock = life_lock(world_rank, F_UNLCK);
      fcntl(descriptor(), F_SETLK, &lock);
    }
    throw Error(Cause::system, taken + " that was here before");
  }
  self.pid = getpid();
  entered_[world_rank].store(self.pid, std::memory_order_relaxed);
  Life absent = Life::absent;
  // Release: whoever sees alive sees the pid and finds the lock. It fails when the launcher was faster with an
  // obituary.
  self.life.compare_exchange_strong(absent, Life::alive, std::memory_order_acq_rel);
}

void Segment::leave(Rank world_rank) {
  check_rank(world_rank);
  if (!entered_here(world_rank)) return;  // A forked child, or a rank that never came.
  Life alive = Life::alive;
  // Before the lock goes: a prober that finds no lock looks here once more.
  process(world_rank).life.compare_exchange_strong(alive, Life::left, std::memory_order_acq_rel);
  entered_[world_rank].store(0, std::memory_order_relaxed);
  if (descriptor_) {
    struct flock lock = life_lock(world_rank, F_UNLCK);
    fcntl(descriptor(), F_SETLK, &lock);
  }
  raise_alarm();
}

Life Segment::probe(Rank world_rank) {
  check_rank(world_rank);
  auto& life = process(world_rank).life;
  Life found = life.load(std::memory_order_acquire);
  // One's own lock does not show in a query.
  if (found != Life::alive || !descriptor_ || entered_here(world_rank)) return found;
  struct flock lock = life_lock(world_rank, F_WRLCK);
  if (fcntl(descriptor(), F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK) return Life::alive;
  if (life.compare_exchange_strong(found, Life::dead, std::memory_order_acq_rel)) {
    died(world_rank);
    return Life::dead;
  }
  return found;
}

Life Segment::watch(Rank world_rank, std::uint64_t now) {
  constexpr std::uint64_t between = 10'000'000;
  check_rank(world_rank);
  Process& other = process(world_rank);
  // Acquire: pairs with the compare-exchange that declared the death, as in probe.
  const Life life = other.life.load(std::memory_order_acquire);
  if (life != Life::alive) return life;
  // Relaxed: whoever misses another's look asks as well. In a container with a clock of its own, `before` may be any.
  std::uint64_t before = other.watched.load(std::memory_order_relaxed);
  if (now - before < between || before - now < between) return life;
  return other.watched.compare_exchange_strong(before, now, std::memory_order_relaxed) ? probe(world_rank) : life;
}

bool Segment::is_locked(Rank world_rank) const {
  check_rank(world_rank);
  struct flock lock = life_lock(world_rank, F_WRLCK);
  return fcntl(descriptor(), F_GETLK, &lock) != 0 || lock.l_type != F_UNLCK;
}

void Segment::declare_dead(Rank world_rank) {
  check_rank(world_rank);
  auto& life = process(world_rank).life;
  Life found = life.load(std::memory_order_acquire);
  while (found == Life::absent || found == Life::alive)
    if (life.compare_exchange_weak(found, Life::dead, std::memory_order_acq_rel)) return died(world_rank);
}

void Segment::died(Rank world_rank) {
  raise_alarm();
  // Nobody need ring the dead. (Of more than 1024 processes several share a bit, which then stays.)
  if (size_ <= process_bits)
    header_->sleepers[process_word(world_rank)].fetch_and(~(std::uint64_t{1} << (world_rank % 64)),
                                                          std::memory_order_relaxed);
  process(world_rank).bell.asleep.store(0, std::memory_order_relaxed);
}

void Segment::raise_alarm() {
  header_->alarm.fetch_add(1, std::memory_order_release);
  full_fence();  // Pairs with the fence in Waiting::announce, see there.
  for (Rank i = 0; i < size_; ++i) {
    Process::Bell& bell = processes_[i].bell;
    if (bell.asleep.load(std::memory_order_relaxed) == 0) continue;
    bell.word.fetch_add(1, std::memory_order_release);
    futex_wake_all(bell.word);
  }
}

}  // namespace tutti::host
