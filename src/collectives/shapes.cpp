// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <utility>

#include "collectives/specification.hpp"

namespace tutti::collectives {
namespace {

/// Keeps arrays alive for the spans of shapes. The heap blocks of vectors stay put when the keeper grows.
class Keeper {
 public:
  explicit Keeper(std::vector<std::vector<Count>>& arrays) : arrays_(arrays) {}
  std::span<const Count> keep(std::vector<Count> array) { return arrays_.emplace_back(std::move(array)); }

 private:
  std::vector<std::vector<Count>>& arrays_;
};

struct Blocks {
  std::span<const Count> counts, offsets;
};

Blocks keep(Keeper& keeper, const Layout& layout) { return {keeper.keep(layout.counts), keeper.keep(layout.offsets)}; }

Shape common(const Problem& problem, Rank rank) {
  Shape shape;
  shape.rank = rank;
  shape.size = problem.size;
  shape.root = problem.root;
  if (!get(problem.kind).varying) shape.count = problem.count;
  shape.in_place = problem.in_place && (!get(problem.kind).rooted || rank == problem.root);
  shape.commutative = problem.commutative;
  shape.cell = problem.cell;
  shape.least_segment = problem.least_segment;
  shape.parameters = problem.parameters;
  return shape;
}

/// gatherv, scatterv, allgatherv, reduce_scatter: the layout of all blocks where they all lie, a rank's own count
/// elsewhere.
void add_blocks(const Problem& problem, std::vector<Shape>& shapes, Keeper& keeper) {
  const Layout layout = blocks_of_all(problem);
  const Blocks blocks = keep(keeper, layout);
  for (Shape& shape : shapes) {
    const std::span<const Count> own = blocks.counts.subspan(static_cast<std::size_t>(shape.rank), 1);
    const bool at_root = shape.rank == shape.root;
    if (problem.kind != Kind::reduce_scatter)
      (problem.kind == Kind::scatterv ? shape.recv_counts : shape.send_counts) = own;
    if (problem.kind == Kind::scatterv && at_root) {
      shape.send_counts = blocks.counts;
      shape.send_offsets = blocks.offsets;
    } else if (agrees_on_counts(problem.kind) || (problem.kind == Kind::gatherv && at_root)) {
      shape.recv_counts = blocks.counts;
      shape.recv_offsets = blocks.offsets;
    }
  }
}

void add_matrix(const Problem& problem, std::vector<Shape>& shapes, Keeper& keeper) {
  for (Shape& shape : shapes) {
    const Blocks sent = keep(keeper, sent_by(problem, shape.rank));
    const Blocks received = keep(keeper, received_by(problem, shape.rank));
    shape.send_counts = sent.counts;
    shape.send_offsets = sent.offsets;
    shape.recv_counts = received.counts;
    shape.recv_offsets = received.offsets;
  }
}

void add_edges(const std::vector<Neighbors>& neighbors, std::vector<Shape>& shapes) {
  std::size_t widest = 0;
  for (const Neighbors& one : neighbors) widest = std::max(widest, one.destinations.size());
  for (Shape& shape : shapes) {
    const Neighbors& mine = neighbors.at(static_cast<std::size_t>(shape.rank));
    shape.sources = mine.sources;
    shape.destinations = mine.destinations;
    shape.widest = static_cast<std::int32_t>(widest);
  }
}

void add_edge_blocks(const Problem& problem, std::vector<Shape>& shapes, Keeper& keeper) {
  for (Shape& shape : shapes) {
    const Blocks sent = keep(keeper, sent_to_neighbors(problem, shape.rank));
    const Blocks received = keep(keeper, received_from_neighbors(problem, shape.rank));
    shape.send_counts = sent.counts;
    if (problem.kind != Kind::neighbor_allgatherv) shape.send_offsets = sent.offsets;
    shape.recv_counts = received.counts;
    shape.recv_offsets = received.offsets;
  }
}

}  // namespace

Shapes::Shapes(const Problem& problem) : neighbors_(problem.neighbors), hosts_(problem.hosts) {
  for (Rank rank = 0; rank < problem.size; ++rank) {
    shapes_.push_back(common(problem, rank));
    shapes_.back().hosts = hosts_;
  }
  Keeper keeper(arrays_);
  if (has_neighbors(problem.kind)) add_edges(neighbors_, shapes_);
  if (has_neighbors(problem.kind) && get(problem.kind).varying)
    add_edge_blocks(problem, shapes_, keeper);
  else if (is_matrix(problem.kind))
    add_matrix(problem, shapes_, keeper);
  else if (get(problem.kind).varying)
    add_blocks(problem, shapes_, keeper);
}

}  // namespace tutti::collectives
