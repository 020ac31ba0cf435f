// SPDX-License-Identifier: BSD-3-Clause
// The loop that overlaps computations with what was started on their results.
#include "tutti/pipeline.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace tutti {
namespace {

/// What a pipeline of so many buffers does with so many computations: c0 s0 c1 s1 f0 ...
std::string story(std::size_t buffers, Count computations) {
  std::vector<Count> held(buffers, -1);
  std::string told;
  const auto tell = [&](char what, Count k) {
    told += (told.empty() ? "" : " ") + std::string(1, what) + std::to_string(k);
  };
  pipeline<Count>(
      held,
      [&](Count& buffer, Count k) {
        if (k == computations) return false;
        buffer = k;
        tell('c', k);
        return true;
      },
      [&](const Count& buffer) { tell('s', buffer); }, [&](const Count& buffer) { tell('f', buffer); });
  return told;
}

TEST(Pipeline, ComputesWhileAllBuffersButOneAreUnderWay) {
  EXPECT_EQ(story(3, 4), "c0 s0 c1 s1 c2 s2 f0 c3 s3 f1 f2 f3");
}

TEST(Pipeline, OneBufferIsFinishedBeforeItIsUsedAgain) { EXPECT_EQ(story(1, 3), "c0 s0 f0 c1 s1 f1 c2 s2 f2"); }

TEST(Pipeline, FinishesWhatIsLeft) {
  EXPECT_EQ(story(4, 0), "");
  EXPECT_EQ(story(4, 2), "c0 s0 c1 s1 f0 f1");
}

TEST(Pipeline, AnExceptionLeavesTheLoopAtOnce) {
  std::vector<int> buffers(2);
  int started = 0, finished = 0;
  const auto compute = [](int&, Count k) { return k < 1 ? true : throw std::runtime_error("no more"); };
  EXPECT_THROW(pipeline<int>(
                   buffers, compute, [&](int&) { ++started; }, [&](int&) { ++finished; }),
               std::runtime_error);
  EXPECT_EQ(started, 1);
  EXPECT_EQ(finished, 0);
}

}  // namespace
}  // namespace tutti
