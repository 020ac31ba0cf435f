// SPDX-License-Identifier: BSD-3-Clause
#include "engine/agreements.hpp"

#include <algorithm>
#include <utility>

#include "engine/channel.hpp"
#include "engine/engine.hpp"
#include "engine/reduction.hpp"

namespace tutti::engine {

using host::Life;
using transport::Fate;
using State = Agreement::State;

namespace {

/// How often those without a word are looked after.
constexpr std::uint64_t interval = 20'000'000;
/// What comes before its agreement is kept, but not without end.
constexpr std::size_t most_early = 65'536;

/// No group has this context.
transport::Tag tag() {
  return {0x61677265656d656e, transport::Tag::first_notice, transport::Tag::mail, transport::Lane::mailbox};
}

/// What is told of a session while a thread waits in it.
class Telling {
 public:
  Telling(std::mutex& mutex, std::optional<host::Wait>& waits, const host::Wait& told) : mutex_(mutex), waits_(waits) {
    const std::lock_guard lock(mutex_);
    waits_ = told;
  }
  ~Telling() {
    const std::lock_guard lock(mutex_);
    waits_.reset();
  }
  Telling(const Telling&) = delete;
  Telling& operator=(const Telling&) = delete;

 private:
  std::mutex& mutex_;
  std::optional<host::Wait>& waits_;
};

}  // namespace

std::unique_ptr<Agreements::Letter> Agreements::letter(Rank peer, std::vector<std::byte> bytes) const {
  auto made = std::make_unique<Letter>();
  made->bytes = std::move(bytes);
  made->peer = made->transfer.peer = peer;
  made->transfer.tag = tag();
  made->transfer.data = made->bytes.data();
  made->transfer.size = made->bytes.size();
  return made;
}

Agreements::~Agreements() {
  if (engine_.forked()) return;
  const std::lock_guard lock(engine_.transport_lock());
  for (auto* letters : {&sent_, &received_})
    for (const auto& one : *letters)
      if (one->transfer.state == transport::State::pending) engine_.transport().cancel(one->transfer);
}

Agreements::Outcome Agreements::join(const Membership& who, std::uint64_t number, const Opinion& mine,
                                     std::uint64_t until, const host::Wait& told) {
  engine_.check_process();
  refuse_inside_reduction();
  const AgreementName name{who.context, number};
  Session* session = nullptr;
  {
    const std::lock_guard lock(mutex_);
    used_.store(true, std::memory_order_relaxed);  // relaxed: what it stands for is behind the lock
    session = &open(who, name);
    begin(name, *session, mine);
  }
  // Map nodes stay where they are, and only the next agreement of the group takes this one's away.
  const auto moved = [&] {
    const std::lock_guard lock(mutex_);
    return move(name, *session);
  };
  {
    const Telling telling(mutex_, session->waits, told);
    engine_.wait_for(moved, until);
  }
  engine_.courier().see_off();  // what this one has said last, where the program computes now
  const std::lock_guard lock(mutex_);
  Outcome outcome{session->agreement.state(), {}, session->agreement.awaited()};
  if (outcome.state == State::decided) {
    outcome.decision = session->agreement.decision();
    // All that are left have taken part in this one: nobody asks for those before it any more.
    sessions_.erase(sessions_.lower_bound({name.context, 0}), sessions_.find(name));
  }
  return outcome;
}

void Agreements::tell(std::vector<host::Wait>& waits) {
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock) return;
  for (const auto& [name, session] : sessions_) {
    if (!session.waits || session.agreement.state() != State::waiting) continue;
    host::Wait& told = waits.emplace_back(*session.waits);
    told.context = name.context;
    told.sequence = name.number;
    told.awaited = 1;
    for (const Rank member : session.agreement.awaited()) told.add(session.world[static_cast<std::size_t>(member)]);
  }
}

Agreements::Session& Agreements::open(const Membership& who, const AgreementName& name) {
  const auto size = static_cast<Rank>(who.world.size());
  return sessions_.try_emplace(name, Session{who.world, Agreement(who.rank, size), {}}).first->second;
}

void Agreements::begin(const AgreementName& name, Session& session, const Opinion& mine) {
  if (session.agreement.state() != State::absent) return;
  look_for_lost(session);
  session.agreement.begin(mine);
  const auto its = [&](const Early& one) { return one.said.name == name; };
  std::vector<Early> heard;
  std::ranges::copy_if(early_, std::back_inserter(heard), its);
  std::erase_if(early_, its);
  for (const Early& one : heard) hear(one.from, one.said);
  post(name, session);
}

/// True when it is over.
bool Agreements::move(const AgreementName& name, Session& session) {
  hear_all();
  // Acquire: pairs with the release in Segment::raise_alarm.
  const std::uint64_t alarm = engine_.segment().header().alarm.load(std::memory_order_acquire);
  const std::uint64_t now = engine_.waiting().now();
  if (alarm != session.alarm_seen || now - session.looked_after >= interval) {
    session.alarm_seen = alarm;
    session.looked_after = now;
    look_for_lost(session);
    post(name, session);
  }
  return session.agreement.state() != State::waiting;
}

