// SPDX-License-Identifier: BSD-3-Clause
#include "transport/header.hpp"

namespace tutti::transport {

bool Header::good(std::size_t eager) const {
  if (start != magic || zero != 0 || lane >= lanes) return false;
  return word == Word::bytes ? size <= eager : word > Word::bytes && word <= Word::cut_off;
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

}  // namespace tutti::transport
