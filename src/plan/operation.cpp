// SPDX-License-Identifier: BSD-3-Clause
#include "plan/operation.hpp"

#include <algorithm>

#include "plan/text.hpp"

namespace tutti::plan {

void Operation::join(std::span<const Plan> plans, std::span<const Rank> hosts) {
  plans_ = plans;
  place(hosts);
  first_.clear();
  rank_.clear();
  Node node = 0;
  for (Rank rank = 0; rank < size(); ++rank) {
    first_.push_back(node);
    node += static_cast<Node>(plan(rank).steps.size());
    rank_.resize(node, rank);
  }
  first_.push_back(node);
  find_choices();
}

void Operation::place(std::span<const Rank> hosts) {
  host_.assign(hosts.begin(), hosts.end());
  host_.resize(plans_.size(), 0);
  by_host_.clear();
  host_first_.assign(1, 0);
  for (Rank host = 0; by_host_.size() < plans_.size(); ++host) {
    for (Rank rank = 0; rank < size(); ++rank)
      if (host_of(rank) == host) by_host_.push_back(rank);
    host_first_.push_back(by_host_.size());
  }
  first_cell_.assign(1, 0);
  for (const Plan& plan : plans_) first_cell_.push_back(first_cell_.back() + static_cast<std::size_t>(plan.cells));
}

void Operation::find_choices() {
  constexpr std::uint64_t most = 4096;
  choices_ = 1;
  alternatives_.clear();
  chosen_.clear();
  cancelled_.clear();
  for (Node node = 0; node < nodes(); ++node) {
    const Step& step = this->step(node);
    if (!step.any) continue;
    if (choices_ > most / (step.last - step.first))
      refuse(node, "there are more than " + std::to_string(most) +
                       " ways to choose the first predecessors of all 'after any'; the checker tries no more");
    choices_ *= step.last - step.first;
    alternatives_.push_back(node);
  }
  if (alternatives_.empty()) return;
  chosen_.resize(nodes());
  std::vector<bool> taken(nodes());
  for (const Node node : alternatives_)
    for (const Index before : plan(rank_of(node)).after(step(node))) {
      const Node alternative = first_node(rank_of(node)) + before;
      if (taken[alternative] || step(alternative).any)
        refuse(node, "step s" + std::to_string(before) +
                         " cannot be one of its alternatives: it is one of another 'after any', or is one itself");
      taken[alternative] = true;
    }
}

void Operation::choose(std::uint64_t choice) {
  if (alternatives_.empty()) return;
  std::ranges::fill(chosen_, nothing);
  cancelled_.assign(nodes(), false);
  for (const Node node : alternatives_) {
    const auto before = plan(rank_of(node)).after(step(node));
    const Node first = first_node(rank_of(node));
    const Node winner = first + before[choice % before.size()];
    choice /= before.size();
    chosen_[node] = winner;
    for (const Index other : before)
      if (first + other != winner) {
        cancelled_[first + other] = true;
        chosen_[first + other] = winner;
      }
  }
}

std::string Operation::choice_text() const {
  std::string text;
  for (const Node node : alternatives_)
    text += (text.empty() ? " (when rank " : ", rank ") + std::to_string(rank_of(node)) + " s" +
            std::to_string(index_of(node)) + " starts after s" + std::to_string(index_of(chosen_[node]));
  return text.empty() ? text : text + ")";
}

std::string Operation::name(Node node) const {
  return "rank " + std::to_string(rank_of(node)) + " s" + std::to_string(index_of(node)) + " (" + print(step(node)) +
         ")";
}

void Operation::match() {
  match_messages();
  match_cells();
}

/// Sends lie by sender as they come; receipts are counted into place by sender.
void Operation::collect_messages() {
  sends_.clear();
  send_first_.assign(plans_.size() + 1, 0);
  receipt_first_.assign(plans_.size() + 2, 0);
  std::size_t receipts = 0;
  for (Node node = 0; node < nodes(); ++node) {
    const Step& step = this->step(node);
    if (!receives(step.verb) || cancelled(node)) continue;
    ++receipt_first_[static_cast<std::size_t>(step.peer) + 2];
    ++receipts;
  }
  for (std::size_t i = 2; i < receipt_first_.size(); ++i) receipt_first_[i] += receipt_first_[i - 1];
  receipts_.resize(receipts);
  for (Rank rank = 0; rank < size(); ++rank) {
    Node node = first_node(rank);
    for (const Step& step : plan(rank).steps) {
      const Node here = node++;
      if (cancelled(here)) continue;
      if (step.verb == Verb::send)
        sends_.push_back({static_cast<std::uint64_t>(step.peer) << 32 | step.message, here});
      else if (receives(step.verb))
        receipts_[receipt_first_[static_cast<std::size_t>(step.peer) + 1]++] = {
            static_cast<std::uint64_t>(rank) << 32 | step.message, here};
    }
    send_first_[static_cast<std::size_t>(rank) + 1] = sends_.size();
  }
}

void Operation::match_messages() {
  partner_.assign(nodes(), nothing);
  collect_messages();
  for (std::size_t sender = 0; sender < plans_.size(); ++sender)
    pair(std::span(sends_).subspan(send_first_[sender], send_first_[sender + 1] - send_first_[sender]),
         std::span(receipts_).subspan(receipt_first_[sender], receipt_first_[sender + 1] - receipt_first_[sender]));
}

void Operation::pair(std::span<Message> sends, std::span<Message> receipts) {
  for (const auto& messages : {sends, receipts}) {
    const auto key = [](const Message& a, const Message& b) { return a.key < b.key; };
    if (!std::ranges::is_sorted(messages, key)) std::ranges::stable_sort(messages, key);
    for (std::size_t i = 1; i < messages.size(); ++i)
      if (messages[i].key == messages[i - 1].key)
        refuse(messages[i].node, "step s" + std::to_string(index_of(messages[i - 1].node)) +
                                     " has the same message number, and nothing tells the two apart");
  }
  for (std::size_t i = 0; i < sends.size() || i < receipts.size(); ++i) {
    if (i == sends.size() || (i < receipts.size() && receipts[i].key < sends[i].key))
      refuse(receipts[i].node, "rank " + std::to_string(step(receipts[i].node).peer) + " sends no such message");
    const Node send = sends[i].node;
    if (i == receipts.size() || sends[i].key < receipts[i].key)
      refuse(send, "rank " + std::to_string(step(send).peer) + " receives no such message");
    const Node receipt = receipts[i].node;
    if (step(send).source.count != step(receipt).target.count)
      refuse(send, "it sends " + std::to_string(step(send).source.count) + " elements, but " + name(receipt) +
                       " receives " + std::to_string(step(receipt).target.count));
    partner_[send] = receipt;
    partner_[receipt] = send;
  }
}

void Operation::match_cells() {
  publisher_.assign(cells(), nothing);
  releases_.clear();
  release_first_.assign(1, 0);
  if (cells() == 0) {
    release_first_.assign(plans_.size() + 1, 0);
    return;
  }
  for (Node node = 0; node < nodes(); ++node) {
    const Step& step = this->step(node);
    if (step.verb != Verb::publish || cancelled(node)) continue;
    Node& publisher = publisher_[cell_number(rank_of(node), step.cell)];
    if (publisher != nothing) refuse(node, "step s" + std::to_string(index_of(publisher)) + " publishes the same cell");
    publisher = node;
  }
  for (Rank rank = 0; rank < size(); ++rank) {
    for (Node node = first_node(rank); node < first_node(rank + 1); ++node) {
      const Step& step = this->step(node);
      if (cancelled(node)) continue;
      if (step.verb == Verb::release) {
        if (releases_.size() > release_first_.back() && releases_.back().cell >= step.cell)
          refuse(node, "an earlier release covers the cell already");
        releases_.push_back({step.cell, node});
      } else if (step.verb == Verb::await) {
        if (step.peer != everyone) require_published(node, step.peer);
        if (step.peer == everyone)
          for (const Rank owner : ranks_of(host_of(rank)))
            if (owner != rank) require_published(node, owner);
      }
      for (const Slice* slice : {&step.source, &step.target})
        if (slice->buffer == Buffer::shared || slice->buffer == Buffer::exposed)
          require_reachable(node, *slice, slice == &step.target);
    }
    release_first_.push_back(releases_.size());
  }
}

void Operation::require_published(Node node, Rank owner) const {
  const Step& await = step(node);
  const Node publish = publisher(owner, await.cell);
  if (publish == nothing) refuse(node, "rank " + std::to_string(owner) + " does not publish that cell");
  if (step(publish).source.count != await.source.count)
    refuse(node, "it expects " + std::to_string(await.source.count) + " elements, but " + name(publish) +
                     " publishes " + std::to_string(step(publish).source.count));
}

void Operation::require_reachable(Node node, const Slice& slice, bool writes) const {
  const Node publish = publisher(slice.owner, slice.cell);
  if (publish == nothing)
    refuse(node,
           "cell " + std::to_string(slice.cell) + " of rank " + std::to_string(slice.owner) + " is never published");
  const Slice& content = step(publish).source;
  const bool exposes = content.buffer != Buffer::shared;
  if (exposes != (slice.buffer == Buffer::exposed))
    refuse(node, exposes ? "the cell exposes memory and holds no data; read it as exposed"
                         : "the cell holds data and exposes no memory; read it as shared");
  if (slice.owner == rank_of(node)) return;
  if (exposes && writes != step(publish).open)
    refuse(node, writes ? "it writes memory that " + name(publish) + " lets others read alone"
                        : "it reads memory that " + name(publish) + " lets others write alone");
  const Count begin = exposes ? 0 : content.offset;
  if (slice.offset < begin || slice.offset + slice.count > begin + content.count)
    refuse(node, std::string(writes ? "it writes" : "it reads") + " beyond what " + name(publish) + " makes visible");
}

Node Operation::release_of(Rank rank, std::int32_t cell) const {
  const auto all = releases(rank);
  const auto found = std::ranges::lower_bound(all, cell, {}, &Release::cell);
  return found == all.end() ? nothing : found->node;
}

}  // namespace tutti::plan
