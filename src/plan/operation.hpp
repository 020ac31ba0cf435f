// SPDX-License-Identifier: BSD-3-Clause
// All ranks' plans of one operation, joined: steps numbered through, messages paired, cells found.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include "plan/checker.hpp"
#include "plan/plan.hpp"

namespace tutti::plan {

/// A step's number among the steps of all ranks: first_node(rank) + its index.
using Node = Index;
inline constexpr Node nothing = std::numeric_limits<Node>::max();

/// Why a proof failed. Thrown inside the checker alone, which turns it into a Verdict.
struct Refusal {
  Rank rank;
  Index step;  ///< Verdict::no_step where no single step is meant.
  std::string reason;
};

/// Throws Refusal unless every plan is one: ranks, edges, slices in bounds, input never written, output only where the
/// contract names it. Without a contract input and output have no bounds.
void require_structure(std::span<const Plan> plans, const Contract* contract, const Board& board);

class Operation {
 public:
  struct Release {
    std::int32_t cell;
    Node node;
  };

  /// Plans whose structure is right, of ranks on these hosts (as in Board). The plans must outlive the operation.
  void join(std::span<const Plan> plans, std::span<const Rank> hosts);

  /// How many ways there are to choose the first predecessor of every `after any`; 4096 at most, else refused.
  std::uint64_t choices() const { return choices_; }
  /// Fixes one of these ways.
  void choose(std::uint64_t choice);
  /// How the choice reads in a message; empty when there is only one.
  std::string choice_text() const;
  /// Pairs messages and finds the publisher of every cell, or throws Refusal.
  void match();

  std::span<const Plan> plans() const { return plans_; }
  const Plan& plan(Rank rank) const { return plans_[static_cast<std::size_t>(rank)]; }
  Rank size() const { return static_cast<Rank>(plans_.size()); }
  Rank hosts() const { return static_cast<Rank>(host_first_.size()) - 1; }
  Rank host_of(Rank rank) const { return host_[static_cast<std::size_t>(rank)]; }
  /// The ranks of a host, in ascending order; all of them have the same ring and number of cells.
  std::span<const Rank> ranks_of(Rank host) const {
    const auto first = host_first_[static_cast<std::size_t>(host)];
    return std::span(by_host_).subspan(first, host_first_[static_cast<std::size_t>(host) + 1] - first);
  }
  std::int32_t cells_of(Rank host) const { return plan(ranks_of(host).front()).cells; }
  Ring ring_of(Rank host) const { return plan(ranks_of(host).front()).ring; }
  /// A cell's number among the cells of all ranks; there are cells() of them.
  std::size_t cell_number(Rank rank, std::int32_t cell) const {
    return first_cell_[static_cast<std::size_t>(rank)] + static_cast<std::size_t>(cell);
  }
  std::size_t cells() const { return first_cell_.back(); }
  Node nodes() const { return first_.back(); }
  Node first_node(Rank rank) const { return first_[static_cast<std::size_t>(rank)]; }
  Rank rank_of(Node node) const { return rank_[node]; }
  Index index_of(Node node) const { return node - first_node(rank_[node]); }
  const Step& step(Node node) const { return plan(rank_[node]).steps[index_of(node)]; }

  /// The other end of a message; nothing for other steps and cancelled ones.
  Node partner(Node node) const { return partner_[node]; }
  /// Stands for a message: its send; any other step stands for itself.
  Node event(Node node) const { return receives(step(node).verb) && partner_[node] != nothing ? partner_[node] : node; }
  /// The chosen predecessor of an `after any`; for a cancelled step the one whose completion cancels it; else nothing.
  Node chosen(Node node) const { return chosen_.empty() ? nothing : chosen_[node]; }
  bool cancelled(Node node) const { return !cancelled_.empty() && cancelled_[node]; }
  /// The publish step of a cell, or nothing.
  Node publisher(Rank rank, std::int32_t cell) const { return publisher_[cell_number(rank, cell)]; }
  /// The first release of a rank that covers the cell, or nothing: its completion does.
  Node release_of(Rank rank, std::int32_t cell) const;
  std::span<const Release> releases(Rank rank) const {
    const auto first = release_first_[static_cast<std::size_t>(rank)];
    return std::span(releases_).subspan(first, release_first_[static_cast<std::size_t>(rank) + 1] - first);
  }

  [[noreturn]] void refuse(Node node, std::string reason) const {
    throw Refusal{rank_of(node), index_of(node), std::move(reason)};
  }
  /// "rank 2 s3 (send …)"
  std::string name(Node node) const;

 private:
  struct Message {
    std::uint64_t key;  // receiver, number
    Node node;
  };

  void place(std::span<const Rank> hosts);
  void find_choices();
  void match_messages();
  void pair(std::span<Message> sends, std::span<Message> receipts);
  void collect_messages();
  void match_cells();
  void require_published(Node node, Rank owner) const;
  void require_reachable(Node node, const Slice& slice, bool writes) const;

  std::span<const Plan> plans_;
  std::vector<Node> first_;
  std::vector<Rank> rank_;
  std::vector<Rank> host_;               // per rank
  std::vector<Rank> by_host_;            // the ranks of each host side by side
  std::vector<std::size_t> host_first_;  // per host, in by_host_
  std::vector<std::size_t> first_cell_;  // per rank
  std::uint64_t choices_ = 1;
  std::vector<Node> alternatives_;  // steps that start after any
  std::vector<Node> chosen_;        // empty when there are no alternatives
  std::vector<bool> cancelled_;
  std::vector<Node> partner_;
  std::vector<Message> sends_, receipts_;
  std::vector<std::size_t> send_first_, receipt_first_;  // per sender
  std::vector<Node> publisher_;
  std::vector<Release> releases_;
  std::vector<std::size_t> release_first_;
};

}  // namespace tutti::plan
