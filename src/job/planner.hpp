// SPDX-License-Identifier: BSD-3-Clause
// From a call to a plan that is ready to run: checks, selection, cache.
#pragma once

#include <array>
#include <list>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "collectives/collective.hpp"
#include "engine/bound.hpp"
#include "job/topology.hpp"
#include "tune/table.hpp"
#include "tutti/call.hpp"

namespace tutti::job {

/// What all ranks of a job have agreed on.
struct Agreed {
  std::shared_ptr<const tune::Table> table;
  bool single_copy = false;
  bool board = false;         ///< Ranks of a group that share a host share a board.
  std::vector<Rank> hosts{};  ///< Of each rank of the group, by their lowest ranks; empty: all share one.
  std::size_t segment = 0;    ///< Bytes that pipelines between hosts cut nothing finer than; 0: cells say.
};

/// What to say of a buffer whose layout ends before the bytes that are needed of it; empty: it has them, or no layout.
std::string shortage(std::string_view buffer, const Layout* layout, Count bytes);

/// One per group. Used under the group's rule that one thread at a time starts operations: its turn guards this.
class Planner {
 public:
  Planner(Rank rank, Rank size, std::string group, Agreed agreed, std::shared_ptr<const Topology> topology = {});

  /// Throws Error (usage) for a wrong call, before anything is sent. What it returns stays until the next call.
  const std::shared_ptr<const engine::Bound>& prepare(const Call& call);
  const Agreed& agreed() const { return agreed_; }
  /// Of this rank, as engine::Rows has it.
  std::span<const Rank> near() const { return near_; }
  /// What would run; for `tutti info` and tests.
  tune::Choice choose(const Call& call) const;

 private:
  /// What the plan of a call depends on; the counts of a v-form, the algorithm and layouts apart, if they are given.
  struct Key {
    // In the last word, behind root and operation.
    static constexpr std::uint64_t not_all = std::uint64_t{1} << 41, laid_out = std::uint64_t{1} << 42;
    static constexpr int hash_shift = 43;
    std::uint64_t what = ~std::uint64_t{0};  ///< Of no call.
    std::uint64_t count = 0, others = 0;
    Key() = default;
    explicit Key(const Call& call);
    void add_others(const Call& call);
    bool is_all() const { return (others & not_all) == 0; }
    bool is_laid_out() const { return (others & laid_out) != 0; }
    std::size_t slot() const;
    bool operator==(const Key& that) const {
      return ((what ^ that.what) | (count ^ that.count) | (others ^ that.others)) == 0;
    }
  };
  struct Entry {
    Key key;  ///< Of no call: the entry is empty.
    std::shared_ptr<const engine::Bound> bound;
    std::string algorithm;
    std::array<std::size_t, 4> counted{};  ///< How many numbers of each of the call's arrays
    std::vector<Count> counts;             ///< stand here, one array after the other.
    engine::Layouts layouts;
    Count own = 0;  // part of the key of a fold whose input is laid out
    bool matches(const Key& given, const Call& call) const {
      return key == given && (given.is_all() || same_others(given, call));
    }
    bool same_others(const Key& given, const Call& call) const;
    bool same_counts(const Call& call) const;
    bool same_layouts(const Call& call) const;
  };
  /// The calls of one slot: a program may alternate between some that fall into the same.
  struct Set {
    static constexpr std::size_t most_others = 3;
    Entry first;
    std::vector<Entry> others;
    std::size_t replaced = 0;
    Entry* find(const Key& key, const Call& call);
    /// A place for one more: an empty one, else that of each in turn.
    Entry& place();
  };
  Entry* find_long(const Key& key, const Call& call);
  Entry& place_of_long(std::size_t steps);
  const std::shared_ptr<const engine::Bound>& prepare_other(Set& set, const Key& key, const Call& call);
  void check(const Call& call) const;
  void check_varying(const Call& call) const;
  void check_exact(const Call& call) const;
  /// How far a call reaches in its buffers, in elements, and whether it writes.
  struct Reach {
    Count input = 0, output = 0;
    bool writes = false;
  };
  void check_layouts(const Call& call, const Reach& reach) const;
  void check_neighbors(const Call& call) const;
  /// A call of a plan that the user has built (planner_plan.cpp).
  void check_plan(const Call& call) const;
  std::shared_ptr<const engine::Bound> make_plan(const Call& call) const;
  [[noreturn]] void refuse(const Call& call, const std::string& text) const;
  collectives::Shape shape(const Call& call) const;
  std::shared_ptr<const engine::Bound> make(const Call& call);
  /// A call whose sums are rounded once (planner_exact.cpp).
  bool is_exact(const Call& call) const;
  std::shared_ptr<const engine::Bound> make_exact(const Call& call);
  engine::ExactCall exact_call(const Call& call) const;
  /// The plan of `carried`, the call that travels, as that of `call`, the user's.
  std::shared_ptr<const engine::Bound> bind(const Call& call, const Call& carried, const tune::Choice& choice,
                                            const engine::ExactCall* exact) const;

  Rank rank_, size_;
  std::string group_;
  Agreed agreed_;
  std::vector<Rank> near_;
  std::shared_ptr<const Topology> topology_;  // none: a group without neighbours
  std::array<Set, 64> cache_;
  /// Plans through cells grow with the data, some 250 bytes a step: of long ones as many are kept as have so many steps
  /// in all, or the last one. The last used are in front.
  static constexpr std::size_t long_steps = 8192, most_steps = 1 << 18;
  std::list<Entry> long_ones_;
};

}  // namespace tutti::job
