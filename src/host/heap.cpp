// SPDX-License-Identifier: BSD-3-Clause
// The segment's heap: blocks of powers of two, recycled through lock-free stacks, so that a process that is killed
// anywhere in here loses at most the block in its hands.
#include <sys/mman.h>

#include <algorithm>
#include <bit>
#include <cstring>

#include "host/segment.hpp"
#include "tutti/error.hpp"

namespace tutti::host {
namespace {

// A list's head is tag << 36 | page number. The tag makes a head that was popped and pushed again look different (ABA).
// Links live in a table of their own and not in the blocks: a loser of the race may then still read a link while the
// winner already uses the block.
constexpr int page_bits = 36;
constexpr std::uint64_t page_mask = (std::uint64_t{1} << page_bits) - 1;
constexpr int least_order = 12, most_order = 47;
constexpr std::size_t returned_to_system = 64 * 1024;  // Smaller blocks are cheaper to clear than to fault in again.

constexpr std::uint64_t bytes_of(int order) { return std::uint64_t{1} << order; }
/// No block crosses a window unless it is larger than one.
constexpr std::uint64_t alignment_of(int order) { return std::min<std::uint64_t>(bytes_of(order), window_bytes); }

int order_of(std::size_t bytes) {
  if (bytes > bytes_of(most_order)) throw Error(Cause::system, "no shared memory is that large");
  return std::max(least_order, static_cast<int>(std::bit_width(std::max<std::size_t>(bytes, 1) - 1)));
}

std::uint64_t head_with(std::uint64_t old_head, Offset block) {
  return (((old_head >> page_bits) + 1) << page_bits) | (block / page);
}

}  // namespace

std::atomic<std::uint64_t>& Segment::link(Offset block) {
  const Offset place = layout_.links + block / page * sizeof(std::uint64_t);
  return *reinterpret_cast<std::atomic<std::uint64_t>*>(at(place, sizeof(std::uint64_t)));
}

/// A free block of exactly this order, or 0.
Offset Segment::pop(int order) {
  auto& list = header_->free_lists[order];
  std::uint64_t head = list.load(std::memory_order_acquire);
  while ((head & page_mask) != 0) {
    const Offset block = (head & page_mask) * page;
    const bool sound = block >= layout_.heap && block % alignment_of(order) == 0 && block < capacity_ &&
                       bytes_of(order) <= capacity_ - block;
    if (!sound)
      throw Error(Cause::system, "the shared memory's free list is damaged: some process wrote where it must not");
    const std::uint64_t next = link(block).load(std::memory_order_relaxed);
    // acq_rel: pairs with the push of this block, and keeps the release sequence of those below it.
    if (list.compare_exchange_weak(head, head_with(head, (next >> 1) * page), std::memory_order_acq_rel,
                                   std::memory_order_acquire))
      return block;
  }
  return 0;
}

void Segment::push(Offset block, int order, bool zeroed) {
  auto& list = header_->free_lists[order];
  std::uint64_t head = list.load(std::memory_order_relaxed);
  do {
    link(block).store((head & page_mask) << 1 | (zeroed ? 1u : 0u), std::memory_order_relaxed);
  } while (
      !list.compare_exchange_weak(head, head_with(head, block), std::memory_order_acq_rel, std::memory_order_relaxed));
}

/// Halves a larger free block until one of this order is left, or 0.
Offset Segment::pop_larger(int order) {
  for (int larger = order + 1; larger <= most_order; ++larger) {
    const Offset block = pop(larger);
    if (block == 0) continue;
    const bool zeroed = (link(block).load(std::memory_order_relaxed) & 1) != 0;
    while (larger-- > order) push(block + bytes_of(larger), larger, zeroed);
    return block;
  }
  return 0;
}

/// A block that was never used, or 0.
Offset Segment::bump(int order, std::uint64_t end) {
  Offset next = header_->heap_next.load(std::memory_order_relaxed);
  for (;;) {
    const Offset from = std::clamp<Offset>(next, layout_.heap, capacity_);
    const Offset block = (from + alignment_of(order) - 1) / alignment_of(order) * alignment_of(order);
    if (block >= end || bytes_of(order) > end - block) return 0;
    if (header_->heap_next.compare_exchange_weak(next, block + bytes_of(order), std::memory_order_relaxed))
      return block;
  }
}

Offset Segment::allocate(std::size_t bytes, std::uint64_t spared) {
  const int order = order_of(bytes);
  Offset block = pop(order);
  if (block == 0) {
    block = bump(order, capacity_ - std::min(spared, capacity_));
    if (block != 0) return block;
    block = pop_larger(order);
  }
  if (block == 0)
    throw Error(Cause::system, "the shared memory of this host is full (" + std::to_string(bytes) + " bytes wanted, " +
                                   why_ + "): free groups and memory that are no longer used");
  if ((link(block).load(std::memory_order_relaxed) & 1) == 0) {
    try {
      std::memset(at(block, bytes), 0, bytes);
    } catch (const Error&) {  // no addresses are left here; others may have some
      push(block, order, false);
      throw;
    }
  }
  return block;
}

void Segment::free(Offset offset, std::size_t bytes) {
  const int order = order_of(bytes);
  if (offset < layout_.heap || offset % alignment_of(order) != 0 || offset >= capacity_ ||
      bytes_of(order) > capacity_ - offset)
    throw Error(Cause::system, "a block of shared memory is given back that never was one");
  push(offset, order, bytes_of(order) >= returned_to_system && return_to_system(offset, bytes_of(order)));
}

/// False where it stays, also for want of addresses: who gives back is often a destructor.
bool Segment::return_to_system(Offset offset, std::size_t bytes) {
  try {
    return madvise(at(offset, bytes), bytes, MADV_REMOVE) == 0;
  } catch (const Error&) {
    return false;
  }
}

std::size_t Segment::block_bytes(std::size_t bytes) { return bytes_of(order_of(bytes)); }

}  // namespace tutti::host
