// SPDX-License-Identifier: BSD-3-Clause
// A plan made ready to run: what can be computed once per plan is computed here.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "base/names.hpp"
#include "engine/exact.hpp"
#include "engine/layouts.hpp"
#include "engine/reduction.hpp"
#include "engine/slots.hpp"
#include "plan/plan.hpp"
#include "tutti/call.hpp"

namespace tutti::engine {

/// What a rank says about a call; equal on all ranks of a matching call.
struct Description {
  Kind kind = Kind::barrier;
  Type type = Type::opaque;
  Op op = Op::none;
  std::uint32_t element = 1;
  Count count = 0;
  Rank root = 0;
  std::int32_t algorithm = -1;    ///< Position in the registry.
  std::uint32_t agreed_hash = 0;  ///< Of what else is agreed: parameters, allgatherv's counts.
  Exactness exact = Exactness::none;
  base::Label label{};  ///< Of a user's plan, for messages; agreed_hash covers it.

  /// 32 bits that differ, with high probability, when anything above differs.
  std::uint32_t signature() const;
};

/// Where bytes lie, as far as the plan alone can say; an operation adds where its own buffers are.
struct Place {
  plan::Buffer buffer = plan::Buffer::none;
  std::int32_t cell = -1;
  Rank owner = -1;         ///< Row of the board.
  std::size_t offset = 0;  ///< Bytes.
  /// shared: the payload is too large for the cell. Of this rank's own, which of the plan's areas it is, in the order
  /// of its cells; of another's, which it is stands in the cell.
  std::int32_t area = no_area;
  static constexpr std::int32_t no_area = -1;

  Place from(std::size_t bytes) const { return {buffer, cell, owner, offset + bytes, area}; }
};

/// A step of a plan, in bytes: what the executor runs.
struct Instruction {
  plan::Verb verb = plan::Verb::copy;
  plan::Side side = plan::Side::left;
  bool any = false;
  bool at_once = false;  ///< copy, reduce: one piece, from memory that this process can address.
  bool simple = false;   ///< The same, and none of it an area; publish: of what lies in the cell.
  /// copy into an area: whether its source is better read where it lies, see lending.cpp; with_core: by a rank that
  /// shares its core with no other.
  enum class Lends : std::uint8_t { no, with_core, yes } lends = Lends::no;
  /// copy, of what no later step reads: past the caches, which all that the plan brings would overflow; or maybe, as
  /// an OutputWriter finds.
  enum class Streams : std::uint8_t { no, maybe, yes } streams = Streams::no;
  Rank peer = -1;  ///< Of a message: group rank; await: row of the board.
  std::int32_t cell = -1;
  std::uint32_t message = 0;
  std::int32_t transfer = -1;  ///< Index of its message, or -1.
  Place source, target;
  Place other{};            ///< reduce: what source is combined with, where that is not the target; else no buffer.
  Count count = 0;          ///< Elements that it moves, or that a cell must hold.
  std::size_t bytes = 0;    ///< The same in bytes.
  std::size_t landing = 0;  ///< recv_reduce: the message's place in scratch.
};

/// The rows of a group's board: its members on this host, ascending. Empty: all are.
struct Rows {
  std::span<const Rank> near;
  /// Of a member; what is no rank stays as it is.
  Rank operator()(Rank rank) const;
  /// How many ranks' blocks one payload may hold: a leader's, those of its whole host for all others.
  Rank blocks(Rank size) const { return near.empty() ? size : size * static_cast<Rank>(near.size()); }
};

/// An immutable plan made ready, with its dependency counts; shared by all operations that run it.
struct Bound {
  /// `laid_out`: only copies and reductions of the plan touch what does not lie side by side (plan::staged). With
  /// `exact`: the plan's elements are what `exact` says travels, and its sums are rounded once.
  Bound(plan::Plan plan, const Description& description, std::span<const Rank> near = {}, Layouts laid_out = {},
        const ExactCall* exact = nullptr);

