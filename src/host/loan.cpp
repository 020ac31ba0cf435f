// SPDX-License-Identifier: BSD-3-Clause
#include "host/loan.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <functional>
#include <map>
#include <mutex>
#include <utility>

#include "base/forks.hpp"

namespace tutti::host {
namespace {

/// Of smaller blocks advice is not worth a part of the process's map.
constexpr std::size_t worth_advice = std::size_t{64} << 10, huge_page = std::size_t{2} << 20;

/// One in so many bytes of the segment is never lent: groups made later need boards.
constexpr std::uint64_t spared = 8;

struct Loan {
  std::shared_ptr<Segment> segment;
  Offset offset;
  std::size_t bytes;
  pid_t owner;
};

/// Of this process: those of all its segments, by their addresses.
struct Loans {
  std::mutex lock;
  std::map<const std::byte*, Loan, std::less<>> by_address;
  /// How many there are. Relaxed: who asks about memory of a loan has it from who made that.
  std::atomic<std::size_t> count{0};
  /// A child takes nothing back, but asks whether it may.
  base::AtFork at_fork{[this] { lock.lock(); }, [this](bool) { lock.unlock(); }};
};

/// Kept for ever: memory is given back by destructors, of which some run after those of this file.
Loans& loans() {
  static Loans& all = *std::make_unique<Loans>().release();
  return all;
}

/// Whoever computes in it wants large pages, and to find it in a core file; the segment itself wants neither.
void advise(std::byte* memory, std::size_t bytes, bool computes) {
  if (bytes >= worth_advice) madvise(memory, bytes, computes ? MADV_DODUMP : MADV_DONTDUMP);
  if (bytes >= huge_page) madvise(memory, bytes, computes ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
}

}  // namespace

std::byte* lend(const std::shared_ptr<Segment>& segment, std::size_t bytes) {
  Loans& all = loans();
  const std::size_t whole = Segment::block_bytes(bytes);
  const Offset offset = segment->allocate(bytes, segment->capacity() / spared);
  try {
    // All of the block, as it is given back.
    std::byte* const memory = segment->at(offset, whole);
    advise(memory, whole, true);
    const std::lock_guard guard(all.lock);
    all.by_address.emplace(memory, Loan{segment, offset, bytes, getpid()});
    all.count.store(all.by_address.size(), std::memory_order_relaxed);
    return memory;
  } catch (...) {
    segment->free(offset, bytes);
    throw;
  }
}

bool take_back(std::byte* memory) {
  Loans& all = loans();
  std::unique_lock guard(all.lock);
  const auto found = all.by_address.find(memory);
  if (found == all.by_address.end()) return false;
  const Loan loan = std::move(found->second);
  all.by_address.erase(found);
  all.count.store(all.by_address.size(), std::memory_order_relaxed);
  guard.unlock();
  if (loan.owner != getpid()) return true;
  advise(memory, Segment::block_bytes(loan.bytes), false);
  loan.segment->free(loan.offset, loan.bytes);
  return true;
}

Offset find_lent(const Segment& segment, const std::byte* memory, std::size_t bytes) {
  Loans& all = loans();
  if (all.count.load(std::memory_order_relaxed) == 0) return 0;
  const std::lock_guard guard(all.lock);
  auto found = all.by_address.upper_bound(memory);
  if (found == all.by_address.begin()) return 0;
  const auto& [begin, loan] = *--found;
  const auto from = static_cast<std::size_t>(memory - begin);
  const bool inside = loan.segment.get() == &segment && from <= loan.bytes && bytes <= loan.bytes - from;
  return inside ? loan.offset + from : 0;
}

}  // namespace tutti::host
