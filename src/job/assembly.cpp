// SPDX-License-Identifier: BSD-3-Clause
#include "job/assembly.hpp"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <optional>
#include <vector>

#include "host/topology.hpp"
#include "job/runtime.hpp"
#include "job/settings.hpp"
#include "launch/handover.hpp"

namespace tutti::job {
namespace {

constexpr std::chrono::seconds patience{20};

/// What the first rank of a host tells the others.
struct News {
  std::uint64_t address = 0;  ///< Of its own: ranks of one machine may be those of several hosts.
  std::uint64_t possible = 0;
  launch::Secret secret;
};

}  // namespace

void expect(bool worked, const char* what) {
  if (worked) return;
  throw Error(Cause::system, std::string("the MPI reports an error in a ") + what +
                                 " of its own, while a group was made; look at what it printed");
}

bool all_agree(launch::Communicator& ranks, bool mine) {
  std::int64_t all = mine ? 1 : 0;
  return ranks.smallest(all) && all == 1;
}

void together(launch::Communicator& ranks, const std::function<void()>& work) {
  struct Failure {
    Cause cause = Cause::system;
    std::int32_t length = 0;
  } failure;
  std::optional<Error> mine;
  try {
    work();
  } catch (const Error& error) {
    mine = error;
  } catch (const std::exception& error) {
    mine.emplace(Cause::system, error.what());
  }
  std::int64_t failed = mine ? ranks.rank() : ranks.size();
  expect(ranks.smallest(failed), "reduction");
  if (failed == ranks.size()) return;
  const auto who = static_cast<Rank>(failed);
  std::string text;
  if (who == ranks.rank()) {
    text = mine->what();
    failure = {mine->cause(), static_cast<std::int32_t>(text.size())};
  }
  share(ranks, failure, who);
  text.resize(static_cast<std::size_t>(failure.length));
  expect(ranks.bcast(std::as_writable_bytes(std::span(text)), who), "broadcast");
  throw Error(failure.cause, "rank " + std::to_string(who) + ": " + text, who);
}

Memory share_memory(launch::Communicator& host, std::uint64_t job) {
  Memory made;
  News news;
  std::optional<launch::Handover> handover;
  if (host.rank() == 0) {
    try {
      news.address = launch::random_job();
      news.secret = launch::random_secret();
      made.segment = host::Segment::create(host.size(), job);
      handover.emplace(*made.segment, news.secret,
                       launch::listen_at(launch::Address(launch::door_address(news.address))));
      news.possible = 1;
    } catch (const Error& error) {
      made.why = error.what();
    }
  }
  share(host, news);
  bool entered = false;
  try {
    launch::Deadline deadline(launch::Patience{patience});
    if (host.rank() != 0 && news.possible != 0) {
      made.segment = launch::fetch_segment(launch::Address(launch::door_address(news.address)), job, news.secret,
                                           host.rank(), host.size(), deadline);
    } else if (handover && handover->serve(deadline) > 0) {
      throw Error(Cause::timeout, "not all ranks of this host could be reached by a Unix socket");
    }
    if (made.segment != nullptr && news.possible != 0) {
      made.segment->enter(host.rank());
      entered = true;
    }
  } catch (const Error& error) {
    made.why = error.what();
  }
  if (!all_agree(host, entered)) {
    if (entered) made.segment->leave(host.rank());
    made.segment = nullptr;
  }
  return made;
}

int shared_cores(launch::Communicator& host) {
  cpu_set_t cores;
  CPU_ZERO(&cores);
  sched_getaffinity(0, sizeof cores, &cores);
  expect(host.either(std::as_writable_bytes(std::span(&cores, 1))), "reduction");
  std::vector<int> mask;
  for (int core = 0; core < CPU_SETSIZE; ++core)
    if (CPU_ISSET(core, &cores)) mask.push_back(core);
  // A control group may allow one rank less than another: the smallest holds for all.
  std::int64_t usable = host::usable_cores(mask, "/").usable;
  expect(host.smallest(usable), "reduction");
  return std::max(static_cast<int>(usable), 1);
}

Offer agreed_offer(launch::Communicator& ranks, const Offer& mine) {
  std::vector<std::byte> bytes = mine.pack();
  std::uint64_t length = bytes.size();
  share(ranks, length);
  bytes.resize(length);
  expect(ranks.bcast(bytes, 0), "broadcast");
  return Offer::unpack(bytes);
}

void tell_of_unused(launch::Communicator& host, Rank rank, const Offer& mine, const Offer& theirs) {
  const Unused unused(mine, theirs);
  std::uint64_t first = unused.mark();
  share(host, first);
  unused.tell(rank, host.rank() == 0, first);
}

host::Offset shared_board(launch::Communicator& host, host::Segment& segment, const std::string& name) {
  host::Offset board = 0;
  together(host, [&] {
    if (host.rank() == 0) board = make_world_board(segment, name);
  });
  share(host, board);
  return board;
}

}  // namespace tutti::job
