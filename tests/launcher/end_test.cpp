// SPDX-License-Identifier: BSD-3-Clause
// How jobs end: deaths, time-outs, Ctrl-C, and the death of the launcher. Nothing may be left, whatever happens.
#include <dirent.h>
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <set>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "running.hpp"
#include "tutti/call.hpp"

namespace tutti::test {
namespace {

/// Those with Tutti's name: other programs come and go.
std::set<std::string> shared_memory_files() {
  std::set<std::string> names;
  const std::unique_ptr<DIR, int (*)(DIR*)> folder(opendir("/dev/shm"), closedir);
  while (const dirent* item = folder ? readdir(folder.get()) : nullptr)
    if (std::string_view(item->d_name).find("tutti") != std::string_view::npos) names.insert(item->d_name);
  return names;
}

class EndTest : public testing::Test {
 protected:
  void SetUp() override { before_ = shared_memory_files(); }
  void TearDown() override { EXPECT_EQ(shared_memory_files(), before_); }
  std::set<std::string> before_;
};

/// Whether a line of /proc/PID/status begins so.
bool has_status(pid_t pid, const std::string& line) {
  std::ifstream status("/proc/" + std::to_string(pid) + "/status");
  const std::string text{std::istreambuf_iterator<char>(status), {}};
  return text.find("\n" + line) != text.npos;
}

double seconds_since(std::uint64_t begin) { return static_cast<double>(base::now() - begin) * 1e-9; }

/// One that is in the job and would stay for ever.
const std::vector<std::string> stay{"join", "say=in", "sleep=1000"};

/// Waits until all ranks of a job of `stay` are in.
void expect_in(Running& job, int ranks) {
  std::string all;
  for (int i = 0; i < ranks; ++i) all += "in\n";
  ASSERT_TRUE(job.prints(all)) << job.output() << job.errors();
}

TEST_F(EndTest, ARankThatIsKilledIsNamedWithItsLastCollective) {
  Running job(tutti_run({"-n", "3"}, probe({"join", "1/last=3", "1/kill=9", "await-death=1", "say=saw it", "exit=1"})));
  EXPECT_EQ(job.wait(), 128 + SIGKILL);
  expect_text(job, "tutti: rank 1 (process ");
  expect_text(job, ") was killed by SIGKILL (Killed), in allreduce #12 of group 0000000000006c1f\n");
  expect_text(job, "tutti: ranks 0, 2 failed after rank 1\n");
  EXPECT_EQ(job.output(), "saw it\nsaw it\n") << "the others had time to report it themselves";
  EXPECT_TRUE(job.has_descendants(0));
}

TEST_F(EndTest, ARankThatTakesItsTimeToDieIsTheCauseStill) {
  const std::vector<std::string> steps{"join",     "1/last=3",      "1/drop-lock", "1/sleep=0.02",
                                       "1/kill=9", "await-death=1", "exit=1"};
  Running job(tutti_run({"-n", "3"}, probe(steps)));
  EXPECT_EQ(job.wait(), 128 + SIGKILL);
  expect_text(job, ") was killed by SIGKILL (Killed), in allreduce #12 of group 0000000000006c1f\n");
  expect_text(job, "tutti: ranks 0, 2 failed after rank 1\n");
}

TEST_F(EndTest, TheWorldIsCalledTheWorld) {
  Running job(tutti_run({"-n", "1"}, probe({"join", "last=0", "world", "kill=9"})));
  EXPECT_EQ(job.wait(), 128 + SIGKILL);
  expect_text(job, "its last collective was barrier #12 of the world\n");
}

TEST_F(EndTest, APlanIsCalledAPlanAndGarbageAnOperation) {
  for (const auto& [kind, name] : {std::pair(static_cast<int>(Kind::plan), "plan"), std::pair(1000000, "operation")}) {
    Running job(tutti_run({"-n", "1"}, probe({"join", "last=" + std::to_string(kind), "world", "exit=3"})));
    EXPECT_EQ(job.wait(), 3);
    expect_text(job, std::string("its last collective was ") + name + " #12 of the world\n");
  }
}

TEST_F(EndTest, OthersThatDoNotNoticeAreEnded) {
  const std::uint64_t begin = base::now();
  Running job(tutti_run({"-n", "3"}, probe({"join", "1/exit=7", "sleep=1000"})));
  EXPECT_EQ(job.wait(), 7);
  EXPECT_GT(seconds_since(begin), 0.9) << "they get a second";
  expect_text(job, ") exited with status 7, before its first collective\n");
  expect_text(job, "tutti: ended ranks 0, 2 after rank 1\n");
  EXPECT_TRUE(job.has_descendants(0));
}

TEST_F(EndTest, OthersGoOnWhereTheyShall) {
  const auto killed = [](const std::vector<std::string>& steps) {
    return tutti_run({"-n", "3", "--keep-going"}, probe(steps));
  };
  Running well(killed({"join", "1/kill=9", "await-death=1", "say=on", "leave"}));
  EXPECT_EQ(well.wait(), 0);
  expect_text(well, "tutti: rank 1 (process ");
  EXPECT_EQ(well.output(), "on\non\n");
  Running late(killed({"join", "1/sleep=0.5", "1/kill=9", "leave"}));
  EXPECT_EQ(late.wait(), 0) << "the last to end";
  Running failed(killed({"join", "1/kill=9", "await-death=1", "2/exit=5", "sleep=1000"}));
  EXPECT_EQ(failed.wait(), 5) << "one that fails by itself ends all as usual";
  Running none(killed({"join", "kill=9"}));
  EXPECT_EQ(none.wait(), 128 + SIGKILL);
}

TEST_F(EndTest, OthersThatIgnoreSigtermAreKilled) {
  // One of them lacks its main thread, as after pthread_exit in main.
  Running job(tutti_run(
      {"-n", "3"}, probe({"ignore=" + std::to_string(SIGTERM), "1/exit=7", "0/end-main-thread=1000", "sleep=1000"})));
  EXPECT_EQ(job.wait(), 7);
  EXPECT_TRUE(job.has_descendants(0));
}

TEST_F(EndTest, AStoppedRankIsEndedToo) {
  Running job(tutti_run({"-n", "2", "--timeout", "0.3"}, probe({"0/kill=" + std::to_string(SIGSTOP), "sleep=1000"})));
  EXPECT_EQ(job.wait(), 124);
  EXPECT_TRUE(job.has_descendants(0));
}

TEST_F(EndTest, ADeathBehindAShellIsNamed) {
  // The shell goes on after its program: only the launcher's connection tells.
  const std::string script = probe_command() + " join 1/last=2 1/kill=9 await-death=1; sleep 0.6";
  Running job(tutti_run({"-n", "2"}, {"sh", "-c", script}));
  EXPECT_EQ(job.wait(), 0) << "the shells have the last word";
  expect_text(job, "tutti: rank 1 (process ");
  expect_text(job, ") ended without leaving the job, in reduce #12 of group ");
}

TEST_F(EndTest, ADeathIsSeenAlthoughAForkedChildHoldsTheConnection) {
  const std::string script = probe_command() + " join 1/fork=1000 1/kill=9 await-death=1; sleep 0.6";
  Running job(tutti_run({"-n", "2"}, {"sh", "-c", script}));
  EXPECT_EQ(job.wait(), 0);
  expect_text(job, ") ended without leaving the job");
  EXPECT_TRUE(job.has_descendants(0)) << "the forked child is ended";
}

TEST_F(EndTest, AnExitWithoutLeavingIsQuietWhenNobodyMinds) {
  Running job(tutti_run({"-n", "2"}, probe({"join", "exit=0"})));
  EXPECT_EQ(job.wait(), 0);
  EXPECT_EQ(job.errors(), "");
}

TEST_F(EndTest, TheTimeIsOver) {
  Running job(
      tutti_run({"-n", "3", "--timeout", "1.5"}, probe({"join", "last=1", "0/leave", "2/exit=0", "sleep=1000"})));
  EXPECT_EQ(job.wait(), 124);
  expect_text(job, "tutti: the time is over (--timeout 1.5 s)\n");
  expect_text(job, "tutti: rank 0 still running, after it had left\n");
  expect_text(job, "tutti: rank 1 still running, in bcast #12 of group ");
  EXPECT_TRUE(job.has_descendants(0));
}

TEST_F(EndTest, ControlCOnceAsks) {
  Running job(
      tutti_run({"-n", "2"}, {"sh", "-c", "trap 'echo asked; exit 0' INT; echo ready; while :; do sleep 0.05; done"}),
      {}, true);
  ASSERT_TRUE(job.prints("ready\r\nready"));
  job.type("\x03");
  EXPECT_EQ(job.wait(), 0);
  EXPECT_TRUE(job.prints("asked\r\nasked"));
  EXPECT_TRUE(job.has_descendants(0));
}

TEST_F(EndTest, ControlCLeavesTimeToThoseThatTidyUp) {
  const std::string tidy = "trap 'sleep 1.5; echo tidied; exit 0' INT; echo in; while :; do sleep 0.05; done";
  Running job(
      tutti_run({"-n", "2"}, {"sh", "-c", "if test $TUTTI_RANK = 1; then " + tidy + "; fi; echo in; exec sleep 1000"}));
  expect_in(job, 2);
  job.signal(SIGINT);
  EXPECT_EQ(job.wait(), 128 + SIGINT) << "rank 0 died of it";
  EXPECT_NE(job.output().find("tidied"), std::string::npos) << job.output() << job.errors();
}

TEST_F(EndTest, ControlCTwiceKills) {
  // One process shows itself only when the others have been killed, as one that was born meanwhile does.
  Running job(tutti_run({"-n", "2"}, probe({"ignore=2", "0/fork-hidden", "join", "say=in", "sleep=1000"})));
  expect_in(job, 2);
  job.signal(SIGINT);
  ASSERT_TRUE(job.complains("Ctrl-C again kills"));
  job.signal(SIGINT);
  EXPECT_EQ(job.wait(), 128 + SIGINT);
  EXPECT_TRUE(job.has_descendants(0));
}

TEST_F(EndTest, SignalsAreForwarded) {
  const std::string script =
      "for s in HUP TERM USR1 USR2; do trap \"echo got $s\" $s; done; echo in; while :; do sleep 0.02; done";
  Running job(tutti_run({"-n", "1"}, {"sh", "-c", script}));
  expect_in(job, 1);
  for (const auto& [number, name] :
       {std::pair{SIGHUP, "HUP"}, {SIGTERM, "TERM"}, {SIGUSR1, "USR1"}, {SIGUSR2, "USR2"}}) {
    job.signal(number);
    EXPECT_TRUE(job.prints(std::string("got ") + name));
  }
  job.signal(SIGQUIT);
  EXPECT_EQ(job.wait(), 128 + SIGQUIT);
}

TEST_F(EndTest, TheSecondRequestEndsThoseThatDoNotListen) {
  const std::string deaf = "trap 'echo asked' TERM; echo in; while :; do sleep 0.02; done";
  Running job(tutti_run({"-n", "2"}, {"sh", "-c", deaf}));
  expect_in(job, 2);
  job.signal(SIGTERM);
  EXPECT_TRUE(job.prints("asked"));  // or the system would make one of two requests
  job.signal(SIGTERM);
  EXPECT_EQ(job.wait(), 128 + SIGTERM);
  EXPECT_TRUE(job.has_descendants(0));
}

TEST_F(EndTest, OutputThatARequestDropsShowsInTheStatus) {
  const std::string write = "seq 30000; echo written >&2";  // more than a pipe holds
  for (const std::string& asked :
       {std::string(), "trap \"" + write + "; exit 0\" TERM; echo in >&2; sleep 1000 & wait"}) {
    Running job({"sh", "-c",
                 "{ " + tutti_command() + " run -n 1 sh -c '" + (asked.empty() ? write : asked) +
                     "'; echo status $? >&2; } | sleep 1000"});
    ASSERT_TRUE(job.complains(asked.empty() ? "written" : "in"));
    const pid_t launcher = job.descendant("tutti");
    ASSERT_GT(launcher, 0);
    if (!asked.empty()) kill(launcher, SIGTERM);
    ASSERT_TRUE(job.complains("written"));
    // Nobody reads, and the ranks have ended: the shell's two halves and the launcher's two processes are left.
    ASSERT_TRUE(job.has_descendants(4));
    const std::string status = "status " + std::to_string(128 + SIGTERM);
    // Again every two seconds: one that the launcher hears before it has seen the ranks' end asks them, and the next
    // drops their output.
    for (int looks = 0; looks < 2000 && job.errors().find(status) == std::string::npos; ++looks, usleep(10'000))
      if (looks % 200 == 0) kill(launcher, SIGTERM);
    EXPECT_TRUE(job.complains(status));
  }
}

TEST_F(EndTest, ARequestReachesStoppedRanks) {
  for (const int number : {SIGTERM, SIGINT}) {
    Running job(tutti_run({"-n", "2"}, {"sh", "-c", "echo in; kill -STOP $$; sleep 1000"}));
    expect_in(job, 2);
    usleep(100'000);
    job.signal(number);
    EXPECT_EQ(job.wait(10), 128 + number);
  }
}

TEST_F(EndTest, AStopStopsAllAndTheirClock) {
  Running job(tutti_run({"-n", "2", "--timeout", "1.5"}, {"sh", "-c", "echo in; sleep 0.5; echo done"}));
  expect_in(job, 2);
  job.signal(SIGTSTP);
  usleep(1'600'000);
  EXPECT_EQ(job.output(), "in\nin\n");
  job.signal(SIGCONT);
  EXPECT_EQ(job.wait(), 0) << job.errors();
}

/// As Ctrl-Z and fg do: it is continued when it has been stopped.
void stop_and_continue(pid_t launcher) {
  ASSERT_GT(launcher, 0);
  kill(launcher, SIGTSTP);
  for (int i = 0; i < 5000 && !has_status(launcher, "State:\tT"); ++i) usleep(1000);
  kill(launcher, SIGCONT);
}

TEST_F(EndTest, AStopWindsNoClockUpAgain) {
  // All ranks have ended, and somebody reads slowly what they have said.
  Running early({"sh", "-c",
                 "{ " + tutti_command() + " run -n 1 --timeout 1.5 sh -c 'seq 30000; echo written >&2'; " +
                     "echo status $? >&2; } | { sleep 1.7; cat >/dev/null; }"});
  ASSERT_TRUE(early.complains("written"));
  usleep(100'000);
  stop_and_continue(early.descendant("tutti"));
  Running late(tutti_run({"-n", "1", "--timeout", "0.2"},
                         {"sh", "-c", "trap 'sleep 0.3; exit 0' TERM; while :; do sleep 0.02; done"}));
  const std::string once = "the time is over";
  ASSERT_TRUE(late.complains(once));
  stop_and_continue(late.pid());
  EXPECT_EQ(late.wait(), 124);
  EXPECT_EQ(late.errors().find(once), late.errors().rfind(once)) << late.errors();
  EXPECT_EQ(early.wait(), 0);
  expect_text(early, "status 0");
}

TEST_F(EndTest, ControlZStopsNobodyWhomNoShellCanContinue) {
  Running job(tutti_run({"-n", "1"}, {"sh", "-c", "echo in; read line; echo got $line"}), {}, true);
  ASSERT_TRUE(job.prints("in\r\n"));
  job.type("\x1a");
  job.type("more\n");
  EXPECT_EQ(job.wait(10), 0);
  EXPECT_TRUE(job.prints("got more"));
}

TEST_F(EndTest, ControlZIsTheShellsWhereThereIsOne) {
  const std::string run = tutti_command() + " run -n 1 sh -c 'echo in; read line; echo got $line'";
  Running shell({"bash", "-m", "-c", run + "; echo status $?; fg; echo status $?"}, {}, true);
  ASSERT_TRUE(shell.prints("in\r\n"));
  shell.type("\x1a");
  ASSERT_TRUE(shell.prints("status " + std::to_string(128 + SIGTSTP)));
  shell.type("more\n");
  EXPECT_TRUE(shell.prints("got more"));
  EXPECT_TRUE(shell.prints("status 0"));
}

TEST_F(EndTest, ALauncherThatIsKilledTakesAllWithIt) {
  Running job(tutti_run({"-n", "3"}, probe(stay)));
  expect_in(job, 3);
  EXPECT_TRUE(job.has_descendants(4)) << "three ranks and the guard";
  job.signal(SIGKILL);
  EXPECT_EQ(job.wait(), 128 + SIGKILL);
  EXPECT_TRUE(job.has_descendants(0));
}

TEST_F(EndTest, ALauncherThatIsKilledTakesGrandchildrenWithIt) {
  const std::string script = probe_command() + " join say=in sleep=1000; echo not reached";
  Running job(tutti_run({"-n", "2"}, {"sh", "-c", script}));
  expect_in(job, 2);
  kill(job.descendant("tutti-guard"), SIGKILL);  // The lifeline must do alone.
  job.signal(SIGKILL);
  EXPECT_EQ(job.wait(), 128 + SIGKILL);
  EXPECT_TRUE(job.has_descendants(0));
}

TEST_F(EndTest, ALauncherThatFailsTakesAllWithIt) {
  // Rank 0 has left its process group, and what rank 1 has started has left that of its parent.
  const std::string away = "exec perl -e '$| = 1; setpgrp(0, getpgrp(getppid())); print \"in\\n\"; sleep 1000'";
  const std::string write =
      "trap 'head -c 3000000 /dev/zero' USR1; setsid sleep 1000 & echo in; while :; do sleep 0.02; done";
  Running job(
      tutti_run({"-n", "2"}, {"sh", "-c", "if test $TUTTI_RANK = 0; then " + away + "; else " + write + "; fi"}));
  expect_in(job, 2);
  // No memory for what a rank writes.
  const rlimit none{1, 1};
  ASSERT_EQ(prlimit(job.pid(), RLIMIT_AS, &none, nullptr), 0);
  job.signal(SIGUSR1);
  EXPECT_NE(job.wait(20), -1);
  EXPECT_TRUE(job.has_descendants(0));
}

TEST_F(EndTest, ALauncherThatIsKilledTakesStrangersWithIt) {
  // These never join, and one has even left its process group.
  Running job(tutti_run({"-n", "2"}, {"sh", "-c", "trap '' TERM; setsid sleep 1000 & echo in; sleep 1000; true"}));
  expect_in(job, 2);
  job.signal(SIGKILL);
  EXPECT_EQ(job.wait(), 128 + SIGKILL);
  EXPECT_TRUE(job.has_descendants(0));
}

TEST_F(EndTest, WhatRanksLeaveBehindIsEnded) {
  // The third of them lacks its main thread, and with it what others see of its environment.
  const std::string headless = "setsid " + probe_command() + " end-main-thread=1000 & echo $!; ";
  const std::string until_so = "until grep -q '^State:.Z' /proc/$!/status; do sleep 0.01; done; ";
  Running job(
      tutti_run({"-n", "2"}, {"sh", "-c", "sleep 1000 & setsid sleep 1000 & " + headless + until_so + "exit 0"}));
  EXPECT_EQ(job.wait(5), 0);
  EXPECT_TRUE(job.has_descendants(0));
  std::istringstream pids(job.output());
  for (pid_t pid = 0; pids >> pid;) EXPECT_FALSE(has_status(pid, "Threads:\t2"));
}

TEST_F(EndTest, WhatRanksLeaveBehindIsAskedFirst) {
  // It has half a second to tidy up: on a busy machine one of some tries is soon enough.
  const std::string tidy = "$SIG{TERM} = sub { print \"tidied\\n\"; exit }; kill USR1 => getppid; sleep 1000";
  const std::string rank = "trap 'exit 0' USR1; setsid perl -e '" + tidy + "' & wait";
  bool tidied = false;
  for (int i = 0; i < 20 && !tidied; ++i) {
    Running job(tutti_run({"-n", "1"}, {"sh", "-c", rank}));
    EXPECT_EQ(job.wait(), 0);
    EXPECT_TRUE(job.has_descendants(0));
    tidied = job.output() == "tidied\n";
  }
  EXPECT_TRUE(tidied);
}

TEST_F(EndTest, WhomItMayNotEndItNames) {
  if (geteuid() != 0) return;  // Only root can become somebody else.
  // The launcher has not got root's right to signal everybody.
  std::vector<std::string> command{"setpriv", "--bounding-set=-kill"};
  const std::string rank =
      "setpriv --reuid=65534 --clear-groups sleep 1000 & until test $(stat -c %u /proc/$!) = 65534; do sleep 0.01; "
      "done";
  std::ranges::copy(tutti_run({"-n", "1"}, {"sh", "-c", rank}), std::back_inserter(command));
  Running job(command);
  EXPECT_EQ(job.wait(20), 0);
  expect_text(job, "tutti: process ");
  expect_text(job, ", which a rank has started, belongs to another user and cannot be ended\n");
}

TEST_F(EndTest, ALaunchInsideALaunchEndsWithIt) {
  std::vector<std::string> inner = tutti_run({"-n", "2"}, {"sh", "-c", "echo in; sleep 1000; true"});
  Running job(tutti_run({"-n", "1"}, inner));
  expect_in(job, 2);
  job.signal(SIGKILL);
  EXPECT_EQ(job.wait(), 128 + SIGKILL);
  EXPECT_TRUE(job.has_descendants(0));
}

TEST_F(EndTest, NothingIsLeftWhenKilledWhileItStarts) {
  const std::uint64_t seed = 11;
  RecordProperty("seed", std::to_string(seed));
  base::Random random(seed);
  for (int i = 0; i < 20; ++i) {
    Running job(tutti_run({"-n", "4"}, {"sh", "-c", probe_command() + " join say=in sleep=1000; true"}));
    usleep(static_cast<useconds_t>(random.below(30'000)));
    job.signal(random.once_in(2) ? SIGKILL : SIGTERM);
    EXPECT_GE(job.wait(), 128) << "seed " << seed << ", step " << i;
    EXPECT_TRUE(job.has_descendants(0)) << "seed " << seed << ", step " << i;
  }
}

TEST_F(EndTest, ACoreDumpIsWrittenToItsEnd) {
  char folder[] = "/tmp/tutti-core-XXXXXX";
  ASSERT_NE(mkdtemp(folder), nullptr);
  constexpr std::uintmax_t size = 100'000'000;
  // Large enough to be caught in the act. Two Ctrl-C kill everything else meanwhile.
  const std::string crash = "$| = 1; $x = \"x\" x " + std::to_string(size) +
                            "; print \"full\\n\"; select undef, undef, undef, 0.01 until -e \"go\"; kill 6, $$";
  const std::string script = std::string("cd ") + folder +
                             " && ulimit -c unlimited && test $TUTTI_RANK = 0 && exec perl -e '" + crash +
                             "'; trap '' INT; sleep 1000; true";
  Running job(tutti_run({"-n", "2"}, {"sh", "-c", script}));
  ASSERT_TRUE(job.prints("full")) << job.errors();
  const pid_t pid = job.descendant("perl");
  ASSERT_GT(pid, 0);
  std::ofstream(std::string(folder) + "/go").flush();
  while (!has_status(pid, "CoreDumping:\t1") && kill(pid, 0) == 0) usleep(100);
  job.signal(SIGINT);
  ASSERT_TRUE(job.complains("Ctrl-C again kills"));
  job.signal(SIGINT);
  EXPECT_EQ(job.wait(), 128 + SIGINT) << job.errors();
  expect_text(job, "waits for a core dump to be written");
  expect_text(job, "was killed by SIGABRT (Aborted), which left a core dump");
  // Where the kernel hands dumps to a program, or to another folder, there is nothing to measure here.
  std::ifstream pattern("/proc/sys/kernel/core_pattern");
  if (pattern.get() == 'c') {
    std::uintmax_t largest = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder)) largest = std::max(largest, file.file_size());
    EXPECT_GT(largest, size) << "the dump was cut off";
  }
  std::filesystem::remove_all(folder);
  EXPECT_TRUE(job.has_descendants(0));
}

}  // namespace
}  // namespace tutti::test
