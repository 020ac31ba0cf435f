// SPDX-License-Identifier: BSD-3-Clause
// sparse_exchange: everything arrives, once and in order, whoever sends to whom; and what happens when somebody does
// not take part.
#include <gtest/gtest.h>
#include <signal.h>
#include <unistd.h>

#include <numeric>
#include <vector>

#include "../matrix/processes.hpp"
#include "base/hash.hpp"
#include "base/random.hpp"
#include "base/sanitizers.hpp"
#include "job/inproc.hpp"
#include "job/runtime.hpp"
#include "tutti/tutti.hpp"

namespace {

using tutti::Group;
using tutti::Rank;

using Parcel = tutti::Parcel<std::int64_t>;
using Delivery = tutti::Delivery<std::int64_t>;

/// What one rank sends in one round: the same whoever asks, so that all know what must come.
struct Load {
  std::vector<std::vector<std::int64_t>> data;
  std::vector<Rank> to;

  Load(Rank from, Rank size, std::uint64_t round) {
    tutti::base::Random random(tutti::base::mix(round * 1000 + static_cast<std::uint64_t>(from)));
    for (std::uint64_t parcels = random.below(5); parcels > 0; --parcels) {
      to.push_back(static_cast<Rank>(random.below(static_cast<std::uint64_t>(size))));
      // Empty ones, short ones, and one in a while larger than what a transport takes at once.
      const std::uint64_t most = random.once_in(8) ? 40000 : 20;
      data.emplace_back(random.below(most));
      std::iota(data.back().begin(), data.back().end(), static_cast<std::int64_t>(random.below(1 << 20)) * 64 + from);
    }
  }
  std::vector<Parcel> parcels() const {
    std::vector<Parcel> all;
    for (std::size_t i = 0; i < to.size(); ++i) all.push_back({to[i], data[i]});
    return all;
  }
};

std::vector<Delivery> expected(Rank rank, Rank size, std::uint64_t round) {
  std::vector<Delivery> all;
  for (Rank from = 0; from < size; ++from) {
    const Load load(from, size, round);
    for (std::size_t i = 0; i < load.to.size(); ++i)
      if (load.to[i] == rank) all.push_back({from, load.data[i]});
  }
  return all;
}

/// Throws when something else comes than what was sent.
void exchange(const Group& group, std::uint64_t round) {
  const Load mine(group.rank(), group.size(), round);
  const auto parcels = mine.parcels();
  if (tutti::sparse_exchange(group, parcels) != expected(group.rank(), group.size(), round))
    throw std::runtime_error("round " + std::to_string(round) + ": something else came on rank " +
                             std::to_string(group.rank()));
}

/// Several at once, waited for in another order, with other collectives between.
void overlap(const Group& group, std::uint64_t round) {
  const Load first(group.rank(), group.size(), round), second(group.rank(), group.size(), round + 1);
  const auto early = first.parcels(), late = second.parcels();
  auto one = tutti::isparse_exchange(group, early);
  const int mine = 1;
  int sum = 0;
  auto between = group.iallreduce(std::span(&mine, 1), std::span(&sum, 1), tutti::sum);
  auto two = tutti::isparse_exchange(group, late);
  if (two.wait() != expected(group.rank(), group.size(), round + 1)) throw std::runtime_error("the second is wrong");
  between.wait();
  if (sum != group.size()) throw std::runtime_error("the sum is wrong");
  tutti::wait_all(std::span(&one.request(), 1));
  if (one.wait() != expected(group.rank(), group.size(), round)) throw std::runtime_error("the first is wrong");
}

class SparseExchange : public ::testing::TestWithParam<Rank> {};

TEST_P(SparseExchange, DeliversUnderEveryInterleaving) {
  for (std::uint64_t seed = 0; seed < 10; ++seed)
    tutti::job::run_inproc(GetParam(), {.fibers = true, .seed = seed}, [&](const Group& world) {
      for (std::uint64_t round = 0; round < 5; ++round) exchange(world, seed * 100 + round);
      overlap(world, seed * 100 + 50);
    });
}

TEST_P(SparseExchange, DeliversWithoutABoard) {
  tutti::job::run_inproc(GetParam(), {.fibers = true, .seed = 3, .board = false},
                         [&](const Group& world) { exchange(world, 7); });
}

TEST_P(SparseExchange, DeliversBetweenProcesses) {
  const auto said = tutti::matrix::run_processes(GetParam(), {}, 100, [&](const Group& world) {
    const Group half = world.split(world.rank() % 2, -world.rank());
    for (std::uint64_t round = 0; round < 20; ++round) exchange(round % 3 == 2 ? half : world, round);
    for (std::uint64_t round = 20; round < 30; ++round) overlap(world, 2 * round);
  });
  for (std::size_t rank = 0; rank < said.size(); ++rank) EXPECT_EQ(said[rank], "") << "rank " << rank;
}

INSTANTIATE_TEST_SUITE_P(Sizes, SparseExchange, ::testing::Values(1, 2, 3, 5, 8));

/// How many transfers this rank looks at in an exchange of so many parcels with the next one.
std::size_t looks(const Group& world, std::size_t parcels) {
  const std::vector<std::byte> data(8);
  const std::vector<tutti::engine::Mailbox::Outgoing> all(
      parcels, {(world.rank() + 1) % world.size(), data.data(), data.size()});
  const auto mailbox = std::make_shared<tutti::engine::Mailbox>(all, world.rank());
  world.barrier();
  world.member()->start_exchange(mailbox, tutti::Type::opaque, 1, nullptr).wait();
  if (mailbox->take().size() != parcels) throw std::runtime_error("some have not come");
  return mailbox->looks();
}

TEST(SparseExchangeWide, LooksAtEachOfManyParcelsAFewTimes) {
  const auto said = tutti::matrix::run_processes(2, {}, 60, [](const Group& world) {
    constexpr std::size_t parcels = 20'000;  // through a ring that holds some hundred of them
    const std::size_t all = looks(world, parcels);
    if (all > 10 * parcels) throw std::runtime_error(std::to_string(all) + " looks");
  });
  for (const std::string& rank : said) EXPECT_EQ(rank, "");
}

TEST(SparseExchangeWide, On200Ranks) {
  tutti::job::run_inproc(200, {.fibers = true}, [](const Group& world) { exchange(world, 11); });
}

TEST(SparseExchangeErrors, RefusesRanksThatAreNotThere) {
  tutti::job::run_inproc(2, {.fibers = true}, [](const Group& world) {
    EXPECT_THROW(tutti::sparse_exchange(world, std::vector<Parcel>{{2, {}}}), tutti::Error);
    EXPECT_THROW(tutti::sparse_exchange(Group(), std::vector<Parcel>{}), tutti::Error);
    exchange(world, 1);  // the group is intact
  });
}

TEST(SparseExchangeErrors, SendsNothingWhereThereIsNoMemory) {
  if (tutti::base::sanitized) return;  // a sanitizer ends the process that asks for so much
  tutti::job::run_inproc(2, {.fibers = true}, [](const Group& world) {
    const std::vector<std::int64_t> one{1};
    if (world.rank() == 0) {
      // More than there are addresses: that of the first element is the only one that stands for something.
      const std::span much(one.data(), std::size_t{1} << 44);
      EXPECT_THROW(tutti::isparse_exchange(world, std::vector<Parcel>{{1, one}, {0, much}}), std::bad_alloc);
    }
    exchange(world, 1);  // the group is as before
    world.barrier();
  });
}

TEST(SparseExchangeErrors, FindsAnotherCall) {
  tutti::job::run_inproc(3, {.fibers = true}, [](const Group& world) {
    const std::vector<std::int64_t> one{1};
    const auto call = [&] {
      if (world.rank() == 1) return world.barrier();
      tutti::sparse_exchange(world, std::vector<Parcel>{{1, one}});
    };
    EXPECT_THROW(call(), tutti::Mismatch);
  });
}

TEST(SparseExchangeErrors, FindsAnotherType) {
  tutti::job::run_inproc(2, {.fibers = true}, [](const Group& world) {
    const std::vector<std::int64_t> one{1};
    const std::vector<double> other{1};
    const auto call = [&] {
      if (world.rank() == 1)
        tutti::sparse_exchange(world, std::vector<tutti::Parcel<double>>{{0, other}});
      else
        tutti::sparse_exchange(world, std::vector<Parcel>{{1, one}});
    };
    EXPECT_THROW(call(), tutti::Mismatch);
  });
}

TEST(SparseExchangeErrors, RunsOutOfTimeAndGoesOn) {
  tutti::job::run_inproc(2, {.fibers = true}, [](const Group& world) {
    const Group other = world.dup();
    const std::vector<std::int64_t> one{1};
    const std::vector<Parcel> parcels{{1 - world.rank(), one}};
    if (world.rank() == 0) {
      auto waits = tutti::isparse_exchange(world, parcels);
      EXPECT_THROW(waits.wait(std::chrono::milliseconds(20)), tutti::Timeout);
      other.barrier();
      EXPECT_EQ(waits.wait(), (std::vector<Delivery>{{1, one}}));
    } else {
      other.barrier();
      EXPECT_EQ(tutti::sparse_exchange(world, parcels), (std::vector<Delivery>{{0, one}}));
    }
  });
}

TEST(SparseExchangeErrors, OutlivesADeadRank) {
  for (const bool sends_to_it : {true, false}) {
    const auto said = tutti::matrix::run_processes(4, {}, 60, [&](const Group& world) {
      world.barrier();
      int word = 0;
      if (world.rank() == 2) {
        for (const Rank other : {0, 1, 3}) world.recv(std::span(&word, 1), other);
        kill(getpid(), SIGKILL);
      }
      const std::vector<std::int64_t> data(sends_to_it ? 100000 : 1);
      const std::vector<Parcel> parcels{{sends_to_it ? 2 : (world.rank() + 1) % 2, data}};
      auto started = tutti::isparse_exchange(world, parcels);
      const tutti::Request told = world.isend(std::span<const int>(&word, 1), 2);
      // Asked again it has still failed, whatever has come meanwhile.
      for (int i = 0; i < 3; ++i) {
        try {
          started.wait();
        } catch (const tutti::PeerLost& lost) {
          if (lost.peer() == 2) continue;
        }
        throw std::runtime_error("nobody noticed that rank 2 is dead, in wait " + std::to_string(i));
      }
    });
    EXPECT_EQ(said[2], "killed by signal 9");
    for (const std::size_t rank : {0, 1, 3}) EXPECT_EQ(said[rank], "") << rank;
  }
}

}  // namespace
