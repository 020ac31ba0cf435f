// SPDX-License-Identifier: BSD-3-Clause
#include "tutti/error.hpp"

#include <utility>

namespace tutti {

Error::Error(Cause cause, std::string text, Rank peer) : cause_(cause), peer_(peer), text_(std::move(text)) {}

void raise(const Error& error) {
  switch (error.cause()) {
    case Cause::peer_lost:
      throw PeerLost(error.cause(), error.what(), error.peer());
    case Cause::mismatch:
      throw Mismatch(error.cause(), error.what(), error.peer());
    case Cause::timeout:
      throw Timeout(error.cause(), error.what(), error.peer());
    default:
      throw error;
  }
}

}  // namespace tutti
