// SPDX-License-Identifier: BSD-3-Clause
#include "launch/meeting.hpp"

#include <exception>
#include <utility>
#include <variant>

#include "base/words.hpp"
#include "launch/user_secret.hpp"
#include "transport/interfaces.hpp"

namespace tutti::launch {

namespace tcp = transport::tcp;

static constexpr char no_invitation[] = "none";

/// `advice`: where the host's name leads nowhere.
static Meeting meet_at(const HostAndPort& place, Rank rank, int size, const Secret& secret, const char* advice) {
  Meeting meeting;
  meeting.rank = rank;
  meeting.size = size;
  meeting.secret = secret;
  if (meeting.rank == 0) meeting.listeners = listen_for_store(place);
  meeting.find = [place, advice] {
    StoreAddresses found = resolve(place);
    if (!found.trouble.empty()) found.trouble += advice;
    return found;
  };
  meeting.where = place.text();
  return meeting;
}

Meeting by_hand(const Environment& environment) {
  Meeting meeting = meet_at(std::get<HostAndPort>(environment.store), environment.rank, environment.size,
                            environment.secret, "; is TUTTI_STORE right?");
  meeting.launcher = "by hand: TUTTI_STORE=" + meeting.where + ", served by rank 0";
  return meeting;
}

Meeting by_slurm(const SlurmTask& task) {
  Meeting meeting = meet_at(task.store, task.rank, task.size, user_secret_for("slurm step " + task.step),
                            "; let all hosts know each other by Slurm's names, or start with srun --mpi=pmix");
  meeting.launcher = "srun, without PMI (SLURM_STEP_ID is set; step " + task.step + "); rank 0 serves the store at " +
                     meeting.where + ", the secret is from " + user_secret_path();
  return meeting;
}

std::string write_invitation(const Secret& secret, std::span<const tcp::Address> addresses, std::size_t longest) {
  std::string text = to_hex(secret);
  for (const tcp::Address& address : addresses)
    if (const std::string more = "," + address.text(); text.size() + more.size() <= longest) text += more;
  return text;
}

std::optional<Invitation> read_invitation(std::string_view text) {
  const std::string_view first = text.substr(0, text.find(','));
  const std::optional<Secret> secret = from_hex(first);
  if (!secret) return std::nullopt;
  Invitation invitation{*secret, {}};
  text.remove_prefix(first.size());
  while (!text.empty()) {
    text.remove_prefix(1);
    const std::string_view word = text.substr(0, text.find(','));
    text.remove_prefix(word.size());
    const auto address = word.starts_with("tcp:") ? tcp::Address::parse(word) : std::nullopt;
    if (!address) return std::nullopt;
    invitation.addresses.push_back(*address);
  }
  if (invitation.addresses.empty()) return std::nullopt;
  return invitation;
}

static std::string invite(std::vector<base::Descriptor>& listeners, std::size_t longest) {
  std::vector<tcp::Address> addresses;
  // Where the others are nobody knows yet.
  listeners = tcp::listen_at_all(transport::places_to_listen(true));
  for (const base::Descriptor& listener : listeners) addresses.push_back(tcp::Address::of(listener.get()));
  if (addresses.empty()) throw Error(Cause::system, "this host has no address at which others could reach it");
  return write_invitation(random_secret(), addresses, longest);
}

Meeting by_cluster(Cluster& cluster, Deadline& deadline) {
  Meeting meeting;
  meeting.rank = cluster.rank();
  meeting.size = cluster.size();
  std::string text;
  std::exception_ptr trouble;
  if (meeting.rank == 0) {
    try {
      text = invite(meeting.listeners, cluster.longest());
    } catch (const Error&) {
      // The others must not wait for what will not come.
      trouble = std::current_exception();
      text = no_invitation;
    }
  }
  text = cluster.share(text, deadline);
  if (trouble) std::rethrow_exception(trouble);
  if (text == no_invitation)
    throw Error(Cause::system, "rank 0 could not serve the job's store; look at what it printed");
  const std::optional<Invitation> invitation = read_invitation(text);
  if (!invitation)
    throw Error(Cause::system,
                "the launcher gave this rank no address of rank 0; does every rank run this program, "
                "with the same version of Tutti?");
  meeting.secret = invitation->secret;
  meeting.find = [addresses = invitation->addresses] { return StoreAddresses{addresses}; };
  for (const tcp::Address& address : invitation->addresses) base::add_word(meeting.where, address.text(), " or ");
  meeting.launcher = cluster.name() + "; rank 0 serves the store at " + meeting.where;
  return meeting;
}

}  // namespace tutti::launch
