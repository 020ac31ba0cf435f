// SPDX-License-Identifier: BSD-3-Clause
// What the survivors of a group do: they agree, and make a new group of themselves.
#include <algorithm>
#include <utility>
#include <vector>

#include "base/hash.hpp"
#include "base/names.hpp"
#include "base/ticks.hpp"
#include "job/runtime.hpp"

namespace tutti::job {

using engine::Opinion;
using engine::Ranks;
using State = engine::Agreement::State;

namespace {

/// Which call an agreement belongs to.
constexpr std::uint32_t called_agree = 1, called_survey = 2, called_confirm = 4;

constexpr std::uint64_t by_shrink = 0x736872696e6b;    // tells its contexts from those of split and create
constexpr std::uint64_t no_board = ~std::uint64_t{0};  // instead of a board

std::vector<Rank> members(const Ranks& set, bool in) {
  std::vector<Rank> ranks;
  for (std::size_t rank = 0; rank < set.size(); ++rank)
    if (set[rank] == in) ranks.push_back(static_cast<Rank>(rank));
  return ranks;
}

Error left_out(State state, const std::string& name, Rank rank) {
  const std::string who = "rank " + std::to_string(rank) + " of group " + name;
  const std::string why =
      state == State::expelled
          ? who + " has been declared lost by the others, who could not reach it, and go on without it"
          : who +
                " reaches too few of the group to decide who is left: the others may be alive behind a network that "
                "has failed, and go on";
  return PeerLost(Cause::peer_lost, why + ". End this process, and look at the network between the hosts.", rank);
}

}  // namespace

/// A shrink between its two agreements: who is to be in the new group, and the board that this rank has made for it.
struct Member::Survey {
  Survey(Member& made_by, Ranks found) : by(made_by), lost(std::move(found)) {}
  Survey(const Survey&) = delete;
  Survey& operator=(const Survey&) = delete;
  ~Survey() {
    if (own_board != 0 && !promised && !by.runtime().engine().forked()) by.free_board(own_board, made);
  }

  Member& by;
  Ranks lost;
  engine::Membership made;
  Rank leader = -1;  ///< Of this host: in the old group.
  host::Offset own_board = 0;
  bool promised = false;  ///< The others may make the group on that board, whether this rank goes on or not.
  std::vector<Opinion::Note> notes;
};

Opinion Member::decide(std::uint32_t call, bool flag, std::vector<Opinion::Note> notes, const void* site) {
  if (left_out_) raise(*left_out_);
  engine::Engine& engine = runtime_->engine();
  const std::uint64_t limit = runtime_->place().engine.timeout;
  const bool agrees = call == called_agree;
  const char* const name = agrees ? "agree" : "shrink";
  host::Wait told;
  told.what = agrees ? host::Waited::agree : host::Waited::shrink;
  told.site = reinterpret_cast<std::uint64_t>(site);
  told.set_place(engine::calling_place());
  const std::uint64_t since = base::ticks();
  const auto outcome = engine.agreements().join(who(), agreements_, {call, flag, lost_, std::move(notes)},
                                                limit == 0 ? 0 : engine.waiting().now() + limit, told);
  channel_->note_wait(site, since);
  if (outcome.state == State::waiting)
    throw Timeout(Cause::timeout, std::string(name) + " on group " + who().name +
                                      " did not complete in time: it waits for " + base::list_ranks(outcome.awaited) +
                                      ". Call it again to go on waiting; what was said first counts.");
  if (outcome.state != State::decided) {
    left_out_ = left_out(outcome.state, who().name, channel_->rank());
    channel_->leave_out(*left_out_);
    raise(*left_out_);
  }
  ++agreements_;
  {
    const std::lock_guard lock(lost_lock_);
    lost_ = outcome.decision.lost;
  }
  for (const Rank rank : members(lost_, true)) channel_->declare_lost(rank);
  if (outcome.decision.calls == call) return outcome.decision;
  throw Mismatch(Cause::mismatch, std::string(name) + " on group " + who().name +
                                      " does not match: some ranks called agree, others shrink. All ranks of a group "
                                      "must call the same in the same order.");
}

namespace {

std::unique_lock<std::mutex> one_at_a_time(std::mutex& mutex, const std::string& name) {
  std::unique_lock lock(mutex, std::try_to_lock);
  if (!lock)
    throw Error(Cause::usage, "two threads call agree or shrink on group " + name +
                                  " at the same moment; give each thread a group of its own (dup) or take turns");
  return lock;
}

}  // namespace

bool Member::agree(bool flag, const void* site) {
  const auto lock = one_at_a_time(agreeing_, who().name);
  return decide(called_agree, flag, {}, site).flag;
}

std::vector<Rank> Member::lost() const {
  const std::lock_guard lock(lost_lock_);  // another thread may wait in agree or shrink
  return members(lost_, true);
}

std::shared_ptr<Member::Survey> Member::survey(const void* site) {
  const auto found = std::make_shared<Survey>(*this, decide(called_survey, true, {}, site).lost);
  const std::vector<Rank> ranks = members(found->lost, false), here = near(ranks);
  engine::Membership& made = found->made;
  made.context = base::combine(base::combine(who().context, by_shrink), agreements_);
  made.name = name_within("shrunk");
  made.rank = static_cast<Rank>(std::ranges::find(ranks, channel_->rank()) - ranks.begin());
  for (const Rank rank : ranks) made.world.push_back(who().world[static_cast<std::size_t>(rank)]);
  if (!runtime_->place().boards || here.size() == 1) return found;
  found->leader = here.front();
  if (found->leader != channel_->rank()) return found;
  try {
    found->own_board = make_board(made);
    found->notes.push_back({found->leader, found->own_board});
  } catch (const Error&) {  // the others cannot go on either: they learn it together
    found->notes.push_back({found->leader, no_board});
  }
  return found;
}

/// The first agreement finds who is left, the second that they are all there still, and hands them their boards.
std::shared_ptr<Member> Member::shrink(const void* site) {
  const auto lock = one_at_a_time(agreeing_, who().name);
  for (;;) {
    if (!survey_) survey_ = survey(site);
    Opinion confirmed;
    survey_->promised = true;
    try {
      confirmed = decide(called_confirm, true, survey_->notes, site);
    } catch (const Error& error) {
      const bool goes_on = error.cause() == Cause::timeout || error.cause() == Cause::interrupted;
      survey_->promised = error.cause() != Cause::mismatch;  // which all get, and nobody makes the group
      if (!goes_on) survey_.reset();                         // else it goes on here when it is called again
      throw;
    }
    const auto found = std::exchange(survey_, nullptr);
    found->promised = false;                      // all have decided alike
    if (confirmed.lost != found->lost) continue;  // a further one has died
    const auto failed = std::ranges::find(confirmed.notes, no_board, &Opinion::Note::number);
    if (failed != confirmed.notes.end())
      throw Error(Cause::system, "shrink of group " + who().name +
                                     ": there is no memory for the new group's board on the host of rank " +
                                     std::to_string(failed->from) + "; free groups that are not used any more");
    const auto board = std::ranges::find(confirmed.notes, found->leader, &Opinion::Note::from);
    if (board != confirmed.notes.end()) found->made.board = static_cast<host::Offset>(board->number);
    found->own_board = 0;  // the group's from now on
    return std::make_shared<Member>(runtime_, found->made);
  }
}

}  // namespace tutti::job
