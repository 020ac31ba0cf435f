// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/wire.hpp"

#include <span>

#include "base/secrecy.hpp"
#include "tutti/error.hpp"

namespace tutti::transport::tcp {

bool Header::good() const {
  if (start != magic || zero != 0 || lane >= lanes) return false;
  switch (word) {
    case Word::bytes:
      return size <= eager;
    case Word::announce:
    case Word::ready:
    case Word::data:
    case Word::dropped:
    case Word::withdrawn:
    case Word::credit:
    case Word::beat:
      return true;
  }
  return false;
}

Header header_of(Word word, const Tag& tag) {
  Header header;
  header.context = tag.context;
  header.sequence = tag.sequence;
  header.message = tag.message;
  header.lane = static_cast<std::uint8_t>(tag.lane);
  header.word = word;
  return header;
}

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