void Agreements::look_for_lost(Session& session) {
  std::vector<std::pair<Rank, bool>> found;
  for (std::size_t member = 0; member < session.world.size(); ++member) {
    const Rank world = session.world[member], place = engine_.setup().place_of(world);
    if (session.agreement.lost()[member] || world == engine_.setup().world_rank) continue;
    bool lost = false, ended = true;
    if (place >= 0) {
      const Life life = engine_.segment().watch(place, engine_.waiting().now());
      lost = life == Life::dead || life == Life::left;
    } else {
      const std::lock_guard lock(engine_.transport_lock());
      const Fate fate = engine_.transport().fate(world);
      lost = fate != Fate::well;
      ended = fate == Fate::ended;
    }
    if (lost) found.emplace_back(static_cast<Rank>(member), ended);
  }
  if (found.empty()) return;
  // What they have sent before their end counts.
  {
    const std::lock_guard lock(engine_.transport_lock());
    engine_.transport().progress();
  }
  hear_all();
  for (const auto& [member, ended] : found) session.agreement.lose(member, ended);
}

bool Agreements::serve() {
  if (!used_.load(std::memory_order_relaxed)) return false;  // relaxed: one that comes too early is kept
  const std::unique_lock lock(mutex_, std::try_to_lock);
  if (!lock || !hear_all()) return false;
  if (engine_.has_progress_thread()) engine_.waiting().ring(engine_.place());  // who waits for it may sleep
  return true;
}

std::optional<Rank> Agreements::lost_to_others(std::uint64_t context) {
  const std::lock_guard lock(mutex_);
  hear_all();
  for (const Early& one : early_) {
    const Ranks& lost = one.said.message.lost;
    const auto first = std::ranges::find(lost, true);
    if (one.said.name.context == context && first != lost.end()) return static_cast<Rank>(first - lost.begin());
  }
  return std::nullopt;
}

bool Agreements::hear_all() {
  std::vector<std::unique_ptr<Letter>> come;
  {
    const std::lock_guard lock(engine_.transport_lock());
    transport::Transport& transport = engine_.transport();
    while (const auto arrival = transport.look(tag())) {
      // Of a size that no message has it ends badly, and is dropped.
      const std::size_t size = std::min<std::size_t>(arrival->size, longest_agreement_message);
      received_.push_back(letter(arrival->peer, std::vector<std::byte>(size)));
      transport.recv(received_.back()->transfer);
    }
    for (auto one = received_.begin(); one != received_.end();) {
      const bool pending = (*one)->transfer.state == transport::State::pending;
      if ((*one)->transfer.state == transport::State::done) come.push_back(std::move(*one));
      one = pending ? std::next(one) : received_.erase(one);
    }
    std::erase_if(sent_, [](const auto& one) { return one->transfer.state != transport::State::pending; });
  }
  for (const auto& one : come)
    if (const auto said = unpack(one->bytes)) hear(one->peer, *said);
  return !come.empty();
}

void Agreements::hear(Rank from, const AgreementMessage& said) {
  const auto found = sessions_.find(said.name);
  if (found == sessions_.end()) return tell_stray(from, said);
  Session& session = found->second;
  const auto member = std::ranges::find(session.world, from);
  if (member == session.world.end() || said.message.lost.size() != session.world.size()) return;  // of no such group
  session.agreement.hear(static_cast<Rank>(member - session.world.begin()), said.message);
  post(said.name, session);
}

/// Of an agreement that this process has not begun or will not begin, or that is over: then its sender was lost to
/// those who went on.
void Agreements::tell_stray(Rank from, const AgreementMessage& said) {
  const auto of_group = [&](auto one) { return one != sessions_.end() && one->first.context == said.name.context; };
  auto known = sessions_.upper_bound(said.name);
  if (!of_group(known)) known = sessions_.lower_bound({said.name.context, 0});
  const State state = of_group(known) ? known->second.agreement.state() : State::absent;
  const bool over = state != State::absent && known->first > said.name;
  if (!over && state != State::expelled && state != State::outvoted) {
    if (early_.size() < most_early) early_.push_back({from, said});
    return;
  }
  if (said.message.word == Agreement::Word::decision) return;
  AgreementMessage answer{said.name, {}};
  answer.message.lost = known->second.agreement.lost();
  answer.message.ended = Ranks(answer.message.lost.size());
  send(from, answer);
}

void Agreements::post(const AgreementName& name, Session& session) {
  for (Agreement::Letter& one : session.agreement.take())
    send(session.world[static_cast<std::size_t>(one.to)], {name, std::move(one.message)});
}

void Agreements::send(Rank to, const AgreementMessage& said) {
  sent_.push_back(letter(to, pack(said)));
  const std::lock_guard lock(engine_.transport_lock());
  engine_.transport().send(sent_.back()->transfer);
}

}  // namespace tutti::engine
