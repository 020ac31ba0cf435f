// SPDX-License-Identifier: BSD-3-Clause
// The sleep and wake protocol of waiting.cpp on a model of weakly ordered memory: each thread has a buffer of stores
// that reach memory late, in the order of each variable, and release stores after all before them. All interleavings
// are visited. A lost wake-up is a state in which nothing can move and a thread still sleeps. Leaving out any part of
// the protocol must lose one: that is what proves the model.
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>
#include <vector>

namespace tutti::host {
namespace {

enum class Do : std::uint8_t {
  store,         // variable = value
  store_if_one,  // variable = (register == 1 ? value : 9)
  store_register,
  release,  // as store, after all earlier stores
  load,     // register = variable
  add,      // register += value
  fence,
  fence_in,   // of thread `value`: its stores so far reach memory
  increment,  // variable + 1 in memory, after all earlier stores
  lock,
  jump_if,      // to target when register == value
  jump_unless,  // to target when register != value
  sleep,        // while variable == register
  wake,         // who sleeps on variable
  end,
};

struct Instruction {
  Do what;
  int variable = 0, reg = 0, value = 0, target = 0;
};
using Program = std::vector<Instruction>;

// What the sleeping process shows, and what is published.
enum Variable { bit, asleep, awaited, word, mutex, threads, first_data, second_data, fencing, variables };
constexpr int anything = 9;  // stands for awaited == -1

struct Store {
  std::int8_t variable, value;
  bool release;
};
struct Thread {
  std::int8_t at = 0;
  bool sleeping = false;
  std::int8_t registers[3] = {};
  std::vector<Store> buffer;
};
struct State {
  std::int8_t memory[variables] = {};
  std::vector<Thread> all;

  std::string key() const {
    std::string text(reinterpret_cast<const char*>(memory), sizeof memory);
    for (const Thread& thread : all) {
      text += static_cast<char>(thread.at);
      text += static_cast<char>(thread.sleeping);
      text.append(reinterpret_cast<const char*>(thread.registers), sizeof thread.registers);
      for (const Store& store : thread.buffer) {
        text += static_cast<char>(store.variable * 2 + (store.release ? 1 : 0));
        text += static_cast<char>(store.value);
      }
      text += '\xff';
    }
    return text;
  }
};

class Model {
 public:
  explicit Model(std::vector<Program> programs, int fencing_at_first = 0)
      : programs_(std::move(programs)), fencing_at_first_(fencing_at_first) {}

  /// Visits everything; true when some end has a sleeper.
  bool loses_a_wake_up() {
    State start;
    start.all.resize(programs_.size());
    start.memory[awaited] = anything;
    start.memory[fencing] = static_cast<std::int8_t>(fencing_at_first_);
    std::vector<State> open;
    visit(start, open);
    while (!open.empty()) {
      const State state = std::move(open.back());
      open.pop_back();
      bool moved = false;
      for (std::size_t t = 0; t < programs_.size(); ++t) {
        const bool drained = drain(state, t, open), stepped = step(state, t, open);
        moved = moved || drained || stepped;
      }
      if (!moved && std::any_of(state.all.begin(), state.all.end(), [](const Thread& t) { return t.sleeping; }))
        return true;
    }
    return false;
  }
  std::size_t states() const { return seen_.size(); }

 private:
  void visit(const State& state, std::vector<State>& open) {
    if (seen_.insert(state.key()).second) open.push_back(state);
  }

  /// Lets any store that may go next reach memory.
  bool drain(const State& state, std::size_t t, std::vector<State>& open) {
    const std::vector<Store>& buffer = state.all[t].buffer;
    for (std::size_t i = 0; i < buffer.size(); ++i) {
      const bool same_before = std::any_of(buffer.begin(), buffer.begin() + static_cast<std::ptrdiff_t>(i),
                                           [&](const Store& s) { return s.variable == buffer[i].variable; });
      if (same_before || (buffer[i].release && i > 0)) continue;
      State next = state;
      next.memory[buffer[i].variable] = buffer[i].value;
      next.all[t].buffer.erase(next.all[t].buffer.begin() + static_cast<std::ptrdiff_t>(i));
      visit(next, open);
    }
    return !buffer.empty();
  }

