// SPDX-License-Identifier: BSD-3-Clause
#include "launch/member.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <variant>

#include "launch/cluster.hpp"
#include "launch/environment.hpp"
#include "launch/membership.hpp"
#include "launch/slurm.hpp"

namespace tutti::launch {

namespace {

void check_key(std::string_view key) {
  if (!is_key(key))
    throw Error(Cause::usage, "\"" + std::string(key) +
                                  "\" cannot be a key of the store; use 1 to 128 printable ASCII characters, no space");
}

Error nobody_else() {
  return Error(
      Cause::usage,
      "there is no store here: this program was started alone (start it with `tutti run`), has left its job, or is a "
      "child that a rank has forked");
}

}  // namespace

Member::Member(std::unique_ptr<Membership> state) : state_(std::move(state)) {}
Member::Member(Member&&) noexcept = default;
Member& Member::operator=(Member&&) noexcept = default;
Member::~Member() = default;

Rank Member::rank() const { return state_->rank; }
int Member::size() const { return static_cast<int>(state_->hosts.size()); }
int Member::cores() const { return state_->cores; }
std::span<const Rank> Member::hosts() const { return state_->hosts; }
int Member::ranks_per_core() const { return state_->ranks_per_core; }
bool Member::one_network() const { return state_->one_network; }
std::uint64_t Member::job() const { return state_->job; }
const Secret& Member::secret() const { return state_->secret; }
const std::string& Member::launcher() const { return state_->launcher; }
bool Member::launched() const { return state_->launched; }
const std::shared_ptr<host::Segment>& Member::segment() const { return state_->segment; }

Member join(const Patience& patience) {
  const std::optional<Environment> environment = read_environment();
  auto state = std::make_unique<Membership>();
  if (!environment) {
    state->join_cluster(patience);
  } else if (const auto* launcher = std::get_if<Address>(&environment->store)) {
    state->join_launcher(*environment, *launcher, patience);
  } else {
    Deadline deadline(limited(patience));
    state->join_hosts(by_hand(*environment), deadline);
  }
  return Member(std::move(state));
}

bool in_job() {
  constexpr std::array names{rank_variable,        size_variable, store_variable, secret_variable,
                             secret_file_variable, pmi_variable,  pmix_variable};
  return std::ranges::any_of(names, [](const char* name) { return std::getenv(name) != nullptr; }) ||
         find_slurm_task().has_value();
}

void Member::put(std::string_view key, std::span<const std::byte> value, const Patience& patience) {
  check_key(key);
  if (value.size() > longest_value)
    throw Error(Cause::usage, "a value in the store holds at most 65536 bytes; send larger data with a collective");
  const std::scoped_lock lock(state_->mutex);
  if (!state_->control.open()) throw nobody_else();
  Deadline deadline(patience);
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

void Member::leave() { state_->leave(); }

}  // namespace tutti::launch
