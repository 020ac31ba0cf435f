// SPDX-License-Identifier: BSD-3-Clause
// What no buffer shows: nobody leaves a barrier before everybody has come, by every algorithm.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <new>
#include <stdexcept>

#include "base/random.hpp"
#include "job/inproc.hpp"
#include "matrix.hpp"
#include "processes.hpp"

namespace {

using tutti::Call;
using tutti::Group;
using tutti::Kind;
using tutti::Rank;

/// How many ranks have come to all barriers together; in memory that processes share.
class Arrivals {
 public:
  Arrivals() : memory_(mmap(nullptr, sizeof(Word), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)) {
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    new (memory_) Word(0);
  }
  ~Arrivals() { munmap(memory_, sizeof(Word)); }
  Arrivals(const Arrivals&) = delete;
  Arrivals& operator=(const Arrivals&) = delete;
  std::atomic<int>& operator*() const { return *static_cast<std::atomic<int>*>(memory_); }

 private:
  using Word = std::atomic<int>;
  void* memory_;
};

/// Throws when this rank leaves a barrier before all have come. `late`: microseconds that some ranks dawdle.
void meet(const Group& group, const Arrivals& came, int late, const tutti::matrix::Hooks& hooks = {}) {
  int meetings = 0;
  tutti::base::Random random(tutti::base::mix(static_cast<std::uint64_t>(group.rank())));
  for (const auto& one : tutti::matrix::cases(group.size(), {0}, 1, true, true, Kind::barrier))
    for (int i = 0; i < 10; ++i) {
      if (late > 0 && random.once_in(3))
        usleep(static_cast<useconds_t>(random.below(static_cast<std::uint64_t>(late))));
      (*came).fetch_add(1, std::memory_order_relaxed);  // the barrier itself is what must order it before the load
      tutti::matrix::run(group, one, hooks);
      if ((*came).load(std::memory_order_relaxed) < ++meetings * group.size())
        throw std::runtime_error(name(one) + ": rank " + std::to_string(group.rank()) + " left too early");
    }
}

class Barrier : public ::testing::TestWithParam<Rank> {};

TEST_P(Barrier, HoldsFibersBack) {
  for (std::uint64_t seed = 0; seed < 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    const Arrivals came;
    tutti::job::run_inproc(GetParam(), {.fibers = true, .seed = seed},
                           [&](const Group& world) { meet(world, came, 0); });
  }
}

TEST_P(Barrier, HoldsThreadsBack) {
  const Arrivals came;
  tutti::job::run_inproc(GetParam(), {}, [&](const Group& world) { meet(world, came, 100); });
}

TEST_P(Barrier, HoldsProcessesBack) {
  const Arrivals came;
  const auto said =
      tutti::matrix::run_processes(GetParam(), {}, 60, [&](const Group& world) { meet(world, came, 100); });
  for (std::size_t rank = 0; rank < said.size(); ++rank) EXPECT_EQ(said[rank], "") << "rank " << rank;
}

INSTANTIATE_TEST_SUITE_P(Sizes, Barrier, ::testing::Values(2, 3, 4, 7));

TEST(Oracle, SeesABarrierThatLetsPass) {
  const Arrivals came;
  tutti::matrix::Hooks hooks;
  hooks.instead = [](const Group&, const Call&) {};
  EXPECT_THROW(tutti::job::run_inproc(3, {.fibers = true}, [&](const Group& world) { meet(world, came, 0, hooks); }),
               std::runtime_error);
}

/// All ranks wait for rank 0, and not for each other.
TEST(Oracle, SeesABarrierThatWaitsForOneRankAlone) {
  const Arrivals came;
  tutti::matrix::Hooks hooks;
  hooks.instead = [](const Group& group, const Call&) {
    std::int64_t word = 0;
    group.bcast(std::span(&word, 1), 0);
  };
  EXPECT_THROW(tutti::job::run_inproc(3, {.fibers = true}, [&](const Group& world) { meet(world, came, 0, hooks); }),
               std::runtime_error);
}

}  // namespace
