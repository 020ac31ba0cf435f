// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/wire.hpp"

#include <algorithm>
#include <cstring>

#include "base/copy.hpp"

namespace tutti::transport::shm {

namespace {

bool sound(const Record& record) {
  switch (record.kind) {
    case Kind::eager:
      return record.length == record.size && record.length <= largest_payload && record.lane < lanes;
    case Kind::announce:
      return record.length == 0 && record.lane < lanes && record.slot <= no_offer;
    case Kind::fragment:
      return record.length <= largest_payload;
    case Kind::withdraw:
      return record.length == 0 && record.lane < lanes;
    case Kind::go:
    case Kind::finish:
    case Kind::abort:
      return record.length == 0;
    default:
      return false;
  }
}

}  // namespace

void Record::set_tag(const Tag& tag) {
  context = tag.context;
  sequence = tag.sequence;
  message = tag.message;
  lane = static_cast<std::uint32_t>(tag.lane);
}

Parsed parse(RingBytes ring, std::uint64_t read, std::uint64_t written, Record& record) {
  const std::uint64_t available = written - read;
  if (available == 0) return Parsed::nothing;
  if (available > ring_bytes || available % record_bytes != 0 || read % record_bytes != 0) return Parsed::corrupt;
  std::memcpy(&record, ring.data() + read % ring_bytes, record_bytes);
  if (!sound(record) || extent(record.length) > available) return Parsed::corrupt;
  return Parsed::record;
}

void copy_out(RingBytes ring, std::uint64_t from, std::span<std::byte> to) {
  const std::size_t at = from % ring_bytes;
  const std::size_t first = std::min(to.size(), ring_bytes - at);
  if (first != 0) base::copy(to.data(), ring.data() + at, first);
  if (first != to.size()) base::copy(to.data() + first, ring.data(), to.size() - first);
}

void copy_in(std::byte* ring, std::uint64_t to, std::span<const std::byte> from) {
  const std::size_t at = to % ring_bytes;
  const std::size_t first = std::min(from.size(), ring_bytes - at);
  if (first != 0) base::copy(ring + at, from.data(), first);
  if (first != from.size()) base::copy(ring, from.data() + first, from.size() - first);
}

}  // namespace tutti::transport::shm
