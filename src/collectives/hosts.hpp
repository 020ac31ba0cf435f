// SPDX-License-Identifier: BSD-3-Clause
// Which ranks of a group share a host.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "collectives/collective.hpp"

namespace tutti::collectives {

inline bool spans_hosts(const Shape& shape) { return !shape.hosts.empty() && std::ranges::max(shape.hosts) > 0; }

/// The hosts of a group, as one rank sees them. The shape must outlive it.
class Hosts {
 public:
  explicit Hosts(const Shape& shape);

  Rank count() const { return static_cast<Rank>(first_.size()) - 1; }
  Rank of(Rank rank) const { return shape_.hosts.empty() ? 0 : shape_.hosts[static_cast<std::size_t>(rank)]; }
  /// The ranks of a host, in ascending order.
  std::span<const Rank> ranks(Rank host) const {
    const auto first = first_[static_cast<std::size_t>(host)];
    return std::span(ranks_).subspan(first, first_[static_cast<std::size_t>(host) + 1] - first);
  }
  Rank size(Rank host) const { return static_cast<Rank>(ranks(host).size()); }

  /// My host, and the ranks there.
  Rank mine() const { return of(shape_.rank); }
  std::span<const Rank> here() const { return ranks(mine()); }

  /// Who speaks for a host: the root if it is there, else its lowest rank. Without a root, rank 0 may stand for one.
  Rank leader(Rank host, Rank root = 0) const { return of(root) == host ? root : ranks(host).front(); }
  /// All of them, by host.
  std::vector<Rank> leaders(Rank root = 0) const;

  /// Which of its host's ranks a rank is.
  Rank local(Rank rank) const;
  /// Those ranks of all hosts, by host; where all hosts have that many.
  std::vector<Rank> lane(Rank local) const;

  /// All ranks, host by host.
  std::span<const Rank> all() const { return ranks_; }
  /// The ranks of each host follow each other in the group.
  bool contiguous() const;
  /// Equally many ranks on all hosts.
  bool even() const;

 private:
  const Shape& shape_;
  std::vector<Rank> ranks_;         // host by host
  std::vector<std::size_t> first_;  // per host, in ranks_
};

}  // namespace tutti::collectives
