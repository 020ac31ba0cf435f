// SPDX-License-Identifier: BSD-3-Clause
#include "tutti/group.hpp"

#include <algorithm>
#include <set>

#include "base/hash.hpp"
#include "base/names.hpp"
#include "job/blocks.hpp"
#include "job/runtime.hpp"

namespace tutti {
namespace {

job::Member& of(const std::shared_ptr<job::Member>& member) {
  if (member) return *member;
  throw Error(Cause::usage,
              "this group is empty: a default Group, or one this rank is not in (a negative colour of split); "
              "test it with `if (group)` first");
}

Group handle(std::shared_ptr<job::Member> member, bool reproducible) {
  return member ? Group(std::move(member), reproducible) : Group();
}

Call reproducibly(const Call& call) {
  Call same = call;
  same.exact = Exactness::each;
  return same;
}

}  // namespace

Rank Group::rank() const { return of(member_).channel().rank(); }
Rank Group::size() const { return of(member_).channel().size(); }
std::string Group::name() const { return of(member_).who().name; }
std::string Group::transport() const { return std::string(of(member_).runtime().engine().transport().name()); }

std::optional<Duration> Group::time_limit() const {
  const std::uint64_t limit = of(member_).runtime().place().engine.timeout;
  return limit == 0 ? std::nullopt : std::optional(Duration(limit));
}

Group Group::split(int colour, int key, const void* site) const {
  return handle(of(member_).split(colour, key, site), reproducible_);
}
Group Group::dup(const void* site) const {
  Group copy = split(0, rank(), site);
  if (of(member_).topology() != nullptr) copy.member()->attach(member_->shared_topology());
  return copy;
}
bool Group::agree(bool flag, const void* site) const { return of(member_).agree(flag, site); }
Group Group::shrink(const void* site) const { return handle(of(member_).shrink(site), reproducible_); }
std::vector<Rank> Group::lost() const { return of(member_).lost(); }
Group Group::split_by_host(int key, const void* site) const {
  job::Member& member = of(member_);
  return split(static_cast<int>(member.runtime().host_of(member.runtime().place().engine.world_rank)), key, site);
}

void Group::expect_members(std::span<const Rank> ranks) const {
  std::set<Rank> seen;
  for (const Rank r : ranks) {
    const bool member = r >= 0 && r < size();
    if (!member || !seen.insert(r).second)
      throw Error(Cause::usage,
                  "the list of ranks for a group of " + name() + ": rank " + std::to_string(r) +
                      (member ? " is listed twice; list each once"
                              : " is not in the group; list ranks from 0 to " + std::to_string(size() - 1)));
  }
}

Group Group::create(std::span<const Rank> ranks, const void* site) const {
  expect_members(ranks);
  if (std::ranges::find(ranks, rank()) == ranks.end())
    throw Error(Cause::usage, "create from " + name() + ": rank " + std::to_string(rank()) +
                                  " is not in the list; only those that are listed call it");
  return handle(of(member_).create(ranks, site), reproducible_);
}

Group Group::subgroup(std::span<const Rank> ranks, const void* site) const {
  expect_members(ranks);
  const auto mine = std::find(ranks.begin(), ranks.end(), rank());
  const bool in = mine != ranks.end();
  std::uint64_t list = base::combine(1, ranks.size());  // never what a split passes
  for (const Rank r : ranks) list = base::combine(list, static_cast<std::uint64_t>(r));
  const int key = in ? static_cast<int>(mine - ranks.begin()) : 0;
  return handle(of(member_).split(in ? 0 : -1, key, site, list), reproducible_);
}

Group Group::reproducible() const { return handle(of(member_).shared_from_this(), true); }

Request Group::start(const Call& call) const {
  if (reproducible_ && call.exact == Exactness::none) return start(reproducibly(call));
  return of(member_).start(call);
}

Persistent Group::init(const Call& call) const {
  if (reproducible_ && call.exact == Exactness::none) return init(reproducibly(call));
  return Persistent(of(member_).init(call));
}

void Group::run(const Call& call) const {
  if (reproducible_ && call.exact == Exactness::none) return run(reproducibly(call));
  of(member_).run(call);
}

Plan Group::kept_plan(std::string_view key) const { return of(member_).kept_plan(key); }
Plan Group::keep_plan(std::string_view key, const Plan& plan) const { return of(member_).keep_plan(key, plan); }

Request Group::start_send(const void* data, Count count, Type type, std::size_t element, Rank to, std::uint32_t tag,
                          const void* site, const Layout* layout) const {
  auto* bytes = static_cast<std::byte*>(const_cast<void*>(data));  // a send only reads
  return of(member_).start_message(plan::Verb::send, bytes, count, type, element, to,
                                   {.tag = tag, .site = site, .layout = layout});
}

Request Group::start_recv(void* data, Count count, Type type, std::size_t element, Rank from, std::uint32_t tag,
                          const void* site, const Layout* layout) const {
  return of(member_).start_message(plan::Verb::recv, static_cast<std::byte*>(data), count, type, element, from,
                                   {.tag = tag, .site = site, .layout = layout});
}

void Group::finish(Request request) const { of(member_).finish(std::move(request)); }

void Group::expect_length(Kind kind, const char* which, Count length, Count needed) {
  if (length == needed) return;
  throw Error(Cause::usage, std::string(name_of(kind)) + ": `" + which + "` has " + std::to_string(length) +
                                " elements and must have " + std::to_string(needed) + "; pass a buffer of that length");
}

void detail::expect_blocks(Kind kind, const char* which, Count length, Count blocks, std::span<const Count> counts,
                           std::span<const Count> offsets) {
  const auto needed = static_cast<std::size_t>(blocks);
  if (counts.size() != needed || (!offsets.empty() && offsets.size() != needed)) return;  // the planner refuses these
  Count next = 0;
  for (std::size_t i = 0; i < needed; ++i) {
    const Count offset = offsets.empty() ? next : offsets[i];
    if (counts[i] < 0 || offset < 0 || offset > length || counts[i] > length - offset)
      throw Error(Cause::usage, std::string(name_of(kind)) + ": the block of " + job::partner(kind) + " " +
                                    std::to_string(i) + ", " + std::to_string(counts[i]) + " elements at " +
                                    std::to_string(offset) + ", does not lie in `" + which + "`, which has " +
                                    std::to_string(length) +
                                    " elements; correct its count or offset, or pass more memory");
    next = offset + counts[i];
  }
}

}  // namespace tutti
