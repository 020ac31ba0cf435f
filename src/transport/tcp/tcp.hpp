// SPDX-License-Identifier: BSD-3-Clause
// TCP, over IPv4 and IPv6, and Unix sockets: messages between processes that share no memory.
//
//     small:  header and bytes in one write, as long as the receiver has room for them
//     large:  announce  >  ready  >  data, straight from buffer to buffer, when the receiver says so; a collective's
//             invite  >  data, since its receive says so by itself
//
// A connection is made when it is first needed, once for each pair, whoever calls. Both ends prove that they know the
// job's secret. Of large messages few are on their way to a receiver at a time: those that all ranks send it at once
// (incast) would overflow the queue of its link, and each loss costs far more than the wait.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "transport/tcp/wire.hpp"
#include "transport/transport.hpp"

namespace tutti::transport::tcp {

struct Options {
  Identity identity;
  /// Where to listen: "tcp:10.77.0.1:0", "tcp:[fd77::1]:0", "unix:@".
  std::vector<std::string> listen;
  /// The addresses of a peer, as its `addresses` says; asked for when it is first called.
  std::function<std::string(Peer)> find;
  /// Nanoseconds that a peer's host may take to answer the first call; ten minutes where it answers for another peer.
  std::uint64_t patience = 10'000'000'000;
  std::uint64_t stranger = 5'000'000'000;  ///< Nanoseconds for a caller to prove who he is where his place is needed.
  int flows = 8;                           ///< Large messages on their way to this process at a time.
  /// Nanoseconds after which a peer whose host does not answer is lost; up to three times as many where one packet in a
  /// hundred gets lost. A host that goes while its process does not read is found after two seconds more: older systems
  /// than Linux 6.15 ask such a one ever more seldom, so there it can take minutes.
  std::uint64_t lost_after = 1'000'000'000;
};

/// A peer whose process has not answered for a while: it computes, is stopped, or its host will be found lost.
struct Suspect {
  Peer peer = -1;
  std::uint64_t silence = 0;  ///< Nanoseconds; found every tenth of lost_after, or of a second.
};

/// What a process that uses it needs besides the contract.
class Tcp : public Transport {
 public:
  /// Where this one can be called: for the others' `find`.
  virtual std::string addresses() const = 0;
  /// A set of epoll, which has events when there is something to progress. A host::Door may stand in it.
  virtual int descriptor() const = 0;
  /// Connected peers that have said nothing for longer than `lost_after`.
  virtual std::vector<Suspect> suspects() const = 0;
};

/// Throws Error (system) when it cannot listen.
std::unique_ptr<Tcp> listen(Options options);

}  // namespace tutti::transport::tcp
