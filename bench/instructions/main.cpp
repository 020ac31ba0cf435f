// SPDX-License-Identifier: BSD-3-Clause
// tutti-instructions FORM CALLS [ELEMENTS]: 8-byte collectives on four ranks, again and again, in the order in which
// nobody waits: one thread plays all four ranks in turn, so that each finds everything already there. Under callgrind
// the instructions inside `tutti_measured` are counted (scripts/instructions.py): what the path costs, on any machine,
// however busy.
//     blocking     the call of the rank that comes last
//     request      iallreduce and wait, of every rank
//     persistent   start and wait of an allreduce_init, of every rank
//     bcast, gatherv, scatterv, exscan   the blocking call in C, of every rank; the first three from or to rank 0
// The first three are forms of an allreduce.
// tutti-instructions --build: what it was built with, as JSON. More ELEMENTS than one: for the
// test that shows that more work is noticed.
#include <array>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <memory>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "c/guard.hpp"
#include "job/inproc.hpp"
#include "tutti/tutti.h"
#include "tutti/tutti.hpp"

namespace {

constexpr int ranks = 4;
/// Calls before those that count: plans are made and rings have gone around once.
constexpr int warm_up = 256;

using Step = std::function<void()>;

}  // namespace

/// The work after the step keeps the call from becoming a jump, after which callgrind would not see the end of it.
extern "C" [[gnu::noinline]] void tutti_measured(const Step& step) {
  step();
  asm volatile("" ::: "memory");
}

namespace {

void unmeasured(const Step& step) { step(); }

/// All four ranks, in the hands of one thread.
struct Players {
  std::vector<tutti::Group> worlds{ranks};
  std::array<std::vector<double>, ranks> in{}, out{};
  std::array<tutti::Request, ranks> requests{};
  std::vector<tutti::Persistent> persistents;
  // What C needs besides: of a call with counts, the root's blocks.
  std::vector<std::unique_ptr<tutti_group_handle>> handles;
  std::array<std::int64_t, ranks> counts{}, offsets{};
  std::vector<double> blocks;