  /// Payloads of fewer bytes are copied, wherever they lie: that costs no more than waiting for their readers.
  static constexpr std::size_t least_lent = 16 << 10;
  /// Whether all ranks have a reason to tell that they are done with a call's cells: whoever lends waits for them all.
  /// Where only some know the counts, others may take nothing; between neighbours, and in plans of the user's, most
  /// would be waited for in vain.
  static bool all_tell(Kind kind, Rank ranks);
  /// Bytes moved by one step before other operations get their turn.
  static constexpr std::size_t piece_bytes = 1 << 20;

  plan::Plan plan;
  Description description;
  std::uint32_t signature;
  std::uint64_t call_word;                ///< As host::Record has it.
  Kernel kernel;                          ///< Of a built-in reduction, or null.
  std::size_t element;                    ///< Bytes, as described.
  std::vector<Instruction> instructions;  ///< One per step.
  plan::Index steps;                      ///< How many.
  std::int32_t transfers = 0;
  std::size_t scratch_bytes = 0;
  std::size_t largest_landing = 0;
  bool exposes = false;  ///< Others may read this rank's memory while it runs, or write it,
  bool opens = false;    ///< and some of it they write.
  /// The steps can run strictly one after the other, as they stand: no publish or release then waits for an await that
  /// it does not come after anyway, or for readers that it does not wait for anyway. Such plans need no counting of
  /// edges.
  bool in_order = false;
  /// In order, and nothing else is to be done for it: the path of small calls, on which nobody asks what else there is.
  bool plain = false;
  bool may_lend = false;     ///< Some of its payloads may stay where they are, see lending.cpp.
  bool others_lend = false;  ///< Those of others may, who then wait until this rank is done with it.
  /// This rank publishes all that it has to, and then awaits all others of its host: as they do, most likely.
  bool mutual = false;
  bool messages = false;  ///< It may wait for a message, and not for cells alone.
  bool any = false;       ///< Has `after any` edges.
  bool areas = false;     ///< Writes or reads payloads that are too large for a cell.
  /// Cells that this rank may have read after it without saying so: it may then stay away or leave, and nobody shall
  /// wait for them.
  std::uint64_t most_untold = 0;
  struct Area {
    std::int32_t cell;
    Slots::Wanted wanted;
  };
  std::vector<Area> written;           ///< This rank's cells that have areas, ascending,
  std::size_t slots = 0;               ///< and how many slots they take.
  std::int32_t next_cells = 1;         ///< How many of its next cells this rank fetches ahead of its next call,
  std::size_t next_area = 0;           ///< and how much of its next area.
  std::unique_ptr<const Exact> exact;  ///< Of sums that are rounded once.
  // What every call reads stands together, before this.
  std::vector<plan::Index> starts;           ///< Steps without predecessors, last first: a stack.
  std::vector<std::uint32_t> missing;        ///< Predecessors per step (1 for `any`).
  std::vector<plan::Index> first_successor;  ///< size steps + 1
  std::vector<plan::Index> successors;
  Layouts layouts;

  std::size_t index_of(const Instruction& step) const { return static_cast<std::size_t>(&step - instructions.data()); }
  /// The one step of a send or recv that is a message: others pack what is laid out before it, or unpack after it.
  const Instruction& only_message() const;

 private:
  /// By (owner, cell) as `cell_key` has it: the cells whose payload is in an area. Owner and readers know it alike:
  /// from what is published, and from what is awaited.
  using Areas = std::set<std::uint64_t>;
  Areas find_areas(const Rows& rows) const;
  void link_steps();
  Instruction make_ready(const plan::Step& step, const Areas& in_areas, const Rows& rows);
  std::int32_t area_of(const plan::Slice& slice, const Areas& in_areas, const Rows& rows) const;
  void join_copies();
  // streams.cpp
  void find_streams(Rank ranks);
  // lending.cpp
  void find_lends(Rank row);
  Instruction::Lends lends(std::size_t bytes, bool waits_anyway) const;
  std::size_t beginning_of_area(Rank row) const;
  bool find_in_order() const;
  bool find_mutual(Rank ranks) const;
  bool awaits_all(Rank ranks) const;
};

}  // namespace tutti::engine
