// SPDX-License-Identifier: BSD-3-Clause
// Jobs that hang, each in its own way, and what `tutti why` says about them.
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <csignal>
#include <cstdlib>
#include <filesystem>
#include <regex>
#include <string>

#include "faults/job.hpp"
#include "running.hpp"

namespace tutti::test {
namespace {

struct Answer {
  int status = -1;
  std::string output, errors;
};

Answer ask(const std::vector<std::string>& command) {
  Running why(command);
  Answer answer;
  answer.status = why.wait(30);
  answer.output = why.output();
  answer.errors = why.errors();
  return answer;
}

Answer why(const std::string& which) {
  std::vector<std::string> command{tutti_command(), "why"};
  if (!which.empty()) command.push_back(which);
  return ask(command);
}
Answer why(pid_t pid) { return why(std::to_string(pid)); }

/// A job of `hang`, and the questions about it.
class Hang {
 public:
  Hang(int ranks, const std::string& how) : job_(tutti_run({"-n", std::to_string(ranks)}, {HANG_COMMAND, how})) {}

  /// Asks until the answer has the text: the job needs a moment to hang.
  ::testing::AssertionResult says(const std::string& expression) {
    for (int attempt = 0; attempt < 100; ++attempt) {
      last_ = why(job_.pid());
      if (last_.status == 0 && std::regex_search(last_.output, std::regex(expression)))
        return ::testing::AssertionSuccess();
      poll(nullptr, 0, 50);
    }
    return ::testing::AssertionFailure() << "no " << expression << " in\n" << last_.output << last_.errors;
  }
  /// Whether the last answer has it.
  ::testing::AssertionResult said(const std::string& expression) const {
    if (std::regex_search(last_.output, std::regex(expression))) return ::testing::AssertionSuccess();
    return ::testing::AssertionFailure() << "no " << expression << " in\n" << last_.output;
  }
  const std::string& output() const { return last_.output; }

  /// From the table of the last answer.
  pid_t pid_of(int rank) const {
    std::smatch found;
    const std::regex row("\n" + std::to_string(rank) + " +([0-9]+) ");
    return std::regex_search(last_.output, found, row) ? std::stoi(found[1]) : -1;
  }
  std::string number() const { return last_.output.substr(4, 16); }
  Running& job() { return job_; }

