// SPDX-License-Identifier: BSD-3-Clause
// Launchers of clusters: what they are told and what they answer, among it nonsense.
#include "launch/cluster.hpp"

#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <chrono>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "../refusal.hpp"
#include "launch/meeting.hpp"
#include "launch/pmi.hpp"

namespace tutti::launch {
namespace {

using namespace std::chrono_literals;
namespace tcp = transport::tcp;

TEST(Pmi, FieldsAreFoundWhereverTheyStand) {
  const std::string line = "cmd=get_result rc=0 msg=success value=00,tcp:[fd77::1]:6=x ";
  EXPECT_EQ(pmi::field(line, "cmd"), "get_result");
  EXPECT_EQ(pmi::field(line, "value"), "00,tcp:[fd77::1]:6=x");
  EXPECT_EQ(pmi::field(line, "val"), std::nullopt);
  EXPECT_EQ(pmi::field(line, "lue"), std::nullopt);
  EXPECT_EQ(pmi::field("a= b", "a"), "");
  EXPECT_EQ(pmi::field("", "a"), std::nullopt);
  EXPECT_TRUE(pmi::succeeded("cmd=barrier_out", "barrier_out"));
  EXPECT_TRUE(pmi::succeeded("cmd=get_result rc=0", "get_result"));
  EXPECT_FALSE(pmi::succeeded("cmd=get_result rc=-1", "get_result"));
  EXPECT_FALSE(pmi::succeeded("cmd=get_result rc=0", "put_result"));
  EXPECT_FALSE(pmi::succeeded("", "put_result"));
}

std::vector<tcp::Address> some_addresses() {
  return {*tcp::Address::parse("tcp:10.77.0.1:5000"), *tcp::Address::parse("tcp:[fd77::1]:5001")};
}

TEST(Invitation, ComesBackAsItWasWritten) {
  const Secret secret = random_secret();
  const std::string text = write_invitation(secret, some_addresses(), 1000);
  EXPECT_EQ(text, to_hex(secret) + ",tcp:10.77.0.1:5000,tcp:[fd77::1]:5001");
  const auto read = read_invitation(text);
  ASSERT_TRUE(read);
  EXPECT_TRUE(same(read->secret, secret));
  ASSERT_EQ(read->addresses.size(), 2u);
  EXPECT_EQ(read->addresses[1].text(), "tcp:[fd77::1]:5001");
}

TEST(Invitation, IsNotLongerThanItMay) {
  const std::string text = write_invitation(random_secret(), some_addresses(), 51);
  EXPECT_EQ(text.size(), 51u);
  EXPECT_EQ(read_invitation(text)->addresses.size(), 1u);
}

TEST(Invitation, ThatMakesNoSenseIsNone) {
  const std::string secret = to_hex(random_secret());
  for (const std::string& text :
       {std::string(), secret, secret + ",", secret.substr(1) + ",tcp:10.77.0.1:5", secret + ",unix:@here",
        secret + ",tcp:10.77.0.1:5,", secret + ",tcp:host:5", secret + " tcp:10.77.0.1:5", std::string("unknown")})
    EXPECT_FALSE(read_invitation(text)) << text;
}

/// A launcher that gives the answers of a list, whatever is asked, and hangs up after the last.
class PmiTest : public testing::Test {
 protected:
  ~PmiTest() override {
    if (launcher_.joinable()) launcher_.join();
    for (const char* name : {"PMI_FD", "PMI_RANK", "PMI_SIZE"}) unsetenv(name);
  }
  void begin(const std::vector<std::string>& answers, const char* rank = "1", const char* size = "2") {
    int ends[2];
    ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
    ours_ = base::Descriptor(ends[0]);
    launcher_ = std::thread([this, answers, theirs = ends[1]] {
      const base::Descriptor socket(theirs);
      char c = 0;
      for (const std::string& answer : answers) {
        for (c = 0; c != '\n' && recv(socket.get(), &c, 1, 0) == 1;) asked_ += c;
        send(socket.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
      }
    });
    setenv("PMI_FD", std::to_string(ours_.get()).c_str(), 1);
    setenv("PMI_RANK", rank, 1);
    setenv("PMI_SIZE", size, 1);
  }
  std::string complaint(Cause cause) {
    return refusal(
        [] {
          Deadline deadline{Patience{20s}};
          find_pmi()->share("text", deadline);
        },
        cause);
  }

  base::Descriptor ours_;
  std::string asked_;
  std::thread launcher_;
};

const std::vector<std::string> good{"cmd=response_to_init pmi_version=1 pmi_subversion=1 rc=0\n",
                                    "cmd=my_kvsname kvsname=kvs_7\n",
                                    "cmd=put_result rc=0\n",
                                    "cmd=barrier_out\n",
                                    "cmd=get_result rc=0 value=text\n",
                                    "cmd=finalize_ack\n"};

TEST_F(PmiTest, IsAskedWhatItUnderstands) {
  begin(good, "0");
  const auto cluster = find_pmi();
  ASSERT_TRUE(cluster);
  EXPECT_EQ(cluster->rank(), 0);
  EXPECT_EQ(cluster->size(), 2);
  Deadline deadline{Patience{20s}};
  EXPECT_EQ(cluster->share("text", deadline), "text");
  launcher_.join();
  EXPECT_EQ(asked_,
            "cmd=init pmi_version=1 pmi_subversion=1\ncmd=get_my_kvsname\ncmd=put kvsname=kvs_7 key=tutti-store "
            "value=text\ncmd=barrier_in\ncmd=get kvsname=kvs_7 key=tutti-store\ncmd=finalize\n");
}

TEST_F(PmiTest, ThatAnswersNonsenseIsComplainedAbout) {
  std::vector<std::string> answers = good;
  answers.erase(answers.begin() + 2);  // rank 1 puts nothing
  for (std::size_t i = 0; i < answers.size(); ++i) {
    for (const char* nonsense : {"cmd=what\n", "\x1b[2J\n", "\n", "cmd=get_result rc=1\n"}) {
      std::vector<std::string> some(answers.begin(), answers.begin() + static_cast<std::ptrdiff_t>(i));
      some.push_back(nonsense);
      begin(some);
      const std::string text = complaint(Cause::system);
      EXPECT_NE(text.find("(PMI-1)"), text.npos) << i << ": " << text;
      EXPECT_EQ(text.find('\x1b'), text.npos);
      launcher_.join();
    }
    begin({answers.begin(), answers.begin() + static_cast<std::ptrdiff_t>(i)});
    EXPECT_NE(complaint(Cause::system).find("has closed its connection"), std::string::npos) << i;
    launcher_.join();
  }
}

TEST_F(PmiTest, ThatNeverStopsIsStopped) {
  begin({std::string(pmi::longest_line + 5000, 'x')});
  EXPECT_NE(complaint(Cause::system).find("(PMI-1)"), std::string::npos);
}

TEST_F(PmiTest, ThatIsSilentIsNotWaitedForForEver) {
  int ends[2];
  ASSERT_EQ(socketpair(AF_UNIX, SOCK_STREAM, 0, ends), 0);
  const base::Descriptor ours(ends[0]), theirs(ends[1]);
  setenv("PMI_FD", std::to_string(ours.get()).c_str(), 1);
  setenv("PMI_RANK", "0", 1);
  setenv("PMI_SIZE", "2", 1);
  Deadline soon{Patience{50ms}};
  EXPECT_THROW(find_pmi()->share("text", soon), Timeout);
}

TEST_F(PmiTest, VariablesThatMakeNoSenseAreComplainedAbout) {
  struct Example {
    const char *rank, *size;
  };
  for (const Example& one : {Example{"2", "2"}, {"-1", "2"}, {"x", "2"}, {"0", "0"}, {"0", ""}, {"0", "5000"}}) {
    begin({}, one.rank, one.size);
    EXPECT_NE(complaint(Cause::usage).find("make no sense"), std::string::npos) << one.rank << " of " << one.size;
    launcher_.join();
  }
  begin({});
  setenv("PMI_FD", "1000", 1);
  EXPECT_NE(complaint(Cause::usage).find("PMI_FD=1000"), std::string::npos);
  unsetenv("PMI_RANK");
  EXPECT_NE(complaint(Cause::usage).find("PMI_RANK is not set"), std::string::npos);
  unsetenv("PMI_FD");
  EXPECT_FALSE(find_pmi());
}

}  // namespace
}  // namespace tutti::launch
