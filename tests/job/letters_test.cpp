// SPDX-License-Identifier: BSD-3-Clause
// What ranks of different hosts write to each other beside the data: that it is read, that nothing of it stays, and
// that what cannot be a letter hurts nobody.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <chrono>
#include <optional>
#include <thread>

#include "engine/engine.hpp"
#include "job/inproc.hpp"
#include "job/runtime.hpp"
#include "tutti/tutti.hpp"

namespace tutti {
namespace {

using namespace std::chrono_literals;

engine::Engine& engine_of(const Group& group) { return group.member()->runtime().engine(); }

/// As engine/notices.cpp has it: what a rank asks that has waited long.
transport::Tag question_of(std::uint64_t context) {
  return {context, transport::Tag::first_notice + 1, transport::Tag::mail, transport::Lane::mailbox};
}

bool lies_there(const Group& group, const transport::Tag& tag) {
  engine::Engine& engine = engine_of(group);
  const std::lock_guard lock(engine.transport_lock());
  engine.transport().progress();
  return engine.transport().look(tag).has_value();
}

/// Rank 0 lets the other wait until it has asked.
void be_asked(const Group& group, const transport::Tag& tag) {
  double number = 0;
  if (group.rank() == 0) {
    const auto limit = std::chrono::steady_clock::now() + 20s;
    while (!lies_there(group, tag) && std::chrono::steady_clock::now() < limit) std::this_thread::sleep_for(10ms);
    EXPECT_TRUE(lies_there(group, tag)) << "nobody has asked";
  }
  group.bcast(std::span(&number, 1), 0);
}

TEST(Letters, ARankThatNeverWaitsReadsWhatItIsAsked) {
  job::run_inproc(2, {.hosts = {0, 1}}, [](const Group& world) {
    const transport::Tag tag = question_of(world.member()->who().context);
    be_asked(world, tag);
    double number = 0;
    for (int i = 0; i < 100; ++i) world.bcast(std::span(&number, 1), 0);
    if (world.rank() == 0) {
      EXPECT_FALSE(lies_there(world, tag));
    }
    world.barrier();
  });
}

TEST(Letters, AGroupThatEndsLeavesNoneBehind) {
  job::run_inproc(2, {.hosts = {0, 1}}, [](const Group& world) {
    std::optional<Group> group = world.dup();
    const transport::Tag tag = question_of(group->member()->who().context);
    be_asked(*group, tag);
    if (world.rank() == 0) {
      EXPECT_TRUE(lies_there(world, tag));
    }
    world.barrier();
    group.reset();
    if (world.rank() == 0) {
      EXPECT_FALSE(lies_there(world, tag));
    }
    world.barrier();
  });
}

/// Who still waits asks also those who have ended it.
TEST(Letters, AGroupThatHasEndedKeepsNone) {
  job::run_inproc(2, {.hosts = {0, 1}}, [](const Group& world) {
    std::optional<Group> group = world.dup();
    const transport::Tag tag = question_of(group->member()->who().context);
    if (world.rank() == 0) group.reset();
    world.barrier();
    if (world.rank() == 1) {
      std::byte byte{};
      transport::Transfer letter;
      letter.peer = 0;
      letter.tag = tag;
      letter.data = &byte;
      letter.size = sizeof byte;
      const std::lock_guard lock(engine_of(world).transport_lock());
      engine_of(world).transport().send(letter);
      EXPECT_EQ(letter.state, transport::State::done);
    }
    world.barrier();
    if (world.rank() == 0) {
      EXPECT_FALSE(lies_there(world, tag));
    }
    world.barrier();
  });
}

TEST(Letters, AForkedChildTouchesNone) {
  job::run_inproc(2, {.hosts = {0, 1}}, [](const Group& world) {
    std::optional<Group> group = world.dup();
    if (world.rank() == 0) {
      pid_t child = -1;
      {
        // As a thread of the parent's may have it at that moment.
        const std::lock_guard lock(engine_of(world).transport_lock());
        child = fork();
        if (child == 0) {
          alarm(20);
          group.reset();
          _exit(0);
        }
      }
      int status = 0;
      ASSERT_EQ(waitpid(child, &status, 0), child);
      EXPECT_TRUE(WIFEXITED(status) && WEXITSTATUS(status) == 0) << "status " << status;
    }
    world.barrier();
    group->barrier();
  });
}

TEST(Letters, OneThatIsTooLargeIsDropped) {
  job::run_inproc(2, {.hosts = {0, 1}}, [](const Group& world) {
    std::byte byte{};
    transport::Transfer letter;
    letter.peer = 1;
    letter.tag = {0x61677265656d656e, transport::Tag::first_notice, transport::Tag::mail,
                  transport::Lane::mailbox};  // engine/agreements.cpp
    letter.data = &byte;
    letter.size = std::size_t{1} << 62;
    engine::Engine& engine = engine_of(world);
    if (world.rank() == 0) {
      const std::lock_guard lock(engine.transport_lock());
      engine.transport().send(letter);
    }
    EXPECT_TRUE(world.agree(true));
    world.barrier();
    const std::lock_guard lock(engine.transport_lock());
    if (letter.state == transport::State::pending && world.rank() == 0) engine.transport().cancel(letter);
  });
}

}  // namespace
}  // namespace tutti
