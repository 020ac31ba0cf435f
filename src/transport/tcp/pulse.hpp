// SPDX-License-Identifier: BSD-3-Clause
// Whether the other end of a connection is still there.
//
// A process that computes says nothing, and one that is stopped does not either: their silence is no death. Their
// host's kernel acknowledges all the same. So death is what is sent again and again and not acknowledged; where nothing
// is sent for a while a word is, so that there is something to acknowledge. (TCP_USER_TIMEOUT does not tell them apart:
// it also ends the connection with a stopped process whose buffer is full.) An acknowledged silence is only a
// suspicion.
#pragma once

#include <cstdint>

#include "transport/tcp/socket.hpp"

namespace tutti::transport::tcp {

class Pulse {
 public:
  enum class Finding {
    well,
    quiet,  ///< Something should be sent.
    lost,
  };
  /// From now on: a connection whose other end is lost after so many nanoseconds, and longer where packets get lost.
  void begin(std::uint64_t lost_after, std::uint64_t now);
  /// To be called now and then, with what has happened since the last time: bytes have come, bytes have left. Of those
  /// from whom bytes have come, the rest need not be known.
  Finding look(const Delivery& delivery, bool heard, bool said, std::uint64_t now);
  /// For how long the process at the other end has said nothing.
  std::uint64_t silence(std::uint64_t now) const { return now > heard_ ? now - heard_ : 0; }

 private:
  std::uint64_t lost_after_ = 0;
  std::uint64_t heard_ = 0, said_ = 0;
  std::uint64_t awaited_ = 0;  ///< Since then an acknowledgement is awaited; 0: none is.
  double loss_ = 0;            ///< How many packets got lost until then.
};

}  // namespace tutti::transport::tcp
