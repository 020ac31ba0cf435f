// SPDX-License-Identifier: BSD-3-Clause
// Reproducible sums: every algorithm against the definition, in one process and in many; forms, types, what is refused.
#include "calls.hpp"

#include <gtest/gtest.h>

#include <complex>
#include <limits>

#include "job/inproc.hpp"
#include "matrix/processes.hpp"

namespace tutti {
namespace {

using job::InprocOptions;

/// Ranks that cancel each other, and a small number that a plain sum loses in most orders.
double hiding(Rank rank) { return rank == 0 ? 1 : rank == 1 ? -1 : 0x1p-60; }

TEST(Reproducible, SumsAreRightByEveryAlgorithmOnABoard) {
  for (const int size : {1, 2, 3, 4, 5, 8, 13})
    job::run_inproc(size, {.fibers = true, .seed = 3},
                    [](const Group& world) { EXPECT_GT(testing::every_algorithm(world.reproducible()), 100); });
}

TEST(Reproducible, SumsAreRightByEveryAlgorithmByMessages) {
  for (const int size : {2, 3, 6, 7})
    job::run_inproc(size, {.fibers = true, .seed = 5, .single_copy = false, .board = false},
                    [](const Group& world) { EXPECT_GT(testing::every_algorithm(world.reproducible()), 100); });
}

TEST(Reproducible, SumsAreRightBetweenRealProcesses) {
  for (int size = 1; size <= 13; ++size)
    for (const std::string& failure : matrix::run_processes(size, {}, 120, [](const Group& world) {
           testing::every_algorithm(world.reproducible());
           testing::whole_arrays(world);
         }))
      EXPECT_EQ(failure, "") << size << " processes";
}

TEST(Reproducible, PlainSumsDoNotPassForThem) {
  for (const int size : {3, 4}) {
    const auto plain = [](const Group& world) { testing::every_algorithm(world); };
    EXPECT_THROW(job::run_inproc(size, {.fibers = true}, plain), std::logic_error);
  }
}

TEST(Reproducible, WholeArraysHaveOneSumHoweverTheyAreDealt) {
  for (const int size : {1, 2, 3, 7, 12})
    job::run_inproc(size, {.fibers = true, .seed = 1}, [](const Group& world) { testing::whole_arrays(world); });
}

TEST(Reproducible, ManyRanksTravelAsAccumulators) {
  job::run_inproc(80, {.fibers = true}, [](const Group& world) {
    const Group exact = world.reproducible();
    const std::vector<double> mine = {hiding(world.rank()), 1e300};
    for (const char* algorithm : {"", "reduce_bcast", "rabenseifner"}) {
      std::vector<double> total(2);
      exact.allreduce(mine, total, sum, {.algorithm = algorithm});
      EXPECT_EQ(total[0], 78 * 0x1p-60);
      EXPECT_EQ(total[1], 80e300);
    }
  });
}

TEST(Reproducible, FormsAndTypesAreAlike) {
  job::run_inproc(3, {}, [](const Group& world) {
    const Group exact = world.reproducible();
    EXPECT_TRUE(exact.is_reproducible());
    EXPECT_FALSE(world.is_reproducible());
    std::vector<std::complex<double>> mine = {{hiding(world.rank()), 2 * hiding(world.rank())}}, total(1);
    auto again = exact.allreduce_init(mine, total, sum, {.algorithm = "reduce_bcast"});
    for (int round = 0; round < 3; ++round) {
      again.run();
      EXPECT_EQ(total[0], std::complex<double>(0x1p-60, 0x1p-59));
    }
    std::vector<std::complex<float>> small = {{static_cast<float>(hiding(world.rank())), 1}}, sums(1);
    exact.iallreduce(small, sums, sum).wait();
    EXPECT_EQ(sums[0], std::complex<float>(0x1p-60f, 3));
    const Group part = exact.split(world.rank() == 0 ? 1 : 0);
    EXPECT_TRUE(part.is_reproducible());
    EXPECT_TRUE(exact.dup().is_reproducible());
    std::vector<int> whole = {world.rank()}, most(1);
    exact.allreduce(whole, most, max);
    EXPECT_EQ(most[0], 2);
    exact.allreduce(whole, most, sum);
    EXPECT_EQ(most[0], 3);
  });
}

TEST(Reproducible, ALoneRankGivesTheNanOfSums) {
  job::run_inproc(1, {}, [](const Group& world) {
    const std::vector<double> mine = {-std::numeric_limits<double>::quiet_NaN()};
    std::vector<double> out(1);
    world.reproducible().allreduce(mine, out, sum);
    EXPECT_FALSE(std::signbit(out[0]));
    EXPECT_TRUE(std::isnan(out[0]));
  });
}

TEST(Reproducible, ProductsAreRefused) {
  job::run_inproc(2, {}, [](const Group& world) {
    std::vector<double> mine = {1}, out(1);
    try {
      world.reproducible().allreduce(mine, out, prod);
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.cause(), Cause::usage);
      EXPECT_NE(std::string(error.what()).find("call it on the plain group"), std::string::npos) << error.what();
    }
    world.reproducible().barrier();
  });
}

TEST(Reproducible, ARankThatIsNotIsAMismatch) {
  job::run_inproc(2, {}, [](const Group& world) {
    const Group group = world.rank() == 0 ? world.reproducible() : world;
    std::vector<double> mine = {1}, out(1);
    try {
      group.allreduce(mine, out, sum);
      group.barrier();
      ADD_FAILURE() << "no error";
    } catch (const Error& error) {
      EXPECT_EQ(error.cause(), Cause::mismatch);
      EXPECT_NE(std::string(error.what()).find("exact sum"), std::string::npos) << error.what();
    }
  });
}

}  // namespace
}  // namespace tutti
