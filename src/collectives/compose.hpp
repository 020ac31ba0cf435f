// SPDX-License-Identifier: BSD-3-Clause
// Plans made of stages: in each, some ranks of the group run a collective of their own, whose plan becomes a part of
// the whole. So an algorithm over several hosts is a few lines: on the host, among the leaders, on the host.
#pragma once

#include <span>
#include <vector>

#include "collectives/board.hpp"
#include "collectives/hosts.hpp"
#include "collectives/touched.hpp"

namespace tutti::collectives {

/// A writer whose steps are ordered by the memory they touch: a step of one stage waits for those of the stages before
/// it that write what it reads or writes, or read what it writes. Where stages touch different parts of the data, they
/// overlap. All ranks add the same stages in the same order, so that messages and cells are numbered alike.
class Composition : public Writer {
 public:
  /// `largest`: the most elements that a rank of my host puts into one small cell; with more than fit, the host's
  /// stages go through the large ring. `root`: leads its host.
  Composition(const Shape& shape, Count largest, Rank root = 0);

  const Hosts& hosts() const { return hosts_; }
  std::span<const Rank> leaders() const { return leaders_; }
  /// My host's leader; whether that is me; whether I am the only rank of my host.
  Rank leader() const { return leaders_[static_cast<std::size_t>(hosts_.mine())]; }
  bool leads() const { return leader() == shape_.rank; }
  bool alone() const { return hosts_.here().size() == 1; }

  /// The shape of a collective among some ranks of the group, of whom I am one, by messages, and of one of all ranks of
  /// my host, through cells. `root`: its rank in the group.
  Shape shape_among(std::span<const Rank> ranks, Rank root, Count count) const;
  Shape shape_here(Rank root, Count count) const;

  /// Adds a plan of these ranks, which are rank 0, 1, ... in it. Its input and output begin where the slices do. A plan
  /// that takes cells is one of all ranks of my host. What it sends and publishes waits for all of `after`.
  /// Returns the steps after which all has come that others sent or published in this stage.
  std::vector<Handle> stage(const plan::Plan& inner, std::span<const Rank> ranks, Slice input, Slice output,
                            const std::vector<Handle>& after = {});
  /// The same with the algorithm that goes through the ring chosen, and with the one chosen by size.
  void here(Kind kind, const Shape& inner, Slice input, Slice output);
  void among(std::span<const Rank> ranks, Kind kind, const Shape& inner, Slice input, Slice output);

  /// Steps of my own, ordered like those of a stage.
  Handle copy(Slice source, Slice target);
  Handle reduce(Slice source, Slice target, Side side);

  /// Takes the host's next cells; returns the first one's number.
  std::int32_t take_cells(board::Ring ring, std::int32_t cells);

  plan::Plan build();

 private:
  class Embedding;

  /// Makes the step wait for those of other stages that touched the same memory.
  Handle ordered(Handle step, const Slice& source, const Slice& target);

  const Shape& shape_;
  Hosts hosts_;
  board::Ring ring_;
  std::vector<Rank> leaders_;  // by host
  std::int32_t cells_ = 0;
  std::int32_t released_ = -1;      // the last cell that has been
  std::vector<Handle> unreleased_;  // that release, and the last steps of the host's stages after it
  Touched touched_;
};

/// Which algorithm a collective among the leaders of hosts takes: `large` elements are a long message.
const Algorithm& among_leaders(Kind kind, const Shape& shape, Count large);

}  // namespace tutti::collectives
