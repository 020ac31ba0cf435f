// SPDX-License-Identifier: BSD-3-Clause
// A rank of a job over several hosts that is struck by test_struck.py. It makes groups, runs collectives in an order
// that follows from the seed, checks every result, and goes on in the groups that are whole when others break. All
// ranks run the same steps, so that nobody waits for one who has given up.
//
//     faults_program SEED STEPS GROUPS [STEP WHERE]
//
// GROUPS: world; kept (others, made before the first step, as well); moving (others are made in steps, too: nobody may
// die then). With the rest this rank dies in that step: WHERE is before, between (start and wait), inside (a
// reduction). It says, in lines: pid; members NAME RANK...; step NUMBER; lost NAME RANK TIME TEXT; failed NAME TEXT;
// wrong TEXT; whole NAME; end.
#include <signal.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <deque>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "job/runtime.hpp"
#include "matrix/matrix.hpp"
#include "tutti/exchange.hpp"
#include "tutti/tutti.hpp"

namespace {

using tutti::Count;
using tutti::Group;
using tutti::Rank;
using tutti::base::Random;
using tutti::matrix::Form;

struct Plan {
  std::uint64_t seed, steps;
  std::string groups;
  std::uint64_t last_step;  ///< Of this rank; as many as there are: it lives.
  std::string where;
};

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

/// A group, and the ranks of the world in it.
struct Known {
  std::string name;
  std::uint64_t number;  ///< Differs between the groups of a step.
  Group group;
  std::vector<Rank> members;
  bool broken = false;
};

class Worker {
 public:
  explicit Worker(Plan plan) : plan_(std::move(plan)), world_(tutti::world()) {
    std::vector<Rank> all;
    for (Rank rank = 0; rank < world_.size(); ++rank) all.push_back(rank);
    groups_.push_back({"world", 0, world_, all});
    say("pid " + std::to_string(getpid()));
    if (plan_.groups != "world") make_groups();
    for (const Known& one : groups_) {
      std::string text = "members " + one.name;
      for (const Rank rank : one.members) text += " " + std::to_string(rank);
      say(text);
    }
  }

  void run() {
    for (std::uint64_t step = 0; step < plan_.steps; ++step) {
      say("step " + std::to_string(step));
      dies_ = step == plan_.last_step;
      if (dies_ && plan_.where == "before") die();
      Random random(plan_.seed * 1'000'003 + step);
      perform(random);
      if (dies_) die();
    }
    for (Known& one : groups_) attempt(one, [&] { one.group.barrier(); });
    for (const Known& one : groups_)
      if (!one.broken) say("whole " + one.name);
    say("end");
  }

 private:
  static void die() { raise(SIGKILL); }

  /// The members of a part: those whose colour is this rank's, by descending rank or not.
  std::vector<Rank> same(const std::function<std::uint64_t(Rank)>& colour, bool backwards) const {
    std::vector<Rank> found;
    for (Rank i = 0; i < world_.size(); ++i) {
      const Rank rank = backwards ? world_.size() - 1 - i : i;
      if (colour(rank) == colour(world_.rank())) found.push_back(rank);
    }
    return found;
  }

  Known split(const std::string& name, const std::function<std::uint64_t(Rank)>& colour, bool backwards) const {
    const std::uint64_t mine = colour(world_.rank());
    const Group part = world_.split(static_cast<int>(mine), backwards ? -world_.rank() : world_.rank());
    return {name + std::to_string(mine), mine, part, same(colour, backwards)};
  }

  std::function<std::uint64_t(Rank)> colours(std::uint64_t salt) const {
    return [salt, seed = plan_.seed](Rank rank) {
      return tutti::base::mix(seed * 31 + salt * 977 + static_cast<std::uint64_t>(rank)) % 3;
    };
  }

  void make_groups() {
    groups_.push_back(split("colour", colours(0), plan_.seed % 2 == 0));
    groups_.push_back(split(
        "pair", [](Rank rank) { return static_cast<std::uint64_t>(rank) / 2; }, true));
    const auto hosts = world_.member()->hosts();
    const auto host = [hosts](Rank rank) -> std::uint64_t {
      return hosts.empty() ? 0 : static_cast<std::uint64_t>(hosts[static_cast<std::size_t>(rank)]);
    };
    groups_.push_back(
        {"host" + std::to_string(host(world_.rank())), host(world_.rank()), world_.split_by_host(), same(host, false)});
  }

  /// Runs the body, unless the group is known to be broken, and says so when it breaks.
  void attempt(Known& one, const std::function<void()>& body) {
    const bool was_broken = one.broken;
    try {
      body();
      // Once there are others, everything here waits for some of them, or sends them something.
      if (was_broken) throw std::runtime_error("group " + one.name + " goes on after it was broken");
    } catch (const tutti::Error& error) {
      const bool lost = error.cause() == tutti::Cause::peer_lost && error.peer() >= 0;
      const std::string peer = lost ? std::to_string(one.members.at(static_cast<std::size_t>(error.peer()))) : "";
      if (!lost)
        say("failed " + one.name + " " + error.what());
      else if (!one.broken)
        say("lost " + one.name + " " + peer + " " + std::to_string(tutti::base::now()) + " " + error.what());
      one.broken = true;
    }
  }

