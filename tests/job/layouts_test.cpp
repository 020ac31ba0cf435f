// SPDX-License-Identifier: BSD-3-Clause
// Views as buffers, and what is refused before anything is sent.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "../refusal.hpp"
#include "job/inproc.hpp"
#include "tutti/group.hpp"

namespace tutti {
namespace {

constexpr Rank ranks = 3;

TEST(LayoutsTest, AColumnOnOneRankIsARowOnAnother) {
  job::run_inproc(ranks, {}, [](const Group& world) {
    constexpr Count rows = 700, columns = 3;
    const Layout column = Layout::of<double>().strided(rows, 1, columns);
    std::vector<double> field(rows * columns, -1), line(rows);
    std::iota(line.begin(), line.end(), world.rank());
    if (world.rank() == 1)
      world.allreduce(line, View(field, column.moved(8)), sum);
    else
      world.allreduce(line, line, sum);
    for (std::size_t i = 0; i < rows; ++i) {
      const double expected = 3.0 * static_cast<double>(i) + 3;
      if (world.rank() == 1)
        ASSERT_TRUE(field[3 * i] == -1 && field[3 * i + 1] == expected && field[3 * i + 2] == -1);
      else
        ASSERT_EQ(line[i], expected);
    }
    // In place, and from one column into another: the same memory is not the same elements.
    std::ranges::fill(field, 1);
    world.allreduce(View(field, column), View(field, column), sum);
    world.allreduce(View(field, column), View(field, column.moved(16)), sum);
    for (std::size_t i = 0; i < rows; ++i)
      ASSERT_TRUE(field[3 * i] == 3 && field[3 * i + 1] == 1 && field[3 * i + 2] == 9);
  });
}

TEST(LayoutsTest, EachCallUsesItsOwnLayout) {
  job::run_inproc(ranks, {}, [](const Group& world) {
    std::vector<int> from(100), to(100);
    for (int step = 1; step < 25; ++step) {  // plans are kept: the same shape with another layout is another plan
      std::iota(from.begin(), from.end(), 0);
      std::ranges::fill(to, -1);
      world.allreduce(View(from, Layout::of<int>().strided(4, 1, step)), std::span(to).first(4), max);
      for (int i = 0; i < 4; ++i) ASSERT_EQ(to[static_cast<std::size_t>(i)], i * step);
      Request request = world.ibcast(View(to, Layout::of<int>().strided(4, 1, step).moved(4)), step % ranks);
      request.wait();
    }
  });
}

TEST(LayoutsTest, MessagesToo) {
  job::run_inproc(2, {}, [](const Group& world) {
    std::vector<int> square(25);
    std::iota(square.begin(), square.end(), 0);
    const Layout column = Layout::of<int>().strided(5, 1, 5);
    if (world.rank() == 0) {
      world.send(View(square, column), 1);
    } else {
      expect_refused("overlap", [&] { world.recv(View(square, Layout::of<int>().strided(2, 2, 1)), 0); });
      world.recv(View(square, column.moved(4)), 0);
      for (std::size_t i = 0; i < 5; ++i) ASSERT_EQ(square[5 * i + 1], static_cast<int>(5 * i));
    }
  });
}

TEST(LayoutsTest, AMessageHasElementsOfSomeBytes) {
  job::run_inproc(2, {}, [](const Group& world) {
    std::vector<int> numbers(4);
    const Layout second = Layout::of<int>().strided(2, 1, 2);
    for (const std::size_t element : {std::size_t{0}, std::size_t{1} << 32})
      for (const Layout* layout : {static_cast<const Layout*>(nullptr), &second}) {
        expect_refused("pass their size", [&] {
          world.start_send(numbers.data(), 0, Type::opaque, element, 1 - world.rank(), 0, nullptr, layout);
        });
        expect_refused("pass their size", [&] {
          world.start_recv(numbers.data(), 0, Type::opaque, element, 1 - world.rank(), 0, nullptr, layout);
        });
      }
  });
}

TEST(LayoutsTest, WhatIsWrongIsFoundBeforeAnythingIsSent) {
  job::run_inproc(ranks, {}, [](const Group& world) {
    std::vector<double> in(12), out(12);
    const Layout one = Layout::of<double>();
    expect_refused("overlap", [&] { world.allreduce(std::span(in).first(4), View(out, one.strided(2, 2, 1)), sum); });
    expect_refused("elements and must have", [&] { world.allreduce(in, View(out, one.strided(3, 1, 2)), sum); });
    expect_refused("in and out overlap",
                   [&] { world.allreduce(View(in, one.strided(3, 1, 2)), View(in, one.strided(3, 1, 3)), sum); });
    const std::vector<Part> send(ranks, Part{0, one.repeat(2)});
    std::vector<Part> recv = {{0, one.repeat(2)}, {16, one.repeat(2)}, {24, one.repeat(2)}};
    expect_refused("from rank 1 lies where a part of what comes from rank 2",
                   [&] { world.alltoallw(in, send, out, recv); });
    recv[2].offset = 88;
    expect_refused("outside `out`", [&] { world.alltoallw(in, send, out, recv); });
    recv[2].offset = -8;
    expect_refused("outside `out`", [&] { world.alltoallw(in, send, out, recv); });
    recv[2] = {64, one.strided(1, 2, 2)};
    expect_refused("send counts", [&] { world.alltoallw(in, std::span(send).first(2), out, recv); });
    // Nothing was sent: the group works.
    in.assign(12, world.rank());
    world.alltoallw(in, send, out, recv);
    EXPECT_EQ(out, (std::vector<double>{0, 0, 1, 1, 0, 0, 0, 0, 2, 2, 0, 0}));
  });
}

/// Everything at every second place, and a poison between.
std::vector<double> with_gaps(Count count) {
  std::vector<double> memory(static_cast<std::size_t>(2 * count), -100);
  for (std::size_t i = 0; i < memory.size(); i += 2) memory[i] = static_cast<double>(i / 2);
  return memory;
}

void expect_block(const Group& world, std::vector<double> memory, std::size_t length) {
  for (std::size_t i = 0; i < memory.size(); ++i) {
    const bool gap = i % 2 == 1;
    if (!gap && i / 2 >= length) continue;
    const double element = static_cast<double>(length * static_cast<std::size_t>(world.rank()) + i / 2);
    ASSERT_EQ(memory[i], gap ? -100 : ranks * element) << i;
  }
}

TEST(LayoutsTest, TheBlockOfAReductionMayBeTheBeginningOfTheWhole) {
  job::run_inproc(ranks, {}, [](const Group& world) {
    for (const Group& group : {world, world.reproducible()})
      for (const Count length : {1, 2, 100}) {
        const Layout one = Layout::of<double>();
        const Layout all = one.strided(length * ranks, 1, 2), block = one.strided(length, 1, 2);
        std::vector<double> memory = with_gaps(length * ranks);
        group.reduce_scatter_block(View(memory, all), View(memory, block), sum);
        expect_block(group, memory, static_cast<std::size_t>(length));
        memory = with_gaps(length * ranks);
        const std::vector<Count> counts(ranks, length);
        group.reduce_scatter(View(memory, all), View(memory, block), counts, sum);
        expect_block(group, memory, static_cast<std::size_t>(length));
        if (length == 1) continue;
        expect_refused("in and out overlap", [&] {
          group.reduce_scatter_block(View(memory, all), std::span(memory).first(static_cast<std::size_t>(length)), sum);
        });
        expect_refused("in and out overlap",
                       [&] { group.reduce_scatter(View(memory, all), View(memory, one.repeat(length)), counts, sum); });
      }
  });
}

TEST(LayoutsTest, BuffersThatCrossAreRefused) {
  job::run_inproc(ranks, {}, [](const Group& world) {
    for (const Count length : {2, 3, 1000}) {
      const Layout one = Layout::of<double>();
      const Layout all = one.strided(length * ranks, 1, 2);
      const Count offset = world.rank() * length * 2 * static_cast<Count>(sizeof(double));
      const Layout block = one.strided(length, 1, 2).moved(offset), crossing = one.repeat(length).moved(offset);
      std::vector<double> memory = with_gaps(length * ranks);
      const std::vector<Count> counts(ranks, length);
      const View whole(memory, all), mine(memory, block), other(memory, crossing);
      const Rank root = world.rank();  // nobody else has anything to refuse
      const std::string text = "in and out overlap";
      expect_refused(text, [&] { world.allgather(other, whole); });
      expect_refused(text, [&] { world.allgatherv(other, whole, counts); });
      expect_refused(text, [&] { world.gather(other, whole, root); });
      expect_refused(text, [&] { world.gatherv(other, whole, counts, {}, root); });
      expect_refused(text, [&] { world.scatter(whole, other, root); });
      expect_refused(text, [&] { world.scatterv(whole, other, counts, {}, root); });
      // What goes on alike is in place.
      for (std::size_t i = 0; i < memory.size(); i += 2) memory[i] = world.rank();
      world.allgather(mine, whole);
      world.allgatherv(mine, whole, counts);
      for (std::size_t i = 0; i < memory.size(); i += 2)
        ASSERT_EQ(memory[i], static_cast<double>(i / 2 / static_cast<std::size_t>(length)));
    }
  });
}

TEST(LayoutsTest, ManyElementsAreComparedByThoseThatNoPeriodHides) {
  // Of 6100 cubes of 2 x 2 x 2 elements, 61 elements at equal distances would all be the first ones.
  constexpr Count cubes = 6100, element = sizeof(double), elements = 8 * cubes;
  const std::vector<double> memory(1);  // nobody reads it
  const auto cube = [](Count inner, Count outer) {
    return Layout::of<double>(2).strided_bytes(2, 1, inner).strided_bytes(2, 1, outer).strided_bytes(cubes, 1, 128);
  };
  const Layout straight = cube(16, 48), turned = cube(48, 16), longer = straight.repeat(2);
  const auto meeting = [&](const Layout& inner, const Layout& outer, Count first) {
    return detail::meeting({memory.data(), &inner, inner.size() / element},
                           {memory.data(), &outer, outer.size() / element}, first, element);
  };
  EXPECT_EQ(straight.size(), elements * element);
  EXPECT_EQ(meeting(straight, longer, 0), detail::Meeting::same);
  EXPECT_EQ(meeting(turned, longer, 0), detail::Meeting::crossing);
  EXPECT_EQ(meeting(straight, longer, 1), detail::Meeting::crossing);
  const Layout line = Layout::of<double>().strided_bytes(cubes, 1, 128);
  EXPECT_EQ(meeting(line.moved(96), straight, 0), detail::Meeting::apart);  // in the gaps between the cubes
  EXPECT_EQ(meeting(line.moved(24), straight, 0), detail::Meeting::crossing);
  EXPECT_EQ(meeting(straight, straight.moved(8).moved(-8), 0), detail::Meeting::same);
  EXPECT_EQ(meeting(straight, turned, 0), detail::Meeting::crossing);
}

TEST(LayoutsTest, PairsThatDisagreeAreAMismatch) {
  job::run_inproc(2, {}, [](const Group& world) {
    std::vector<int> in(8), out(8);
    const std::vector<Part> send = {{0, Layout::of<int>(2)}, {0, Layout::of<int>(2)}};
    std::vector<Part> recv = {{0, Layout::of<int>(2)}, {8, Layout::of<int>(2)}};
    if (world.rank() == 1) return world.alltoallw(in, send, out, recv);
    recv[1].layout = Layout::of<int>(3);
    EXPECT_THROW(world.alltoallw(in, send, out, recv), Mismatch);
  });
}

}  // namespace
}  // namespace tutti
