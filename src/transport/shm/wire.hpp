// SPDX-License-Identifier: BSD-3-Clause
// What lies in a pair block: a ring of records from one process to another. Everything read from it is checked here.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

#include "host/segment.hpp"
#include "transport/transport.hpp"

namespace tutti::transport::shm {

inline constexpr std::size_t ring_bytes = 65536;
inline constexpr std::size_t record_bytes = 64;  ///< Records start at multiples of this, so a header never wraps.
inline constexpr std::size_t largest_payload = 16384;
inline constexpr std::uint32_t offers = 256;  ///< Announced messages of a pair that may be read where they lie.
/// The slot of those that are announced while all offers are taken: they go in fragments.
inline constexpr std::uint32_t no_offer = offers;

/// What a record says. A *name* is a number its owner gave to a transfer; `handle` holds it.
enum class Kind : std::uint32_t {
  none,
  eager,  ///< A message: tag, signature, size; the payload is the message.
  /// A large message waits: tag, signature, size, handle (sender's name), slot (its offer), address, which is the
  /// sender's own, or `lent` and where it lies in the segment.
  announce,
  go,        ///< Receiver to sender: send it in fragments; handle (sender's name), address (receiver's name).
  fragment,  ///< handle (receiver's name), address (offset in the message); the payload is that part.
  finish,    ///< Receiver to sender: the announced message is over; handle (sender's name).
  withdraw,  ///< The sender took an announced message back: tag, handle (sender's name). Answered by finish.
  abort,     ///< The sender stopped in the middle of the fragments: handle (receiver's name).
};

struct Record {
  Kind kind = Kind::none;
  std::uint32_t length = 0;  ///< Bytes of payload that follow.
  std::uint64_t context = 0, sequence = 0;
  std::uint32_t message = 0, lane = 0;
  std::uint32_t signature = 0;
  std::uint32_t slot = 0;
  std::uint64_t size = 0, handle = 0, address = 0;

  Tag tag() const { return {context, sequence, message, static_cast<Lane>(lane)}; }
  void set_tag(const Tag& tag);
};
static_assert(sizeof(Record) == record_bytes);

/// No process has addresses with this bit.
inline constexpr std::uint64_t lent = std::uint64_t{1} << 63;

/// How an announced message stands. Sender and receiver decide by compare-exchange from `open` who was first.
enum class Offer : std::uint64_t { open, withdrawn, taken, streaming };
constexpr std::uint64_t offer_word(std::uint64_t handle, Offer offer) {
  return handle << 2 | static_cast<std::uint64_t>(offer);
}

/// A pair block: written by the sender, except `read`, `taken` and, by compare-exchange, `offers`.
struct Pair {
  alignas(host::line) std::atomic<std::uint64_t> written;  ///< Bytes ever written.
  std::atomic<std::uint32_t> starved;                      ///< The sender waits for room. The receiver clears it.
  alignas(host::line) std::atomic<std::uint64_t> read;     ///< Bytes ever read.
  std::atomic<std::uint64_t> taken;                        ///< Of small messages that found their receives, or none.
  /// In the block of a process with itself: what others read by process_vm_readv to see whether they may.
  alignas(host::line) std::atomic<std::uint64_t> probe_address;
  std::atomic<std::uint64_t> probe_value;
  alignas(host::line) std::atomic<std::uint64_t> offers[shm::offers];
  alignas(4096) std::byte ring[ring_bytes];
};
static_assert(sizeof(Pair) == host::pair_bytes);

using RingBytes = std::span<const std::byte, ring_bytes>;

enum class Parsed : std::uint8_t { nothing, record, corrupt };

/// Looks at the record at `read`. Reads the header once, into `record`, and checks all that can be known from it:
/// indexes, kind, lengths, lane, slot. Never reads outside the ring, whatever the arguments are.
Parsed parse(RingBytes ring, std::uint64_t read, std::uint64_t written, Record& record);

/// Bytes that a record takes in the ring.
constexpr std::uint64_t extent(std::uint64_t payload) {
  return record_bytes + (payload + record_bytes - 1) / record_bytes * record_bytes;
}

/// Copies out of and into a ring, around its end. At most ring_bytes.
void copy_out(RingBytes ring, std::uint64_t from, std::span<std::byte> to);
void copy_in(std::byte* ring, std::uint64_t to, std::span<const std::byte> from);

}  // namespace tutti::transport::shm
