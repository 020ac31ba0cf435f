// SPDX-License-Identifier: BSD-3-Clause
// `tutti run`: programs, output, input, environment, exit status.
#include <gtest/gtest.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <iterator>
#include <map>
#include <sstream>
#include <string>

#include "base/clock.hpp"
#include "base/random.hpp"
#include "running.hpp"

namespace tutti::test {
namespace {

std::map<std::string, int> count_lines(const std::string& text) {
  std::map<std::string, int> counts;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) ++counts[line];
  return counts;
}

TEST(Run, StartsEveryRankOnce) {
  Running job(tutti_run({"-n", "5"}, {"sh", "-c", "echo $TUTTI_RANK of $TUTTI_SIZE"}));
  EXPECT_EQ(job.wait(), 0) << job.errors();
  const auto lines = count_lines(job.output());
  EXPECT_EQ(lines.size(), 5u);
  for (int rank = 0; rank < 5; ++rank) EXPECT_EQ(lines.at(std::to_string(rank).append(" of 5")), 1);
  EXPECT_EQ(job.errors(), "");
  EXPECT_TRUE(job.has_descendants(0));
}

TEST(Run, DoesNotTearLines) {
  Running job(tutti_run({"-n", "4"}, probe({"chatter=2000"})));
  EXPECT_EQ(job.wait(), 0) << job.errors();
  const auto lines = count_lines(job.output());
  EXPECT_EQ(lines.size(), 1u);
  EXPECT_EQ(lines.at("this is one line"), 8000);
}

TEST(Run, LabelsLinesOnRequest) {
  Running job(tutti_run({"-n", "3", "--label"}, {"sh", "-c", "echo out; printf partial; echo error >&2"}));
  EXPECT_EQ(job.wait(), 0);
  const auto lines = count_lines(job.output());
  EXPECT_EQ(lines.size(), 6u);
  for (const char* line : {"[0] out", "[1] out", "[2] out", "[0] partial", "[1] partial", "[2] partial"})
    EXPECT_EQ(lines.at(line), 1);
  EXPECT_EQ(count_lines(job.errors()),
            (std::map<std::string, int>{{"[0] error", 1}, {"[1] error", 1}, {"[2] error", 1}}));
}

TEST(Run, PassesBytesUnharmed) {
  const std::uint64_t seed = 3;
  RecordProperty("seed", std::to_string(seed));
  base::Random random(seed);
  std::string bytes(3'000'000, '\0');
  for (char& c : bytes) c = static_cast<char>(random.next());
  Running job(tutti_run({"-n", "2"}, {"sh", "-c", "test $TUTTI_RANK = 1 || cat"}), bytes);
  EXPECT_EQ(job.wait(), 0) << job.errors();
  EXPECT_TRUE(job.output() == bytes) << "seed " << seed;
}

TEST(Run, GivesInputToRankZeroAlone) {
  Running job(tutti_run({"-n", "3", "--label"}, {"cat"}), "line\n");
  EXPECT_EQ(job.wait(), 0);
  EXPECT_EQ(job.output(), "[0] line\n");
}

TEST(Run, TakesNoMoreInputThanRankZeroReads) {
  const std::string script = tutti_command() + " run -n 2 sh -c 'test $TUTTI_RANK = 1 || read line'; cat";
  Running shell({"sh", "-c", script}, "first\nsecond\n");
  EXPECT_EQ(shell.wait(), 0) << shell.errors();
  EXPECT_EQ(shell.output(), "second\n");
}

TEST(Run, AWriterIsToldWhenRankZeroStopsReading) {
  const std::string script = "yes | " + tutti_command() + " run -n 2 sh -c 'exec <&-; sleep 0.3'";
  Running shell({"sh", "-c", script});
  EXPECT_EQ(shell.wait(), 0);
}

TEST(Run, ReadsATerminalForRankZero) {
  Running job(tutti_run({"-n", "2"}, {"sh", "-c", "printf 'name? '; read name && echo hello $name"}), {}, true);
  EXPECT_TRUE(job.prints("name? ")) << "a question is shown before its line has ended";
  job.type("Ada\n");
  EXPECT_TRUE(job.prints("hello Ada"));
  EXPECT_EQ(job.wait(), 1) << "rank 1 has no input, and its read failed";
}

TEST(Run, ReadsATerminalThatIsNotTheControllingOne) {
  std::vector<std::string> words{"setsid", "--wait"};
  std::ranges::copy(tutti_run({"-n", "1"}, {"sh", "-c", "echo in; read name && echo hello $name"}),
                    std::back_inserter(words));
  Running job(words, {}, true);
  ASSERT_TRUE(job.prints("in"));
  job.type("Ada\n");
  EXPECT_TRUE(job.prints("hello Ada"));
}

TEST(Run, ReadsATerminalOnceItIsInTheForeground) {
  const std::string run = tutti_command() + " run -n 1 sh -c 'echo in; read name && echo hello $name'";
  Running shell({"bash", "-m", "-c", run + " & read go; fg"}, {}, true);
  ASSERT_TRUE(shell.prints("in"));
  shell.type("go\n");
  shell.type("Ada\n");
  EXPECT_TRUE(shell.prints("hello Ada"));
}

TEST(Run, EndsTheInputOfRankZeroWithControlD) {
  Running job(tutti_run({"-n", "1"}, {"cat"}), {}, true);
  job.type("typed\n");
  EXPECT_TRUE(job.prints("typed\r\ntyped"));
  job.type("\x04");
  EXPECT_EQ(job.wait(), 0);
}

TEST(Run, ARankIsToldWhenNobodyReadsItsOutput) {
  Running shell({"sh", "-c", tutti_command() + " run -n 2 yes | head -n 1"});
  EXPECT_EQ(shell.wait(), 0);
  EXPECT_EQ(shell.output(), "y\n");
  EXPECT_TRUE(shell.has_descendants(0));
}

TEST(Run, ASlowReaderHoldsTheRanksUpAndLosesNothing) {
  Running shell({"sh", "-c", tutti_command() + " run -n 2 seq 400000 | (sleep 0.5; cksum; true)"});
  EXPECT_EQ(shell.wait(), 0);
  EXPECT_NE(shell.output().find(" 5377790\n"), std::string::npos) << shell.output();
}

TEST(Run, SetsVariables) {
  Running job(tutti_run({"-n", "2", "--env", "COLOUR=blue = green", "--env", "EMPTY="},
                        {"sh", "-c", "echo \"$COLOUR,${EMPTY-unset}\""}));
  EXPECT_EQ(job.wait(), 0);
  EXPECT_EQ(job.output(), "blue = green,\nblue = green,\n");
}

TEST(Run, PassesTheProgramsOwnOptionsOn) {
  Running job(tutti_run({"-n", "1"}, {"printf", "%s,", "-n", "--label", "--", "--help", ""}));
  EXPECT_EQ(job.wait(), 0);
  EXPECT_EQ(job.output(), "-n,--label,--,--help,,");
}

TEST(Run, ExitsWithTheFirstFailingStatus) {
  EXPECT_EQ(Running(tutti_run({"-n", "3"}, {"true"})).wait(), 0);
  EXPECT_EQ(Running(tutti_run({"-n", "3"}, {"sh", "-c", "sleep 0.$TUTTI_RANK; exit $((3 - TUTTI_RANK))"})).wait(), 3);
  Running killed(tutti_run({"-n", "2"}, probe({"1/kill=" + std::to_string(SIGUSR1)})));
  EXPECT_EQ(killed.wait(), 128 + SIGUSR1);
  EXPECT_NE(killed.errors().find("rank 1 (process "), std::string::npos);
  EXPECT_NE(killed.errors().find(") was killed by SIGUSR1 (User defined signal 1), before it joined\n"),
            std::string::npos);
}

TEST(Run, SeesTheEndAlsoWhereEndsOfChildrenAreIgnored) {
  // perl, as a daemon might, leaves it so to what it starts; the ranks find it so.
  const std::string run = "perl -e '$SIG{CHLD} = \"IGNORE\"; exec @ARGV' " + tutti_command() + " run -n 2 ";
  Running job({"sh", "-c", run + "grep SigIgn /proc/self/status"});
  EXPECT_EQ(job.wait(10), 0) << job.errors();
  std::istringstream words(job.output());
  for (std::string name, mask; words >> name >> mask;)
    EXPECT_NE(std::stoull(mask, nullptr, 16) >> (SIGCHLD - 1) & 1, 0u) << job.output();
  EXPECT_EQ(Running({"sh", "-c", run + "sh -c 'exit 3'"}).wait(10), 3);
}

TEST(Run, SaysWhenThereIsNoProgram) {
  Running missing(tutti_run({"-n", "2"}, {"no-such-program"}));
  EXPECT_EQ(missing.wait(), 127);
  EXPECT_NE(missing.errors().find("there is no program \"no-such-program\" in any folder of PATH ("),
            std::string::npos);
  Running no_file(tutti_run({"-n", "2"}, {"./no-such-file"}));
  EXPECT_EQ(no_file.wait(), 127);
  EXPECT_NE(no_file.errors().find("No such file"), std::string::npos);
  Running no_program(tutti_run({"-n", "2"}, {"/etc/passwd"}));
  EXPECT_EQ(no_program.wait(), 127);
  EXPECT_NE(no_program.errors().find("is not a program"), std::string::npos);
}

TEST(Run, SaysWhenTheKernelRefusesTheProgram) {
  char path[] = "/tmp/tutti-program-XXXXXX";
  const base::Descriptor file(mkstemp(path));
  const std::string content = "#!/no/such/interpreter\n";
  ASSERT_EQ(write(file.get(), content.data(), content.size()), static_cast<ssize_t>(content.size()));
  ASSERT_EQ(fchmod(file.get(), 0755), 0);
  const_cast<base::Descriptor&>(file).reset();
  Running job(tutti_run({"-n", "2"}, {path}));
  EXPECT_EQ(job.wait(), 127);
  EXPECT_NE(job.errors().find("cannot execute rank "), std::string::npos) << job.errors();
  unlink(path);
}

TEST(Run, RefusesCommandLinesThatMeanNothing) {
  for (const std::vector<std::string>& options :
       std::vector<std::vector<std::string>>{{},
                                             {"-n", "0"},
                                             {"-n", "x"},
                                             {"-n", "2", "--env", "NOVALUE"},
                                             {"-n", "2", "--env", "TUTTI_RANK=3"},
                                             {"-n", "2", "--bind", "socket"},
                                             {"-n", "2", "--timeout", "-1"},
                                             {"-n", "2", "--no-such-option"}}) {
    Running job(tutti_run(options, {"true"}));
    EXPECT_EQ(job.wait(), 2) << ::testing::PrintToString(options);
    EXPECT_NE(job.errors(), "");
  }
  EXPECT_EQ(Running({tutti_command(), "run", "-n", "2"}).wait(), 2);
}

TEST(Run, BindsRanksToCores) {
  Running job(tutti_run({"-n", "2", "--bind", "core", "--label"}, {"grep", "Cpus_allowed_list", "/proc/self/status"}));
  EXPECT_EQ(job.wait(), 0) << job.errors();
  const std::string text = job.output();
  EXPECT_EQ(std::ranges::count(text, '\n'), 2);
  EXPECT_EQ(text.find_first_of(",-"), text.npos) << "one core each: " << text;
}

TEST(Run, StartsSixtyFourRanksWithinASecond) {
  Running job(tutti_run({"-n", "64"}, {"true"}));
  EXPECT_EQ(job.wait(), 0);
  // Its time and theirs, so that a busy machine does not matter.
  EXPECT_LT(job.total_cpu_time(), 1.0);
}

TEST(Run, UsesNoTimeWhileItWaits) {
  Running job(tutti_run({"-n", "2"}, {"sh", "-c", "echo there; sleep 1"}));
  ASSERT_TRUE(job.prints("there\nthere\n"));
  const double before = job.cpu_time();
  usleep(800'000);
  EXPECT_LE(job.cpu_time() - before, 0.011) << "one tick at most";
  EXPECT_EQ(job.wait(), 0);
}

TEST(Run, PrintsItsVersion) {
  Running version({tutti_command(), "--version"});
  EXPECT_EQ(version.wait(), 0);
  EXPECT_EQ(version.output().find("tutti "), 0u);
  EXPECT_EQ(Running({tutti_command(), "info"}).wait(), 0);
}

}  // namespace
}  // namespace tutti::test
