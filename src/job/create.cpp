// SPDX-License-Identifier: BSD-3-Clause
// A group made by its members alone: the first of them tells the first of each host, who make the boards, and these the
// others.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "job/runtime.hpp"

namespace tutti::job {
namespace {

/// What the first member tells the others.
struct Founding {
  std::uint64_t context = 0;
  std::int64_t board = 0;
};
constexpr std::int64_t no_memory = -1;  // instead of a board

constexpr std::uint64_t by_create = 0x637265617465;  // tells its contexts from those of split

std::uint32_t hash_of(std::span<const Rank> ranks) {
  std::uint64_t hash = ranks.size();
  for (const Rank rank : ranks) hash = base::combine(hash, static_cast<std::uint64_t>(rank));
  return static_cast<std::uint32_t>(hash >> 32);
}

/// The first of these ranks on each host.
std::vector<Rank> leaders_among(Member& member, std::span<const Rank> ranks) {
  std::vector<Rank> hosts, leaders;
  for (const Rank rank : ranks)
    hosts.push_back(member.runtime().host_of(member.who().world[static_cast<std::size_t>(rank)]));
  for (const Rank place : leaders_of(hosts)) leaders.push_back(ranks[static_cast<std::size_t>(place)]);
  return leaders;
}

}  // namespace

std::shared_ptr<Member> Member::create(std::span<const Rank> ranks, const void* site) {
  const Rank me = channel_->rank(), first = ranks.front();
  engine::Membership made;
  made.rank = static_cast<Rank>(std::ranges::find(ranks, me) - ranks.begin());
  for (const Rank rank : ranks) made.world.push_back(who().world[static_cast<std::size_t>(rank)]);
  const Mark mark{.site = site, .lane = transport::Lane::group, .agreed = hash_of(ranks)};
  const auto message = [&](plan::Verb verb, Founding& news, Rank peer) {
    return start_message(verb, reinterpret_cast<std::byte*>(&news), sizeof news, Type::opaque, 1, peer, mark);
  };
  const auto tell = [&](Founding& news, std::span<const Rank> whom) {
    std::vector<Request> requests;
    for (const Rank rank : whom)
      if (rank != me) requests.push_back(message(plan::Verb::send, news, rank));
    for (Request& request : requests) finish(std::move(request));
  };
  const auto hear = [&](Founding& news, Rank from) { finish(message(plan::Verb::recv, news, from)); };

  const std::vector<Rank> here = near(ranks), leaders = leaders_among(*this, ranks);
  Founding news;
  std::optional<Error> failed;
  // Of this rank's own counting, so that no two groups share it: those that it leads are made by it alone.
  if (me == first)
    news.context = base::combine(who().context,
                                 base::combine(by_create + static_cast<std::uint64_t>(made.world.front()), created_++));
  if (me == first) tell(news, leaders);
  if (me != first) hear(news, me == here.front() ? first : here.front());
  made.context = news.context;
  made.name = name_within("created");
  if (me == here.front()) {
    try {
      if (runtime_->place().boards) news.board = static_cast<std::int64_t>(make_board(made));
    } catch (const Error& error) {
      news.board = no_memory;
      failed = error;
    }
    // All hosts have their boards, or none makes the group.
    std::vector<Founding> others(leaders.size());
    if (me != first) tell(news, {&first, 1});
    for (std::size_t i = 0; i < leaders.size() && me == first; ++i)
      if (leaders[i] != me) hear(others[i], leaders[i]);
    Founding verdict = news;
    if (std::ranges::any_of(others, [](const Founding& one) { return one.board == no_memory; }))
      verdict.board = no_memory;
    me == first ? tell(verdict, leaders) : hear(verdict, first);
    if (verdict.board == no_memory) {
      if (news.board > 0) free_board(static_cast<host::Offset>(news.board), made);
      news.board = no_memory;
    }
    tell(news, here);
  }
  if (failed) raise(*failed);
  if (news.board == no_memory)
    throw Error(Cause::system, "create from group " + who().name +
                                   ": there is no memory for the new group's board on the host of one of its ranks; "
                                   "free groups that are not used any more");
  made.board = static_cast<host::Offset>(news.board);
  return std::make_shared<Member>(runtime_, std::move(made));
}

}  // namespace tutti::job
