// SPDX-License-Identifier: BSD-3-Clause
// Finding the store of rank 0 over the network, and serving it there.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "base/descriptor.hpp"
#include "launch/conversation.hpp"
#include "launch/environment.hpp"
#include "launch/secret.hpp"
#include "transport/tcp/socket.hpp"

namespace tutti::launch {

/// Where the store may be; or why that cannot be told (yet), for people.
struct StoreAddresses {
  std::vector<transport::tcp::Address> addresses;
  std::string trouble{};
};
/// Asked again while the store cannot be reached: a name may not be known yet.
using FindStore = std::function<StoreAddresses()>;

/// The numeric addresses of a name.
StoreAddresses resolve(const HostAndPort& place);

/// Sockets that listen there: at an address, or at this port of all interfaces for a name, which may mean another
/// address to others. Throws Error (system) that says what to do.
std::vector<base::Descriptor> listen_for_store(const HostAndPort& place);

/// A connection with the store: calls all addresses at once and again, until one of them answers and both ends have
/// proved that they know the secret. `where`: as errors and the log name it. Throws Error: timeout, interrupted, system
/// (who answers speaks another version, or does not know the secret).
base::Descriptor call_store(const FindStore& find, const std::string& where, const Secret& secret, Rank rank,
                            Deadline& deadline);

}  // namespace tutti::launch
