// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "plan/operation.hpp"
#include "plan/text.hpp"

namespace tutti::plan {
namespace {

constexpr Count unbounded = std::numeric_limits<Count>::max();

std::string range(Count begin, Count count) {
  return std::string("[").append(std::to_string(begin)).append("..").append(std::to_string(begin + count)).append(")");
}

/// Checks the steps of one rank's plan.
class Structure {
 public:
  Structure(const Plan& plan, const Contract* contract, const Board& board)
      : plan_(plan),
        promise_(contract ? &contract->ranks[static_cast<std::size_t>(plan.rank)] : nullptr),
        hosts_(board.hosts),
        capacity_(board.cell[plan.ring]) {
    if (promise_ == nullptr) return;
    for (const Piece& piece : promise_->after)
      if (piece.buffer == Buffer::output && piece.count > 0)
        writable_.push_back({piece.offset, piece.offset + piece.count});
    std::ranges::sort(writable_, {}, &Range::begin);
    std::size_t last = 0;
    for (std::size_t i = 1; i < writable_.size(); ++i) {
      if (writable_[i].begin <= writable_[last].end)
        writable_[last].end = std::max(writable_[last].end, writable_[i].end);
      else
        writable_[++last] = writable_[i];
    }
    if (!writable_.empty()) writable_.resize(last + 1);
  }

  void require() {
    for (index_ = 0; index_ < plan_.steps.size(); ++index_) {
      const Step& step = plan_.steps[index_];
      require_edges(step);
      require_operands(step);
    }
  }

 private:
  struct Range {
    Count begin, end;
  };

  [[noreturn]] void refuse(std::string reason) const { throw Refusal{plan_.rank, index_, std::move(reason)}; }

  void require_edges(const Step& step) const {
    if (step.first > step.last || step.last > plan_.edges.size()) refuse("its edges lie outside the plan's edges");
    for (const Index before : plan_.after(step))
      if (before >= index_) refuse("it waits for step s" + std::to_string(before) + ", which is not an earlier step");
    if (step.any && step.first == step.last) refuse("it starts after any of no steps");
  }

  void require_peer(Rank peer) const {
    if (peer < 0 || peer >= plan_.size)
      refuse("rank " + std::to_string(peer) + " does not exist in a group of " + std::to_string(plan_.size));
    if (peer == plan_.rank) refuse("it names its own rank as peer");
  }

  void require_same_host(Rank owner) const {
    if (!hosts_.empty() && hosts_[static_cast<std::size_t>(owner)] != hosts_[static_cast<std::size_t>(plan_.rank)])
      refuse("rank " + std::to_string(owner) + " is on another host and shares no cells with it");
  }

  void require_cell(std::int32_t cell) const {
    if (cell < 0 || cell >= plan_.cells)
      refuse("cell " + std::to_string(cell) + " is none of the " + std::to_string(plan_.cells) +
             " cells that the operation takes");
  }

  void require_operands(const Step& step) const {
    switch (step.verb) {
      case Verb::send:
        require_peer(step.peer);
        require_source(step.source, false);
        return;
      case Verb::recv:
      case Verb::recv_reduce:
        require_peer(step.peer);
        require_target(step.target, false);
        return;
      case Verb::reduce:
      case Verb::copy:
        require_source(step.source, true);
        require_target(step.target, step.verb == Verb::copy && is_own(step.source));
        require_distinct(step.source, step.target);
        return;
      case Verb::publish:
        require_cell(step.cell);
        require_published(step);
        return;
      case Verb::await:
        require_cell(step.cell);
        if (step.peer != everyone) {
          require_peer(step.peer);
          require_same_host(step.peer);
        }
        if (step.source.count < 0) refuse("it expects fewer than 0 elements");
        return;
      case Verb::release:
        require_cell(step.cell);
        return;
    }
    refuse("it has no verb");
  }

  Count bound(const Slice& slice) const {
    switch (slice.buffer) {
      case Buffer::input:
        return promise_ ? promise_->input : unbounded;
      case Buffer::output:
        return promise_ ? promise_->output : unbounded;
      case Buffer::scratch:
        return plan_.scratch;
      case Buffer::shared:
        return capacity_;
      case Buffer::exposed:
        return unbounded;
      case Buffer::none:
        break;
    }
    refuse("a slice names no buffer");
  }

  void require_slice(const Slice& slice) const {
    const Count size = bound(slice);
    if (slice.offset < 0 || slice.count < 0 || slice.count > unbounded - slice.offset)
      refuse("a slice has offset " + std::to_string(slice.offset) + " and count " + std::to_string(slice.count));
    if (slice.count > 0 && slice.offset + slice.count > size)
      refuse(std::string(word(slice.buffer)) + range(slice.offset, slice.count) + " reaches beyond its " +
             std::to_string(size) + " elements");
    if (slice.buffer != Buffer::shared && slice.buffer != Buffer::exposed) return;
    require_cell(slice.cell);
    if (slice.owner < 0 || slice.owner >= plan_.size)
      refuse("rank " + std::to_string(slice.owner) + " does not exist in a group of " + std::to_string(plan_.size));
    require_same_host(slice.owner);
  }

  bool is_own(const Slice& slice) const {
    return slice.buffer != Buffer::exposed && (slice.buffer != Buffer::shared || slice.owner == plan_.rank);
  }

