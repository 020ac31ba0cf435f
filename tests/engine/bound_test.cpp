// SPDX-License-Identifier: BSD-3-Clause
// In which order the steps of a plan begin.
#include "engine/bound.hpp"

#include <gtest/gtest.h>

#include <span>
#include <vector>

#include "base/copy.hpp"
#include "plan/builder.hpp"

namespace tutti::engine {
namespace {

using plan::Verb;

Description of_bytes() {
  Description says;
  says.kind = Kind::plan;
  says.type = Type::opaque;
  says.element = 1;
  return says;
}

/// The verbs of steps in the order in which the engine takes them from a stack.
std::vector<Verb> begun(const Bound& bound) {
  std::vector<Verb> verbs;
  for (auto at = bound.starts.rbegin(); at != bound.starts.rend(); ++at) verbs.push_back(bound.plan.steps[*at].verb);
  return verbs;
}

TEST(Bound, BeginsReceivesFirst) {
  plan::Builder b(0, 3);
  b.send(1, plan::Builder::input(0, 4));
  b.recv(1, plan::Builder::output(0, 4));
  b.send(2, plan::Builder::input(0, 4));
  b.recv(2, plan::Builder::output(4, 4));
  const Bound bound(b.build(), of_bytes());
  EXPECT_EQ(begun(bound), (std::vector{Verb::recv, Verb::recv, Verb::send, Verb::send}));
  EXPECT_EQ(bound.plan.steps[bound.starts.back()].peer, 1);  // among themselves as they were written
}

TEST(Bound, BeginsReceivesFirstAfterAStep) {
  plan::Builder b(0, 2);
  const plan::Handle first = b.recv(1, plan::Builder::output(0, 4));
  b.send(1, plan::Builder::input(0, 4)).after(first);
  b.recv(1, plan::Builder::output(4, 4)).after(first);
  const Bound bound(b.build(), of_bytes());
  const std::span<const plan::Index> next(bound.successors.begin() + bound.first_successor[0],
                                          bound.successors.begin() + bound.first_successor[1]);
  ASSERT_EQ(next.size(), 2u);
  EXPECT_EQ(bound.plan.steps[next[0]].verb, Verb::recv);
  EXPECT_EQ(bound.plan.steps[next[1]].verb, Verb::send);
}

/// A copy of `count` bytes into what rank 1's are combined with, with an await between if they have to be waited for.
Bound combining(Count count, bool waits, Op op = Op::sum) {
  plan::Builder b(0, 2);
  b.use(plan::Ring::large, 1);
  const plan::Handle seen = b.await(1, 0, count);
  plan::Handle copied = b.copy(plan::Builder::input(0, count), plan::Builder::output(0, count));
  if (!waits) copied.after(seen);
  const plan::Handle reduced =
      b.reduce(plan::Builder::shared(1, 0, 0, count), plan::Builder::output(0, count)).after(copied);
  if (waits) reduced.after(seen);
  Description says = of_bytes();
  says.type = Type::uint8;
  says.op = op;
  return Bound(b.build(), says);
}

/// Rank 0 of two copies `count` bytes from `source` into its cell, and publishes it; `more` adds steps behind the copy.
template <class More>
Instruction::Lends lends(Kind kind, Count count, plan::Slice source, Op op, More more) {
  plan::Builder b(0, 2);
  b.use(plan::Ring::large, 1);
  const plan::Slice cell = plan::Builder::shared(0, 0, 0, count);
  const plan::Handle copied = b.copy(source, cell);
  const plan::Handle last = more(b, copied, cell);
  b.publish(0, cell).after(last);
  Description says = of_bytes();
  says.kind = kind;
  says.type = op == Op::none ? Type::opaque : Type::uint8;
  says.op = op;
  return Bound(b.build(), says).instructions.front().lends;
}

TEST(Bound, LendsWhatNobodyChanges) {
  using enum Instruction::Lends;
  constexpr Count much = 60'000;
  const plan::Slice input = plan::Builder::input(0, much), output = plan::Builder::output(0, much);
  const auto nothing = [](plan::Builder&, plan::Handle copied, plan::Slice) { return copied; };
  EXPECT_EQ(lends(Kind::bcast, much, input, Op::none, nothing), yes);
  EXPECT_EQ(lends(Kind::bcast, much, output, Op::none, nothing), yes);
  EXPECT_EQ(lends(Kind::reduce, much, input, Op::sum, nothing), yes);
  EXPECT_EQ(lends(Kind::bcast, 20'000, plan::Builder::input(0, 20'000), Op::none, nothing), with_core);
  EXPECT_EQ(lends(Kind::scan, much, input, Op::sum, nothing), with_core);
  EXPECT_EQ(lends(Kind::bcast, 10'000, plan::Builder::input(0, 10'000), Op::none, nothing), no) << "too little";
  EXPECT_EQ(lends(Kind::reduce, much, input, Op::user, nothing), no) << "read by a function of the user's";
  EXPECT_EQ(lends(Kind::plan, much, input, Op::none, nothing), no);
  EXPECT_EQ(lends(Kind::neighbor_allgather, much, input, Op::none, nothing), no);

