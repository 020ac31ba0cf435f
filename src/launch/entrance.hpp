// SPDX-License-Identifier: BSD-3-Clause
// The way into the store of rank 0, over a socket: both ends say which version they speak, then greet as the transport
// does (transport/tcp/greeting.hpp), which proves to each that the other knows the job's secret.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>

#include "base/descriptor.hpp"
#include "host/segment.hpp"
#include "launch/secret.hpp"
#include "transport/tcp/greeting.hpp"

namespace tutti::launch {

/// The first bytes that either end sends. Their form is the same in all versions.
struct Banner {
  std::array<char, 8> start{'T', 'U', 'T', 'T', 'I', 'S', 'T', 'O'};
  std::uint32_t wire = host::wire_version, tcp = transport::tcp::version;
  bool operator==(const Banner&) const = default;
};
static_assert(sizeof(Banner) == 16);

class Entrance {
 public:
  enum class State {
    waiting,  ///< More has to come.
    open,     ///< Both know each other; the socket may be taken.
    foreign,  ///< The other end speaks another version: see `theirs`.
    refused,  ///< The other end does not know the secret, or is no Tutti at all.
    gone,     ///< It cannot be reached, or has hung up.
  };
  enum class Side { caller, answerer };

  /// The socket does not block; a caller's may still be connecting. `deadline`: by base::now().
  Entrance(Side side, const Secret& secret, base::Descriptor socket, std::uint64_t deadline);

  /// Moves on as far as the connection allows.
  State advance();
  int socket() const { return greeting_ ? greeting_->socket() : socket_.get(); }
  const Banner& theirs() const { return theirs_; }
  /// Keeps an eye on the other end's kernel from now on.
  base::Descriptor take();

 private:
  std::optional<State> exchange_banners();
  std::optional<State> hear_banner();

  Side side_;
  Secret secret_;
  base::Descriptor socket_;
  std::uint64_t deadline_;
  Banner theirs_;
  std::size_t said_ = 0, heard_ = 0;
  bool connected_;
  std::optional<transport::tcp::Greeting> greeting_;
};

}  // namespace tutti::launch
