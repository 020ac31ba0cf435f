// SPDX-License-Identifier: BSD-3-Clause
// How processes that can talk already, through a communicator of their MPI, come to have memory and settings in common.
// All of these are collective.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <type_traits>

#include "host/segment.hpp"
#include "job/offer.hpp"
#include "launch/communicator.hpp"
#include "tutti/error.hpp"

namespace tutti::job {

/// Throws Error (system) for what an MPI has reported as failed.
void expect(bool worked, const char* what);

template <class T>
void share(launch::Communicator& ranks, T& value, Rank root = 0) {
  static_assert(std::is_trivially_copyable_v<T>);
  expect(ranks.bcast(std::as_writable_bytes(std::span(&value, 1)), root), "broadcast");
}

bool all_agree(launch::Communicator& ranks, bool mine);

/// Does `work` on each rank. Where it throws on some, all throw what it threw on the lowest of them.
void together(launch::Communicator& ranks, const std::function<void()>& work);

/// The memory of a host's ranks.
struct Memory {
  std::shared_ptr<host::Segment> segment;  ///< All have entered it; nullptr: there is none.
  std::string why;                         ///< There is none, as far as this rank knows.
};
/// `job`: the same on all.
Memory share_memory(launch::Communicator& host, std::uint64_t job);

/// The cores that the ranks of a host may use together: a launcher may have bound each to one of its own.
int shared_cores(launch::Communicator& host);

/// Rank 0's, on all.
Offer agreed_offer(launch::Communicator& ranks, const Offer& mine);

/// Tells of what of `mine` is not used, once on each host where its ranks say the same.
void tell_of_unused(launch::Communicator& host, Rank rank, const Offer& mine, const Offer& theirs);

/// Where the world's board is in the memory of a host.
host::Offset shared_board(launch::Communicator& host, host::Segment& segment, const std::string& name);

}  // namespace tutti::job