  const auto written_over = [](plan::Builder& b, plan::Handle copied, plan::Slice) {
    b.copy(plan::Builder::input(0, 8), plan::Builder::output(1000, 8)).after(copied);
    return copied;
  };
  EXPECT_EQ(lends(Kind::bcast, much, output, Op::none, written_over), no);
  EXPECT_EQ(lends(Kind::bcast, much, input, Op::none, written_over), yes);
  const auto added_to = [](plan::Builder& b, plan::Handle copied, plan::Slice cell) {
    return b.reduce(plan::Builder::output(0, 8), cell.part(0, 8)).after(copied);
  };
  EXPECT_EQ(lends(Kind::allreduce, much, input, Op::sum, added_to), no) << "the cell holds a sum";
  const auto read_back = [](plan::Builder& b, plan::Handle copied, plan::Slice cell) {
    b.copy(cell.part(0, 8), plan::Builder::output(0, 8)).after(copied);
    return copied;
  };
  EXPECT_EQ(lends(Kind::bcast, much, input, Op::none, read_back), no) << "this rank reads its own cell";
}

TEST(Bound, JoinsACopyWithTheReductionBehindIt) {
  const Bound joined = combining(100, false);
  EXPECT_EQ(joined.instructions[1].bytes, 0u);
  EXPECT_EQ(joined.instructions[2].other.buffer, plan::Buffer::input);
}

