// SPDX-License-Identifier: BSD-3-Clause
#include "plan/symbolic.hpp"

#include <algorithm>

#include "plan/text.hpp"

namespace tutti::plan {

void Symbolic::run(const Operation& operation, const Order& order, const Contract* contract, Node unknown, Count from) {
  operation_ = &operation;
  unknown_ = unknown;
  unknown_from_ = from;
  prepare(contract);
  for (const Node event : order.events())
    if (event < operation.nodes()) execute(event);
  if (contract != nullptr) compare(*contract);
}

/// Input, output and scratch of a rank lie together, all cells after those of all ranks.
Contents& Symbolic::contents(Rank rank, Buffer buffer, std::int32_t cell) {
  const auto owner = static_cast<std::size_t>(rank);
  if (buffer != Buffer::shared) return contents_[owner * 3 + static_cast<std::size_t>(buffer) - 1];
  const auto size = static_cast<std::size_t>(operation_->size());
  return contents_[size * 3 + operation_->cell_number(rank, cell)];
}

void Symbolic::prepare(const Contract* contract) {
  const auto size = static_cast<std::size_t>(operation_->size());
  const std::size_t buffers = size * 3 + operation_->cells();
  if (contents_.size() < buffers) contents_.resize(buffers);
  for (std::size_t i = 0; i < buffers; ++i) contents_[i].clear();
  // Without a contract the output has contributions of its own, as if of further ranks.
  values_.reset(unknown_value() + 1);
  for (Rank rank = 0; rank < operation_->size(); ++rank) {
    if (contract == nullptr) {
      constexpr Count all = std::numeric_limits<Count>::max();
      const auto leaf = static_cast<std::uint32_t>(rank);
      source_.assign(1, {0, all, {leaf, 0}});
      contents(rank, Buffer::input).write(0, all, source_, fresh_);
      source_.assign(1, {0, all, {leaf + static_cast<std::uint32_t>(size), 0}});
      contents(rank, Buffer::output).write(0, all, source_, fresh_);
      continue;
    }
    for (const Piece& piece : contract->ranks[static_cast<std::size_t>(rank)].before) {
      if (piece.count == 0) continue;
      const Count end = piece.offset + piece.count;
      source_.assign(1, {piece.offset, end, values_.make(piece.value, piece.offset)});
      contents(rank, piece.buffer).write(piece.offset, end, source_, fresh_);
    }
  }
}

void Symbolic::execute(Node node) {
  const Step& step = operation_->step(node);
  if (operation_->cancelled(node)) return forget(node);
  switch (step.verb) {
    case Verb::send: {
      const Node receipt = operation_->partner(node);
      return transfer(node, step.source, receipt, operation_->step(receipt));
    }
    case Verb::copy:
    case Verb::reduce:
      return transfer(node, step.source, node, step);
    case Verb::publish:
      if (step.source.buffer != Buffer::shared) return;
      source_.clear();
      return read(node, operation_->rank_of(node), step.source, 0, source_);
    case Verb::recv:
    case Verb::recv_reduce:
    case Verb::await:
    case Verb::release:
      return;
  }
}

/// A cancelled step may have written a part of its target.
void Symbolic::forget(Node node) {
  const Slice& target = operation_->step(node).target;
  if (target.buffer == Buffer::none) return;
  source_.clear();
  const Place to = place(operation_->rank_of(node), target);
  to.contents->write(to.begin, to.end, source_, fresh_);
}

void Symbolic::transfer(Node reader, const Slice& source, Node writer, const Step& into) {
  const Rank rank = operation_->rank_of(writer);
  const Place to = place(rank, into.target);
  source_.clear();
  read(reader, operation_->rank_of(reader), source, to.begin, source_);
  if (reduces(into.verb)) {
    target_.clear();
    read(writer, rank, into.target, to.begin, target_);
    combine(into.side);
    to.contents->write(to.begin, to.end, combined_, fresh_);
  } else {
    to.contents->write(to.begin, to.end, source_, fresh_);
  }
  if (writer != unknown_ || to.begin + unknown_from_ >= to.end) return;
  source_.assign(1, {to.begin + unknown_from_, to.end, {unknown_value(), 0}});
  to.contents->write(to.begin + unknown_from_, to.end, source_, fresh_);
}

Symbolic::Place Symbolic::place(Rank rank, const Slice& slice) {
  if (slice.buffer == Buffer::exposed) {
    const Slice& exposed = operation_->step(operation_->publisher(slice.owner, slice.cell)).source;
    const Count begin = exposed.offset + slice.offset;
    return {&contents(slice.owner, exposed.buffer), begin, begin + slice.count};
  }
  const bool cell = slice.buffer == Buffer::shared;
  return {&contents(cell ? slice.owner : rank, slice.buffer, slice.cell), slice.offset, slice.offset + slice.count};
}

void Symbolic::read(Node node, Rank rank, const Slice& slice, Count to, std::vector<Extent>& out) {
  const Place from = place(rank, slice);
  Count undefined = 0;
  if (from.contents->read(from.begin, from.end, to, out, undefined)) return;
  Slice element = slice;
  element.offset += undefined - from.begin;
  const std::string where = slice.buffer == Buffer::shared || slice.buffer == Buffer::exposed
                                ? " of rank " + std::to_string(slice.owner) + "'s cell " + std::to_string(slice.cell)
                                : "";
  operation_->refuse(node, "it reads " + std::string(word(slice.buffer)) + "[" + std::to_string(element.offset) + "]" +
                               where + ", which is undefined: nothing wrote it before");
}

/// combined_ = source_ and target_, which cover the same elements, split at the borders of both.
void Symbolic::combine(Side side) {
  combined_.clear();
  auto a = source_.begin();
  auto b = target_.begin();
  for (Count at = source_.empty() ? 0 : a->begin; a != source_.end() && b != target_.end();) {
    const Count end = std::min(a->end, b->end);
    const Symbol both =
        side == Side::left ? values_.combine(a->symbol, b->symbol) : values_.combine(b->symbol, a->symbol);
    append(combined_, {at, end, both});
    if (a->end == end) ++a;
    if (b->end == end) ++b;
    at = end;
  }
}

void Symbolic::compare(const Contract& contract) {
  for (Rank rank = 0; rank < operation_->size(); ++rank)
    for (const Piece& piece : contract.ranks[static_cast<std::size_t>(rank)].after)
      compare_piece(rank, piece, contract.commutative);
}

void Symbolic::compare_piece(Rank rank, const Piece& piece, bool commutative) {
  Count undefined = 0;
  source_.clear();
  const Count end = piece.offset + piece.count;
  const std::string buffer(word(piece.buffer));
  if (!contents(rank, piece.buffer).read(piece.offset, end, piece.offset, source_, undefined))
    throw Refusal{rank, Verdict::no_step, "it ends with " + buffer + "[" + std::to_string(undefined) + "] undefined"};
  for (const Extent& extent : source_) {
    if (values_.equals(extent.symbol, piece.value, piece.offset, commutative)) continue;
    const Symbol expected = values_.make(piece.value, piece.offset);
    throw Refusal{rank, Verdict::no_step,
                  "it ends with " + buffer + "[" + std::to_string(extent.begin) + ".." + std::to_string(extent.end) +
                      ") holding " + values_.describe(extent.symbol, extent.begin) +
                      " (its first element), but must hold " + values_.describe(expected, extent.begin)};
  }
}

}  // namespace tutti::plan
