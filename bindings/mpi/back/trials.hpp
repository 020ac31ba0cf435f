// SPDX-License-Identifier: BSD-3-Clause
// Whether a collective at a size goes through Tutti or the MPI: by trials of the program's own calls. Blocks of calls
// alternate between the two (ABBA); at the 2^k-th call of the trials the ranks add up what each has measured, so that
// all of them decide alike.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>
#include <vector>

namespace tutti::mpi {

enum class Side : std::uint8_t { mpi, tutti };

class Trials {
 public:
  /// `block`: calls in a row by one side. Of several the first is not measured: it pays for the change. `lot`: the same
  /// on all ranks, another for each collective: what one of them costs depends on who served the one before, and two
  /// whose trials kept step would each be charged with the other. `pairs`, a power of two: of blocks, at most.
  explicit Trials(int block = 4, std::uint64_t lot = 0, int pairs = 64) : block_(block), last_(pairs), lot_(lot) {}

  /// Who serves the next call, and where its time belongs: -1 when it need not be measured.
  struct Turn {
    Side side;
    int sample;
  };
  Turn next() {
    if (left_ > 0) {
      --left_;
      return {side_, -1};
    }
    return next_of_trial();
  }
  /// Where the next call stands; and back there, if the last one was none.
  struct Mark {
    std::int64_t left;
    int calls;
  };
  Mark mark() const { return {left_, calls_}; }
  void take_back(const Mark& mark);
  /// Lends the calls until trials begin, but for the last, so that somebody else may count them: they go by `side`.
  std::int64_t lend() { return left_ > 1 ? std::exchange(left_, 1) - 1 : 0; }
  void give_back(std::int64_t calls) { left_ += calls; }
  void measured(int sample, std::int64_t nanoseconds) { times_[2 * static_cast<std::size_t>(sample)] += nanoseconds; }
  /// The collective behind a measured one: what a call saves by leaving early, that one pays for by waiting.
  void followed(int sample, std::int64_t nanoseconds) {
    times_[2 * static_cast<std::size_t>(sample) + 1] += nanoseconds;
  }

  /// The ranks have to add up `times` before the trials go on. Calls in between go as they went before.
  bool due() const { return due_; }
  std::span<std::int64_t> times() { return std::span(times_).subspan(agreed_); }
  /// `times` are sums over all ranks now. The same on all ranks, and so is what comes of it.
  void decide(int ranks);

  /// Between trials: calls go by `side`, and are counted.
  bool resting() const { return left_ > 0; }
  /// Who serves it between trials; the MPI, until the first of them have shown something.
  Side side() const { return side_; }
  bool concluded() const { return concluded_; }
  /// What Tutti saves in one call on each rank, by the last trials; negative: costs.
  std::int64_t gain() const { return gain_; }

 private:
  enum class Verdict : std::uint8_t { open, mpi, tutti };
  /// What a block took: its calls themselves, and with those behind them.
  struct Taken {
    std::int64_t own, total;
  };
  /// Two blocks side by side, one of each side.
  struct Pair {
    Taken mpi, tutti;
  };

  Turn next_of_trial();
  bool mpi_first(std::size_t pair) const;
  Taken taken(std::size_t block) const { return {times_[2 * block], times_[2 * block] + times_[2 * block + 1]}; }
  std::vector<Pair> pairs() const;
  Verdict verdict(const std::vector<Pair>& pairs) const;
  void conclude(Side side, int ranks, const std::vector<Pair>& pairs);

  int block_;
  int last_;
  std::uint64_t lot_;
  Side side_ = Side::mpi;
  bool due_ = false;
  std::int64_t left_ = 0;  ///< Calls until trials begin.
  int calls_ = 0;          ///< Of the present trials.
  int pairs_ = first;      ///< Pairs of blocks until the ranks agree.
  int hasty_ = 0;          ///< Trials in a row that were broken off, all with the same end.
  bool concluded_ = false;
  std::int64_t gain_ = 0;
  std::vector<std::int64_t> times_;  ///< Of the blocks of the present trials, two each: own, and behind them.
  std::size_t agreed_ = 0;           ///< The first of them are sums over all ranks.

  static constexpr int first = 2;
};

/// Several trials of one program take place one after another: what a collective costs depends on who serves its
/// neighbours, so that what is found for one holds only while they stay as they are.
class Stage {
 public:
  /// Who serves the next call of these, and where its time belongs. The same on all ranks, which make the same calls in
  /// the same order. Whoever has never been tried goes along with the trials that take place: a collective and the one
  /// behind it, both by Tutti, may gain where either alone does not, since each side finds warm what it left itself.
  Trials::Turn next(Trials& trials) {
    if (trials.resting()) return trials.next();
    if (!admits(trials)) return {trials.concluded() ? trials.side() : side_, -1};
    const Trials::Turn turn = trials.next();
    side_ = turn.side;
    return turn;
  }

 private:
  /// Whether these go on with this call.
  bool admits(const Trials& trials) {
    if (on_ != &trials && on_ != nullptr && !on_->resting() && ++passed_ <= patience) return false;
    on_ = &trials;
    passed_ = 0;
    return true;
  }

  const Trials* on_ = nullptr;
  Side side_ = Side::mpi;              ///< Of the last call of `on_`.
  int passed_ = 0;                     ///< Calls of others that wait, since the last one of `on_`.
  static constexpr int patience = 64;  ///< Some are never called again.
};

}  // namespace tutti::mpi
