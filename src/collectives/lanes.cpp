// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/lanes.hpp"

namespace tutti::collectives {

Lanes::Lanes(const Composition& b, const Shape& shape, Slice data)
    : data_(data),
      ranks_(b.hosts().lane(b.hosts().local(shape.rank))),
      mine_(static_cast<std::size_t>(b.hosts().local(shape.rank))) {
  const Rank all = b.hosts().size(b.hosts().mine());
  for (Rank share = 0; share < all; ++share) {
    offsets_.push_back(share * (data.count / all));
    counts_.push_back(data.count / all + (share + 1 == all ? data.count % all : 0));
  }
}

Slice Lanes::share() const { return data_.part(offsets_[mine_], counts_[mine_]); }

void Lanes::collect(Composition& b) const {
  const Count equal = counts_.front(), gathered = equal * static_cast<Count>(counts_.size());
  Shape all = b.shape_here(b.leader(), equal);
  all.in_place = true;
  b.here(Kind::allgather, all, {}, data_.part(0, gathered));
  const Slice rest = data_.part(gathered, data_.count - gathered);
  b.here(Kind::bcast, b.shape_here(b.hosts().here().back(), rest.count), {}, rest);
}

}  // namespace tutti::collectives
