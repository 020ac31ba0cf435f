// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <array>
#include <iterator>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

#include "base/hash.hpp"
#include "base/names.hpp"
#include "base/numbered.hpp"
#include "collectives/collective.hpp"
#include "host/board.hpp"
#include "job/runtime.hpp"
#include "plan/staging.hpp"

namespace tutti::job {

using engine::Channel;
using engine::Membership;

namespace {

/// The host of each member, numbered by their lowest members; empty when they share one.
std::vector<Rank> hosts_of(const Runtime& runtime, const Membership& who) {
  std::vector<Rank> hosts = base::numbered(who.world, [&](Rank world) { return runtime.host_of(world); });
  return std::ranges::max(hosts) > 0 ? hosts : std::vector<Rank>();
}

Agreed agreed(Runtime& runtime, const Membership& who) {
  std::vector<Rank> hosts = hosts_of(runtime, who);
  const std::size_t segment = hosts.empty() ? 0 : runtime.least_segment();
  return {runtime.place().table, runtime.place().single_copy, runtime.place().boards && who.world.size() > 1,
          std::move(hosts), segment};
}

/// Answers of the leader of a new group: where its board lies, or that it could not be made.
constexpr std::int64_t no_board_needed = 0, no_board_possible = -1;

}  // namespace

std::string_view algorithm_name(std::int32_t algorithm) {
  const auto all = collectives::algorithms();
  return algorithm >= 0 && static_cast<std::size_t>(algorithm) < all.size()
             ? all[static_cast<std::size_t>(algorithm)].name
             : "an unknown algorithm";
}

Member::Member(std::shared_ptr<Runtime> runtime, Membership membership)
    : runtime_(std::move(runtime)),
      channel_(std::make_shared<Channel>(std::shared_ptr<engine::Engine>(runtime_, &runtime_->engine()),
                                         std::move(membership))),
      planner_(channel_->rank(), channel_->size(), channel_->who().name, agreed(*runtime_, channel_->who())),
      messages_(channel_->rank(), channel_->size()) {}

Channel::Start Member::prepare(const Call& call) {
  return {.buffers = {static_cast<const std::byte*>(call.input), static_cast<std::byte*>(call.output), call.own},
          .bound = planner_.prepare(call),
          .reduction = call.reduction,
          .site = call.site};
}

Request Member::start(const Call& call) {
  Channel::Turn turn(*channel_);
  return Request(channel_->start(turn, prepare(call)));
}

void Member::run(const Call& call) {
  Channel::Turn turn(*channel_);
  engine::Operation* operation = channel_->run(turn, prepare(call));
  if (operation != nullptr) finish(Request(operation));
}

std::unique_ptr<const Prepared> Member::init(const Call& call) {
  Channel::Turn turn(*channel_);
  const Channel::Start ready = prepare(call);
  return std::make_unique<const Prepared>(
      Prepared{shared_from_this(), ready.bound, ready.buffers, ready.reduction, ready.site});
}

namespace {

Channel::Start again(const Prepared& prepared) {
  return {.buffers = prepared.buffers,
          .bound = prepared.bound,
          .reduction = prepared.reduction,
          .site = prepared.site,
          .kept = true};
}

}  // namespace

Request Member::start(const Prepared& prepared) {
  Channel::Turn turn(*channel_);
  return Request(channel_->start(turn, again(prepared)));
}

void Member::run(const Prepared& prepared) {
  Channel::Turn turn(*channel_);
  engine::Operation* operation = channel_->run(turn, again(prepared));
  if (operation != nullptr) finish(Request(operation));
}

void Member::finish(Request request) {
  const std::uint64_t limit = runtime_->place().engine.timeout;
  limit == 0 ? request.wait() : request.wait(Duration(limit));
}

Request Member::start_message(plan::Verb verb, std::byte* data, Count count, Type type, std::size_t element, Rank peer,
                              const Mark& mark) {
  const char* name = verb == plan::Verb::send ? "send to" : "recv from";
  const auto refuse = [&](const std::string& text) {
    throw Error(Cause::usage,
                std::string(name) + " rank " + std::to_string(peer) + " on group " + who().name + ": " + text);
  };
  if (peer < 0 || peer >= channel_->size())
    refuse("there is no such rank; name one from 0 to " + std::to_string(channel_->size() - 1));
  if (peer == channel_->rank()) refuse("that is this rank itself; copy the data instead");
  if (element == 0 || element > std::numeric_limits<std::uint32_t>::max())
    refuse("elements of " + std::to_string(element) + " bytes; pass their size, from 1 to 4294967295");
  if (count < 0 || count > std::numeric_limits<Count>::max() / static_cast<Count>(element))
    refuse("a count of " + std::to_string(count) + " is negative, or of more bytes than there can be");
  const Message message{verb, peer, count, type, static_cast<std::uint32_t>(element), mark.agreed};
  std::shared_ptr<const engine::Bound> laid_out;
  if (mark.layout != nullptr) {
    const std::string text = shortage("the buffer", mark.layout, count * static_cast<Count>(element));
    if (!text.empty()) refuse(text);
    if (verb == plan::Verb::recv && mark.layout->overlaps())
      refuse("parts of the buffer overlap (" + mark.layout->describe() +
             "); what is received needs a place of its own");
    const plan::Slice held = plan::Builder::output(0, verb == plan::Verb::send ? count : 0);
    engine::Layouts layouts;
    layouts.output = *mark.layout;
    laid_out =
        std::make_shared<const engine::Bound>(plan::staged(message.plan(channel_->rank(), channel_->size()),
                                                           {.input = false, .output = true, .before = {held}}),
                                              message.description(), std::span<const Rank>(), std::move(layouts));
  }
  Channel::Turn turn(*channel_);
  return Request(channel_->start(turn, {.buffers = {.output = data},
                                        .bound = laid_out ? laid_out : messages_.prepare(message),
                                        .reduction = {},
                                        .lane = mark.lane,
                                        .user_tag = mark.tag,
                                        .site = mark.site}));
}

void Member::allgather(const std::int64_t* mine, std::int64_t* all, Count count, const void* site) {
  Call call;
  call.kind = Kind::allgather;
  call.input = mine;
  call.output = all;
  call.type = Type::int64;
  call.element = sizeof(std::int64_t);
  call.count = count;
  call.site = site;
  run(call);
}

host::Offset Member::make_board(const Membership& made) {
  const engine::Setup& setup = runtime_->engine().setup();
  std::vector<Rank> places;
  for (const Rank member : engine::near_members(made, setup))
    places.push_back(setup.place_of(made.world[static_cast<std::size_t>(member)]));
  const auto size = static_cast<int>(places.size());
  if (size == 1) return 0;
  host::Segment& segment = runtime_->engine().segment();
  const std::size_t bytes = host::Board::bytes(size);
  const host::Offset offset = segment.allocate(bytes);
  host::Board::format(segment.at(offset, bytes), size, made.context, size, made.name, places);
  return offset;
}

void Member::free_board(host::Offset board, const Membership& made) {
  const auto size = static_cast<int>(engine::near_members(made, runtime_->engine().setup()).size());
  runtime_->engine().segment().free(board, host::Board::bytes(size));
}

std::vector<Rank> Member::near(std::span<const Rank> ranks) const {
  const auto host = [&](Rank rank) { return runtime_->host_of(who().world[static_cast<std::size_t>(rank)]); };
  std::vector<Rank> found;
  std::ranges::copy_if(ranks, std::back_inserter(found),
                       [&, here = host(channel_->rank())](Rank rank) { return host(rank) == here; });
  return found;
}

namespace {

/// What a rank wants of a split.
struct Wish {
  std::int64_t colour, key, agreed;
};

void expect_agreement(std::span<const Wish> wishes, const std::string& group, Rank me) {
  const auto other = std::ranges::find_if(wishes, [&](const Wish& wish) { return wish.agreed != wishes[0].agreed; });
  if (other == wishes.end()) return;
  const auto rank = static_cast<Rank>(other - wishes.begin());
  throw Mismatch(Cause::mismatch,
                 "subgroup of group " + group + " does not match: rank 0 and rank " + std::to_string(rank) +
                     " do not pass the same list of ranks. All ranks must pass one list, in one order. All of them "
                     "get this error, and the group is as before.",
                 rank == me ? 0 : rank);
}

}  // namespace

std::string Member::name_within(const std::string& step) const {
  constexpr std::size_t most = 160, kept = 60;
  std::string name = who().name + "/" + step;
  if (name.size() > most) name.replace(kept, name.size() - 2 * kept, "...");
  return name;
}

std::shared_ptr<Member> Member::split(int colour, int key, const void* site, std::uint64_t agreed) {
  const auto size = static_cast<std::size_t>(channel_->size());
  const Rank me = channel_->rank();
  const Wish mine{colour, key, static_cast<std::int64_t>(agreed)};
  std::vector<Wish> wishes(size);
  allgather(&mine.colour, &wishes[0].colour, sizeof(Wish) / sizeof(std::int64_t), site);
  expect_agreement(wishes, who().name, me);
  Membership made;
  const std::uint64_t number = splits_++;
  made.context = base::combine(base::combine(who().context, number), static_cast<std::uint64_t>(colour));
  made.name = name_within(std::to_string(number) + "." + std::to_string(colour));
  std::vector<Rank> ranks;
  for (std::size_t r = 0; r < size; ++r)
    if (colour >= 0 && wishes[r].colour == colour) ranks.push_back(static_cast<Rank>(r));
  std::stable_sort(ranks.begin(), ranks.end(), [&](Rank a, Rank b) {
    return wishes[static_cast<std::size_t>(a)].key < wishes[static_cast<std::size_t>(b)].key;
  });

  for (const Rank r : ranks) made.world.push_back(who().world[static_cast<std::size_t>(r)]);
  const std::vector<Rank> here = near(ranks);  // the first of them makes their board
  std::int64_t answer = no_board_needed;
  std::string why;
  if (!here.empty() && here.front() == me && runtime_->place().boards) {
    try {
      answer = static_cast<std::int64_t>(make_board(made));
    } catch (const Error& error) {
      answer = no_board_possible;
      why = error.what();
    }
  }
  std::vector<std::int64_t> answers(size);
  allgather(&answer, answers.data(), 1, site);
  if (ranks.empty()) return nullptr;
  for (const Rank rank : ranks)
    if (answers[static_cast<std::size_t>(rank)] == no_board_possible) {
      if (answer > no_board_needed) free_board(static_cast<host::Offset>(answer), made);
      throw Error(Cause::system, "split of group " + who().name + ": no memory for the new group's board on rank " +
                                     std::to_string(rank) + (why.empty() ? "" : ": " + why) +
                                     "; free groups that are not used any more");
    }
  made.board = static_cast<host::Offset>(answers[static_cast<std::size_t>(here.front())]);
  made.rank = static_cast<Rank>(std::find(ranks.begin(), ranks.end(), me) - ranks.begin());
  return std::make_shared<Member>(runtime_, std::move(made));
}

Plan Member::kept_plan(std::string_view key) {
  const std::lock_guard lock(plans_lock_);
  const auto found = plans_.find(key);
  return found == plans_.end() ? Plan() : found->second;
}

Plan Member::keep_plan(std::string_view key, const Plan& plan) {
  if (plan.rank() != channel_->rank() || plan.size() != channel_->size())
    throw Error(Cause::usage, "plan " + plan.name() + ", kept as \"" + std::string(key) + "\": it is of rank " +
                                  std::to_string(plan.rank()) + " of " + std::to_string(plan.size()) +
                                  ", but this is rank " + std::to_string(channel_->rank()) + " of " +
                                  std::to_string(channel_->size()) +
                                  "; build it for the rank and size that are passed");
  const std::lock_guard lock(plans_lock_);
  return plans_.try_emplace(std::string(key), plan).first->second;
}

void Member::attach(std::shared_ptr<const Topology> topology) {
  topology_ = std::move(topology);
  planner_ = Planner(channel_->rank(), channel_->size(), who().name, agreed(*runtime_, who()), topology_);
}

void Member::agree_on_abilities(bool single_copy, const TableOf& table) {
  host::Waiting& waiting = runtime_->engine().waiting();
  enum { copies, fences, links, abilities };
  const std::array<std::int64_t, abilities> mine{single_copy ? 1 : 0, waiting.can_fence_for_all() ? 1 : 0,
                                                 table ? link_rate() : 0};
  std::array<std::int64_t, abilities> all{};
  Call call;
  call.kind = Kind::allreduce;
  call.input = mine.data();
  call.output = all.data();
  call.type = Type::int64;
  call.element = sizeof(std::int64_t);
  call.count = abilities;
  call.reduction = {Op::min, true, nullptr, nullptr};
  run(call);
  runtime_->agree_on_single_copy(all[copies] != 0);
  const auto rate = static_cast<std::uint64_t>(all[links]);
  if (table) runtime_->use(table(rate), rate);
  // Between hosts sleep is frequent, and a fence for all costs it more than their own cost those who publish.
  if (all[fences] != 0 && runtime_->place().hosts.empty()) waiting.fence_for_all();
  planner_ = Planner(channel_->rank(), channel_->size(), who().name, agreed(*runtime_, who()));
}

host::Offset make_world_board(host::Segment& segment, std::string_view name) {
  if (segment.size() == 1) return 0;
  const std::size_t bytes = host::Board::bytes(segment.size());
  const host::Offset board = segment.allocate(bytes);
  host::Board::format(segment.at(board, bytes), segment.size(), host::world_context(segment.header().job),
                      segment.size(), name);
  return board;
}

std::vector<Rank> leaders_of(std::span<const Rank> hosts) {
  std::vector<Rank> leaders;
  std::set<Rank> seen;
  for (std::size_t rank = 0; rank < hosts.size(); ++rank)
    if (seen.insert(hosts[rank]).second) leaders.push_back(static_cast<Rank>(rank));
  return leaders;
}

std::vector<Rank> places(std::span<const Rank> hosts, Rank rank) {
  std::vector<Rank> found;
  Rank next = 0;
  for (const Rank host : hosts) found.push_back(host == hosts[static_cast<std::size_t>(rank)] ? next++ : -1);
  return found;
}

std::shared_ptr<Member> make_world(std::shared_ptr<Runtime> runtime, host::Offset board) {
  host::Segment& segment = runtime->engine().segment();
  const std::vector<Rank>& hosts = runtime->place().hosts;
  Membership world;
  world.context = host::world_context(segment.header().job);
  world.name = runtime->place().name;
  world.rank = runtime->place().engine.world_rank;
  world.world.resize(hosts.empty() ? static_cast<std::size_t>(segment.size()) : hosts.size());
  std::iota(world.world.begin(), world.world.end(), 0);
  world.board = segment.size() > 1 ? board : 0;
  return std::make_shared<Member>(std::move(runtime), std::move(world));
}

}  // namespace tutti::job
