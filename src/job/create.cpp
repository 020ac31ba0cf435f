// SPDX-License-Identifier: BSD-3-Clause
// A group made by its members alone: the first of them makes it and tells the others.
#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "job/runtime.hpp"

namespace tutti::job {
namespace {

/// What the first member tells the others.
struct News {
  std::uint64_t context = 0;
  std::int64_t board = 0;  // -1: there is no memory for it
};

constexpr std::uint64_t by_create = 0x637265617465;  // tells its contexts from those of split

std::uint32_t hash_of(std::span<const Rank> ranks) {
  std::uint64_t hash = ranks.size();
  for (const Rank rank : ranks) hash = base::combine(hash, static_cast<std::uint64_t>(rank));
  return static_cast<std::uint32_t>(hash >> 32);
}

}  // namespace

std::shared_ptr<Member> Member::create(std::span<const Rank> ranks, const void* site) {
  const Rank first = ranks.front();
  engine::Membership made;
  made.rank = static_cast<Rank>(std::ranges::find(ranks, channel_->rank()) - ranks.begin());
  for (const Rank rank : ranks) made.world.push_back(who().world[static_cast<std::size_t>(rank)]);
  const Mark mark{.site = site, .lane = transport::Lane::group, .agreed = hash_of(ranks)};
  News news;
  const auto message = [&](plan::Verb verb, Rank peer) {
    return start_message(verb, reinterpret_cast<std::byte*>(&news), sizeof news, Type::opaque, 1, peer, mark);
  };
  std::optional<Error> failed;
  if (channel_->rank() == first) {
    // Of this rank's own counting, so that no two groups share it: those that it leads are made by it alone.
    const std::uint64_t own = base::combine(by_create + static_cast<std::uint64_t>(made.world.front()), created_++);
    news.context = base::combine(who().context, own);
    made.context = news.context;
    made.name = who().name + "/created";
    try {
      if (ranks.size() > 1 && runtime_->place().boards) news.board = static_cast<std::int64_t>(make_board(made));
    } catch (const Error& error) {
      news.board = -1;
      failed = error;
    }
    std::vector<Request> requests;
    for (const Rank rank : ranks.subspan(1)) requests.push_back(message(plan::Verb::send, rank));
    for (Request& request : requests) finish(std::move(request));
  } else {
    finish(message(plan::Verb::recv, first));
    made.context = news.context;
    made.name = who().name + "/created";
  }
  if (failed) raise(*failed);
  if (news.board < 0)
    throw Error(Cause::system, "create from group " + who().name + ": rank " + std::to_string(first) +
                                   " has no memory for the new group's board; free groups that are not used any more");
  made.board = static_cast<host::Offset>(news.board);
  return std::make_shared<Member>(runtime_, std::move(made));
}

}  // namespace tutti::job