  void require_source(const Slice& slice, bool may_be_exposed) const {
    require_slice(slice);
    if (slice.buffer != Buffer::exposed) return;
    if (!may_be_exposed) refuse("exposed memory is read by copy and reduce alone");
    if (slice.owner == plan_.rank) refuse("it reads its own memory as exposed");
  }

  void require_target(const Slice& slice, bool may_be_exposed) const {
    require_slice(slice);
    if (slice.buffer == Buffer::input) refuse("it writes input, which is never written");
    if (slice.buffer == Buffer::exposed && !may_be_exposed)
      refuse("exposed memory is written by copies of this rank's own memory alone");
    if (slice.buffer == Buffer::exposed && slice.owner == plan_.rank) refuse("it writes its own memory as exposed");
    if (slice.buffer == Buffer::shared && slice.owner != plan_.rank)
      refuse("it writes a cell of rank " + std::to_string(slice.owner) + ", which only its owner writes");
    if (slice.buffer == Buffer::output && promise_ != nullptr && slice.count > 0) require_writable(slice);
  }

  /// No output but what the contract names is written.
  void require_writable(const Slice& slice) const {
    const auto after = std::ranges::upper_bound(writable_, slice.offset, {}, &Range::begin);
    if (after == writable_.begin() || (after - 1)->end < slice.offset + slice.count)
      refuse("it writes " + std::string(word(slice.buffer)) + range(slice.offset, slice.count) +
             ", of which the contract leaves some elements untouched");
  }

  void require_distinct(const Slice& source, const Slice& target) const {
    if (source.count != target.count) refuse("source and target differ in length");
    if (source.buffer == target.buffer && source.owner == target.owner && source.cell == target.cell &&
        source.offset < target.offset + target.count && target.offset < source.offset + source.count)
      refuse("its source overlaps its target");
  }

  void require_published(const Step& step) const {
    require_slice(step.source);
    if (step.source.buffer == Buffer::exposed) refuse("it publishes memory that another rank exposes");
    if (step.open && step.source.buffer != Buffer::output && step.source.buffer != Buffer::scratch)
      refuse("it opens what others must not write: output and scratch can be open");
    if (step.open && step.source.buffer == Buffer::output && promise_ != nullptr && step.source.count > 0)
      require_writable(step.source);
    if (step.source.buffer == Buffer::shared && (step.source.owner != plan_.rank || step.source.cell != step.cell))
      refuse("it publishes a range of another cell as its cell " + std::to_string(step.cell));
  }

  const Plan& plan_;
  const Promise* promise_;
  std::span<const Rank> hosts_;
  Count capacity_;
  std::vector<Range> writable_;
  Index index_ = 0;
};

/// The lowest rank of each host.
std::vector<Rank> require_hosts(std::span<const Rank> hosts, Rank size) {
  if (hosts.empty()) return {0};
  if (hosts.size() != static_cast<std::size_t>(size))
    throw Refusal{0, Verdict::no_step,
                  "the hosts of " + std::to_string(hosts.size()) + " ranks are given for " + std::to_string(size)};
  std::vector<Rank> lowest;
  for (Rank rank = 0; rank < size; ++rank) {
    const Rank host = hosts[static_cast<std::size_t>(rank)], next = static_cast<Rank>(lowest.size());
    if (host < 0 || host > next)
      throw Refusal{rank, Verdict::no_step,
                    "its host is " + std::to_string(host) + ", but hosts are numbered from 0 in the order of their " +
                        "lowest ranks: at most " + std::to_string(next) + " here"};
    if (host == next) lowest.push_back(rank);
  }
  return lowest;
}

/// All ranks of a host take the same cells.
void require_cells(const Plan& plan, const Plan& lowest, Rank size) {
  if (plan.cells != lowest.cells || plan.ring != lowest.ring)
    throw Refusal{plan.rank, Verdict::no_step,
                  "it takes " + std::to_string(plan.cells) + " cells of the " + std::string(word(plan.ring)) +
                      " ring, but rank " + std::to_string(lowest.rank) + " takes " + std::to_string(lowest.cells) +
                      " of the " + std::string(word(lowest.ring)) + " ring"};
  if (plan.scratch < 0 || plan.cells < 0 || plan.cells > (1 << 24) / size)
    throw Refusal{plan.rank, Verdict::no_step,
                  "its scratch or its number of cells is negative or beyond what is checked"};
}

}  // namespace

void require_structure(std::span<const Plan> plans, const Contract* contract, const Board& board) {
  const Rank size = static_cast<Rank>(plans.size());
  if (size == 0) throw Refusal{0, Verdict::no_step, "there are no plans"};
  if (contract != nullptr && contract->ranks.size() != plans.size())
    throw Refusal{0, Verdict::no_step, "the contract is for " + std::to_string(contract->ranks.size()) + " ranks"};
  const std::vector<Rank> lowest = require_hosts(board.hosts, size);
  for (Rank rank = 0; rank < size; ++rank) {
    const Plan& plan = plans[static_cast<std::size_t>(rank)];
    if (plan.rank != rank || plan.size != size)
      throw Refusal{rank, Verdict::no_step,
                    "its plan is that of rank " + std::to_string(plan.rank) + " of " + std::to_string(plan.size) +
                        ", not of rank " + std::to_string(rank) + " of " + std::to_string(size)};
    const Rank host = board.hosts.empty() ? 0 : board.hosts[static_cast<std::size_t>(rank)];
    require_cells(plan, plans[static_cast<std::size_t>(lowest[static_cast<std::size_t>(host)])], size);
    Structure(plan, contract, board).require();
  }
}

}  // namespace tutti::plan