TEST(Bound, CopiesLittleWhileItWaits) {
  const Bound apart = combining(100, true), joined = combining(10'000, true);
  EXPECT_EQ(apart.instructions[1].bytes, 100u);
  EXPECT_EQ(apart.instructions[2].other.buffer, plan::Buffer::none);
  EXPECT_EQ(joined.instructions[1].bytes, 0u);
}

TEST(Bound, LeavesCopiesToUsersReductions) { EXPECT_EQ(combining(100, false, Op::user).instructions[1].bytes, 100u); }

/// Whether a call of two ranks that brings this one so much writes it past the caches.
Instruction::Streams streams(Kind kind, Op op, std::size_t bytes) {
  plan::Builder b(0, 2);
  const auto count = static_cast<Count>(bytes);
  b.copy(plan::Builder::input(0, count), plan::Builder::output(0, count));
  Description says = of_bytes();
  says.kind = kind;
  says.type = Type::uint8;
  says.op = op;
  return Bound(b.build(), says).instructions[0].streams;
}

TEST(Bound, BringsTooMuchPastTheCaches) {
  // Maybe from three eighths of the cache on, and always from three halves, by what both ranks read and write beside.
  struct Case {
    Kind kind;
    Op op;
    std::size_t share;
  };
  using Streams = Instruction::Streams;
  const std::size_t fits = base::largest_cache() / 8 * 3, most = base::largest_cache() / 2 * 3;
  for (const Case& one :
       {Case{Kind::alltoall, Op::none, 4}, Case{Kind::scatterv, Op::none, 4}, Case{Kind::plan, Op::none, 4},
        Case{Kind::allgather, Op::none, 3}, Case{Kind::allgatherv, Op::none, 3}, Case{Kind::gather, Op::none, 2},
        Case{Kind::gatherv, Op::none, 2}, Case{Kind::bcast, Op::none, 2}, Case{Kind::reduce, Op::sum, 3},
        Case{Kind::allreduce, Op::sum, 4}, Case{Kind::reduce_scatter_block, Op::sum, 6}}) {
    EXPECT_EQ(streams(one.kind, one.op, most / one.share + 1), Streams::yes) << name_of(one.kind);
    EXPECT_EQ(streams(one.kind, one.op, most / one.share - 1), Streams::maybe) << name_of(one.kind);
    EXPECT_EQ(streams(one.kind, one.op, fits / one.share + 1), Streams::maybe) << name_of(one.kind);
    EXPECT_EQ(streams(one.kind, one.op, fits / one.share - 1), Streams::no) << name_of(one.kind);
  }
}

TEST(Bound, BringsWhatIsReadAgainThroughTheCaches) {
  using enum Instruction::Streams;
  using Handle = plan::Handle;
  const auto count = static_cast<Count>(base::largest_cache());
  const plan::Slice home = plan::Builder::output(0, count), input = plan::Builder::input(count, count);
  // How what is copied home is written, where `more` does something behind it.
  const auto streams = [&](Op op, auto more) {
    plan::Builder b(0, 2);
    b.use(plan::Ring::large, 2);
    more(b, b.copy(plan::Builder::input(0, count), home));
    Description says = of_bytes();
    says.type = op == Op::none ? Type::opaque : Type::uint8;
    says.op = op;
    return Bound(b.build(), says).instructions[0].streams;
  };
  const auto copies = [&](Count first, Count bytes) {
    return [=](plan::Builder& b, Handle copied) {
      b.copy(plan::Builder::output(first, bytes), plan::Builder::output(3 * count, bytes)).after(copied);
    };
  };
  EXPECT_EQ(streams(Op::none, [](plan::Builder&, Handle) {}), yes);
  EXPECT_EQ(streams(Op::none, copies(count - 1, 10)), no) << "one byte is read";
  EXPECT_EQ(streams(Op::none, copies(count, 10)), yes) << "what lies behind it is read";
  EXPECT_EQ(streams(Op::none, [&](auto& b, Handle copied) { b.send(1, home).after(copied); }), no);
  EXPECT_EQ(streams(Op::none, [&](auto& b, Handle copied) { b.publish(0, home).after(copied); }), no);
  EXPECT_EQ(streams(Op::user, [&](auto& b, Handle copied) { b.reduce(input, home).after(copied); }), no);
  EXPECT_EQ(streams(Op::sum, [&](auto& b, Handle copied) { b.recv_reduce(1, home).after(copied); }), no);
  // A copy before it that a reduction has taken over: that reads the copy's source instead.
  const auto joined = [&](plan::Builder& b, Handle) {
    const plan::Slice sum = plan::Builder::output(2 * count, count);
    const Handle copied = b.copy(input, sum);
    b.reduce(plan::Builder::input(0, count), sum).after(copied);
  };
  EXPECT_EQ(streams(Op::sum, joined), yes);

  plan::Builder before(0, 2);
  const Handle moved = before.copy(home, plan::Builder::output(count, count));
  before.copy(input, home).after(moved);
  EXPECT_EQ(Bound(before.build(), of_bytes()).instructions[1].streams, yes) << "read before";
}

/// A block for each of two others, in these cells, with nothing between the two.
plan::Plan two_blocks(std::int32_t one, std::int32_t other, Count count) {
  plan::Builder b(0, 3);
  b.use(plan::Ring::small, 2);
  for (const std::int32_t cell : {one, other}) {
    const plan::Slice mine = plan::Builder::shared(0, cell, 0, count);
    const plan::Handle written = b.copy(plan::Builder::input(cell * count, count), mine);
    b.publish(cell, mine).after(written);
  }
  return b.build();
}

TEST(Bound, RunsInOrderWhatWaitsForTheSameReaders) {
  EXPECT_TRUE(Bound(two_blocks(0, 1, 8), of_bytes()).plain);
  EXPECT_FALSE(Bound(two_blocks(1, 0, 8), of_bytes()).in_order);     // cell 0 may be free, and cell 1 not yet
  EXPECT_FALSE(Bound(two_blocks(0, 1, 1000), of_bytes()).in_order);  // areas are free when theirs are
}

TEST(Bound, RunsNotInOrderWhatOthersAwait) {
  plan::Builder b(0, 2);
  b.use(plan::Ring::small, 1);
  b.await(1, 0, 0);
  b.publish(0, plan::Builder::shared(0, 0, 0, 0));
  EXPECT_FALSE(Bound(b.build(), of_bytes()).in_order);
}

/// Rank 0 of three: publishes a cell, and awaits these, or publishes in the middle.
plan::Plan swap_with(std::vector<Rank> awaited, bool early) {
  plan::Builder b(0, 3);
  b.use(plan::Ring::small, 1);
  std::vector<plan::Handle> waits;
  const auto publish = [&] { return b.publish(0, plan::Builder::shared(0, 0, 0, 0)).after(waits); };
  if (early) publish();
  for (const Rank peer : awaited) waits.push_back(b.await(peer, 0, 0));
  if (!early) publish();
  return b.build();
}

TEST(Bound, KnowsWhereAllWaitForAll) {
  EXPECT_TRUE(Bound(swap_with({1, 2}, true), of_bytes()).mutual);
  EXPECT_TRUE(Bound(swap_with({plan::everyone}, true), of_bytes()).mutual);
  EXPECT_FALSE(Bound(swap_with({1}, true), of_bytes()).mutual);
  EXPECT_FALSE(Bound(swap_with({}, true), of_bytes()).mutual);
  EXPECT_FALSE(Bound(swap_with({1, 2}, false), of_bytes()).mutual);
  EXPECT_FALSE(Bound(swap_with({plan::everyone}, false), of_bytes()).mutual);
  EXPECT_TRUE(Bound(swap_with({1}, true), of_bytes(), std::vector<Rank>{0, 1}).mutual) << "the third has another host";
}

}  // namespace
}  // namespace tutti::engine