  Known& pick(Random& random) { return groups_[random.below(groups_.size())]; }

  void perform(Random& random) {
    const std::uint64_t what = random.below(plan_.groups == "moving" ? 12 : 10);
    Known& one = pick(random);
    if (what == 0) {
      attempt(one, [&] { pass_on(one, random.next()); });
    } else if (what == 1) {
      attempt(one, [&] { exchange(one, random.next()); });
    } else if (what < 5) {
      overlap(one, random);
    } else if (what < 10) {
      const auto the_case = choose(one, random.next(), false);
      attempt(one, [&] { tutti::matrix::run(one.group, the_case, hooks([] {})); });
    } else {
      Known made = split("made", colours(random.next()), what == 11);
      const auto the_case = choose(made, random.next(), false);
      attempt(made, [&] { tutti::matrix::run(made.group, the_case); });
    }
  }

  /// One operation is under way while another runs, in that group or in another one.
  void overlap(Known& one, Random& random) {
    Known& other = pick(random);
    const auto first = choose(one, random.next(), true), second = choose(other, random.next(), false);
    bool ran = false;
    const auto meanwhile = [&] {
      ran = true;
      attempt(other, [&] { tutti::matrix::run(other.group, second); });
    };
    attempt(one, [&] { tutti::matrix::run(one.group, first, hooks(meanwhile)); });
    if (!ran) meanwhile();
  }

  tutti::matrix::Hooks hooks(const std::function<void()>& meanwhile) const {
    const auto strike = [this](const char* where) {
      if (dies_ && plan_.where == where) die();
    };
    tutti::matrix::Hooks made;
    made.before_wait = [=] {
      strike("between");
      meanwhile();
    };
    made.reducing = [=] { strike("inside"); };
    return made;
  }

  /// A collective of any kind, by any algorithm, on an amount that fits a cell, some packets, or none of those.
  tutti::matrix::Case choose(const Known& one, std::uint64_t chance, bool apart) const {
    Random random(chance + one.number);
    const Rank size = one.group.size();
    const auto& algorithms = tutti::collectives::algorithms();
    const tutti::Kind kind = algorithms[random.below(algorithms.size())].kind;
    const Count counts[] = {0, 1, 300, 3000, 40'000};
    const std::vector<Count> count = {counts[random.below(5)] / (random.once_in(2) ? 1 : size)};
    const auto hosts = one.group.member()->hosts();
    auto list = tutti::matrix::cases(size, count, 3, size > 1, true, kind, hosts);
    if (apart) std::erase_if(list, [](const auto& the_case) { return the_case.form == Form::blocking; });
    return list[random.below(list.size())];
  }

  /// Everybody sends to the next of the group.
  void pass_on(const Known& one, std::uint64_t chance) const {
    const Rank size = one.group.size(), rank = one.group.rank();
    if (size == 1) return;  // nobody sends to itself
    const auto number = [chance](Rank from) { return chance ^ static_cast<std::uint64_t>(from); };
    const std::vector<std::uint64_t> out(chance % 30'000, number(rank));
    std::vector<std::uint64_t> in(out.size());
    auto received = one.group.irecv(in, (rank + size - 1) % size, 5);
    auto sent = one.group.isend(out, (rank + 1) % size, 5);
    received.wait();
    sent.wait();
    for (const std::uint64_t is : in)
      if (is != number((rank + size - 1) % size)) throw std::runtime_error("a message was wrong");
  }

  /// Everybody sends to one of the group that does not know.
  void exchange(const Known& one, std::uint64_t chance) const {
    const Rank size = one.group.size(), rank = one.group.rank();
    const auto shift = static_cast<Rank>(chance % static_cast<std::uint64_t>(size));
    const double number = rank + 0.5;
    const std::vector<tutti::Parcel<double>> parcels{{(rank + shift) % size, {&number, 1}}};
    const auto came = tutti::sparse_exchange(one.group, parcels);
    const Rank from = (rank + size - shift) % size;
    if (came.size() != 1 || came[0].from != from || came[0].data != std::vector<double>(1, from + 0.5))
      throw std::runtime_error("a parcel was wrong");
  }

  Plan plan_;
  Group world_;
  std::deque<Known> groups_;  // the same kinds on all ranks
  bool dies_ = false;
};

}  // namespace

int main(int count, char** arguments) {
  const auto number = [&](int i) { return std::strtoull(arguments[i], nullptr, 10); };
  if (count != 4 && count != 6) return 2;
  Plan plan{number(1), number(2), arguments[3], number(2), ""};
  if (count == 6) plan.last_step = number(4), plan.where = arguments[5];
  try {
    Worker(plan).run();
  } catch (const std::exception& error) {
    say(std::string("wrong ") + error.what());
    return 1;
  }
}
