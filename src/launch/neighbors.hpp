// SPDX-License-Identifier: BSD-3-Clause
// Who of a job is on which host, and what the ranks of a host may use together.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "launch/message.hpp"
#include "tutti/types.hpp"

namespace tutti::launch {

/// Ranks that have the same name share memory: same kernel, same namespaces of processes, users, IPC and network (an
/// abstract Unix socket of one can be reached by the other), same user. TUTTI_HOST is part of it.
std::string host_name();

/// What this process says of itself; it listens at door_address(door).
Card own_card(std::uint64_t door);

/// The host of each rank, numbered in the order of their lowest ranks.
std::vector<Rank> number_hosts(std::span<const Card> cards);

/// Whether all are in one network namespace of one machine, where loopback leads from each to each.
bool share_network(std::span<const Card> cards);

/// The cores that the ranks of a host may use together: a launcher may have bound each to one of its own, and a control
/// group may allow one rank less than another.
int shared_cores(std::span<const Card> cards, std::span<const Rank> hosts, Rank host);

/// How many ranks want each core, rounded up, on the machine where most do, of those whose containers are several hosts
/// and have fewer cores than ranks. 1: there is none.
int ranks_per_core(std::span<const Card> cards, std::span<const Rank> hosts);

}  // namespace tutti::launch
