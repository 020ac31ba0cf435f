// SPDX-License-Identifier: BSD-3-Clause
// Plans of users that are wrong: refused while they are built, found by check, or told to all ranks when they meet.
#include <gtest/gtest.h>

#include <array>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include "../refusal.hpp"
#include "job/inproc.hpp"
#include "plan_examples.hpp"
#include "tutti/tutti.hpp"

namespace tutti {
namespace {

using namespace examples;
using Slice = PlanBuilder::Slice;

TEST(PlanBuilderTest, RefusesWhatCannotBe) {
  for (const char* name : {"", "with space", "seventeen_letters", "quo\"te", "line\n"})
    expect_refused("cannot be the name of a plan", [name] { PlanBuilder(name, 0, 2, {}); });
  expect_refused("rank 2 of 2", [] { PlanBuilder("x", 2, 2, {}); });
  expect_refused("both must be 0 or more", [] { PlanBuilder("x", 0, 2, {.in = -1}); });

  PlanBuilder plan("halo", 1, 3, {.in = 4, .out = 4});
  const Slice cells = plan.scratch(2);
  expect_refused("plan halo, rank 1, step s0: rank 3 is not in a group of 3", [&] { plan.send(3, plan.in()); });
  expect_refused("rank -1 is not in a group", [&] { plan.recv(-1, plan.out()); });
  expect_refused("names itself as peer", [&] { plan.recv_reduce(1, plan.out()); });
  expect_refused("offset 0 and count -1", [&] { plan.send(0, plan.in(0, -1)); });
  expect_refused("offset -1 and count 1", [&] { plan.send(0, plan.in(-1, 1)); });
  expect_refused("input[3..5) reaches beyond its 4 elements", [&] { plan.send(0, plan.in(3, 2)); });
  expect_refused("output[0..5) reaches beyond its 4 elements", [&] { plan.recv(0, plan.out(0, 5)); });
  expect_refused("scratch[1..3) reaches beyond its 2 elements", [&] { plan.copy(cells.part(1, 2), plan.out(0, 2)); });
  expect_refused("writes input", [&] { plan.recv(0, plan.in()); });
  expect_refused("writes input", [&] { plan.copy(plan.out(), plan.in()); });
  expect_refused("copy of 1 elements into 2", [&] { plan.copy(plan.in(0, 1), cells); });
  expect_refused("source and target overlap", [&] { plan.reduce(plan.out(0, 2), plan.out(1, 2)); });
  expect_refused("ask for 0 or more", [&] { plan.scratch(-1); });
  expect_refused("there is no step s0; 0 are there so far", [&] { plan.step(0); });

  const Step first = plan.copy(plan.in(0, 2), cells);
  const Step second = plan.copy(cells, plan.out(0, 2)).after(first);
  EXPECT_EQ(second.index(), 1U);  // nothing that was refused has left a step
  expect_refused("step s0: step 0 waits for step 1, which is not an earlier step", [&] { first.after(second); });
  expect_refused("not an earlier step", [&] { first.after(first); });
  PlanBuilder other("other", 1, 3, {.in = 1});
  const Step foreign = other.send(0, other.in());
  expect_refused("not an earlier step of the same plan", [&] { second.after(foreign); });
  expect_refused("waits for all and for any", [&] { second.after_any({first, first}); });
  const Plan made = plan.commit();
  EXPECT_EQ(made.steps(), 2U);
  expect_refused("plan halo, rank 1: it is committed", [&] { plan.commit(); });
  expect_refused("step s2: it is committed", [&] { plan.send(0, plan.in()); });
  expect_refused("it is committed", [&] { second.after(first); });
  expect_refused("it is committed", [&] { plan.round(); });
}

TEST(PlanBuilderTest, PlansAreText) {
  EXPECT_EQ(neighbours(1, 3).text(),
            "// neighbours: input 1, output 2\n"
            "rank 1 of 3 scratch 2 ring small cells 0\n"
            "s0: send input[0..1) to 2 #0\n"
            "s1: send input[0..1) to 0 #0\n"
            "s2: recv 1 from 0 #0 -> scratch[0..1)\n"
            "s3: recv 1 from 2 #0 -> scratch[1..2)\n"
            "s4: copy scratch[0..1) -> output[0..1) after s0 s1 s2 s3\n"
            "s5: copy scratch[1..2) -> output[1..2) after s0 s1 s2 s3\n");
}

TEST(PlanBuilderTest, PlansAreDrawn) {
  const std::string picture = draw(neighbours, 3);
  EXPECT_TRUE(picture.starts_with("<svg"));
  for (const char* part : {"rank 2", "recv from 0", "scratch[0..1)", "</svg>"})
    EXPECT_NE(picture.find(part), std::string::npos) << part;
  expect_refused("rank", [] { draw([](Rank rank, Rank size) { return neighbours(rank, size + 1); }, 3); });
}

/// A plan of three ranks with one fault, and what check says about it.
struct Fault {
  const char* name;
  Plan (*build)(Rank rank, Rank size);
  Rank rank;
  const char* text;
};

/// Everybody sends one element to the next rank and receives from the one before; `change` spoils rank 1's part.
template <class Change>
Plan shifted(Rank rank, Rank size, Change change) {
  PlanBuilder plan("shift", rank, size, {.in = 2, .out = 2});
  if (rank == 1)
    change(plan);
  else {
    plan.send((rank + 1) % size, plan.in(0, 1));
    plan.recv((rank + size - 1) % size, plan.out(0, 1));
  }
  return plan.commit();
}

const Fault faults[] = {
    {"NoReceive",
     [](Rank rank, Rank size) { return shifted(rank, size, [](PlanBuilder& plan) { plan.send(2, plan.in(0, 1)); }); },
     0, "rank 1 receives no such message"},
    {"NoSend",
     [](Rank rank, Rank size) { return shifted(rank, size, [](PlanBuilder& plan) { plan.recv(0, plan.out(0, 1)); }); },
     2, "rank 1 sends no such message"},
    {"SentTwice",
     [](Rank rank, Rank size) {
       return shifted(rank, size, [](PlanBuilder& plan) {
         plan.recv(0, plan.out(0, 1));
         plan.send(2, plan.in(0, 1));
         plan.send(2, plan.in(0, 1));
       });
     },
     1, "rank 2 receives no such message"},
    {"WrongPeer",
     [](Rank rank, Rank size) {
       return shifted(rank, size, [](PlanBuilder& plan) {
         plan.send(0, plan.in(0, 1));
         plan.recv(0, plan.out(0, 1));
       });
     },
     1, "rank 0 receives no such message"},
    {"WrongLength",
     [](Rank rank, Rank size) {
       return shifted(rank, size, [](PlanBuilder& plan) {
         plan.send(2, plan.in(0, 2));
         plan.recv(0, plan.out(0, 1));
       });
     },
     1, "it sends 2 elements, but rank 2 s1"},
    {"OverlappingWrites",
     [](Rank rank, Rank size) {
       return shifted(rank, size, [](PlanBuilder& plan) {
         plan.send(2, plan.in(0, 1));
         plan.recv(0, plan.out(0, 1));
         plan.copy(plan.in(0, 2), plan.out(0, 2));
       });
     },
     1, "s1"},
    {"ReadWhileWritten",
     [](Rank rank, Rank size) {
       return shifted(rank, size, [](PlanBuilder& plan) {
         plan.recv(0, plan.out(0, 1));
         plan.send(2, plan.out(0, 1));
       });
     },
     1, "s0"},
    {"UndefinedScratch",
     [](Rank rank, Rank size) {
       return shifted(rank, size, [](PlanBuilder& plan) {
         const Slice cells = plan.scratch(2);
         const Step got = plan.recv(0, cells.part(0, 1));
         plan.send(2, cells.part(1, 1)).after(got);
       });
     },
     1, "reads scratch[1], which is undefined"},
    {"Deadlock",
     [](Rank rank, Rank size) {
       PlanBuilder plan("shift", rank, size, {.in = 1, .out = 1});
       const Step got = plan.recv((rank + size - 1) % size, plan.out());
       plan.send((rank + 1) % size, plan.in()).after(got);
       return plan.commit();
     },
     -1, "wait"},
    {"DeadlockBySends",  // it ends where messages are buffered, and not where a send waits for its receiver
     [](Rank rank, Rank size) {
       PlanBuilder plan("shift", rank, size, {.in = 1, .out = 1});
       plan.send((rank + 1) % size, plan.in());
       plan.round();
       plan.recv((rank + size - 1) % size, plan.out());
       return plan.commit();
     },
     -1, "wait"},
    {"AnotherName",
     [](Rank rank, Rank size) {
       PlanBuilder plan(rank == 1 ? "chains" : "chain", rank, size, {});
       return plan.commit();
     },
     1, "its plan is called chains and not chain"},
    {"AnotherSize", [](Rank rank, Rank size) { return neighbours(rank, rank == 1 ? size + 1 : size); }, 1,
     "its plan is that of rank 1 of 4"},
};

class PlanFaults : public ::testing::TestWithParam<Fault> {};

TEST_P(PlanFaults, AreFound) {
  const Fault& fault = GetParam();
  const Verdict found = check(fault.build, 3);
  ASSERT_FALSE(found);
  EXPECT_NE(found.text.find(fault.text), std::string::npos) << found.text;
  if (fault.rank >= 0) {
    EXPECT_EQ(found.rank, fault.rank) << found.text;
  }
  // Each rank with its own, together: the same answer on all.
  if (fault.text == std::string("its plan is that of rank 1 of 4")) return;
  job::run_inproc(3, {}, [&](const Group& world) {
    EXPECT_EQ(world.check(fault.build(world.rank(), world.size())).text, found.text);
    EXPECT_TRUE(world.check(neighbours(world.rank(), world.size())));
  });
}

INSTANTIATE_TEST_SUITE_P(Each, PlanFaults, ::testing::ValuesIn(faults),
                         [](const auto& fault) { return std::string(fault.param.name); });

TEST(PlanPurpose, WrongResultsAreFound) {
  const auto by_ring = [](Rank rank, Rank size) { return ring(rank, size, 7); };
  EXPECT_TRUE(check(by_ring, 3, {Kind::allreduce, 7}));
  EXPECT_FALSE(check(by_ring, 3, {Kind::allreduce, 8}));
  EXPECT_FALSE(check(by_ring, 3, {Kind::scan, 7}));
  const auto lazy = [](Rank rank, Rank size) {
    PlanBuilder plan("lazy", rank, size, {.in = 1, .out = 1});
    plan.copy(plan.in(), plan.out());
    return plan.commit();
  };
  EXPECT_TRUE(check(lazy, 3));
  EXPECT_NE(check(lazy, 3, {Kind::allreduce, 1}).text.find("must hold"), std::string::npos);
  const auto none = [](Rank rank, Rank size) { return PlanBuilder("none", rank, size, {}).commit(); };
  EXPECT_TRUE(check(none, 1, {Kind::barrier}));
  EXPECT_FALSE(check(none, 2, {Kind::barrier}));
  EXPECT_TRUE(check([](Rank rank, Rank size) { return star(rank, size, 2); }, 1,
                    {.kind = Kind::reduce, .count = 2, .in_place = true}));
  EXPECT_FALSE(check([](Rank rank, Rank size) { return star(rank, size, 2); }, 3,
                     {.kind = Kind::reduce, .count = 2, .in_place = true}));  // in place at the root alone
  expect_refused("counts per rank", [&] { check(by_ring, 3, {Kind::gatherv, 7}); });
  expect_refused("cannot be", [&] { check(by_ring, 3, {Kind::bcast, 7, 3}); });
  constexpr Count largest = std::numeric_limits<Count>::max();
  for (const Count count : {largest / 2, largest / 3 + 1})  // of three blocks
    expect_refused("name a rank, and 0 to " + std::to_string(largest / 3) + " elements", [&] {
      check(by_ring, 3, {Kind::allgather, count});
    });
  EXPECT_FALSE(check(by_ring, 3, {Kind::allgather, largest / 3}));
  job::run_inproc(3, {}, [&](const Group& world) {
    EXPECT_TRUE(world.check(by_ring(world.rank(), 3), Purpose{Kind::allreduce, 7}));
    EXPECT_FALSE(world.check(lazy(world.rank(), 3), Purpose{Kind::allreduce, 1}));
    expect_refused("pass the plan of rank", [&] { world.check(lazy((world.rank() + 1) % 3, 3)); });
  });
}

/// Runs what differs by rank and expects every rank to be told of it, in words that name both plans.
void expect_mismatch(const std::function<void(const Group&)>& run, const std::vector<std::string>& parts, bool board) {
  job::run_inproc(3, {.board = board}, [&](const Group& world) {
    try {
      run(world);
      world.barrier();
      ADD_FAILURE() << "no mismatch on rank " << world.rank();
    } catch (const Mismatch& error) {
      for (const std::string& part : parts)
        EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
    } catch (const PeerLost&) {  // without a board only those are told who got a message of the other
      EXPECT_FALSE(board);
    }
  });
}

TEST(PlanMismatch, AnotherPlan) {
  expect_mismatch(
      [](const Group& world) {
        const std::array<double, 4> in{};
        std::array<double, 4> out{};
        const bool odd = world.rank() == 1;
        world.run(odd ? chain(world.rank(), 3, 4) : ring(world.rank(), 3, 4), in, out, sum);
      },
      {"plan ring(float64, sum)", "plan chain(float64, sum)"}, true);
}

TEST(PlanMismatch, ACollective) {
  expect_mismatch(
      [](const Group& world) {
        const std::array<double, 4> in{};
        std::array<double, 4> out{};
        if (world.rank() == 1) return world.allreduce(in, out, sum);
        world.run(ring(world.rank(), 3, 4), in, out, sum);
      },
      {"plan ring(float64, sum)", "called allreduce(4 x float64, sum"}, true);
}

TEST(PlanMismatch, AnotherTypeOrOperation) {
  for (const bool type : {true, false})
    for (const bool board : {true, false})
      expect_mismatch(
          [type](const Group& world) {
            const std::array<double, 4> in{};
            std::array<double, 4> out{};
            const std::array<std::int64_t, 4> whole_in{};
            std::array<std::int64_t, 4> whole_out{};
            const Plan plan = ring(world.rank(), 3, 4);
            if (type && world.rank() == 1) return world.run(plan, whole_in, whole_out, sum);
            if (!type && world.rank() == 1) return world.run(plan, in, out, max);
            world.run(plan, in, out, sum);
          },
          board ? std::vector<std::string>{"plan ring(", type ? "int64" : "max"} : std::vector<std::string>{}, board);
}

TEST(PlanMismatch, AnotherLength) {
  expect_mismatch(
      [](const Group& world) {
        const Count count = world.rank() == 1 ? 6 : 3;
        const std::vector<double> in(static_cast<std::size_t>(count));
        std::vector<double> out(in.size());
        world.run(ring(world.rank(), 3, count), in, out, sum);
      },
      {}, true);
}

TEST(PlanMismatch, RunsOutOfTimeByItsName) {
  job::run_inproc(2, {}, [](const Group& world) {
    if (world.rank() == 1) return;
    const Plan plan = dissemination(0, 2);
    Request request = world.start(plan);
    try {
      request.wait(std::chrono::milliseconds(20));
      ADD_FAILURE() << "it did not wait";
    } catch (const Timeout& error) {
      EXPECT_NE(
          std::string(error.what()).find("plan dissemination #0 of group world on rank 0 did not complete in time"),
          std::string::npos)
          << error.what();
      EXPECT_NE(std::string(error.what()).find("waits for rank 1"), std::string::npos) << error.what();
    } catch (const PeerLost& error) {  // it has ended by now
      EXPECT_NE(std::string(error.what()).find("plan dissemination #0"), std::string::npos) << error.what();
    }
  });
}

}  // namespace
}  // namespace tutti