 private:
  Running job_;
  Answer last_;
};

/// Whoever of the job is named, and however, it is the same job.
TEST(Why, KnowsAJobByAnyOfItsNames) {
  Hang hang(4, "plan");
  ASSERT_TRUE(hang.says("rank 1 [^\n]* has not called "));
  const std::string start = hang.output().substr(0, 21);
  for (const int rank : {0, 1}) EXPECT_EQ(why(hang.pid_of(rank)).output.substr(0, 21), start);
  EXPECT_EQ(why(hang.number()).output.substr(0, 21), start);
  EXPECT_EQ(why("unix:@tutti-" + hang.number()).output.substr(0, 21), start);
  EXPECT_TRUE(hang.said("\n2 +[0-9]+ +waiting +plan halo #1 of group world, for rank "));
  EXPECT_TRUE(hang.said("\ngroup world: ranks 0-3\n"));
}

TEST(Why, CallsPlansOfUsersByTheirNames) {
  Hang hang(3, "plan");
  ASSERT_TRUE(hang.says("\nrank 1 \\(pid [0-9]+\\) has not called plan halo #1 of group world; "));
  EXPECT_TRUE(hang.said("\n2 +[0-9]+ +[a-z]+ +(in )?plan halo #1 of group world"));
  EXPECT_TRUE(hang.said("last called plan halo #1: ranks 0, 2"));
  const Answer json = ask({tutti_command(), "why", "--json", hang.number()});
  EXPECT_NE(json.output.find("\"operation\": \"plan halo\""), std::string::npos) << json.output;
}

/// Ended by nobody yet: the launcher and another rank are stopped.
TEST(Why, SeesARankThatIsDead) {
  Hang hang(3, "calls");
  ASSERT_TRUE(hang.says("\nthe job goes on: "));
  const pid_t victim = hang.pid_of(1);
  ASSERT_GT(victim, 0);
  hang.job().signal(SIGSTOP);  // else it would end the others
  kill(hang.pid_of(0), SIGSTOP);
  kill(victim, SIGKILL);
  ASSERT_TRUE(hang.says("\n1 +" + std::to_string(victim) + " +dead +(last: )?allreduce #[0-9]+ of group world"));
  EXPECT_TRUE(hang.says("\ngroup world is broken: rank 1 was lost\\."));
  EXPECT_TRUE(hang.said("\nrank 1 is dead; "));
  EXPECT_TRUE(hang.said("\nrank 0 \\(pid [0-9]+\\) is stopped "));
  // The process is gone, but the others know that it was one of them.
  EXPECT_EQ(why(victim).output.substr(0, 21), hang.output().substr(0, 21));
  kill(hang.pid_of(0), SIGCONT);
  hang.job().signal(SIGCONT);
}

TEST(Why, SeesARankThatHasNotComeYet) {
  Hang hang(3, "absent");
  EXPECT_TRUE(hang.says("\nrank 1 is not in the job yet: "));
}

TEST(Why, NamesPeerAndTagOfAMessageThatNobodyReceives) {
  Hang hang(2, "no_receiver");
  ASSERT_TRUE(
      hang.says("\nrank 1 \\(pid [0-9]+\\) has not received a message with tag 5 in group world from rank 0, which "
                "waits in send \\([0-9.]+ s\\) at diagnose_hang: [^\n]*put"));
}

/// The first step of its plan packs it, and is no message.
TEST(Why, CallsASendOfAColumnASend) {
  Hang hang(2, "no_receiver_of_a_column");
  ASSERT_TRUE(
      hang.says("\nrank 1 \\(pid [0-9]+\\) has not received a message with tag 5 in group world from rank 0, which "
                "waits in send \\([0-9.]+ s\\) at diagnose_hang: [^\n]*put_column"));
}

TEST(Why, FindsTwoThatReceiveFromEachOther) {
  Hang hang(2, "both_receive");
  ASSERT_TRUE(hang.says(
      "\ndeadlock: rank 0 \\(pid [0-9]+\\) waits for rank 1 in recv with tag 7 in group world at [^\n;]*get[^\n;]*"
      "; rank 1 \\(pid [0-9]+\\) waits for rank 0 in recv with tag 8 in group world at "));
}

TEST(Why, SeesARankThatDoesNotFinishWhatItStarted) {
  Hang hang(3, "unfinished");
  ASSERT_TRUE(
      hang.says("\nrank 1 \\(pid [0-9]+\\) has started allreduce #1 of group world, but does not wait for its end; "));
}

/// Rank 0 collects what all say, and the others wait for it.
TEST(Why, SeesWhoIsMissingInAnAgreement) {
  Hang hang(4, "agree");
  ASSERT_TRUE(
      hang.says("\nrank 1 \\(pid [0-9]+\\) has not called agree of group world; rank 0 waits for it "
                "\\([0-9.]+ s\\) at diagnose_hang: [^\n]*ask[^\n;]*, ranks 2, 3 behind it\\."));
  EXPECT_TRUE(hang.said("\n2 +[0-9]+ +waiting +agree of group world, for rank 0 [^\n]*ask"));
}

TEST(Why, SeesWhoIsMissingInAShrink) {
  Hang hang(3, "shrink");
  ASSERT_TRUE(
      hang.says("\nrank 0 \\(pid [0-9]+\\) has not called shrink of group world; ranks 1, 2 wait for it "
                "\\([0-9.]+ s\\) at diagnose_hang: [^\n]*go_on[^\n;]*\\."));
}

/// The collectives inside stand where the program has made the group.
TEST(Why, SeesWhereAGroupIsMade) {
  for (const auto& [how, function] : {std::pair("split", "halve"), std::pair("cartesian", "fold")}) {
    Hang hang(2, how);
    ASSERT_TRUE(
        hang.says("\nrank 1 \\(pid [0-9]+\\) has not called allgather #1 of group world; rank 0 waits for it "
                  "\\([0-9.]+ s\\) at diagnose_hang: [^\n]*" +
                  std::string(function)))
        << how;
  }
}

TEST(Why, FindsAnAgreementBesideACollective) {
  Hang hang(2, "mixed");
  ASSERT_TRUE(hang.says(
      "\ndeadlock: rank 0 \\(pid [0-9]+\\) waits for rank 1 in agree of group world at [^\n;]*ask[^\n;]*; rank 1 "
      "\\(pid [0-9]+\\) waits for rank 0 in allreduce #[0-9]+ of group world at "));
}

TEST(Why, SeesThatNobodyWaits) {
  Hang hang(2, "sleep");
  ASSERT_TRUE(hang.says("\nnobody waits\\.\n"));
  EXPECT_TRUE(hang.said("\n0 +[0-9]+ +sleeping"));
}

TEST(Why, ListsTheJobs) {
  Hang one(2, "sleep"), two(3, "unfinished");
  ASSERT_TRUE(one.says("nobody waits"));
  ASSERT_TRUE(two.says("has started"));
  const Answer list = why("");
  EXPECT_EQ(list.status, 0);
  EXPECT_TRUE(
      std::regex_search(list.output, std::regex("job " + one.number() + ": 2 ranks \\(2 sleeping\\), launcher " +
                                                std::to_string(one.job().pid()) + " \\(.*run -n 2 ")))
      << list.output;
  EXPECT_TRUE(
      std::regex_search(list.output, std::regex("job " + two.number() + ": 3 ranks \\(1 running, 2 waiting\\)")))
      << list.output;
  one.job().signal(SIGTERM);
  one.job().wait();
  EXPECT_EQ(why("").output.find(one.number()), std::string::npos);
  const Answer ended = why(one.number());
  EXPECT_EQ(ended.status, 2);
  EXPECT_EQ(ended.errors,
            "tutti: there is no job " + one.number() + " on this machine; tutti why lists those there are\n");
}

/// The kernel ends the ranks of a launcher that was killed: then there is no job any more.
TEST(Why, SaysThatTheLauncherIsGone) {
  Hang hang(2, "sleep");
  ASSERT_TRUE(hang.says("nobody waits"));
  const std::string launcher = std::to_string(hang.job().pid());
  hang.job().signal(SIGKILL);
  hang.job().wait();
  ASSERT_TRUE(hang.job().has_descendants(0));
  const Answer answer = why(launcher);
  EXPECT_EQ(answer.status, 2);
  EXPECT_EQ(answer.errors, "tutti: there is no process " + launcher + ", and no job that is still there had one\n");
}

/// Ranks that were started without a launcher: found by the memory that they hold.
TEST(Why, NeedsNoLauncher) {
  faults::Job job(3, {}, [](faults::Seat& seat) {
    const Group world = seat.world();
    seat.ready();
    if (seat.rank() != 1) world.barrier();
    for (;;) pause();
  });
  ASSERT_TRUE(job.await_ready(20));
  Answer answer;
  for (int attempt = 0; attempt < 100 && answer.output.find("has not called") == std::string::npos; ++attempt)
    answer = why(getpid());
  EXPECT_TRUE(std::regex_search(
      answer.output,
      std::regex("^job [0-9a-f]{16}: 3 ranks, no launcher\nrank 1 \\(pid [0-9]+\\) has not called barrier #")))
      << answer.output << answer.errors;
}

TEST(Why, RefusesWhatIsNoJob) {
  for (const auto& [which, text] : std::vector<std::pair<std::string, std::string>>{
           {std::to_string(getppid()), ") is no rank and no launcher of a job; tutti why lists the jobs there are"},
           {"4194304", "there is no process 4194304"},
           {"0123456789abcdef", "there is no job 0123456789abcdef on this machine"},
           {"frobnicate", "\"frobnicate\" is no job and no process; name a job's 16 digits"},
           {"-1", "why"},
           {"99999999999999999999", "is no job and no process"}}) {
    const Answer answer = why(which);
    EXPECT_EQ(answer.status, 2) << which;
    EXPECT_NE(answer.errors.find(text), std::string::npos) << which << ": " << answer.errors;
    EXPECT_EQ(answer.output, "");
  }
}

/// A copy of the command where everybody may run it, as another user when this one is root.
TEST(Why, SaysWhoMayLook) {
  const std::filesystem::path folder =
      std::filesystem::temp_directory_path() / ("tutti-why-" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::filesystem::copy_file(tutti_command(), folder / "tutti");
  chmod(folder.c_str(), 0755);
  Hang hang(2, "sleep");
  ASSERT_TRUE(hang.says("nobody waits"));
  std::vector<std::string> other;
  if (geteuid() == 0) other = {"setpriv", "--reuid=65534", "--regid=65534", "--clear-groups"};
  const auto ask_as_other = [&](const std::string& which) {
    std::vector<std::string> command = other;
    command.insert(command.end(), {folder / "tutti", "why", which});
    return ask(command);
  };
  // Somebody else's process: for root's other self the job's, for everybody else the first of all.
  const std::string process = geteuid() == 0 ? std::to_string(hang.job().pid()) : "1";
  const Answer answer = ask_as_other(process);
  EXPECT_EQ(answer.status, 1);
  EXPECT_EQ(answer.errors,
            "tutti: process " + process + " belongs to user 0; only that user and root may look into it\n");
  if (geteuid() == 0) {
    const Answer job = ask_as_other(hang.number());
    EXPECT_EQ(job.status, 1);
    EXPECT_EQ(job.errors,
              "tutti: job " + hang.number() + " belongs to user 0; only that user and root may look into it\n");
  }
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace tutti::test
