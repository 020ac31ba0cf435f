// SPDX-License-Identifier: BSD-3-Clause
#include "launch/member.hpp"

#include <unistd.h>

#include <mutex>
#include <string>
#include <utility>

#include "host/topology.hpp"
#include "launch/conversation.hpp"
#include "launch/environment.hpp"

namespace tutti::launch {

struct Member::State {
  Rank rank = 0;
  int size = 1, cores = 1;
  std::uint64_t job = 0;
  pid_t pid = getpid();
  bool launched = false, entered = false, joined = false;
  std::shared_ptr<host::Segment> segment;
  std::mutex mutex;  // of what follows
  Conversation control, lifeline;
  std::uint32_t asked = 0;  // number of the last put or get

  ~State() {
    // A join that failed half-way leaves its place in order; the launcher tells the others.
    if (entered && !joined && pid == getpid()) segment->leave(rank);
  }
};

namespace {

Hello make_hello(const Environment& environment, Purpose purpose) {
  Hello hello;
  hello.purpose = purpose;
  hello.rank = environment.rank;
  hello.size = environment.size;
  hello.pid = getpid();
  hello.secret = environment.secret;
  return hello;
}

void check_key(std::string_view key) {
  if (!is_key(key))
    throw Error(Cause::usage, "\"" + std::string(key) +
                                  "\" cannot be a key of the store; use 1 to 128 printable ASCII characters, no space");
}

Error nobody_else() {
  return Error(Cause::usage, "this program was started alone: there is no store; start it with `tutti run`");
}

}  // namespace

Member::Member(std::unique_ptr<State> state) : state_(std::move(state)) {}
Member::Member(Member&&) noexcept = default;
Member& Member::operator=(Member&&) noexcept = default;
Member::~Member() = default;

Rank Member::rank() const { return state_->rank; }
int Member::size() const { return state_->size; }
int Member::cores() const { return state_->cores; }
std::uint64_t Member::job() const { return state_->job; }
bool Member::launched() const { return state_->launched; }
const std::shared_ptr<host::Segment>& Member::segment() const { return state_->segment; }

Member join(const Patience& patience) {
  const std::optional<Environment> environment = read_environment();
  auto state = std::make_unique<Member::State>();
  if (!environment) {
    state->job = random_job();
    state->cores = host::usable_cores().usable;
    state->segment = host::Segment::local(1, state->job);
    state->segment->enter(0);
    state->entered = state->joined = true;
    return Member(std::move(state));
  }
  Deadline deadline(patience);
  state->rank = environment->rank;
  state->launched = true;
  state->control = Conversation(environment->store);
  state->control.send(make_hello(*environment, Purpose::control), deadline);
  const auto welcome = state->control.expect<Welcome>(deadline);
  base::Descriptor memory = state->control.take_descriptor();
  if (!memory) throw Error(Cause::system, "the launcher sent no shared memory; start the job again with `tutti run`");
  state->size = welcome.size;
  state->cores = welcome.cores;
  state->job = welcome.job;
  state->segment = host::Segment::attach(memory.release(), welcome.job);

  state->lifeline = Conversation(environment->store);
  state->lifeline.send(make_hello(*environment, Purpose::lifeline), deadline);
  state->lifeline.expect<Welcome>(deadline);

  // Alive first, ready then: whoever has passed `Go` finds every other alive, or dead, but never absent.
  state->segment->enter(state->rank);
  state->entered = true;
  state->control.send(Ready{}, deadline);
  state->control.expect<Go>(deadline);
  // Only now: the launcher may still have been inside its sending of that welcome, and what it does there after the
  // message has been handed over, a wake-up, would have ended this process. It has sent `Go` after that.
  state->lifeline.become_lifeline();
  state->joined = true;
  return Member(std::move(state));
}

void Member::put(std::string_view key, std::span<const std::byte> value) {
  check_key(key);
  if (value.size() > longest_value)
    throw Error(Cause::usage, "a value in the store holds at most 65536 bytes; send larger data with a collective");
  const std::scoped_lock lock(state_->mutex);
  if (!state_->control.open()) throw nobody_else();
  Deadline deadline(Patience{});
  const std::uint32_t number = ++state_->asked;
  state_->control.send(Put{number, std::string(key), {value.begin(), value.end()}}, deadline);
  for (;;) {
    const Message answer = state_->control.receive(deadline);
    if (const auto* stored = std::get_if<Stored>(&answer); stored != nullptr && stored->number == number) return;
    if (const auto* failed = std::get_if<Failed>(&answer); failed != nullptr && failed->number == number)
      throw Error(Cause::usage, failed->reason);
  }
}

std::vector<std::byte> Member::get(std::string_view key, const Patience& patience) {
  check_key(key);
  const std::scoped_lock lock(state_->mutex);
  if (!state_->control.open()) throw nobody_else();
  Deadline deadline(patience);
  const std::uint32_t number = ++state_->asked;
  state_->control.send(Get{number, std::string(key)}, deadline);
  for (;;) {
    // Answers to earlier questions, whose time ran out, carry other numbers and are dropped.
    Message answer = state_->control.receive(deadline);
    if (auto* found = std::get_if<Value>(&answer); found != nullptr && found->number == number)
      return std::move(found->value);
    if (const auto* failed = std::get_if<Failed>(&answer); failed != nullptr && failed->number == number)
      throw PeerLost(Cause::peer_lost, failed->reason);
  }
}

void Member::leave() {
  if (!state_->joined || state_->pid != getpid()) return;
  state_->joined = state_->entered = false;
  state_->segment->leave(state_->rank);
  const std::scoped_lock lock(state_->mutex);
  if (!state_->control.open()) return;
  try {
    Deadline deadline(Patience{std::chrono::seconds(1)});
    state_->control.send(Bye{}, deadline);
  } catch (const Error&) {
    // The launcher is gone; there is nobody to take leave of.
  }
  state_->control.close();
}

}  // namespace tutti::launch
