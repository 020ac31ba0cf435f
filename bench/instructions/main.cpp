// SPDX-License-Identifier: BSD-3-Clause
// tutti-instructions FORM CALLS [ELEMENTS]: an 8-byte allreduce on four ranks, again and again, in the order in which
// nobody waits: one thread plays all four ranks in turn, so that each finds everything already there. Under callgrind
// the instructions inside `tutti_measured` are counted (scripts/instructions.py): what the path costs, on any machine,
// however busy.
//     blocking     the call of the rank that comes last
//     request      iallreduce and wait, of every rank
//     persistent   start and wait of an allreduce_init, of every rank
// tutti-instructions --build: what it was built with, as JSON. More ELEMENTS than one: for the
// test that shows that more work is noticed.
#include <array>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <mutex>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "job/inproc.hpp"
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

  explicit Players(std::size_t elements) {
    in.fill(std::vector<double>(elements));
    out = in;
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
};

/// One step of one rank.
struct Turn {
  Step step;
  bool measured;
};

/// What is played for each call, in this order.
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
    throw std::invalid_argument(std::string(form) + " is no form; use blocking, request or persistent");
  }
  return turns;
}

void play(Players& players, std::string_view form, int calls) {
  const std::vector<Turn> turns = turns_of(form, players);
  for (int call = 0; call < warm_up + calls; ++call) {
    for (std::size_t rank = 0; rank < ranks; ++rank) players.in[rank].back() = static_cast<double>(rank) + call;
    for (const Turn& turn : turns) turn.measured&& call >= warm_up ? tutti_measured(turn.step) : unmeasured(turn.step);
    for (const auto& out : players.out)
      if (out.back() != 6.0 + 4.0 * call) throw std::runtime_error("allreduce is wrong");
  }
  players.persistents.clear();
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