  static std::int8_t read(const State& state, const Thread& thread, int variable) {
    for (auto i = thread.buffer.rbegin(); i != thread.buffer.rend(); ++i)
      if (i->variable == variable) return i->value;
    return state.memory[variable];
  }

  /// One instruction of thread t, when it can go on.
  bool step(const State& state, std::size_t t, std::vector<State>& open) {
    const Instruction& now = programs_[t][static_cast<std::size_t>(state.all[t].at)];
    if (state.all[t].sleeping || now.what == Do::end) return false;
    const bool waits_for_stores =
        now.what == Do::fence || now.what == Do::increment || now.what == Do::sleep || now.what == Do::wake;
    if (waits_for_stores && !state.all[t].buffer.empty()) return false;
    if (now.what == Do::lock && state.memory[now.variable] != 0) return false;
    State next = state;
    execute(now, next, next.all[t]);
    visit(next, open);
    return true;
  }

  static void empty_buffer(State& state, Thread& thread) {
    for (const Store& store : thread.buffer) state.memory[store.variable] = store.value;
    thread.buffer.clear();
  }

  static void execute(const Instruction& now, State& state, Thread& thread) {
    std::int8_t& reg = thread.registers[now.reg];
    const auto value = static_cast<std::int8_t>(now.value);
    const auto variable = static_cast<std::int8_t>(now.variable);
    ++thread.at;
    switch (now.what) {
      case Do::store:
      case Do::release:
        thread.buffer.push_back({variable, value, now.what == Do::release});
        break;
      case Do::store_if_one:
        thread.buffer.push_back({variable, reg == 1 ? value : std::int8_t{anything}, false});
        break;
      case Do::store_register:
        thread.buffer.push_back({variable, reg, false});
        break;
      case Do::load:
        reg = read(state, thread, now.variable);
        break;
      case Do::add:
        reg = static_cast<std::int8_t>(reg + value);
        break;
      case Do::fence_in:
        empty_buffer(state, state.all[static_cast<std::size_t>(now.value)]);
        break;
      case Do::increment:
        ++state.memory[now.variable];
        break;
      case Do::lock:
        state.memory[now.variable] = 1;
        break;
      case Do::jump_if:
        if (reg == value) thread.at = static_cast<std::int8_t>(now.target);
        break;
      case Do::jump_unless:
        if (reg != value) thread.at = static_cast<std::int8_t>(now.target);
        break;
      case Do::sleep:
        thread.sleeping = state.memory[now.variable] == reg;
        break;
      case Do::wake:
        for (Thread& other : state.all) other.sleeping = false;
        break;
      case Do::fence:
      case Do::end:
        break;
    }
  }

