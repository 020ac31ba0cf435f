// SPDX-License-Identifier: BSD-3-Clause
#include "transport/matching.hpp"

#include <gtest/gtest.h>

#include <deque>
#include <map>
#include <tuple>
#include <vector>

#include "base/random.hpp"
#include "transport/names.hpp"

namespace tutti::transport {

namespace {

struct Node {
  Peer peer;
  Tag tag;
  int number;
  Node* next = nullptr;
};

// Against a map of queues, over all operations.
TEST(TagTable, keeps_equal_tags_in_order) {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    base::Random random(seed);
    TagTable<Node> table;
    std::deque<Node> nodes;
    std::map<std::tuple<Peer, std::uint64_t, std::uint32_t>, std::deque<Node*>> model;
    for (int i = 0; i < 5000; ++i) {
      const auto peer = static_cast<Peer>(random.below(3));
      const Tag tag{random.below(3), 0, static_cast<std::uint32_t>(random.below(100)), Lane::user};
      auto& queue = model[{peer, tag.context, tag.message}];
      const std::uint64_t what = random.below(10);
      if (what < 5) {
        queue.push_back(&nodes.emplace_back(Node{peer, tag, i}));
        table.push(*queue.back());
      } else if (what == 5) {
        queue.push_front(&nodes.emplace_back(Node{peer, tag, i}));
        table.push_front(*queue.front());
      } else if (what == 6 && !queue.empty()) {
        const auto which = queue.begin() + static_cast<std::ptrdiff_t>(random.below(queue.size()));
        EXPECT_TRUE(table.remove(**which));
        EXPECT_FALSE(table.remove(**which));
        queue.erase(which);
      } else {
        Node* const expected = queue.empty() ? nullptr : queue.front();
        EXPECT_EQ(table.take(peer, tag), expected);
        if (expected != nullptr) queue.pop_front();
      }
    }
    std::size_t left = 0;
    for (const auto& [key, queue] : model) left += queue.size();
    EXPECT_EQ(table.size(), left);
    table.remove_if([](const Node& node) { return node.peer == 1; }, [&](const Node&) { --left; });
    EXPECT_EQ(table.size(), left);
    EXPECT_GT(left, 0u);
  }
}

Transfer receive(std::size_t size, std::uint32_t signature) {
  Transfer result;
  result.peer = 3;
  result.size = size;
  result.signature = signature;
  return result;
}

/// A receive of a message whose tag no other has.
Transfer only(std::uint64_t sequence) {
  Transfer result = receive(8, 1);
  result.tag = {.context = 4, .sequence = sequence};
  result.only = true;
  return result;
}
bool is_kept(Matching& matching, std::uint64_t sequence) {
  Message& message = matching.obtain();
  message.peer = 3;
  message.tag = only(sequence).tag;
  const bool kept = matching.keep(message);
  if (!kept) matching.recycle(message);
  return kept;
}

TEST(Matching, refuses_once_what_was_renounced_of_late) {
  constexpr std::uint64_t many = 10'000;
  Matching matching;
  for (std::uint64_t i = 0; i < many; ++i) {
    Transfer one = only(i);
    EXPECT_EQ(matching.expect(one), nullptr);
    EXPECT_TRUE(matching.renounce(one));
    EXPECT_FALSE(matching.renounce(one));
  }
  EXPECT_FALSE(is_kept(matching, many - 1));
  EXPECT_TRUE(is_kept(matching, many - 1));
  EXPECT_TRUE(is_kept(matching, 0)) << "of the oldest nothing comes any more, most likely";
  matching.settle(3, only(many - 2).tag);
  EXPECT_TRUE(is_kept(matching, many - 2));
  matching.forget(4, [&](Message& message) { matching.recycle(message); });
  EXPECT_FALSE(is_kept(matching, many - 3));
  EXPECT_FALSE(is_kept(matching, many - 3));
}

TEST(Matching, refuses_other_sizes_and_signatures) {
  Transfer good = receive(8, 1), size = receive(8, 1), signature = receive(8, 1), both = receive(8, 1);
  EXPECT_TRUE(accepts(good, 8, 1));
  EXPECT_EQ(good.state, State::pending);
  EXPECT_FALSE(accepts(size, 9, 1));
  EXPECT_EQ(size.state, State::wrong_size);
  EXPECT_EQ(size.their_size, 9u);
  EXPECT_FALSE(accepts(signature, 8, 2));
  EXPECT_EQ(signature.state, State::wrong_signature);
  EXPECT_FALSE(accepts(both, 9, 2));
  EXPECT_EQ(both.state, State::wrong_signature) << "another operation says more than another size";
  EXPECT_EQ(both.their_signature, 2u);
}

TEST(Matching, uses_its_nodes_again) {
  Matching matching;
  Message& first = matching.obtain();
  first.bytes.resize(100);
  matching.recycle(first);
  Message& second = matching.obtain();
  EXPECT_EQ(&first, &second);
  EXPECT_TRUE(second.bytes.empty());
  EXPECT_GE(second.bytes.capacity(), 100u);
  EXPECT_NE(&matching.obtain(), &second);
}

TEST(Matching, loses_what_is_only_announced) {
  Matching matching;
  for (const bool announced : {true, false}) {
    Message& message = matching.obtain();
    message.peer = 3;
    message.announced = announced;
    EXPECT_TRUE(matching.keep(message));
  }
  Transfer posted = receive(8, 1);
  posted.tag.message = 5;
  EXPECT_EQ(matching.expect(posted), nullptr);
  int dropped = 0;
  matching.lose(3, [&](Message& message) { dropped += message.announced; });
  EXPECT_EQ(dropped, 1);
  EXPECT_EQ(posted.state, State::lost);
  EXPECT_EQ(matching.posted(), 0u);
  EXPECT_EQ(matching.unexpected(), 1u);
}

TEST(Matching, refuses_messages_of_a_forgotten_group) {
  Matching matching;
  matching.forget(77, [](Message&) {});
  Message& message = matching.obtain();
  message.tag.context = 77;
  EXPECT_FALSE(matching.keep(message));
  message.tag.context = 78;
  EXPECT_TRUE(matching.keep(message));
}

TEST(Names, are_not_used_again) {
  Names<int> names;
  const std::uint64_t first = names.add(1);
  names.remove(first);
  const std::uint64_t second = names.add(2);
  EXPECT_NE(first, second);
  EXPECT_EQ(names.find(first), nullptr);
  ASSERT_NE(names.find(second), nullptr);
  EXPECT_EQ(*names.find(second), 2);
  for (const std::uint64_t made_up :
       {std::uint64_t{0}, ~std::uint64_t{0}, second + 1, second + (std::uint64_t{1} << 32)})
    EXPECT_EQ(names.find(made_up), nullptr);
  names.remove(first);
  EXPECT_NE(names.find(second), nullptr);
  int seen = 0;
  names.add(3);
  names.for_each([&](std::uint64_t name, int value) {
    seen += value;
    names.remove(name);
  });
  EXPECT_EQ(seen, 5);
  names.for_each([&](std::uint64_t, int) { FAIL() << "all were removed"; });
}

}  // namespace

}  // namespace tutti::transport
