// SPDX-License-Identifier: BSD-3-Clause
// What the processes of a job over several hosts know before they meet: who they are, and where.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"
#include "launch/caller.hpp"
#include "launch/cluster.hpp"
#include "launch/environment.hpp"
#include "launch/slurm.hpp"

namespace tutti::launch {

struct Meeting {
  Rank rank = 0;
  int size = 1;
  Secret secret;
  std::vector<base::Descriptor> listeners;  ///< Rank 0: where it serves the store.
  FindStore find;                           ///< The others: where they look for it.
  std::string where;                        ///< The same, for people.
  std::string launcher;                     ///< How they know all that, for people.
};

/// By TUTTI_RANK and the others. Throws Error (system) when rank 0 cannot serve.
Meeting by_hand(const Environment& environment);

/// As a task of Slurm's, with a secret that its user has on all hosts. Throws Error: system (rank 0 cannot serve; no
/// secret), usage.
Meeting by_slurm(const SlurmTask& task);

/// Through the launcher of a cluster, which carries rank 0's addresses and a fresh secret to all. Throws Error.
Meeting by_cluster(Cluster& cluster, Deadline& deadline);

/// The text that is carried: the secret and rank 0's addresses, as many as fit.
std::string write_invitation(const Secret& secret, std::span<const transport::tcp::Address> addresses,
                             std::size_t longest);
struct Invitation {
  Secret secret;
  std::vector<transport::tcp::Address> addresses;
};
/// Nothing when it makes no sense.
std::optional<Invitation> read_invitation(std::string_view text);

}  // namespace tutti::launch
