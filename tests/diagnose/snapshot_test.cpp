// SPDX-License-Identifier: BSD-3-Clause
// What is read from a job's memory, sound or damaged.
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <memory>
#include <thread>

#include "../host/child.hpp"
#include "diagnose/hosts.hpp"
#include "diagnose/snapshot.hpp"
#include "launch/directory.hpp"
#include "launch/window.hpp"
#include "tutti/error.hpp"

namespace tutti::diagnose {
namespace {

constexpr std::uint64_t job = 0x0123456789abcdef, context = 99;

/// A segment of four ranks, of which three are in a group.
class Snapshots : public ::testing::Test {
 protected:
  Snapshots() : segment_(host::Segment::create(4, job)), board_(make_board(context, "world/0.0", {3, 0, 2})) {}

  host::Board make_board(std::uint64_t of, std::string_view name, const std::array<Rank, 3>& world) {
    const std::size_t bytes = host::Board::bytes(3);
    place_ = segment_->allocate(bytes);
    host::Board::format(segment_->at(place_, bytes), 3, of, 3, name, world);
    return {segment_->at(place_, bytes), 3, 0, of};
  }
  void record(Rank member, std::uint64_t sequence, Kind kind) {
    host::Record& record = board_.record(member, sequence);
    record.call.store(static_cast<std::uint64_t>(kind));
    record.site.store(0x1000 + sequence);
    record.sequence.store(sequence + 1);
  }
  host::Wait wait() const {
    host::Wait wait;
    wait.context = context;
    wait.sequence = 17;
    wait.since = 5;
    wait.add(2);
    wait.set_place("solver.py:12 in step");
    return wait;
  }
  host::Waits& waits(Rank rank) const { return segment_->process(rank).waits; }
  Snapshot read() const { return read_snapshot(segment_->descriptor()); }

