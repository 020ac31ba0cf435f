// SPDX-License-Identifier: BSD-3-Clause
#include "job/exchange.hpp"

#include <algorithm>
#include <utility>

#include "base/names.hpp"
#include "tutti/error.hpp"

namespace tutti::job {

Exchange::Exchange(const collectives::Algorithm& algorithm, const collectives::Shape& shape,
                   std::unique_ptr<Counts> counts, const engine::Description& description, std::string group)
    : algorithm_(algorithm),
      shape_(shape),
      counts_(std::move(counts)),
      description_(description),
      group_(std::move(group)) {
  const auto size = static_cast<std::size_t>(shape_.size);
  mine_.assign(2 * size, 0);
  all_.assign(2 * size * size, 0);
  std::copy_n(counts_->send_offsets.begin(), std::min(size, counts_->send_offsets.size()), mine_.begin());
  std::copy_n(counts_->send_counts.begin(), std::min(size, counts_->send_counts.size()), mine_.begin() + shape_.size);
}

engine::Buffers Exchange::exchange() {
  return {reinterpret_cast<const std::byte*>(mine_.data()), reinterpret_cast<std::byte*>(all_.data())};
}

void Exchange::check(Rank sender, Count theirs, Count mine) const {
  if (theirs == mine) return;
  throw Mismatch(Cause::mismatch,
                 std::string(base::name(description_.kind)) + " on group " + group_ + " does not match: rank " +
                     std::to_string(shape_.rank) + " expects " + std::to_string(mine) + " elements from rank " +
                     std::to_string(sender) + ", which gives " + std::to_string(theirs) +
                     ". Both sides must name the same count for what goes from one to the other.",
                 sender);
}

std::shared_ptr<const engine::Bound> Exchange::next() {
  const auto size = static_cast<std::size_t>(shape_.size);
  std::vector<Count> offsets(size * size), counts(size * size);
  for (std::size_t row = 0; row < size; ++row) {
    const auto from = all_.begin() + static_cast<std::ptrdiff_t>(2 * size * row);
    std::copy_n(from, size, offsets.begin() + static_cast<std::ptrdiff_t>(size * row));
    std::copy_n(from + static_cast<std::ptrdiff_t>(size), size,
                counts.begin() + static_cast<std::ptrdiff_t>(size * row));
  }
  const auto from_to = [&](Rank from) {
    return counts[static_cast<std::size_t>(from) * size + static_cast<std::size_t>(shape_.rank)];
  };
  if (description_.kind == Kind::scatterv) {
    if (!(shape_.in_place && shape_.rank == shape_.root))
      check(shape_.root, from_to(shape_.root), shape_.recv_counts[0]);
  } else {
    for (Rank sender = 0; sender < shape_.size; ++sender)
      if (!(shape_.in_place && sender == shape_.rank))
        check(sender, from_to(sender), shape_.recv_counts[static_cast<std::size_t>(sender)]);
  }
  shape_.all_send_offsets = offsets;
  shape_.all_send_counts = counts;
  return std::make_shared<const engine::Bound>(algorithm_.build(shape_), description_, description_.element);
}

}  // namespace tutti::job
