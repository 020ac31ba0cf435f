// SPDX-License-Identifier: BSD-3-Clause
// Layouts against a model that lists every byte: places, packing from anywhere to anywhere, overlaps, normal forms.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <set>
#include <string>
#include <vector>

#include "../refusal.hpp"
#include "base/random.hpp"
#include "layout/form.hpp"
#include "tutti/layout.hpp"

namespace tutti {
namespace {

/// A layout, and where each byte of its stream lies.
struct Model {
  Layout layout;
  std::vector<Count> places;
  Count lower = 0, extent = 0;
};

void add(std::vector<Count>& places, const Model& body, Count offset) {
  for (const Count place : body.places) places.push_back(place + offset);
}

Count number(base::Random& random, std::uint64_t most) { return static_cast<Count>(random.below(most + 1)); }

Model random_model(base::Random& random, int depth);

Model strided(base::Random& random, const Model& body) {
  const Count count = number(random, 4), block = number(random, 3), stride = number(random, 12) - 4;
  Model made{body.layout.strided(count, block, stride), {}};
  for (Count i = 0; i < count; ++i)
    for (Count j = 0; j < block; ++j) add(made.places, body, (i * stride + j) * body.extent);
  return made;
}

Model indexed(base::Random& random, const Model& body) {
  std::vector<Count> counts, offsets;
  Model made;
  for (std::uint64_t blocks = random.below(5); blocks > 0; --blocks) {
    counts.push_back(number(random, 3));
    offsets.push_back(number(random, 20) - 3);
    for (Count j = 0; j < counts.back(); ++j) add(made.places, body, (offsets.back() + j) * body.extent);
  }
  made.layout = body.layout.indexed(counts, offsets);
  return made;
}

Model mixed(base::Random& random, int depth) {
  std::vector<Part> parts;
  Model made;
  for (std::uint64_t n = random.below(4); n > 0; --n) {
    const Model part = random_model(random, depth - 1);
    parts.push_back({number(random, 60) - 10, part.layout});
    add(made.places, part, parts.back().offset);
  }
  made.layout = Layout::mixed(parts);
  return made;
}

Model random_model(base::Random& random, int depth) {
  Model made;
  if (depth == 0) {
    const Count bytes = number(random, 20);
    made = {Layout::bytes(bytes), std::vector<Count>(static_cast<std::size_t>(bytes))};
    std::iota(made.places.begin(), made.places.end(), 0);
  } else {
    switch (random.below(4)) {
      case 0:
        made = strided(random, random_model(random, depth - 1));
        break;
      case 1:
        made = indexed(random, random_model(random, depth - 1));
        break;
      case 2:
        made = mixed(random, depth);
        break;
      default:
        made = random_model(random, depth - 1);
        made.layout = made.layout.resized(number(random, 8) - 4, number(random, 75) - 15);
    }
  }
  made.lower = made.layout.lower();
  made.extent = made.layout.extent();
  return made;
}

/// Packs and unpacks one range, and compares every byte.
void expect_moves(const Model& model, Count first, Count last) {
  const Count base = 10'000;
  std::vector<std::byte> memory(30'000);
  for (std::size_t i = 0; i < memory.size(); ++i) memory[i] = static_cast<std::byte>(i * 31 % 251);
  const auto length = static_cast<std::size_t>(last - first);
  std::vector<std::byte> stream(length + 2, std::byte{0xee});
  model.layout.pack(memory.data() + base, first, std::span(stream).subspan(1, length));
  EXPECT_EQ(stream.front(), std::byte{0xee});
  EXPECT_EQ(stream.back(), std::byte{0xee});
  for (std::size_t i = 0; i < length; ++i) {
    const Count place = model.places[static_cast<std::size_t>(first) + i];
    ASSERT_EQ(model.layout.place(first + static_cast<Count>(i)), place);
    ASSERT_EQ(stream[i + 1], memory[static_cast<std::size_t>(base + place)]);
    stream[i + 1] = static_cast<std::byte>(i * 17 % 253);
  }
  std::vector<std::byte> expected = memory;
  for (std::size_t i = 0; i < length; ++i)
    expected[static_cast<std::size_t>(base + model.places[static_cast<std::size_t>(first) + i])] = stream[i + 1];
  model.layout.unpack(memory.data() + base, first, std::span<const std::byte>(stream).subspan(1, length));
  if (!model.layout.overlaps()) {
    EXPECT_EQ(memory, expected);
  }
}

TEST(LayoutTest, RandomLayoutsAreWhatTheyAreMadeOf) {
  std::size_t overlapping = 0, moved = 0;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    base::Random random(seed);
    const Model model = random_model(random, 1 + static_cast<int>(seed % 4));
    const std::set<Count> different(model.places.begin(), model.places.end());
    ASSERT_EQ(model.layout.size(), static_cast<Count>(model.places.size()));
    ASSERT_EQ(model.layout.overlaps(), different.size() != model.places.size());
    overlapping += model.layout.overlaps() ? 1 : 0;
    if (model.places.empty()) continue;
    ASSERT_EQ(model.layout.begin(), *different.begin());
    ASSERT_EQ(model.layout.end(), *different.rbegin() + 1);
    if (model.layout.end() > 15'000 || model.layout.begin() < -9'000) continue;
    expect_moves(model, 0, model.layout.size());
    const Count first = number(random, model.places.size() - 1);
    expect_moves(model, first, first + number(random, model.places.size() - static_cast<std::size_t>(first)));
    ++moved;
  }
  EXPECT_GT(overlapping, 200u);
  EXPECT_GT(moved, 2000u);
}

TEST(LayoutTest, WhatTwoLayoutsShareIsFound) {
  std::size_t shared = 0, apart = 0, between = 0;
  for (std::uint64_t seed = 0; seed < 6000; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    base::Random random(seed);
    const Model one = random_model(random, 1 + static_cast<int>(seed % 3)), other = random_model(random, 2);
    const Count distance = number(random, 60) - 30;
    const std::set<Count> bytes(one.places.begin(), one.places.end());
    const bool meet = std::ranges::any_of(other.places, [&](Count at) { return bytes.contains(at + distance); });
    ASSERT_EQ(layout::share(one.layout.form().node, other.layout.form().node, distance), meet);
    (meet ? shared : apart) += 1;
    const Count begin = other.layout.begin() + distance, end = other.layout.end() + distance;
    between += !meet && std::max(begin, one.layout.begin()) < std::min(end, one.layout.end()) ? 1 : 0;
  }
  EXPECT_GT(shared, 500u);
  EXPECT_GT(apart, 500u);
  EXPECT_GT(between, 200u);
}

TEST(LayoutTest, NeighboursAreMerged) {
  const Layout number = Layout::of<double>();
  EXPECT_TRUE(number.strided(10, 4, 4).contiguous());
  EXPECT_TRUE(number.indexed({2, 3, 1}, {0, 2, 5}).contiguous());
  EXPECT_TRUE(number.box({5, 6}, {2, 6}, {1, 0}).contiguous());
  const Part fields[] = {{0, Layout::of<int>()}, {4, Layout::of<float>()}};
  EXPECT_TRUE(Layout::mixed(fields).repeat(100).contiguous());
  EXPECT_FALSE(number.strided(10, 1, 2).contiguous());
  EXPECT_EQ(number.indexed({1, 1, 1}, {0, 3, 6}), number.strided(3, 1, 3).resized(0, 56));
  EXPECT_NE(number.strided(3, 1, 3), number.strided(3, 1, 4));
  EXPECT_EQ(number.box({4, 5, 6}, {4, 5, 1}, {0, 0, 2}).describe(), "20 blocks of 8 bytes, 48 apart");
}

TEST(LayoutTest, ExtentsAreThoseOfMpi) {
  const Layout number = Layout::of<double>();
  EXPECT_EQ(number.strided(3, 2, 5).extent(), 8 * (2 * 5 + 2));
  EXPECT_EQ(number.strided(3, 1, -2).lower(), -32);
  EXPECT_EQ(number.strided(3, 1, -2).extent(), 40);
  EXPECT_EQ(number.box({4, 5}, {2, 2}, {1, 1}).extent(), 8 * 20);
  // One that is laid out backwards, once and twice.
  const Layout backwards = number.resized(0, -8);
  EXPECT_EQ(backwards.repeat(1), backwards);
  EXPECT_EQ(backwards.strided(1, 1, 7).size(), 8);
  EXPECT_EQ(backwards.indexed({1}, {2}).begin(), -16);
  const Part part[] = {{0, backwards}};
  EXPECT_EQ(Layout::mixed(part).extent(), -8);
  EXPECT_EQ(backwards.repeat(2).lower(), -8);
  EXPECT_EQ(backwards.repeat(2).extent(), 0);
  // Columns side by side: the extent of a column is made that of one element.
  const Layout columns = number.strided(4, 1, 5).resized(0, 8).repeat(5);
  EXPECT_EQ(columns.size(), 160);
  EXPECT_EQ(columns.place(8 * 4), 8);
  EXPECT_FALSE(columns.overlaps());
}

TEST(LayoutTest, WhatIsNoLayoutIsRefused) {
  const Layout number = Layout::of<double>();
  EXPECT_NE(refusal([&] { number.repeat(-1); }).find("negative"), std::string::npos);
  EXPECT_NE(refusal([&] { number.strided(3, -2, 5); }).find("negative"), std::string::npos);
  EXPECT_NE(refusal([&] { number.indexed({1, 2}, {1}); }).find("one of each"), std::string::npos);
  EXPECT_NE(refusal([&] { number.strided(Count{1} << 40, 1, Count{1} << 40); }).find("64 bits"), std::string::npos);
  constexpr Count most = std::numeric_limits<Count>::max();
  const Part apart[] = {{most - 20, number}, {-most, number}};
  for (const auto& far :
       {refusal([&] { number.moved(most - 3); }), refusal([&] { number.resized(most, 1); }),
        refusal([&] { number.strided_bytes(2, 1, most - 3); }),
        refusal([&] { number.moved(8).indexed({1}, {most / 8}); }), refusal([&] { Layout::mixed(apart); })})
    EXPECT_NE(far.find("64 bits"), std::string::npos);
  EXPECT_NE(refusal([&] { number.box({4}, {3}, {2}); }).find("outside the array"), std::string::npos);
  std::vector<double> memory(10);
  EXPECT_NE(refusal([&] { View(memory, number.strided(4, 1, 4)); }).find("outside the memory"), std::string::npos);
  EXPECT_NE(refusal([&] { View(memory, number.moved(-8)); }).find("outside the memory"), std::string::npos);
  EXPECT_NE(refusal([&] { View(memory, Layout::bytes(7)); }).find("no whole elements"), std::string::npos);
  std::byte few[4];
  EXPECT_NE(refusal([&] { number.pack(memory.data(), 6, few); }).find("were asked for"), std::string::npos);
}

}  // namespace
}  // namespace tutti
