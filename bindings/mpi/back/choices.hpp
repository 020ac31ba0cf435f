// SPDX-License-Identifier: BSD-3-Clause
// The trials of one communicator: of each collective, form and size.
#pragma once

#include <array>
#include <mutex>
#include <vector>

#include "job/runtime.hpp"
#include "trials.hpp"
#include "tutti/call.hpp"

namespace tutti::mpi {

/// Persistent collectives go the way of one of these.
enum class Form : std::uint8_t { blocking, starting };
constexpr int forms = 2;

/// Sizes are told apart by powers of two; 0: not known alike on all ranks, 1: no bytes.
constexpr int size_classes = 48;
int size_class(Count bytes);
/// The fewest bytes of a class.
constexpr Count smallest_of(int size_class) { return size_class < 2 ? 0 : Count{1} << (size_class - 2); }

/// One collective in one form at one size.
struct Watched {
  Trials trials;
  int open = 0;  ///< Measured requests that are not complete.
};

class Choices {
 public:
  /// Of the same call on all ranks the same.
  Watched& of(Kind kind, Form form, Count bytes) {
    const std::size_t number = row_of(kind, form);
    Row& row = rows_[number];
    if (row.empty()) row = make_row(number);
    return row[static_cast<std::size_t>(size_class(bytes))];
  }
  /// Whether a trial of that collective at that size has shown a gain.
  bool gains(Kind kind, Count bytes);

  /// Who serves a call of these, and where its time belongs.
  Trials::Turn next(Trials& trials, Form form) { return stages_[static_cast<std::size_t>(form)].next(trials); }

  /// What a call changes, so that one which was none can be taken back.
  struct Before {
    Stage stage;
    Trials::Mark mark{};
  };
  Before before(const Trials& trials, Form form) const {
    return {stages_[static_cast<std::size_t>(form)], trials.mark()};
  }
  void take_back(Watched& watched, Form form, const Before& before);

  /// The ranks shall add up what these trials have measured, in the next blocking collective that all of them make.
  void wait_for_agreement(Watched& watched) { due_.push_back({&watched, 0, 0}); }
  bool due() const { return !due_.empty(); }
  /// Collective. Throws what an allreduce throws.
  void agree(job::Member& member, int ranks);

  /// The last blocking call, if it was measured. What it saves by leaving early the next call pays for by waiting: both
  /// belong to it.
  struct Last {
    Watched* watched = nullptr;
    int sample = -1;
  } last;

  /// Requests are completed by any thread; all else is done by the one that makes the communicator's next call.
  std::mutex lock;

 private:
  using Row = std::vector<Watched>;
  struct Due {
    Watched* watched;
    int delay;    ///< Requests were open on some rank: that many calls of `agree` were let go last time.
    int waiting;  ///< And that many are still to be let go.
  };
  static std::size_t row_of(Kind kind, Form form) {
    return static_cast<std::size_t>(kind) * forms + static_cast<std::size_t>(form);
  }
  static Row make_row(std::size_t number);

  std::array<Row, static_cast<std::size_t>(kinds) * forms> rows_;
  std::vector<Due> due_;
  std::array<Stage, forms> stages_;  ///< Programs may mix the forms in another order on each rank.
};

}  // namespace tutti::mpi