  std::vector<Program> programs_;
  int fencing_at_first_;
  std::unordered_set<std::string> seen_;
};

/// Deviations from the protocol.
struct Mutant {
  bool no_fence_in_announce = false, no_fence_in_announce_again = false, no_fence_in_ring = false;
  bool word_read_after_poll = false, word_not_bumped = false, ring_before_publish = false;
  bool second_thread_sets_awaited = false, retract_forgets_others = false;
};

constexpr int heard = 0, seen = 1, count = 2;  // registers

void add_announce(Program& program, int waits_for, const Mutant& mutant) {
  program.push_back({Do::lock, mutex});
  program.push_back({Do::load, threads, count});
  program.push_back({Do::add, 0, count, 1});
  program.push_back({Do::store_register, threads, count});
  if (mutant.second_thread_sets_awaited)
    program.push_back({Do::store, awaited, 0, waits_for});
  else
    program.push_back({Do::store_if_one, awaited, count, waits_for});
  program.push_back({Do::store_register, asleep, count});
  program.push_back({Do::store, bit, 0, 1});
  program.push_back({Do::release, mutex, 0, 0});
  if (!mutant.no_fence_in_announce) program.push_back({Do::fence});
}

void add_announce_again(Program& program, int waits_for, const Mutant& mutant) {
  program.push_back({Do::lock, mutex});
  program.push_back({Do::load, threads, count});
  program.push_back({Do::store_if_one, awaited, count, waits_for});
  program.push_back({Do::release, mutex, 0, 0});
  if (!mutant.no_fence_in_announce_again) program.push_back({Do::fence});
}

/// Polls, sleeps, polls again, until the data is there.
void add_wait(Program& program, int data, const Mutant& mutant) {
  if (!mutant.word_read_after_poll) program.push_back({Do::load, word, heard});
  const int poll = static_cast<int>(program.size());
  program.push_back({Do::load, data, seen});
  constexpr int length = 4;
  program.push_back({Do::jump_if, 0, seen, 1, poll + 1 + length});
  if (mutant.word_read_after_poll) program.push_back({Do::load, word, heard});
  program.push_back({Do::sleep, word, heard});
  if (!mutant.word_read_after_poll) program.push_back({Do::load, word, heard});
  program.push_back({Do::jump_unless, 0, seen, 1, poll});
}

void add_retract(Program& program, const Mutant& mutant) {
  program.push_back({Do::lock, mutex});
  program.push_back({Do::load, threads, count});
  program.push_back({Do::add, 0, count, -1});
  program.push_back({Do::store_register, threads, count});
  program.push_back({Do::store_register, asleep, count});
  if (!mutant.retract_forgets_others)
    program.push_back({Do::jump_unless, 0, count, 0, static_cast<int>(program.size()) + 2});
  program.push_back({Do::store, bit, 0, 0});
  program.push_back({Do::release, mutex, 0, 0});
}

Program sleeper(int data, int waits_for, const Mutant& mutant) {
  Program program;
  add_announce(program, waits_for, mutant);
  add_wait(program, data, mutant);
  add_retract(program, mutant);
  program.push_back({Do::end});
  return program;
}

/// Waits for both data, one after the other, in one round.
Program sleeper_for_two(const Mutant& mutant) {
  Program program;
  add_announce(program, 1, mutant);
  add_wait(program, first_data, mutant);
  add_announce_again(program, 2, mutant);
  add_wait(program, second_data, mutant);
  add_retract(program, mutant);
  program.push_back({Do::end});
  return program;
}

Program publisher(int data, int self, const Mutant& mutant) {
  Program program;
  if (!mutant.ring_before_publish) program.push_back({Do::release, data, 0, 1});
  if (!mutant.no_fence_in_ring) program.push_back({Do::fence});
  const int ring = static_cast<int>(program.size());
  const int out = ring + 8;
  program.push_back({Do::load, bit, 0});
  program.push_back({Do::jump_if, 0, 0, 0, out});
  program.push_back({Do::load, asleep, 0});
  program.push_back({Do::jump_if, 0, 0, 0, out});
  program.push_back({Do::load, awaited, 0});
  program.push_back({Do::jump_if, 0, 0, self == 1 ? 2 : 1, out});  // he awaits the other one
  program.push_back(mutant.word_not_bumped ? Instruction{Do::fence} : Instruction{Do::increment, word});
  program.push_back({Do::wake, word});
  if (mutant.ring_before_publish) program.push_back({Do::release, data, 0, 1});
  program.push_back({Do::end});
  return program;
}

// Who makes the fences, as host::Fencing has it; the threads of these models in this order.
constexpr int by_publishers = 0, both = 1, by_sleepers = 2;
constexpr int the_sleeper = 0, the_publisher = 1;

/// Thread 0: makes a fence for the publisher too, unless publishers make their own.
Program sleeper_by_state() {
  Program program;
  add_announce(program, 1, {.no_fence_in_announce = true});
  program.push_back({Do::load, fencing, seen});
  program.push_back({Do::fence});
  program.push_back({Do::jump_if, 0, seen, by_publishers, static_cast<int>(program.size()) + 2});
  program.push_back({Do::fence_in, 0, 0, the_publisher});
  add_wait(program, first_data, {});
  add_retract(program, {});
  program.push_back({Do::end});
  return program;
}

/// Thread 1: makes its fence unless sleepers do. What follows the fence is the ordinary publisher's.
Program publisher_by_state() {
  const Program rest = publisher(first_data, 1, {.no_fence_in_ring = true});
  Program program{rest.front(), {Do::load, fencing, seen}, {Do::jump_if, 0, seen, by_sleepers, 4}, {Do::fence}};
  for (std::size_t i = 1; i < rest.size(); ++i) {
    program.push_back(rest[i]);
    program.back().target += 3;  // only jumps have one
  }
  return program;
}

/// Thread 2.
Program changer(int to, bool with_fence) {
  Program program{{Do::store, fencing, 0, both}};
  if (with_fence) {
    program.push_back({Do::fence});
    program.push_back({Do::fence_in, 0, 0, the_sleeper});
    program.push_back({Do::fence_in, 0, 0, the_publisher});
  }
  program.push_back({Do::release, fencing, 0, to});
  program.push_back({Do::end});
  return program;
}

bool changing_loses(int from, int to, bool with_fence = true) {
  return Model({sleeper_by_state(), publisher_by_state(), changer(to, with_fence)}, from).loses_a_wake_up();
}

bool one_loses(const Mutant& mutant, int waits_for = 1) {
  return Model({sleeper(first_data, waits_for, mutant), publisher(first_data, 1, mutant)}).loses_a_wake_up();
}
bool sequence_loses(const Mutant& mutant) {
  return Model({sleeper_for_two(mutant), publisher(first_data, 1, mutant), publisher(second_data, 2, mutant)})
      .loses_a_wake_up();
}
bool threads_lose(const Mutant& mutant) {
  Model model({sleeper(first_data, 1, mutant), sleeper(second_data, 2, mutant), publisher(first_data, 1, mutant),
               publisher(second_data, 2, mutant)});
  const bool result = model.loses_a_wake_up();
  std::printf("%zu states\n", model.states());
  return result;
}

TEST(Protocol, LosesNoWakeUp) {
  EXPECT_FALSE(one_loses({}));
  EXPECT_FALSE(one_loses({}, anything));
  EXPECT_FALSE(sequence_loses({}));
}

TEST(Protocol, LosesNoneWithTwoThreadsAndTwoPublishers) { EXPECT_FALSE(threads_lose({})); }

TEST(Protocol, NeedsTheFenceOfTheSleeper) {
  EXPECT_TRUE(one_loses({.no_fence_in_announce = true}));
  EXPECT_TRUE(sequence_loses({.no_fence_in_announce_again = true}));
}

TEST(Protocol, NeedsTheFenceOfThePublisher) { EXPECT_TRUE(one_loses({.no_fence_in_ring = true})); }

TEST(Protocol, LosesNoneWhoeverMakesTheFences) {
  for (const int from : {by_publishers, by_sleepers})
    for (const int to : {by_publishers, by_sleepers}) EXPECT_FALSE(changing_loses(from, to)) << from << " to " << to;
}

TEST(Protocol, NeedsTheFenceOfTheChange) {
  EXPECT_TRUE(changing_loses(by_publishers, by_sleepers, false));
  EXPECT_TRUE(changing_loses(by_sleepers, by_publishers, false));
}

TEST(Protocol, NeedsTheWordReadBeforeThePoll) { EXPECT_TRUE(one_loses({.word_read_after_poll = true})); }

TEST(Protocol, NeedsTheWordBumped) { EXPECT_TRUE(one_loses({.word_not_bumped = true})); }

TEST(Protocol, NeedsTheDataPublishedFirst) { EXPECT_TRUE(one_loses({.ring_before_publish = true})); }

TEST(Protocol, NeedsTheCountOfThreads) {
  EXPECT_TRUE(threads_lose({.second_thread_sets_awaited = true}));
  EXPECT_TRUE(threads_lose({.retract_forgets_others = true}));
}

}  // namespace
}  // namespace tutti::host
