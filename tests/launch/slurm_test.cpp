// SPDX-License-Identifier: BSD-3-Clause
// What a task of Slurm's knows without PMI: its variables, among them nonsense, and the secret of its user.
#include "launch/slurm.hpp"

#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "../refusal.hpp"
#include "launch/member.hpp"
#include "launch/user_secret.hpp"

namespace tutti::launch {
namespace {

TEST(FirstHost, IsTheFirstOfTheList) {
  struct Example {
    const char *list, *host;
  };
  for (const Example& one : {Example{"h1", "h1"},
                             {"h1,h2", "h1"},
                             {"h[1-2]", "h1"},
                             {"node[003-010,12]", "node003"},
                             {"n[7],m[1-3]", "n7"},
                             {"gpu-[2,4]-ib.site", "gpu-2-ib.site"},
                             {"rack[0-3]node[08-11]", "rack0node08"},
                             {"a_b,c[", "a_b"}})
    EXPECT_EQ(first_host(one.list), one.host) << one.list;
}

TEST(FirstHost, OfNoListIsNone) {
  for (const char* list : {"", ",h1", "h[", "h[]", "h[1", "h[-2]", "h[x-y]", "h]", "h 1", "h/1", "h[1]\n", "h:1"})
    EXPECT_EQ(first_host(list), "") << list;
}

class SlurmTaskTest : public testing::Test {
 protected:
  void SetUp() override {
    for (const auto& [name, value] : told) setenv(name, value, 1);
  }
  void TearDown() override {
    for (const auto& [name, value] : told) unsetenv(name);
    for (const char* name : {"SLURM_HET_SIZE", "SLURM_DISTRIBUTION"}) unsetenv(name);
  }
  static std::string complaint() {
    std::string text = refusal([] { find_slurm_task(); });
    EXPECT_NE(text.find("--mpi=pmix"), std::string::npos) << text;
    return text;
  }

