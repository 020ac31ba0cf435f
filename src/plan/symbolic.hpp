// SPDX-License-Identifier: BSD-3-Clause
// Runs plans on symbolic values and compares what they leave behind with the contract.
#pragma once

#include <vector>

#include "plan/contents.hpp"
#include "plan/operation.hpp"
#include "plan/order.hpp"
#include "plan/values.hpp"

namespace tutti::plan {

class Symbolic {
 public:
  /// Throws Refusal when a step reads undefined data, or when the contract is not kept. Without a contract, input and
  /// output begin defined and may end with anything. The plans must have an order and no races.
  /// What step `unknown` writes from its element `from` on counts as a value that no contract names.
  void run(const Operation& operation, const Order& order, const Contract* contract, Node unknown = nothing,
           Count from = 0);

 private:
  struct Place {
    Contents* contents;
    Count begin, end;
  };

  void prepare(const Contract* contract);
  void execute(Node node);
  void transfer(Node reader, const Slice& source, Node writer, const Step& into);
  void forget(Node node);
  void compare(const Contract& contract);
  void compare_piece(Rank rank, const Piece& piece, bool commutative);
  Place place(Rank rank, const Slice& slice);
  Contents& contents(Rank rank, Buffer buffer, std::int32_t cell = -1);
  void read(Node node, Rank rank, const Slice& slice, Count to, std::vector<Extent>& out);
  void combine(Side side);
  std::uint32_t unknown_value() const { return 2 * static_cast<std::uint32_t>(operation_->size()); }

  const Operation* operation_ = nullptr;
  Node unknown_ = nothing;
  Count unknown_from_ = 0;
  Values values_;
  std::vector<Contents> contents_;
  std::vector<Extent> source_, target_, combined_, fresh_;
};

}  // namespace tutti::plan
