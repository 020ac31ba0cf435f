// SPDX-License-Identifier: BSD-3-Clause
#include "launch/environment.hpp"

#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <variant>

#include "../refusal.hpp"
#include "launch/member.hpp"

namespace tutti::launch {
namespace {

constexpr char secret_text[] = "00112233445566778899aabbccddeeff";

class EnvironmentTest : public testing::Test {
 protected:
  void SetUp() override {
    setenv(rank_variable, "2", 1);
    setenv(size_variable, "4", 1);
    setenv(store_variable, "unix:@somewhere", 1);
    setenv(secret_variable, secret_text, 1);
    unsetenv(secret_file_variable);
  }
  void TearDown() override {
    for (const char* name : {rank_variable, size_variable, store_variable, secret_variable, secret_file_variable})
      unsetenv(name);
  }
  /// The text of the usage error.
  static std::string complaint() {
    return refusal([] { read_environment(); });
  }
  static std::string complaint_about(const char* name, const char* value) {
    setenv(name, value, 1);
    const std::string text = complaint();
    EXPECT_NE(text.find(name), text.npos) << text;
    return text;
  }
};

TEST_F(EnvironmentTest, IsReadWhole) {
  const auto found = read_environment();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->rank, 2);
  EXPECT_EQ(found->size, 4);
  EXPECT_EQ(std::get<Address>(found->store).name, "somewhere");
  EXPECT_EQ(to_hex(found->secret), secret_text);
}

TEST_F(EnvironmentTest, NothingMeansAlone) {
  TearDown();
  EXPECT_FALSE(read_environment());
  const Member alone = join();
  EXPECT_EQ(alone.rank(), 0);
  EXPECT_EQ(alone.size(), 1);
  EXPECT_FALSE(alone.launched());
  EXPECT_EQ(alone.segment()->probe(0), host::Life::alive);
}

TEST_F(EnvironmentTest, EachMissingVariableIsNamed) {
  for (const char* name : {rank_variable, size_variable, store_variable, secret_variable}) {
    SetUp();
    unsetenv(name);
    const std::string text = complaint();
    EXPECT_NE(text.find(name), text.npos) << text;
    EXPECT_NE(text.find("tutti run"), text.npos) << text;
  }
}

TEST_F(EnvironmentTest, BadNumbersAreRefused) {
  for (const char* text : {"", "x", "-1", "4", "1x", "99999999999"}) complaint_about(rank_variable, text);
  SetUp();
  for (const char* text : {"", "0", "-4", "100000"}) complaint_about(size_variable, text);
}

TEST_F(EnvironmentTest, OtherAddressesAreRefused) {
  const std::string long_name = "unix:@" + std::string(108, 'x');
  for (const char* text :
       {"", "unix:@", "unix:/tmp/socket", "tcp:", "tcp:host", "tcp::5", "tcp:host:0", "tcp:host:65536", "tcp:host:5x",
        "tcp:a b:5", "tcp:[host]:5", "tcp:fd77::1:5", "tcp:[fd77::1]", "udp:host:5", long_name.c_str()})
    complaint_about(store_variable, text);
}

TEST_F(EnvironmentTest, AddressesOfOneHostsInterfacesAreRefused) {
  setenv(store_variable, "tcp:[fe80::1%eth0]:5", 1);
  EXPECT_NE(complaint().find("the same on all hosts"), std::string::npos) << complaint();
}

TEST_F(EnvironmentTest, AStoreOfRankZeroHasAHostAndAPort) {
  struct Example {
    const char *text, *host;
    int port;
  };
  for (const Example& one :
       {Example{"tcp:node-1.cluster:29500", "node-1.cluster", 29500}, Example{"tcp:10.77.0.1:1", "10.77.0.1", 1},
        Example{"tcp:[fd77::1]:65535", "fd77::1", 65535}}) {
    setenv(store_variable, one.text, 1);
    const auto store = std::get<HostAndPort>(read_environment()->store);
    EXPECT_EQ(store.host, one.host);
    EXPECT_EQ(store.port, one.port);
    EXPECT_EQ(store.text(), one.text);
  }
}

TEST_F(EnvironmentTest, BadSecretsAreRefused) {
  for (const char* text : {"", "00", "not a secret, but of thirty-two c"}) complaint_about(secret_variable, text);
}

TEST_F(EnvironmentTest, TheSecretMayLieInAFile) {
  unsetenv(secret_variable);
  char path[] = "/tmp/tutti-secret-XXXXXX";
  const base::Descriptor file(mkstemp(path));
  const std::string content = std::string(secret_text) + "\n";
  ASSERT_EQ(write(file.get(), content.data(), content.size()), static_cast<ssize_t>(content.size()));
  setenv(secret_file_variable, path, 1);
  EXPECT_EQ(to_hex(read_environment()->secret), secret_text);
  ASSERT_EQ(write(file.get(), "more", 4), 4);
  EXPECT_NE(complaint().find(secret_file_variable), std::string::npos);
  unlink(path);
  EXPECT_THROW(read_environment(), Error);
}

TEST_F(EnvironmentTest, ALauncherThatIsGoneIsSaidToBe) {
  try {
    join();
    FAIL() << "joined a job that is not there";
  } catch (const Error& error) {
    EXPECT_EQ(error.cause(), Cause::system);
    EXPECT_NE(std::string(error.what()).find("cannot reach the launcher at unix:@somewhere"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tutti::launch