  explicit Players(std::size_t elements) : blocks(ranks * elements) {
    in.fill(std::vector<double>(elements));
    out = in;
    counts.fill(static_cast<std::int64_t>(elements));
    for (std::size_t rank = 0; rank < ranks; ++rank) offsets[rank] = static_cast<std::int64_t>(rank * elements);
  }
  void make_handles() {
    for (const tutti::Group& world : worlds) handles.push_back(std::make_unique<tutti_group_handle>(world));
  }
  Step start(int rank) {
    const auto r = static_cast<std::size_t>(rank);
    return [this, r] { requests[r] = worlds[r].iallreduce(in[r], out[r], tutti::sum); };
  }
  Step wait(int rank) {
    return [this, r = static_cast<std::size_t>(rank)] { requests[r].wait(); };
  }
  Step blocking(int rank) {
    const auto r = static_cast<std::size_t>(rank);
    return [this, r] { worlds[r].allreduce(in[r], out[r], tutti::sum); };
  }
  Step start_again(int rank) {
    return [this, r = static_cast<std::size_t>(rank)] { persistents[r].start(); };
  }
  Step wait_again(int rank) {
    return [this, r = static_cast<std::size_t>(rank)] { persistents[r].wait(); };
  }
  Step bcast(int rank) {
    return [this, r = static_cast<std::size_t>(rank)] {
      expect(tutti_bcast(handles[r].get(), r == 0 ? in[r].data() : out[r].data(), counts[r], TUTTI_FLOAT64, 0));
    };
  }
  Step gatherv(int rank) {
    return [this, r = static_cast<std::size_t>(rank)] {
      expect(tutti_gatherv(handles[r].get(), in[r].data(), counts[r], blocks.data(), counts.data(), offsets.data(),
                           TUTTI_FLOAT64, 0));
    };
  }
  Step scatterv(int rank) {
    return [this, r = static_cast<std::size_t>(rank)] {
      expect(tutti_scatterv(handles[r].get(), blocks.data(), counts.data(), offsets.data(), out[r].data(), counts[r],
                            TUTTI_FLOAT64, 0));
    };
  }
  Step exscan(int rank) {
    return [this, r = static_cast<std::size_t>(rank)] {
      expect(tutti_exscan(handles[r].get(), in[r].data(), out[r].data(), counts[r], TUTTI_FLOAT64, TUTTI_SUM));
    };
  }
  static void expect(tutti_status status) {
    if (status != TUTTI_OK) throw std::runtime_error(tutti_last_error());
  }
  /// What the last rank, or the root, has got in the end: of ranks whose numbers are rank + call.
  double last(std::string_view form) const { return form == "gatherv" ? blocks.back() : out.back().back(); }
};

/// What it must be.
double expected(std::string_view form, int call) {
  if (form == "bcast" || form == "scatterv") return call;
  if (form == "gatherv") return 3.0 + call;
  if (form == "exscan") return 3.0 + 3.0 * call;
  return 6.0 + 4.0 * call;
}

/// One step of one rank.
struct Turn {
  Step step;
  bool measured;
};

/// What is played for each call in C, in this order.
std::vector<Turn> turns_in_c(std::string_view form, Players& players) {
  players.make_handles();
  std::vector<Turn> turns;
  for (int rank = 0; rank < ranks; ++rank) {
    if (form == "bcast") turns.push_back({players.bcast(rank), true});
    if (form == "gatherv") turns.push_back({players.gatherv(ranks - 1 - rank), true});  // the root last
    if (form == "scatterv") turns.push_back({players.scatterv(rank), true});
    if (form == "exscan") turns.push_back({players.exscan(rank), true});
  }
  if (turns.empty())
    throw std::invalid_argument(std::string(form) +
                                " is no form; use blocking, request, persistent, bcast, gatherv, scatterv or exscan");
  return turns;
}

/// The same for all forms.
std::vector<Turn> turns_of(std::string_view form, Players& players) {
  std::vector<Turn> turns;
  if (form == "blocking") {
    for (int rank = 0; rank + 1 < ranks; ++rank) turns.push_back({players.start(rank), false});
    turns.push_back({players.blocking(ranks - 1), true});
    for (int rank = 0; rank + 1 < ranks; ++rank) turns.push_back({players.wait(rank), false});
  } else if (form == "request") {
    for (int rank = 0; rank < ranks; ++rank) turns.push_back({players.start(rank), true});
    for (int rank = 0; rank < ranks; ++rank) turns.push_back({players.wait(rank), true});
  } else if (form == "persistent") {
    for (std::size_t rank = 0; rank < ranks; ++rank)
      players.persistents.push_back(
          players.worlds[rank].allreduce_init(players.in[rank], players.out[rank], tutti::sum));
    for (int rank = 0; rank < ranks; ++rank) turns.push_back({players.start_again(rank), true});
    for (int rank = 0; rank < ranks; ++rank) turns.push_back({players.wait_again(rank), true});
  } else {
    turns = turns_in_c(form, players);
  }
  return turns;
}

void play(Players& players, std::string_view form, int calls) {
  const std::vector<Turn> turns = turns_of(form, players);
  for (int call = 0; call < warm_up + calls; ++call) {
    for (std::size_t rank = 0; rank < ranks; ++rank) players.in[rank].back() = static_cast<double>(rank) + call;
    players.blocks.back() = call;
    for (const Turn& turn : turns) turn.measured&& call >= warm_up ? tutti_measured(turn.step) : unmeasured(turn.step);
    if (players.last(form) != expected(form, call)) throw std::runtime_error("the result is wrong");
  }
  players.persistents.clear();
  players.handles.clear();
}

void run(std::string_view form, int calls, int elements) {
  tutti::job::InprocOptions options;
  options.cores = ranks;
  Players players(static_cast<std::size_t>(elements));
  std::mutex lock;
  std::condition_variable changed;
  int arrived = 0;
  bool played = false;
  tutti::job::run_inproc(ranks, options, [&](tutti::Group world) {
    std::unique_lock guard(lock);
    players.worlds[static_cast<std::size_t>(world.rank())] = std::move(world);
    if (++arrived < ranks) return changed.wait(guard, [&] { return played; });
    // The last one plays; whatever happens, the others go home.
    const auto leave = [&] {
      played = true;
      changed.notify_all();
    };
    try {
      play(players, form, calls);
    } catch (...) {
      leave();
      throw;
    }
    leave();
  });
}

}  // namespace

int main(int argc, char** argv) {
  if (argc == 2 && std::string_view(argv[1]) == "--build") {
    std::printf("{\"compiler\": \"%s\", \"flags\": \"%s\", \"processor\": \"%s\"}\n", INSTRUCTIONS_COMPILER,
                INSTRUCTIONS_FLAGS, INSTRUCTIONS_PROCESSOR);
    return 0;
  }
  try {
    if (argc < 3) throw std::invalid_argument("say which form, and how many calls; scripts/instructions.py does");
    run(argv[1], std::atoi(argv[2]), argc > 3 ? std::atoi(argv[3]) : 1);
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "tutti-instructions: %s\n", error.what());
    return 1;
  }
}
