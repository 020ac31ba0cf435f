// SPDX-License-Identifier: BSD-3-Clause
// The addresses at which other hosts may reach this process. Which of them works for whom is found by trying.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tutti::transport {

/// An address of an interface that is up.
struct InterfaceAddress {
  std::string interface;  ///< "eth0"
  std::string address;    ///< "10.77.0.1", "fd77::1"
  bool loopback = false;
};

/// All that this host has, IPv4 first. Throws Error (system).
std::vector<InterfaceAddress> all_addresses();

/// Those that others should try. `wanted`: names of interfaces, addresses and networks (10.77.0.0/16), separated by
/// commas, as in TUTTI_NETWORK; empty: all but loopback, link-local ones and those of docker's and libvirt's bridges.
/// Where nothing is left: the link-local ones of IPv4 (of IPv6 they mean nothing without an interface of the caller's),
/// else loopback, if the others may be in this network namespace (`here`): at that of another host they would call
/// themselves. Throws Error (usage), with a list of what there is, when nothing of what is wanted is there, or nothing
/// that others elsewhere could reach.
std::vector<InterfaceAddress> choose_addresses(std::span<const InterfaceAddress> all, std::string_view wanted,
                                               bool here);

/// Those of this host that others should try. Reads TUTTI_NETWORK. Throws as the two above.
std::vector<InterfaceAddress> own_addresses(bool here);

/// Where to listen so that others reach this process there: "tcp:10.77.0.1:0", "tcp:[fd77::1]:0".
std::vector<std::string> places_to_listen(bool here);

}  // namespace tutti::transport
