// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/allreduce/fold.hpp"

#include <bit>

namespace tutti::collectives::allreduce {

Team::Team(const Shape& shape)
    : size_(static_cast<Rank>(std::bit_floor(static_cast<std::uint32_t>(shape.size)))), extra_(shape.size - size_) {
  const bool paired = shape.rank < 2 * extra_;
  const bool odd = shape.rank % 2 != 0;
  if (paired) partner_ = odd ? shape.rank - 1 : shape.rank + 1;
  position_ = !paired ? shape.rank - extra_ : odd ? shape.rank / 2 : -1;
}

void Team::sit_out(Writer& b, const Shape& shape) const {
  const Handle sent = b.send(partner_, operand(shape, whole(shape)));
  b.recv(partner_, whole(shape)).after(shape.in_place ? sent : Handle());
}

Handle Team::take_in(Writer& b, const Shape& shape) const {
  const Handle mine = b.copy(operand(shape, whole(shape)), whole(shape));
  return partner_ < 0 ? mine : b.recv_reduce(partner_, whole(shape), Side::left).after(mine);
}

void Team::hand_out(Writer& b, const Shape& shape, const std::vector<Handle>& ready) const {
  if (partner_ >= 0) b.send(partner_, whole(shape)).after(ready);
}

}  // namespace tutti::collectives::allreduce
