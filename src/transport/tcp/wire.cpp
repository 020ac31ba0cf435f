// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/wire.hpp"

#include <span>

#include "base/secrecy.hpp"
#include "tutti/error.hpp"

namespace tutti::transport::tcp {

base::Digest proof(Side side, const Identity& identity, const Hello& hello, const Nonce& answerer) {
  struct {
    Side side;
    Hello hello;
    Nonce answerer;
  } const text{side, hello, answerer};
  static_assert(std::has_unique_object_representations_v<decltype(text)>);
  return base::keyed_hash(identity.secret, std::as_bytes(std::span(&text, 1)));
}

Nonce random_nonce() {
  Nonce nonce;
  if (!base::fill_random(nonce)) throw Error(Cause::system, "the kernel gives no random bytes");
  return nonce;
}

}  // namespace tutti::transport::tcp
