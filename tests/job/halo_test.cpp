// SPDX-License-Identifier: BSD-3-Clause
// Laid-out buffers along the edges of a grid: a halo is exchanged where it lies.
#include <gtest/gtest.h>

#include <numeric>
#include <string>
#include <vector>

#include "../refusal.hpp"
#include "job/inproc.hpp"
#include "tutti/tutti.hpp"

namespace {

using tutti::Count;
using tutti::Graph;
using tutti::Grid;
using tutti::Group;
using tutti::Layout;
using tutti::none;
using tutti::Part;
using tutti::Rank;
using tutti::refusal;
using tutti::View;

/// A block of a global field, with a halo of one element around it.
struct Field {
  Count rows, columns;
  std::vector<double> data = std::vector<double>(static_cast<std::size_t>((rows + 2) * (columns + 2)), -1);

  double& at(Count row, Count column) { return data[static_cast<std::size_t>((row + 1) * (columns + 2) + column + 1)]; }
  /// `height` x `width` elements from (row, column) on.
  Part box(Count row, Count column, Count height, Count width) const {
    return {0, Layout::of<double>().box({rows + 2, columns + 2}, {height, width}, {row + 1, column + 1})};
  }
  /// What goes to the neighbours, and where it comes from, in their order: above, below, left, right.
  std::vector<Part> inside() const {
    return {box(0, 0, 1, columns), box(rows - 1, 0, 1, columns), box(0, 0, rows, 1), box(0, columns - 1, rows, 1)};
  }
  std::vector<Part> halo() const {
    return {box(-1, 0, 1, columns), box(rows, 0, 1, columns), box(0, -1, rows, 1), box(0, columns, rows, 1)};
  }
};

/// What `rank` has at a place of its block.
double value(Rank rank, Count row, Count column, double step) {
  return 1e6 * rank + 1e3 * static_cast<double>(row) + static_cast<double>(column) + step;
}

void fill(Field& field, Rank rank, double step) {
  std::ranges::fill(field.data, -1);
  for (Count row = 0; row < field.rows; ++row)
    for (Count column = 0; column < field.columns; ++column) field.at(row, column) = value(rank, row, column, step);
}

/// Every element of the halo is the neighbour's, or untouched beyond the border; so are the corners.
void expect_halo(Field& field, const Grid& grid, double step) {
  const auto neighbours = grid.sources();
  const auto expect_side = [&](std::size_t side, Count row, Count column, Count there_row, Count there_column) {
    const double expected = neighbours[side] == none ? -1 : value(neighbours[side], there_row, there_column, step);
    ASSERT_EQ(field.at(row, column), expected) << "side " << side << " of " << grid.rank();
  };
  for (Count column = 0; column < field.columns; ++column) {
    expect_side(0, -1, column, field.rows - 1, column);
    expect_side(1, field.rows, column, 0, column);
  }
  for (Count row = 0; row < field.rows; ++row) {
    expect_side(2, row, -1, row, field.columns - 1);
    expect_side(3, row, field.columns, row, 0);
  }
  for (const Count row : {Count{-1}, field.rows})
    for (const Count column : {Count{-1}, field.columns}) EXPECT_EQ(field.at(row, column), -1) << "a corner";
}

class Halo : public testing::TestWithParam<std::string> {};

TEST_P(Halo, IsExchangedWhereItLies) {
  for (const Count wide : {1, 5, 3000})
    tutti::job::run_inproc(6, {}, [&](const Group& world) {
      const Grid grid = tutti::cartesian(world, {2, 3}, {true, false});
      Field field{4, wide};
      const auto inside = field.inside(), halo = field.halo();
      const tutti::Options by{.algorithm = GetParam()};
      fill(field, grid.rank(), 0);
      grid.neighbor_alltoallw(field.data, inside, field.data, halo, by);
      expect_halo(field, grid, 0);
      fill(field, grid.rank(), 1);
      grid.ineighbor_alltoallw(field.data, inside, field.data, halo, by).wait();
      expect_halo(field, grid, 1);
      tutti::Persistent again = grid.neighbor_alltoallw_init(field.data, inside, field.data, halo, by);
      for (int step = 2; step < 4; ++step) {
        fill(field, grid.rank(), step);
        again.start();
        again.wait();
        expect_halo(field, grid, step);
      }
    });
}

INSTANTIATE_TEST_SUITE_P(Algorithms, Halo, testing::Values("", "linear", "board"),
                         [](const auto& info) { return info.param.empty() ? "table" : info.param; });

/// Views go along edges too, from one column of an array into others of it.
TEST(Views, GoAlongEdges) {
  for (const Count rows : {2, 4000})
    tutti::job::run_inproc(3, {}, [&](const Group& world) {
      const Grid ring = tutti::cartesian(world, {3}, {true});
      const Rank rank = ring.rank(), before = (rank + 2) % 3, after = (rank + 1) % 3;
      const Layout column = Layout::of<int>().strided(rows, 1, 3);
      std::vector<int> field(static_cast<std::size_t>(3 * rows), rank);
      std::vector<int> out(static_cast<std::size_t>(2 * rows));
      ring.neighbor_allgather(View(field, column), out);
      EXPECT_EQ(out[0], before);
      EXPECT_EQ(out.back(), after);
      // Half of the first column each way, into the last one.
      ring.neighbor_alltoall(View(field, column), View(field, column.moved(8)), rows / 2);
      for (Count row = 0; row < rows; ++row) {
        const auto at = static_cast<std::size_t>(3 * row);
        ASSERT_EQ(field[at], rank);
        ASSERT_EQ(field[at + 1], rank);
        ASSERT_EQ(field[at + 2], row < rows / 2 ? before : after);
      }
    });
}

TEST(Views, AreRefusedWhereTheyCannotGo) {
  tutti::job::run_inproc(2, {}, [](const Group& world) {
    const Grid ring = tutti::cartesian(world, {2}, {true});
    std::vector<int> in(8), out(8);
    const Layout pair = Layout::of<int>(2);
    const std::vector<Part> send{{0, pair}, {8, pair}}, twice{{0, pair}, {4, pair}}, beyond{{0, pair}, {28, pair}};
    EXPECT_NE(refusal([&] { ring.neighbor_alltoallw(in, send, out, twice); }).find("neighbour 1"), std::string::npos);
    EXPECT_NE(refusal([&] { ring.neighbor_alltoallw(in, beyond, out, send); }).find("outside `in`"), std::string::npos);
    EXPECT_NE(refusal([&] { ring.neighbor_alltoallw(in, std::span(send).first(1), out, send); }).find("2 needed"),
              std::string::npos);
    EXPECT_NE(refusal([&] {
                const Layout some = Layout::of<int>().strided(4, 1, 2);
                ring.neighbor_alltoall(View(in, some), View(in, some), 2);
              }).find("in place"),
              std::string::npos);
    ring.neighbor_alltoallw(in, send, out, send);
  });
  tutti::job::run_inproc(1, {}, [](const Group& world) {
    const Grid itself = tutti::cartesian(world, {1}, {true});
    std::vector<int> in(4), out(4);
    const std::vector<Part> send{{0, Layout::of<int>(1)}, {4, Layout::of<int>(1)}};
    const std::vector<Part> recv{{0, Layout::of<int>(1)}, {4, Layout::of<int>(2)}};
    EXPECT_NE(refusal([&] { itself.neighbor_alltoallw(in, send, out, recv); }).find("bytes"), std::string::npos);
  });
}

/// A grid made of a reproducible group is one, and its sums take laid-out buffers.
TEST(Views, AreSummedExactlyOnGrids) {
  tutti::job::run_inproc(3, {}, [](const Group& world) {
    const Grid ring = tutti::cartesian(world.reproducible(), {3}, {true});
    EXPECT_TRUE(ring.is_reproducible() && ring.dup().is_reproducible() && ring.split_by_host().is_reproducible());
    const double mine[] = {1, 1e-30, -1};
    std::vector<double> field(8, 0);
    field[1] = field[3] = mine[ring.rank()];
    const Layout odd = Layout::of<double>().strided(2, 1, 2).moved(8);
    ring.allreduce(View(field, odd), View(field, odd), tutti::sum);
    EXPECT_EQ(field, (std::vector<double>{0, 1e-30, 0, 1e-30, 0, 0, 0, 0}));
  });
}

}  // namespace
