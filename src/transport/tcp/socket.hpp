// SPDX-License-Identifier: BSD-3-Clause
// What tcp asks of Linux: addresses, listening, calling, and what became of the bytes that were sent.
#pragma once

#include <sys/socket.h>

#include <cstddef>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/descriptor.hpp"

namespace tutti::transport::tcp {

/// "tcp:10.77.0.1:5000", "tcp:[fd77::1]:5000", or "unix:@name" (abstract).
class Address {
 public:
  /// Nothing for a text that is no address.
  static std::optional<Address> parse(std::string_view text);
  /// What a socket is bound to.
  static Address of(int socket);
  /// What a connection's other end is bound to.
  static Address of_peer(int socket);

  std::string text() const;
  /// Whether both are of one host, whatever the ports. Never of Unix sockets.
  bool same_host(const Address& other) const;
  const sockaddr* system() const { return reinterpret_cast<const sockaddr*>(&storage_); }
  socklen_t length() const { return length_; }

 private:
  static Address ask(int (*name)(int, sockaddr*, socklen_t*), int socket);
  /// The address without its port; empty of Unix sockets.
  std::span<const std::byte> host() const;

  sockaddr_storage storage_{};
  socklen_t length_ = 0;
};

/// Addresses separated by blanks; those that mean nothing are left out.
std::vector<Address> parse_all(std::string_view text);

/// A listening socket; port 0 and an empty name are chosen by the kernel. Throws Error (system).
base::Descriptor listen_at(const Address& address);
/// The same for several places, "tcp:10.77.0.1:0". Those that the system lists and does not let anybody use are left
/// out: an IPv6 address that it still checks, or that another host has, must not cost the job. Throws Error: usage (no
/// address), system (nothing is left, or something else is wrong).
std::vector<base::Descriptor> listen_at_all(const std::vector<std::string>& places);
/// Whether this error of listening means that the address cannot be used here, and another might.
bool is_unusable(int error);
/// A socket that is connecting, or connected; empty when that failed at once, and errno says why.
base::Descriptor begin_call(const Address& address);
/// Whether this error is a want of descriptors or memory: it is nobody's fault at the other end, and passes.
bool is_want(int error);
/// Nanoseconds for which nobody is let in then: a listener stays readable as long as somebody waits at it.
inline constexpr std::uint64_t pause_in_want = 100'000'000;
/// How far a call is; when it has failed errno says why. absent: nobody listens there.
enum class Reach { calling, through, failed, absent };
Reach reach_of(int socket);
/// The next caller; empty when there is none.
base::Descriptor accept_from(int listener);

/// What the system knows of the bytes that it has sent. A Unix socket, where nothing gets lost, says nothing.
struct Delivery {
  bool awaited = false;      ///< Some are not acknowledged.
  std::uint64_t silent = 0;  ///< Nanoseconds since anything was.
  unsigned repeated = 0;     ///< So many repetitions in a row were in vain.
  double loss = 0;           ///< How many packets got lost before those, of all.
  std::uint64_t rate = 0;    ///< Bits per second, of late; 0: the system does not say.
  /// Nanoseconds that the fastest acknowledgement took.
  std::uint64_t shortest = std::numeric_limits<std::uint64_t>::max();
};
Delivery delivery_of(int socket);
/// What is not acknowledged is repeated at least so often, as far as the system allows.
void repeat_within(int socket, std::uint64_t nanoseconds);
/// A control of congestion that models the path (BBR) takes pauses of a collective for a slow path, and sends next to
/// nothing for 0.2 s of every ten to see how short it is: those calls wait. Takes one that heeds losses alone instead;
/// which, and of what, for people. Empty: it does not model, or nothing can be changed.
std::string heed_loss_alone(int socket);
/// Ends the connection when what was sent is not acknowledged for so long; 0: never.
void end_if_unanswered(int socket, std::uint64_t nanoseconds);
/// From here on whoever is silent is left in peace.
void ask_no_more(int socket);

}  // namespace tutti::transport::tcp
