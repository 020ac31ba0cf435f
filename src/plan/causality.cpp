// SPDX-License-Identifier: BSD-3-Clause
#include "plan/causality.hpp"

namespace tutti::plan {

void Causality::begin(const Order& order, std::size_t marks) {
  words_ = (marks + 63) / 64;
  bits_.assign(order.count() * words_, 0);
}

void Causality::spread(const Operation& operation, const Order& order) {
  for (const Node event : order.events()) {
    gather(event, order);
    // A receive comes right after its send: what it waits for stands before the event of both.
    if (event < operation.nodes() && operation.partner(event) != nothing) gather(operation.partner(event), order);
  }
}

void Causality::gather(Node node, const Order& order) {
  std::uint64_t* const to = bits_.data() + node * words_;
  order.for_each_cause(node, [&](Node before) {
    const std::uint64_t* const from = bits_.data() + before * words_;
    for (std::size_t word = 0; word < words_; ++word) to[word] |= from[word];
  });
}

void require_synchronization(const Operation& operation, const Order& order, Causality& causality) {
  const auto size = static_cast<std::size_t>(operation.size());
  causality.begin(order, size);
  for (Node node = 0; node < operation.nodes(); ++node)
    causality.mark(node, static_cast<std::size_t>(operation.rank_of(node)));
  causality.spread(operation, order);
  for (Rank rank = 0; rank < operation.size(); ++rank)
    for (Rank other = 0; other < operation.size(); ++other)
      if (rank != other && !causality.has(operation.nodes() + static_cast<Node>(rank), static_cast<std::size_t>(other)))
        throw Refusal{rank, Verdict::no_step,
                      "it can be done before rank " + std::to_string(other) + " has started, but the contract says " +
                          "that all wait for all"};
}

}  // namespace tutti::plan
