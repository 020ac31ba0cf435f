// SPDX-License-Identifier: BSD-3-Clause
#include "launch/message.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "base/random.hpp"

namespace tutti::launch {
namespace {

std::vector<std::byte> bytes_of(std::string_view text) {
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

Secret some_secret() { return *from_hex("00112233445566778899aabbccddeeff"); }

/// One of each kind, with fields at their limits.
std::vector<Message> all_kinds() {
  return {Hello{host::wire_version, Purpose::lifeline, 6, 7, 4711, some_secret()},
          Welcome{4, 2, 0x0123456789abcdef},
          Ready{},
          Go{},
          Refused{std::string(longest_reason, 'x')},
          Put{7, std::string(longest_key, 'k'), std::vector<std::byte>(longest_value, std::byte{9})},
          Put{8, "empty", {}},
          Get{0xffffffff, "k"},
          Stored{7},
          Value{9, bytes_of("value")},
          Value{10, {}},
          Failed{11, "the store is full"},
          Bye{},
          Join{3, 5, 99, {"kernel net:[1]", 0xfedcba9876543210, 2, bytes_of("m")}},
          Join{0, most_ranks, 1, {std::string(longest_host, 'h'), 1, 1, std::vector<std::byte>(longest_mask)}},
          Roster{0x0123456789abcdef, {{"here", 1, 2, {}}, {"there", 3, 4, bytes_of("mask")}}},
          Waiting{"ranks 1, 3-5"}};
}

using Outcome = Parsed::Outcome;

TEST(Message, ComesBackAsItWasSent) {
  for (const Message& message : all_kinds()) {
    const std::vector<std::byte> bytes = serialise(message);
    const Parsed parsed = parse(bytes);
    ASSERT_EQ(parsed.outcome, Outcome::complete) << "kind " << message.index();
    EXPECT_EQ(parsed.used, bytes.size());
    EXPECT_EQ(parsed.message.index(), message.index());
    EXPECT_EQ(serialise(parsed.message), bytes) << "kind " << message.index();
  }
}

TEST(Message, CarriesEveryField) {
  const Message sent = Hello{host::wire_version, Purpose::control, 3, 5, 99, some_secret()};
  const Parsed parsed = parse(serialise(sent));
  const auto* hello = std::get_if<Hello>(&parsed.message);
  ASSERT_NE(hello, nullptr);
  EXPECT_EQ(hello->version, host::wire_version);
  EXPECT_EQ(hello->purpose, Purpose::control);
  EXPECT_EQ(hello->rank, 3);
  EXPECT_EQ(hello->size, 5);
  EXPECT_EQ(hello->pid, 99);
  EXPECT_TRUE(same(hello->secret, some_secret()));
  const Parsed put = parse(serialise(Put{5, "key", bytes_of("value")}));
  EXPECT_EQ(std::get<Put>(put.message).key, "key");
  EXPECT_EQ(std::get<Put>(put.message).value, bytes_of("value"));
  EXPECT_EQ(std::get<Put>(put.message).number, 5u);
}

TEST(Message, IsIncompleteAtEveryShorterLength) {
  for (const Message& message : all_kinds()) {
    const std::vector<std::byte> bytes = serialise(message);
    // Long values do not change what is tested: their middle is skipped.
    for (std::size_t length = 0; length < bytes.size(); length += length < 300 ? 1 : 997)
      EXPECT_EQ(parse(std::span(bytes).first(length)).outcome, Outcome::incomplete)
          << "kind " << message.index() << ", " << length << " of " << bytes.size() << " bytes";
  }
}

TEST(Message, StopsAtItsOwnEnd) {
  std::vector<std::byte> bytes = serialise(Stored{1});
  const std::size_t first = bytes.size();
  const std::vector<std::byte> second = serialise(Get{2, "next"});
  bytes.insert(bytes.end(), second.begin(), second.end());
  EXPECT_EQ(parse(bytes).used, first);
  EXPECT_EQ(std::get<Get>(parse(std::span(bytes).subspan(first)).message).key, "next");
}

TEST(Message, GarbageIsMalformedAtTheFirstByteThatShowsIt) {
  EXPECT_EQ(parse(bytes_of("G")).outcome, Outcome::malformed);
  EXPECT_EQ(parse(bytes_of("GET / HTTP/1.0\r\n\r\n")).outcome, Outcome::malformed);
  EXPECT_EQ(parse(bytes_of("TTT")).outcome, Outcome::incomplete);
  EXPECT_EQ(parse(bytes_of("TTT2")).outcome, Outcome::malformed);
}

/// The bytes of a message with one field overwritten.
std::vector<std::byte> with(const Message& message, std::size_t offset, std::uint8_t value) {
  std::vector<std::byte> bytes = serialise(message);
  bytes.at(offset) = std::byte{value};
  return bytes;
}

TEST(Message, EveryFieldIsChecked) {
  constexpr std::size_t body = header_bytes;
  const Message hello = Hello{host::wire_version, Purpose::control, 1, 2, 3, some_secret()};
  EXPECT_EQ(parse(with(hello, 4, 99)).outcome, Outcome::malformed) << "a kind that is none";
  EXPECT_EQ(parse(with(hello, 6, 1)).outcome, Outcome::malformed) << "the reserved field";
  EXPECT_EQ(parse(with(hello, 10, 1)).outcome, Outcome::malformed) << "a length beyond all limits";
  EXPECT_EQ(parse(with(hello, 8, 35)).outcome, Outcome::malformed) << "a hello that is too short";
  EXPECT_EQ(parse(with(hello, body + 4, 2)).outcome, Outcome::malformed) << "a purpose that is none";
  EXPECT_EQ(parse(with(hello, body + 8, 2)).outcome, Outcome::malformed) << "rank = size";
  EXPECT_EQ(parse(with(hello, body + 11, 0x80)).outcome, Outcome::malformed) << "a negative rank";
  EXPECT_EQ(parse(with(hello, body + 16, 0)).outcome, Outcome::malformed) << "process 0";
  EXPECT_EQ(parse(with(Welcome{1, 1, 1}, body, 0)).outcome, Outcome::malformed) << "a job of size 0";
  EXPECT_EQ(parse(with(Welcome{1, 1, 1}, body + 4, 0)).outcome, Outcome::malformed) << "no cores";
  const Message join = Join{1, 2, 3, {"h", 4, 5, bytes_of("m")}};
  EXPECT_EQ(parse(with(join, body, 2)).outcome, Outcome::malformed) << "a joiner's rank = size";
  EXPECT_EQ(parse(with(join, body + 8, 0)).outcome, Outcome::malformed) << "a joiner's process 0";
  EXPECT_EQ(parse(with(join, body + 14, 7)).outcome, Outcome::malformed) << "a host's name that a terminal obeys";
  EXPECT_EQ(parse(with(join, body + 23, 0)).outcome, Outcome::malformed) << "a host without cores";
  EXPECT_EQ(parse(with(join, body + 27, 2)).outcome, Outcome::malformed) << "a mask longer than the message";
  EXPECT_EQ(parse(with(join, body + 27, 0)).outcome, Outcome::malformed) << "bytes after the mask";
  const Message roster = Roster{1, {{"h", 4, 5, {}}, {"h", 4, 5, {}}}};
  EXPECT_EQ(parse(with(roster, body + 8, 3)).outcome, Outcome::malformed) << "fewer cards than said";
  EXPECT_EQ(parse(with(roster, body + 8, 1)).outcome, Outcome::malformed) << "more cards than said";
  EXPECT_EQ(parse(with(roster, body + 11, 255)).outcome, Outcome::malformed) << "more ranks than a job has";
  EXPECT_EQ(parse(with(Refused{"abc"}, body, 27)).outcome, Outcome::malformed) << "an escape in a text";
  EXPECT_EQ(parse(with(Get{1, "abc"}, body + 6, ' ')).outcome, Outcome::malformed) << "a space in a key";
  EXPECT_EQ(parse(with(Get{1, "abc"}, body + 4, 4)).outcome, Outcome::malformed) << "a key longer than the message";
  EXPECT_EQ(parse(with(Get{1, "abc"}, body + 4, 2)).outcome, Outcome::malformed) << "bytes after the key";
  EXPECT_EQ(parse(with(Put{1, "a", {}}, body + 4, 0)).outcome, Outcome::malformed) << "an empty key";
}

TEST(Message, AHelloOfAnotherVersionTellsItsVersion) {
  std::vector<std::byte> bytes = serialise(Hello{host::wire_version + 1, Purpose::control, 0, 1, 1, some_secret()});
  bytes.resize(bytes.size() + 3);
  bytes[8] = static_cast<std::byte>(bytes.size() - header_bytes);
  const Parsed parsed = parse(bytes);
  ASSERT_EQ(parsed.outcome, Outcome::complete);
  EXPECT_EQ(std::get<Hello>(parsed.message).version, host::wire_version + 1);
}

TEST(Message, RandomDamageNeverBreaksTheParser) {
  const std::uint64_t seed = 20240607;
  RecordProperty("seed", std::to_string(seed));
  base::Random random(seed);
  const std::vector<Message> kinds = all_kinds();
  int complete = 0;
  for (int i = 0; i < 20000; ++i) {
    std::vector<std::byte> bytes = serialise(kinds[random.below(kinds.size())]);
    if (bytes.size() > 2000) continue;
    for (std::uint64_t n = random.below(4); n > 0; --n)
      bytes[random.below(bytes.size())] = static_cast<std::byte>(random.next());
    bytes.resize(random.once_in(3) ? random.below(bytes.size() + 8) : bytes.size());
    const Parsed parsed = parse(bytes);
    if (parsed.outcome != Outcome::complete) continue;
    ++complete;
    ASSERT_LE(parsed.used, bytes.size()) << "seed " << seed;
    const auto* hello = std::get_if<Hello>(&parsed.message);
    if (hello != nullptr && hello->version != host::wire_version) continue;
    bytes.resize(parsed.used);
    ASSERT_EQ(serialise(parsed.message), bytes) << "seed " << seed << ", step " << i;
  }
  EXPECT_GT(complete, 1000);
}

TEST(Secret, IsThirtyTwoHexadecimalDigits) {
  const Secret secret = random_secret();
  EXPECT_TRUE(same(*from_hex(to_hex(secret)), secret));
  EXPECT_FALSE(same(random_secret(), secret));
  EXPECT_TRUE(from_hex("00112233445566778899AABBCCDDEEFF"));
  EXPECT_FALSE(from_hex(""));
  EXPECT_FALSE(from_hex("00112233445566778899aabbccddeef"));
  EXPECT_FALSE(from_hex("00112233445566778899aabbccddeeff0"));
  EXPECT_FALSE(from_hex("0011223344556677 899aabbccddeeff"));
}

}  // namespace
}  // namespace tutti::launch
