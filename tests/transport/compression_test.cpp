// SPDX-License-Identifier: BSD-3-Clause
// Headers that cross a connection as what has changed.
#include "transport/tcp/compression.hpp"

#include <gtest/gtest.h>

#include <cstring>
#include <limits>
#include <vector>

#include "base/random.hpp"

namespace tutti::transport::tcp {

namespace {

bool same(const Header& a, const Header& b) { return std::memcmp(&a, &b, sizeof a) == 0; }

Header call(std::uint64_t sequence, std::uint64_t size) {
  Header header;
  header.context = 0x1234'5678'9abc'def0;
  header.sequence = sequence;
  header.size = size;
  header.signature = 0x8000'0001;
  return header;
}

std::vector<std::byte> bytes(std::initializer_list<int> values) {
  std::vector<std::byte> result;
  for (const int value : values) result.push_back(static_cast<std::byte>(value));
  return result;
}

bool expands(const std::vector<std::byte>& header) {
  Header ignored;
  return Expander().expand(header, ignored);
}

}  // namespace

TEST(Compression, AnotherCallTakesFourBytes) {
  Compressor compressor;
  EXPECT_GT(compressor.compress(call(1, 1024)).size, 16u);
  for (std::uint64_t sequence = 2; sequence < 300; ++sequence)
    EXPECT_EQ(compressor.compress(call(sequence, 1024)).size, 4u);
}

TEST(Compression, PiecesOfLargeMessagesHaveTheLongest) {
  Compressor compressor;
  Header header = call(1, 128 << 10);
  header.word = Word::data;
  for (int piece = 0; piece < 3; ++piece, header.handle += header.size)
    EXPECT_EQ(compressor.compress(header).size, longest_header);
}

TEST(Compression, WhatIsExpandedIsWhatWasCompressed) {
  base::Random random(1990);
  Compressor compressor;
  Expander expander;
  const auto number = [&](std::uint64_t before) {
    const std::uint64_t any = random.next() >> random.below(64);
    return random.once_in(3) ? any : random.once_in(2) ? before : before + random.below(5) - 2;
  };
  Header header;
  for (int i = 0; i < 100'000; ++i) {
    header.context = number(header.context);
    header.sequence = number(header.sequence);
    header.size = number(header.size);
    header.handle = number(header.handle);
    header.place = number(header.place);
    header.message = static_cast<std::uint32_t>(number(header.message));
    header.signature = static_cast<std::uint32_t>(number(header.signature));
    header.lane = static_cast<std::uint8_t>(random.below(lanes));
    header.word = static_cast<Word>(1 + random.below(10));
    const Compressed compressed = compressor.compress(header);
    ASSERT_EQ(Expander::size(compressed.bytes[0]), compressed.size);
    Header expanded;
    ASSERT_TRUE(expander.expand(compressed.used(), expanded));
    ASSERT_TRUE(same(expanded, header)) << i;
  }
}

TEST(Compression, FarthestNumbersFit) {
  Header most = call(std::numeric_limits<std::uint64_t>::max() / 3, 1ULL << 63);
  most.context = most.handle = most.place = 1ULL << 63;
  most.message = most.signature = std::numeric_limits<std::uint32_t>::max();
  Header expanded;
  ASSERT_TRUE(Expander().expand(Compressor().compress(most).used(), expanded));
  EXPECT_TRUE(same(expanded, most));
}

TEST(Compression, RefusesWhatNobodySends) {
  for (const int length : {0, 1, 2, 65, 255}) EXPECT_EQ(Expander::size(static_cast<std::byte>(length)), 0u) << length;
  EXPECT_TRUE(expands(bytes({3, 1, 0})));
  EXPECT_TRUE(expands(bytes({5, 1, 1, 2, 0})));
  EXPECT_FALSE(expands(bytes({5, 1, 1, 2, 7}))) << "no zeros behind";
  EXPECT_FALSE(expands(bytes({3, 1, 1}))) << "no number";
  EXPECT_FALSE(expands(bytes({4, 1, 1, 0x80}))) << "a number without end";
  EXPECT_FALSE(expands(bytes({4, 1, 0x80, 1}))) << "an eighth field";
  EXPECT_FALSE(expands(bytes({13, 1, 1, 255, 255, 255, 255, 255, 255, 255, 255, 255, 2}))) << "more than 64 bits";
  EXPECT_FALSE(expands(bytes({8, 1, 0x20, 0x80, 0x80, 0x80, 0x80, 0x20}))) << "a message of more than 32 bits";
  EXPECT_FALSE(expands(bytes({4, 1, 0x20, 1}))) << "a message below none";
}

}  // namespace tutti::transport::tcp
