// SPDX-License-Identifier: BSD-3-Clause
// For whom a rank waits that ends: for peers that come late, but not for ever where it has seen that somebody hangs.
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "engine/engine.hpp"

namespace tutti::engine {
namespace {

constexpr std::uint64_t second = 1'000'000'000;

class Clock final : public host::Scheduler {
 public:
  void yield() override { time += second / 100; }
  std::uint64_t now() override { return time; }
  std::uint64_t time = second;
};

/// Rank 1 takes what was sent to it at this time, and if it is not to be reached, it is lost then.
class Late final : public transport::Transport {
 public:
  Late(Clock& clock, std::uint64_t when, transport::Fate fate) : clock_(clock), when_(when), fate_(fate) {}
  std::string_view name() const override { return "late"; }
  const transport::Capabilities& capabilities() const override { return capabilities_; }
  void send(transport::Transfer&) override {}
  void recv(transport::Transfer&) override {}
  std::optional<transport::Arrival> look(const transport::Tag&) override { return std::nullopt; }
  void cancel(transport::Transfer&) override {}
  bool progress() override { return false; }
  void peer_lost(transport::Peer) override {}
  void forget(std::uint64_t) override {}
  transport::Fate fate(transport::Peer) const override { return clock_.time < when_ ? transport::Fate::well : fate_; }
  std::vector<transport::Peer> drain(std::uint64_t nanoseconds) override {
    clock_.time += nanoseconds;
    return clock_.time < when_ ? std::vector<transport::Peer>{1} : std::vector<transport::Peer>{};
  }

 private:
  Clock& clock_;
  std::uint64_t when_;
  transport::Fate fate_;
  transport::Capabilities capabilities_;
};

struct Ended {
  std::uint64_t after;  ///< Seconds.
  std::string said;
};

/// Of a rank whose messages are taken, or whose peer is lost, after so many seconds.
Ended leave(std::uint64_t seconds, transport::Fate fate, bool broken, std::uint64_t timeout) {
  Clock clock;
  const std::uint64_t begun = clock.time;
  Setup setup;
  setup.segment = host::Segment::local(1, 1);
  setup.scheduler = &clock;
  setup.timeout = timeout * second;
  Engine engine(setup);
  engine.use(std::make_unique<Late>(clock, begun + seconds * second, fate));
  if (broken) engine.note_broken();
  testing::internal::CaptureStderr();
  engine.leave();
  return {(clock.time - begun) / second, testing::internal::GetCapturedStderr()};
}

TEST(Leave, WaitsForWhoComputes) {
  const Ended quick = leave(1, transport::Fate::well, false, 0);
  EXPECT_EQ(quick.after, 1u);
  EXPECT_EQ(quick.said, "");
  const Ended late = leave(3600, transport::Fate::well, false, 0);
  EXPECT_EQ(late.after, 3600u);
  EXPECT_NE(late.said.find("waits until rank 1 takes"), std::string::npos) << late.said;
  EXPECT_EQ(late.said.find("lost"), std::string::npos) << late.said;
}

TEST(Leave, WaitsNotForEverForWhoMayHang) {
  for (const auto& [broken, timeout, after] : {std::tuple{true, 0, 10u}, {false, 3, 10u}, {false, 30, 30u}}) {
    const Ended ended = leave(3600, transport::Fate::well, broken, static_cast<std::uint64_t>(timeout));
    EXPECT_EQ(ended.after, after);
    EXPECT_NE(ended.said.find("rank 1 did not take"), std::string::npos) << ended.said;
  }
}

TEST(Leave, SaysWhoCouldNotBeReached) {
  const Ended silent = leave(2, transport::Fate::silent, false, 0);
  EXPECT_EQ(silent.after, 2u);
  EXPECT_NE(silent.said.find("rank 1 cannot be reached"), std::string::npos) << silent.said;
  EXPECT_EQ(leave(2, transport::Fate::ended, false, 0).said, "") << "its own end is told by others";
}

}  // namespace
}  // namespace tutti::engine
