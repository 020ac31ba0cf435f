// SPDX-License-Identifier: BSD-3-Clause
// The rendezvous between real processes.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <string>

#include "base/clock.hpp"
#include "running.hpp"

namespace tutti::test {
namespace {

TEST(Join, AProgramStartedAloneIsAWorldOfOne) {
  Running alone(probe({"join", "who", "leave"}));
  EXPECT_EQ(alone.wait(), 0) << alone.errors();
  EXPECT_EQ(alone.output(), "0 of 1\n");
}

TEST(Join, AllRanksMeet) {
  for (const int ranks : {1, 2, 5, 16}) {
    Running job(tutti_run({"-n", std::to_string(ranks)}, probe({"join", "who", "leave"})));
    EXPECT_EQ(job.wait(), 0) << job.errors();
    const std::string text = job.output();
    EXPECT_EQ(std::ranges::count(text, '\n'), ranks);
    EXPECT_NE(text.find(std::to_string(ranks - 1) + " of " + std::to_string(ranks) + "\n"), text.npos);
    EXPECT_TRUE(job.has_descendants(0));
  }
}

TEST(Join, NobodyGoesOnBeforeTheLastHasCome) {
  const std::uint64_t begin = base::now();
  Running job(tutti_run({"-n", "3"}, probe({"2/sleep=0.4", "join", "0/say=go", "leave"})));
  EXPECT_EQ(job.wait(), 0);
  EXPECT_GT(base::now() - begin, 400'000'000u);
}

TEST(Join, TheStoreHandsValuesOver) {
  Running job(tutti_run({"-n", "3"}, probe({"join", "1/sleep=0.1", "1/put=where:over there", "get=where", "leave"})));
  EXPECT_EQ(job.wait(), 0) << job.errors();
  EXPECT_EQ(job.output(), "over there\nover there\nover there\n");
}

TEST(Join, TheStoreGivesUpInTime) {
  Running job(tutti_run({"-n", "2"}, probe({"join", "0/get=missing", "1/sleep=0.3"})));
  EXPECT_EQ(job.wait(), 5);
  expect_text(job, "did not answer in the time given");
}

TEST(Join, NorDoesWhoPutsWaitForEver) {
  Running job(
      tutti_run({"-n", "2"}, probe({"join", "patience=1", "0/stop-launcher=4", "0/put=where:here", "get=where"})));
  EXPECT_EQ(job.wait(), 5);
  expect_text(job, "did not answer in the time given");
}

TEST(Join, ARankThatHasLeftCannotComeBack) {
  const std::string script = probe_command() + " join leave && " + probe_command() + " join";
  Running job(tutti_run({"-n", "2"}, {"sh", "-c", script}));
  EXPECT_EQ(job.wait(), 5);
  expect_text(job, "rank 0 has already taken part and left (process ");
  expect_text(job, "unset the TUTTI_ variables for a second one");
}

TEST(Join, AProgramThatARankStartsCannotTakeItsPlace) {
  const std::string script = probe_command() + " join say=in sleep=0.5 leave & sleep 0.25; " + probe_command() +
                             " join; code=$?; wait; exit $code";
  Running job(tutti_run({"-n", "2"}, {"sh", "-c", script}));
  EXPECT_EQ(job.wait(), 5);
  expect_text(job, "rank 1 is taken by a process that is still there (process ");
}

TEST(Join, ARankThatEndsWithoutJoiningIsNotWaitedFor) {
  Running job(tutti_run({"-n", "4"}, probe({"3/exit=0", "join", "say=joined"})));
  EXPECT_EQ(job.wait(), 5);
  expect_text(job, "rank 3 ended without joining; every rank of a job must start Tutti, or none");
  EXPECT_EQ(job.output(), "");
}

TEST(Join, ARankThatDiesWhileOthersWaitIsNamed) {
  Running job(tutti_run({"-n", "3"}, probe({"1/sleep=0.1", "1/kill=9", "join"})));
  EXPECT_EQ(job.wait(), 128 + SIGKILL);
  expect_text(job, ") was killed by SIGKILL (Killed), before it joined\n");
}

TEST(Join, AWrongSecretIsRefused) {
  const std::string script = "TUTTI_SECRET=00112233445566778899aabbccddeeff " + probe_command() + " join";
  Running job(tutti_run({"-n", "2"}, {"sh", "-c", script}));
  EXPECT_EQ(job.wait(), 5);
  expect_text(job, "the secret is wrong: TUTTI_SECRET does not belong to the job at unix:@tutti-");
}

TEST(Join, AProgramOfAnotherUserIsRefused) {
  if (geteuid() != 0) return;  // Only root can become somebody else.
  const std::string script = "exec setpriv --reuid=65534 --clear-groups " + probe_command() + " join";
  Running job(tutti_run({"-n", "2"}, {"sh", "-c", script}));
  EXPECT_EQ(job.wait(), 5);
  expect_text(job, "belongs to user 0, this process to user 65534");
}

TEST(Join, SixtyFourRanksMeetQuickly) {
  Running job(tutti_run({"-n", "64"}, probe({"join", "leave"})));
  EXPECT_EQ(job.wait(), 0) << job.errors();
  EXPECT_LT(job.total_cpu_time(), 2.0);
}

TEST(Join, NobodyWaitsForAValueOfALostRank) {
  Running job(tutti_run({"-n", "3"}, probe({"join", "0/exit=0", "get=never"})));
  EXPECT_EQ(job.wait(), 5);
  expect_text(job, "the value \"never\" will not come: rank 0 (process ");
}

}  // namespace
}  // namespace tutti::test
