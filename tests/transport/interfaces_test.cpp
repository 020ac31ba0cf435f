// SPDX-License-Identifier: BSD-3-Clause
#include "transport/interfaces.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>
#include <vector>

#include "../refusal.hpp"
#include "transport/tcp/socket.hpp"
#include "tutti/error.hpp"

namespace tutti::transport {
namespace {

const std::vector<InterfaceAddress> cluster_node{
    {"lo", "127.0.0.1", true}, {"eth0", "10.77.0.1"},       {"ib0", "192.168.4.7"},
    {"docker0", "172.17.0.1"}, {"virbr1", "192.168.122.1"}, {"eth1", "169.254.3.4"},
    {"lo", "::1", true},       {"eth0", "fd77::1"},         {"eth0", "fe80::77:ff:fe00:1"},
};

std::string chosen(const std::vector<InterfaceAddress>& all, std::string_view wanted, bool here = false) {
  std::string text;
  for (const InterfaceAddress& one : choose_addresses(all, wanted, here)) text += one.address + " ";
  return text;
}

TEST(Interfaces, AreThoseThatOthersMayReach) {
  EXPECT_EQ(chosen(cluster_node, ""), "10.77.0.1 192.168.4.7 fd77::1 ");
  EXPECT_EQ(chosen(cluster_node, "", true), chosen(cluster_node, ""));
  EXPECT_EQ(chosen({}, "", true), "");
}

TEST(Interfaces, OfOneCableAloneAreTheirLinkLocalOnes) {
  const std::vector<InterfaceAddress> cable{{"lo", "127.0.0.1", true},
                                            {"docker0", "172.17.0.1"},
                                            {"virbr0", "169.254.8.1"},
                                            {"eth1", "169.254.3.4"},
                                            {"eth1", "fe80::77:ff:fe00:1"}};
  for (const bool here : {false, true}) EXPECT_EQ(chosen(cable, "", here), "169.254.3.4 ");
}

TEST(Interfaces, AreNamedWithoutTheirLinkLocalAddresses) {
  EXPECT_EQ(chosen(cluster_node, "eth0"), "10.77.0.1 fd77::1 ") << "fe80:: means nothing to others";
  EXPECT_EQ(chosen(cluster_node, "eth1,ib0"), "192.168.4.7 169.254.3.4 ");
}

TEST(Interfaces, OfLoopbackServeNobodyElsewhere) {
  const std::vector<InterfaceAddress> alone{
      {"lo", "127.0.0.1", true}, {"docker0", "172.17.0.1"}, {"lo", "::1", true}, {"eth0", "fe80::77:ff:fe00:1"}};
  EXPECT_EQ(chosen(alone, "", true), "127.0.0.1 ::1 ");
  const std::string text = refusal([&] { choose_addresses(alone, "", false); });
  EXPECT_NE(text.find("docker0 172.17.0.1"), text.npos) << text;
  EXPECT_NE(text.find("TUTTI_NETWORK"), text.npos) << text;
}

TEST(Interfaces, AreChosenByTheUser) {
  EXPECT_EQ(chosen(cluster_node, "ib0"), "192.168.4.7 ");
  EXPECT_EQ(chosen(cluster_node, "ib0", true), "192.168.4.7 ");
  EXPECT_EQ(chosen(cluster_node, "eth7,docker0"), "172.17.0.1 ");
  EXPECT_EQ(chosen(cluster_node, "10.77.0.0/16,fd77::/64"), "10.77.0.1 fd77::1 ");
  EXPECT_EQ(chosen(cluster_node, "10.76.0.0/15"), "10.77.0.1 ");
  EXPECT_EQ(chosen(cluster_node, "192.168.4.6/31"), "192.168.4.7 ");
  EXPECT_EQ(chosen(cluster_node, "192.168.4.7,::1"), "192.168.4.7 ::1 ");
  EXPECT_EQ(chosen(cluster_node, "0.0.0.0/0"), "127.0.0.1 10.77.0.1 192.168.4.7 172.17.0.1 192.168.122.1 169.254.3.4 ");
  EXPECT_EQ(chosen(cluster_node, ","), chosen(cluster_node, ""));
}

std::string complaint(std::string_view wanted) {
  return refusal([&] { choose_addresses(cluster_node, wanted, false); });
}

TEST(Interfaces, ThatAreNotThereAreComplainedAbout) {
  for (const char* wanted : {"eth7", "10.78.0.0/16", "192.168.4.8", "192.168.4.8/31", "fd77::2", "eth", "eth00"}) {
    const std::string text = complaint(wanted);
    EXPECT_NE(text.find(wanted), text.npos) << text;
    EXPECT_NE(text.find("eth0 10.77.0.1"), text.npos) << text;
  }
  for (const char* wanted :
       {"10.0.0.0/33", "10.0.0.0/", "10.0.0.0/x", "fd77::/129", "10.0.0.0/-1", "eth0,10.0.0.0/8x"}) {
    const std::string text = complaint(wanted);
    EXPECT_NE(text.find("is no network"), text.npos) << wanted << ": " << text;
  }
}

TEST(Interfaces, OfThisHostCanBeListenedAt) {
  EXPECT_FALSE(all_addresses().empty());
  const std::vector<std::string> places = places_to_listen(true);
  EXPECT_FALSE(places.empty());
  EXPECT_NO_THROW(tcp::listen_at_all(places));
  setenv("TUTTI_NETWORK", "lo", 1);
  EXPECT_EQ(places_to_listen(false).front(), "tcp:127.0.0.1:0");
  unsetenv("TUTTI_NETWORK");
}

}  // namespace
}  // namespace tutti::transport