  std::shared_ptr<host::Segment> segment_;
  host::Offset place_ = 0;
  host::Board board_;
};

TEST_F(Snapshots, HoldsGroupsMembersAndCalls) {
  for (std::uint64_t sequence = 0; sequence < 20; ++sequence) record(1, sequence, Kind::allreduce);
  make_board(7, std::string(300, 'n'), {0, 1, 2});
  const Snapshot snapshot = read();
  EXPECT_EQ(snapshot.job, job);
  EXPECT_EQ(snapshot.processes.size(), 4U);
  ASSERT_EQ(snapshot.groups.size(), 2U);
  const Group& group = snapshot.groups[0];
  EXPECT_EQ(group.name, "world/0.0");
  EXPECT_EQ(group.members[0].world, 3);
  EXPECT_EQ(group.members[2].world, 2);
  ASSERT_EQ(group.members[1].calls.size(), 16U);
  EXPECT_EQ(group.members[1].calls.front().sequence, 4U);
  EXPECT_EQ(group.members[1].calls.back().sequence, 19U);
  EXPECT_EQ(group.members[1].calls.back().site, 0x1000U + 19);
  EXPECT_EQ(group.members[1].calls.back().kind(), Kind::allreduce);
  EXPECT_TRUE(group.members[1].reached(19));
  EXPECT_FALSE(group.members[1].reached(20));
  EXPECT_FALSE(group.members[0].reached(0));
  EXPECT_EQ(snapshot.groups[1].name, std::string(host::line - 1, 'n'));
  EXPECT_EQ(snapshot.group(7), &snapshot.groups[1]);
  EXPECT_EQ(snapshot.group(8), nullptr);
}

TEST_F(Snapshots, FindsEveryOneOfManyGroups) {
  for (std::uint64_t i = 0; i < 200; ++i) make_board(1000 + i, "many", {0, 1, 2});
  EXPECT_EQ(read().groups.size(), 201U);
}

TEST_F(Snapshots, LeavesOutBoardsThatAreNotInUseOrDamaged) {
  host::BoardHeader& header = board_.header();
  header.users.store(0);
  EXPECT_TRUE(read().groups.empty());
  header.users.store(1);
  EXPECT_EQ(read().groups.size(), 1U);
  for (const std::int32_t size : {0, -1, 5, 1 << 30}) {
    header.size.store(size);
    EXPECT_TRUE(read().groups.empty()) << size;
  }
  header.size.store(3);
  std::byte* const world = segment_->at(place_, 1) + host::BoardLayout(3).identity + sizeof(host::BoardIdentity);
  for (const std::int32_t rank : {4, -1, 0}) {  // 0 is there twice then
    std::memcpy(world, &rank, sizeof rank);
    EXPECT_TRUE(read().groups.empty()) << rank;
  }
  segment_->free(place_, host::Board::bytes(3));
  EXPECT_TRUE(read().groups.empty());
}

TEST_F(Snapshots, LeavesOutRecordsThatSayNothing) {
  record(0, 3, Kind::bcast);
  board_.record(0, 3).call.store(200);
  record(0, 4, Kind::bcast);
  board_.record(0, 4).sequence.store(0);
  EXPECT_TRUE(read().groups[0].members[0].calls.empty());
}

TEST_F(Snapshots, HoldsWhatRanksTell) {
  waits(2).tell(std::array{wait()}, 1000, true);
  const Process process = read().processes[2];
  EXPECT_EQ(process.told_at, 1000U);
  EXPECT_EQ(process.waited_at, 1000U);
  ASSERT_EQ(process.waits.size(), 1U);
  EXPECT_EQ(process.waits[0].sequence, 17U);
  EXPECT_EQ(process.waits[0].blockers[0], 2);
  EXPECT_STREQ(process.waits[0].place, "solver.py:12 in step");
  waits(2).clear();
  EXPECT_TRUE(read().processes[2].waits.empty());
  waits(2).tell(std::array{wait(), wait(), wait(), wait(), wait(), wait()}, 1000, false);
  EXPECT_EQ(read().processes[2].waits.size(), host::Waits::most);
  EXPECT_EQ(read().processes[2].in_flight, 6U);
}

TEST_F(Snapshots, KeepsTheEndOfALongPlace) {
  host::Wait long_wait = wait();
  long_wait.set_place(std::string(500, 'x') + "\x1b[31mend");
  waits(0).tell(std::array{long_wait}, 1, true);
  const std::string place = read().processes[0].waits.at(0).place;
  EXPECT_EQ(place, std::string(host::Wait::longest_place - 1 - 8, 'x') + "?[31mend");
}

TEST_F(Snapshots, LeavesOutWhatADyingRankLeftHalfWritten) {
  waits(0).tell(std::array{wait()}, 1000, true);
  waits(0).version.fetch_add(1);
  EXPECT_TRUE(read().processes[0].waits.empty());
}

TEST_F(Snapshots, LeavesOutWaitsThatCannotBe) {
  const auto told = [&](auto damage) {
    host::Wait damaged = wait();
    damage(damaged);
    waits(0).tell(std::array{damaged}, 1000, true);
    return read().processes[0].waits.size();
  };
  EXPECT_EQ(told([](host::Wait&) {}), 1U);
  EXPECT_EQ(told([](host::Wait& wait) { wait.what = static_cast<host::Waited>(5); }), 0U);
  EXPECT_EQ(told([](host::Wait& wait) { wait.blocked = 5; }), 0U);
  EXPECT_EQ(told([](host::Wait& wait) { wait.blockers[0] = 4; }), 0U);
  EXPECT_EQ(told([](host::Wait& wait) { wait.blockers[0] = -1; }), 0U);
  EXPECT_EQ(told([](host::Wait& wait) { wait.call = 200; }), 0U);
  EXPECT_EQ(told([](host::Wait& wait) { std::memset(wait.place, 'x', sizeof wait.place); }), 1U);
}

TEST_F(Snapshots, ReadsWhoBrokeAGroup) {
  host::BoardHeader& header = board_.header();
  header.cause.store(static_cast<std::uint32_t>(Cause::peer_lost));
  header.who.store(1);
  header.whom.store(77);
  header.broken.store(1);
  EXPECT_FALSE(read().groups[0].broken);
  header.broken.store(2);
  const Group group = read().groups[0];
  EXPECT_TRUE(group.broken);
  EXPECT_EQ(group.cause, Cause::peer_lost);
  EXPECT_EQ(group.who, 0);  // member 1, as a rank of the job
  EXPECT_EQ(group.whom, -1);
  header.cause.store(1000);
  EXPECT_FALSE(read().groups[0].broken);
}

TEST_F(Snapshots, HoldsTheFunctionOfTheMpiThatARankIsIn) {
  host::Inside& inside = segment_->process(1).last.inside;
  const auto name = host::Inside::name_of("MPI_Recv");
  int place = 0;
  ASSERT_TRUE(inside.enter(name, &place, 3, 9));
  EXPECT_FALSE(inside.enter(host::Inside::name_of("MPI_Send"), nullptr, 0, 0));  // what it calls inside is its own
  const InMpi mpi = read().processes[1].mpi;
  EXPECT_EQ(mpi.name, "MPI_Recv");
  EXPECT_EQ(mpi.site, reinterpret_cast<std::uint64_t>(&place));
  EXPECT_EQ(mpi.peer, 3);
  EXPECT_EQ(mpi.tag, 9);
  EXPECT_EQ(mpi.call % 2, 1U);
  inside.leave();
  EXPECT_EQ(read().processes[1].mpi.call, mpi.call + 1);
  const std::string longest(40, 'x');
  ASSERT_TRUE(inside.enter(host::Inside::name_of(longest), nullptr, -1, -1));
  EXPECT_EQ(read().processes[1].mpi.name, longest.substr(0, sizeof(host::Inside::Name)));
}

/// What a rank called in a group that has no board on its host.
TEST_F(Snapshots, HoldsTheLastCallOfARankThatIsAlone) {
  host::Process::Last& last = segment_->process(1).last;
  last.sequence.store(7);
  last.kind.store(static_cast<std::uint32_t>(Kind::bcast));
  last.call.store(static_cast<std::uint64_t>(Kind::bcast) | std::uint64_t{2} << 32);
  last.count.store(5);
  EXPECT_TRUE(read().processes[1].last.recorded);
  EXPECT_EQ(read().processes[1].last.sequence, 7U);
  EXPECT_EQ(read().processes[1].last.count, 5);
  last.kind.store(static_cast<std::uint32_t>(Kind::barrier));
  EXPECT_FALSE(read().processes[1].last.recorded);
  EXPECT_EQ(read().processes[1].last.kind(), Kind::barrier);
}

/// The memory of a rank that calls the same again and again, with other counts, while it is looked at.
class Busy final : public Source {
 public:
  Busy(const host::Segment& segment, host::Process::Last& last) : file_(segment.descriptor()), last_(last) {}
  std::uint64_t bytes() const override { return file_.bytes(); }
  bool read(host::Offset offset, std::span<std::byte> to) const override {
    last_.count.fetch_add(1);
    return file_.read(offset, to);
  }
  host::Offset data_from(host::Offset offset) const override { return file_.data_from(offset); }
  std::uint64_t now() const override { return file_.now(); }
  host::Holder holder(Rank place) const override { return file_.holder(place); }
  std::optional<host::SystemCall> system_call(Rank) const override { return std::nullopt; }