  struct Variable {
    const char *name, *value;
  };
  static constexpr Variable told[] = {{"SLURM_JOB_ID", "4711"},
                                      {"SLURM_STEP_ID", "3"},
                                      {"SLURM_PROCID", "2"},
                                      {"SLURM_STEP_NUM_TASKS", "4"},
                                      {"SLURM_STEP_NODELIST", "n[05-06]"}};
};

TEST_F(SlurmTaskTest, IsReadWhole) {
  const auto task = find_slurm_task();
  ASSERT_TRUE(task);
  EXPECT_EQ(task->rank, 2);
  EXPECT_EQ(task->size, 4);
  EXPECT_EQ(task->step, "4711.3");
  EXPECT_EQ(task->store.host, "n05");
  EXPECT_TRUE(in_job());
}

TEST_F(SlurmTaskTest, IsNoneOfABatchScript) {
  unsetenv("SLURM_STEP_ID");
  EXPECT_FALSE(find_slurm_task());
  EXPECT_FALSE(in_job());
}

TEST_F(SlurmTaskTest, IsNoneWhereThereIsOne) {
  setenv("SLURM_STEP_NUM_TASKS", "1", 1);
  setenv("SLURM_PROCID", "0", 1);
  setenv("SLURM_STEP_ID", "4294967290", 1);  // a shell by salloc
  EXPECT_FALSE(find_slurm_task());
}

TEST_F(SlurmTaskTest, EachVariableHasToMakeSense) {
  for (const auto& [name, value] : told) {
    for (const char* text : {"", "-1", "2x", "[", "99999999999"}) {
      SetUp();
      setenv(name, text, 1);
      if (std::string(name) == "SLURM_STEP_NODELIST" && first_host(text) == text && *text != '\0') continue;
      EXPECT_NE(complaint().find(name), std::string::npos) << name << "=" << text;
    }
  }
  SetUp();
  setenv("SLURM_PROCID", "4", 1);
  EXPECT_NE(complaint().find("task 4 of 4"), std::string::npos);
  setenv("SLURM_STEP_NUM_TASKS", "1000000", 1);
  EXPECT_NE(complaint().find("up to"), std::string::npos);
}

TEST_F(SlurmTaskTest, WhereTaskZeroIsHasToBeKnown) {
  setenv("SLURM_DISTRIBUTION", "cyclic", 1);
  EXPECT_TRUE(find_slurm_task());
  setenv("SLURM_DISTRIBUTION", "arbitrary", 1);
  EXPECT_NE(complaint().find("arbitrary order"), std::string::npos);
  unsetenv("SLURM_DISTRIBUTION");
  setenv("SLURM_HET_SIZE", "2", 1);
  EXPECT_NE(complaint().find("heterogeneous"), std::string::npos);
}

TEST_F(SlurmTaskTest, StepsThatMayMeetHaveOtherPorts) {
  std::set<int> ports;
  for (int job = 4711; job < 4721; ++job) {
    for (int step = 0; step < 30; ++step) {
      setenv("SLURM_JOB_ID", std::to_string(job).c_str(), 1);
      setenv("SLURM_STEP_ID", std::to_string(step).c_str(), 1);
      ports.insert(find_slurm_task()->store.port);
    }
  }
  EXPECT_EQ(ports.size(), 300u);
  EXPECT_GE(*ports.begin(), 61440);
}

class UserSecretTest : public testing::Test {
 protected:
  void SetUp() override {
    char name[] = "/tmp/tutti-home-XXXXXX";
    ASSERT_NE(mkdtemp(name), nullptr);
    folder_ = name;
    setenv("XDG_CONFIG_HOME", name, 1);
  }
  void TearDown() override {
    std::filesystem::remove_all(folder_);
    unsetenv("XDG_CONFIG_HOME");
  }
  static std::string complaint(Cause cause) {
    std::string text = refusal([] { user_secret_for("this"); }, cause);
    EXPECT_NE(text.find("--mpi=pmix"), std::string::npos) << text;
    return text;
  }
  std::filesystem::path folder_;
};

TEST_F(UserSecretTest, IsMadeOnceAndForItsUserAlone) {
  const Secret first = user_secret_for("this");
  EXPECT_EQ(user_secret_path(), folder_ / "tutti/secret");
  struct stat status {};
  ASSERT_EQ(stat(user_secret_path().c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0600u);
  EXPECT_TRUE(same(user_secret_for("this"), first));
  EXPECT_FALSE(same(user_secret_for("that"), first));
  std::string text;
  std::ifstream(user_secret_path()) >> text;
  EXPECT_FALSE(same(*from_hex(text), first));
}

TEST_F(UserSecretTest, IsTheSameForAllThatMakeItAtOnce) {
  for (int round = 0; round < 20; ++round) {
    std::filesystem::remove_all(folder_ / "tutti");
    std::vector<Secret> found(8);
    std::vector<std::thread> processes;
    for (Secret& one : found) processes.emplace_back([&one] { one = user_secret_for("this"); });
    for (std::thread& one : processes) one.join();
    for (const Secret& one : found) EXPECT_TRUE(same(one, found[0]));
    const std::filesystem::directory_iterator left(folder_ / "tutti");
    EXPECT_EQ(std::distance(begin(left), end(left)), 1) << "drafts are left";
  }
}

TEST_F(UserSecretTest, ThatOthersMayReadIsRefused) {
  user_secret_for("this");
  for (const mode_t mode : {0640u, 0604u, 0620u, 0666u}) {
    ASSERT_EQ(chmod(user_secret_path().c_str(), mode), 0);
    EXPECT_NE(complaint(Cause::usage).find("can be read by others"), std::string::npos);
  }
}

TEST_F(UserSecretTest, ThatIsNoneIsRefused) {
  user_secret_for("this");
  for (const char* text : {"", "00", "not a secret, but of thirty-two c", "00000000000000000000000000000000 00"}) {
    std::ofstream(user_secret_path()) << text;
    EXPECT_NE(complaint(Cause::usage).find("32 hexadecimal digits"), std::string::npos) << text;
  }
}

TEST_F(UserSecretTest, ThatIsNoFileIsRefused) {
  std::filesystem::create_directories(folder_ / "tutti");
  std::ofstream(folder_ / "elsewhere") << std::string(32, '0');
  ASSERT_EQ(chmod((folder_ / "elsewhere").c_str(), 0600), 0);
  std::filesystem::create_symlink(folder_ / "elsewhere", user_secret_path());
  EXPECT_NE(complaint(Cause::system).find("cannot open"), std::string::npos);
  std::filesystem::remove(user_secret_path());
  std::filesystem::create_directory(user_secret_path());
  EXPECT_NE(complaint(Cause::usage).find("is not a file"), std::string::npos);
}

TEST_F(UserSecretTest, NeedsAFolder) {
  setenv("XDG_CONFIG_HOME", "not/absolute", 1);
  const std::string home = std::getenv("HOME") == nullptr ? "" : std::getenv("HOME");
  setenv("HOME", "/proc/nowhere", 1);
  EXPECT_NE(complaint(Cause::system).find("cannot make \"/proc/nowhere/.config/tutti/secret"), std::string::npos);
  unsetenv("HOME");
  EXPECT_NE(complaint(Cause::usage).find("neither"), std::string::npos);
  setenv("HOME", home.c_str(), 1);
}

}  // namespace
}  // namespace tutti::launch
