// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/allreduce/fold.hpp"

namespace tutti::collectives::allreduce {
namespace {

Rank largest_team(Rank size, Rank radix) {
  Rank power = 1;
  while (power <= size / radix) power *= radix;
  return size / power * power;
}

}  // namespace

Team::Team(const Shape& shape, Rank radix) : size_(largest_team(shape.size, radix)), extra_(shape.size - size_) {
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
