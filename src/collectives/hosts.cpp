// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/hosts.hpp"

#include <algorithm>

namespace tutti::collectives {

Hosts::Hosts(const Shape& shape) : shape_(shape) {
  const Rank hosts = shape.hosts.empty() ? 1 : *std::ranges::max_element(shape.hosts) + 1;
  first_.resize(static_cast<std::size_t>(hosts) + 1);
  for (Rank rank = 0; rank < shape.size; ++rank) ++first_[static_cast<std::size_t>(of(rank)) + 1];
  for (std::size_t host = 1; host < first_.size(); ++host) first_[host] += first_[host - 1];
  ranks_.resize(static_cast<std::size_t>(shape.size));
  std::vector<std::size_t> next = first_;
  for (Rank rank = 0; rank < shape.size; ++rank) ranks_[next[static_cast<std::size_t>(of(rank))]++] = rank;
}

std::vector<Rank> Hosts::leaders(Rank root) const {
  std::vector<Rank> leaders;
  for (Rank host = 0; host < count(); ++host) leaders.push_back(leader(host, root));
  return leaders;
}

Rank Hosts::local(Rank rank) const {
  return static_cast<Rank>(std::ranges::lower_bound(ranks(of(rank)), rank) - ranks(of(rank)).begin());
}

std::vector<Rank> Hosts::lane(Rank local) const {
  std::vector<Rank> lane;
  for (Rank host = 0; host < count(); ++host) lane.push_back(ranks(host)[static_cast<std::size_t>(local)]);
  return lane;
}

bool Hosts::contiguous() const { return std::ranges::is_sorted(ranks_); }

bool Hosts::even() const {
  for (Rank host = 1; host < count(); ++host)
    if (size(host) != size(0)) return false;
  return true;
}

}  // namespace tutti::collectives
