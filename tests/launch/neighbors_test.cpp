// SPDX-License-Identifier: BSD-3-Clause
#include "launch/neighbors.hpp"

#include <gtest/gtest.h>
#include <sched.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "host/topology.hpp"

namespace tutti::launch {
namespace {

/// What a child that has namespaces of its own says of its host; empty where it may have none.
std::string host_name_apart(int flags) {
  int ends[2];
  if (pipe(ends) != 0) return {};
  const pid_t child = fork();
  if (child == 0) {
    const std::string name = unshare(flags) == 0 ? host_name() : "";
    _exit(write(ends[1], name.data(), name.size()) < 0 ? 1 : 0);
  }
  close(ends[1]);
  char text[1024];
  const ssize_t length = read(ends[0], text, sizeof text);
  close(ends[0]);
  waitpid(child, nullptr, 0);
  return {text, static_cast<std::size_t>(std::max<ssize_t>(length, 0))};
}

TEST(Neighbors, AreTheProcessesOfOneHost) {
  unsetenv("TUTTI_HOST");
  EXPECT_EQ(host_name(), host_name());
  EXPECT_EQ(host_name_apart(0), host_name());
  const std::string apart = host_name_apart(CLONE_NEWUSER | CLONE_NEWNET);
  EXPECT_NE(apart, host_name());
}

TEST(Neighbors, AreToldApartByTheUser) {
  setenv("TUTTI_HOST", "a", 1);
  const std::string a = host_name();
  setenv("TUTTI_HOST", "b", 1);
  const std::string b = host_name();
  EXPECT_NE(a, b);
  setenv("TUTTI_HOST", std::string(5000, 'x').c_str(), 1);
  const std::string x = host_name();
  setenv("TUTTI_HOST", (std::string(4999, 'x') + "\x1b").c_str(), 1);
  EXPECT_NE(host_name(), x);
  EXPECT_EQ(parse(serialise(Join{0, 1, 1, own_card(1)})).outcome, Parsed::Outcome::complete);
  unsetenv("TUTTI_HOST");
  EXPECT_NE(host_name(), a);
}

TEST(Neighbors, MayShareANetworkAndNoMemory) {
  const auto share = [](const char* one, const char* other) {
    return share_network(std::vector{Card{one, 1, 1, {}}, Card{other, 1, 1, {}}});
  };
  EXPECT_TRUE(share("m pid:[1] net:[2] uid:3 host:4", "m pid:[1] net:[2] uid:3 host:5"));
  EXPECT_TRUE(share("m pid:[1] net:[2] uid:3", "m pid:[6] net:[2] uid:3"));
  EXPECT_FALSE(share("m pid:[1] net:[2] uid:3", "n pid:[1] net:[2] uid:3"));
  EXPECT_FALSE(share("m pid:[1] net:[2] uid:3", "m pid:[1] net:[22] uid:3"));
  EXPECT_FALSE(share("m apart", "m apart"));
  setenv("TUTTI_HOST", "a", 1);
  const Card a = own_card(1);
  unsetenv("TUTTI_HOST");
  EXPECT_TRUE(share_network(std::vector{a, own_card(1)}));
}

TEST(Neighbors, AreNumberedByTheirLowestRanks) {
  const auto card = [](const char* host) { return Card{host, 1, 1, {}}; };
  const std::vector<Card> cards{card("z"), card("a"), card("z"), card("m"), card("a")};
  EXPECT_EQ(number_hosts(cards), (std::vector<Rank>{0, 1, 0, 2, 1}));
}

TEST(Neighbors, UseTheirCoresTogether) {
  const std::vector<Card> cards{{"a", 1, 8, {std::byte{0b0001}}},
                                {"b", 1, 8, {std::byte{0xff}}},
                                {"a", 1, 7, {std::byte{0b0110}, std::byte{1}}},
                                {"c", 1, 3, {std::byte{0xff}, std::byte{0xff}}},
                                {"d", 1, 1, {}}};
  const std::vector<Rank> hosts = number_hosts(cards);
  EXPECT_EQ(shared_cores(cards, hosts, 0), 4) << "0, 1, 2 and 8";
  EXPECT_EQ(shared_cores(cards, hosts, 1), 8);
  EXPECT_EQ(shared_cores(cards, hosts, 2), 3) << "the limit of the control group";
  EXPECT_EQ(shared_cores(cards, hosts, 3), 1) << "never none";
}

TEST(Neighbors, AreCrowdedWhereHostsShareTooFewCores) {
  const auto card = [](const char* host, int limit, unsigned mask) {
    return Card{host, 1, limit, {static_cast<std::byte>(mask)}};
  };
  const auto crowd = [](const std::vector<Card>& cards) { return ranks_per_core(cards, number_hosts(cards)); };
  EXPECT_EQ(crowd({card("m a", 8, 0b11), card("m b", 8, 0b11), card("m c", 8, 0b11)}), 2) << "three on two cores";
  EXPECT_EQ(crowd({card("m a", 8, 1), card("m b", 8, 1), card("m c", 8, 1)}), 3) << "three on one";
  EXPECT_EQ(crowd({card("m a", 8, 0b111), card("m b", 8, 0b111), card("m c", 8, 0b111)}), 1);
  EXPECT_EQ(crowd({card("m a", 8, 0b001), card("m b", 8, 0b010), card("m c", 8, 0b100)}), 1) << "each has its own";
  EXPECT_EQ(crowd({card("m a", 1, 0xff), card("m a", 1, 0xff), card("m b", 1, 0xff)}), 2) << "containers' limits";
  EXPECT_EQ(crowd({card("m a", 1, 0xff), card("n b", 1, 0xff), card("l c", 1, 0xff)}), 1) << "other machines";
  EXPECT_EQ(crowd({card("m a", 1, 1), card("m a", 1, 1), card("m a", 1, 1)}), 1) << "one host, which shares memory";
  EXPECT_EQ(crowd({card("n z", 8, 0xff), card("m a", 1, 1), card("m b", 1, 1)}), 2) << "one of two machines";
  EXPECT_EQ(crowd({card("m", 1, 1)}), 1);
  EXPECT_EQ(crowd({card("m a", 8, 0), card("m b", 8, 0)}), 1) << "bound to cores that nobody can tell";
}

TEST(Neighbors, SayWhatTheyMayUse) {
  const Card card = own_card(42);
  EXPECT_EQ(card.door, 42u);
  const std::vector<Card> cards{card};
  EXPECT_EQ(shared_cores(cards, number_hosts(cards), 0), host::usable_cores().usable);
}

}  // namespace
}  // namespace tutti::launch