 private:
  File file_;
  host::Process::Last& last_;
};

TEST_F(Snapshots, BelieveNoLastCallThatWasBeingWritten) {
  host::Process::Last& last = segment_->process(1).last;
  last.sequence.store(7);
  last.kind.store(static_cast<std::uint32_t>(Kind::barrier));
  last.call.store(static_cast<std::uint64_t>(Kind::barrier));
  EXPECT_TRUE(read().processes[1].last.recorded);
  const Called torn = read_snapshot(Busy(*segment_, last)).processes[1].last;
  EXPECT_FALSE(torn.recorded);
  EXPECT_EQ(torn.sequence, 7U);
}

TEST(Calls, SayInWhatTheyDiffer) {
  constexpr std::uint64_t bcast = static_cast<std::uint64_t>(Kind::bcast);
  using Words = std::vector<std::string>;
  EXPECT_EQ(base::differences(bcast, 3, bcast, 3), Words());
  EXPECT_EQ(base::differences(bcast, 3, static_cast<std::uint64_t>(Kind::barrier) | 5 << 8, 4), Words({"collective"}));
  EXPECT_EQ(base::differences(bcast, 3, bcast | 1 << 8, 3), Words({"type"}));
  EXPECT_EQ(base::differences(bcast, 3, bcast | 1 << 16, 3), Words({"operation"}));
  EXPECT_EQ(base::differences(bcast, 3, bcast | std::uint64_t{1} << 32, 4), Words({"root", "count"}));
}

TEST_F(Snapshots, WritesNothing) {
  const auto life = segment_->process(0).life.load();
  const host::Offset next = segment_->header().heap_next.load();
  read();
  EXPECT_EQ(segment_->process(0).life.load(), life);
  EXPECT_EQ(segment_->header().heap_next.load(), next);
}

/// The kernel shows a process as a zombie whose first thread has ended, while others of it compute.
TEST_F(Snapshots, KnowsThatARankLivesWhoseFirstThreadHasEnded) {
  const test::Child rank([&] {
    segment_->enter(1);
    std::thread([] {
      for (;;) pause();
    }).detach();
    syscall(SYS_exit, 0);
    return false;
  });
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(20);
  while (host::state_of(rank.pid()) != 'Z' && std::chrono::steady_clock::now() < until)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const Seat seat = observe(File(segment_->descriptor())).seat(1);
  EXPECT_EQ(seat.pid, rank.pid());
  EXPECT_EQ(seat.state, State::sleeping);
}

TEST(Segments, RefusesWhatIsNone) {
  const base::Descriptor file(memfd_create("other", MFD_CLOEXEC));
  EXPECT_THROW(read_snapshot(file.get()), Error);
  ASSERT_EQ(ftruncate(file.get(), 1 << 20), 0);
  EXPECT_THROW(read_snapshot(file.get()), Error);
  EXPECT_THROW(job_of(-1), Error);
  int ends[2];
  ASSERT_EQ(pipe(ends), 0);
  EXPECT_THROW(job_of(ends[0]), Error);
  close(ends[0]);
  close(ends[1]);
}

/// Whatever stands in the job's memory.
TEST(Hosts, HavePrintableNames) {
  const launch::Directory strange{launch::random_secret(), 0, "a\x1b[31m", {0, 1}, {"", "tcp:\x1b[31m:1 tcp:b:2"}};
  const auto directory = launch::read_directory(launch::text_of(strange));
  ASSERT_TRUE(directory);
  EXPECT_EQ(directory->name, "a?[31m");
  EXPECT_EQ(directory->windows[1], "tcp:?[31m:1 tcp:b:2");
}

/// What it says is of no use here, but it is not stopped.
TEST(Hosts, WhoHasAnsweredIsNotTakenForStopped) {
  const launch::Secret secret = launch::random_secret();
  const auto here = host::Segment::create(1, job);
  const launch::Window there(host::Segment::create(3, job), 0, secret, {"tcp:127.0.0.1:0"});
  launch::publish(*here, {secret, 0, "here", {0, 1}, {"", there.addresses()}});
  const Seat seat = observe_job(File(here->descriptor())).seat(1);
  EXPECT_EQ(seat.state, State::silent);
  EXPECT_NE(seat.why_silent.find("do not fit together"), std::string::npos) << seat.why_silent;
}

/// Nothing that is missing here says anything about a host.
TEST(Hosts, WhoCannotBeAskedIsNotTakenForUnreachable) {
  const launch::Secret secret = launch::random_secret();
  const auto here = host::Segment::create(1, job);
  const launch::Window there(host::Segment::create(1, job), 0, secret, {"tcp:127.0.0.1:0"});
  launch::publish(*here, {secret, 0, "here", {0, 1}, {"", there.addresses()}});
  rlimit limit{};
  getrlimit(RLIMIT_NOFILE, &limit);
  const int next = dup(here->descriptor());  // the lowest that is free
  close(next);
  const rlimit none{static_cast<rlim_t>(next), limit.rlim_max};
  setrlimit(RLIMIT_NOFILE, &none);
  const Seat seat = observe_job(File(here->descriptor())).seat(1);
  setrlimit(RLIMIT_NOFILE, &limit);
  EXPECT_EQ(seat.state, State::silent);
  EXPECT_NE(seat.why_silent.find("ulimit -n"), std::string::npos) << seat.why_silent;
}

}  // namespace
}  // namespace tutti::diagnose
