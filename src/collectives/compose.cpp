// SPDX-License-Identifier: BSD-3-Clause
#include "collectives/compose.hpp"

#include <algorithm>
#include <string>

#include "tutti/error.hpp"

namespace tutti::collectives {
namespace {

using plan::Buffer;
using plan::Index;
using plan::Step;
using plan::Verb;

[[noreturn]] void refuse(const std::string& reason) { throw Error(Cause::usage, "plan of stages: " + reason); }

bool arrives(const Step& step) {
  return step.verb == Verb::recv || step.verb == Verb::recv_reduce || step.verb == Verb::await;
}

bool leaves(const Step& step) { return step.verb == Verb::send || step.verb == Verb::publish; }

}  // namespace

/// One inner plan on its way into the whole.
class Composition::Embedding {
 public:
  Embedding(Composition& whole, const plan::Plan& inner, std::span<const Rank> ranks, Slice input, Slice output)
      : whole_(whole), inner_(inner), ranks_(ranks), buffers_{{}, input, output, whole.scratch(inner.scratch)} {
    if (ranks.size() != static_cast<std::size_t>(inner.size) || rank(inner.rank) != whole.rank())
      refuse("the ranks given are not those of the stage's plan");
    if (inner.cells == 0) return;
    if (!std::ranges::equal(ranks, whole.hosts_.here()))
      refuse("a stage that takes cells is one of all ranks of the host");
    cell_ = whole.take_cells(inner.ring, inner.cells);
  }

  std::vector<Handle> add(const std::vector<Handle>& after) {
    whole_.touched_.next_stage();
    std::vector<bool> followed(inner_.steps.size());
    for (const Step& step : inner_.steps) {
      if (step.any) refuse("a step of a stage waits for any of several; let it wait for all");
      const Slice source = place(step.source), target = place(step.target);
      const Handle here = write(step, source, target);
      for (const Index edge : inner_.after(step)) {
        here.after(steps_[edge]);
        followed[edge] = true;
      }
      if (leaves(step)) here.after(after);
      // It gives back the cells of the stages before, too.
      if (step.verb == Verb::release) here.after(whole_.unreleased_);
      whole_.ordered(here, source, target);
      steps_.push_back(here);
    }
    finish(followed);
    std::vector<Handle> arrived;
    for (std::size_t i = 0; i < steps_.size(); ++i)
      if (arrives(inner_.steps[i])) arrived.push_back(steps_[i]);
    return arrived;
  }

 private:
  Rank rank(Rank inner) const { return ranks_[static_cast<std::size_t>(inner)]; }

  Slice place(const Slice& slice) const {
    if (slice.buffer == Buffer::none) return slice;
    if (slice.buffer == Buffer::shared || slice.buffer == Buffer::exposed)
      return {slice.buffer, rank(slice.owner), cell_ + slice.cell, slice.offset, slice.count};
    const Slice& whole = buffers_[static_cast<std::size_t>(slice.buffer)];
    // An empty slice may stand anywhere, also where the stage has no such buffer.
    if (slice.count == 0) return {Buffer::scratch, -1, -1, 0, 0};
    if (slice.offset + slice.count > whole.count)
      refuse("a stage reaches beyond the " + std::to_string(whole.count) + " elements that it was given");
    return whole.part(slice.offset, slice.count);
  }

  Handle write(const Step& step, const Slice& source, const Slice& target) {
    plan::Builder& b = whole_;
    switch (step.verb) {
      case Verb::send:
        return b.send(rank(step.peer), source);
      case Verb::recv:
        return b.recv(rank(step.peer), target);
      case Verb::recv_reduce:
        return b.recv_reduce(rank(step.peer), target, step.side);
      case Verb::reduce:
        return b.reduce(source, target, step.side);
      case Verb::copy:
        return b.copy(source, target);
      case Verb::publish:
        if (step.open) refuse("a stage lets others write its memory; take another algorithm for it");
        return b.publish(cell_ + step.cell, source);
      case Verb::await:
        return b.await(step.peer == plan::everyone ? step.peer : rank(step.peer), cell_ + step.cell, step.source.count);
      case Verb::release:
        whole_.released_ = cell_ + step.cell;
        return b.release(whole_.released_);
    }
    refuse("a step has no verb");
  }

  /// The last steps, after which the stage's cells may be released. They come after all reading of what I expose, too.
  void finish(const std::vector<bool>& followed) {
    std::vector<Handle> none;
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      if (followed[i] || inner_.cells == 0) continue;
      whole_.unreleased_.push_back(steps_[i]);
      for (const Step& step : inner_.steps)
        if (step.verb == Verb::publish) whole_.touched_.read(place(step.source), steps_[i], none);
    }
  }

  Composition& whole_;
  const plan::Plan& inner_;
  std::span<const Rank> ranks_;
  Slice buffers_[4];  // by Buffer
  std::int32_t cell_ = 0;
  std::vector<Handle> steps_;
};

Composition::Composition(const Shape& shape, Count largest, Rank root)
    : Writer(shape),
      shape_(shape),
      hosts_(shape),
      ring_(largest <= shape.cell.small ? board::Ring::small : board::Ring::large),
      leaders_(hosts_.leaders(root)) {}

Shape Composition::shape_among(std::span<const Rank> ranks, Rank root, Count count) const {
  const auto position = [&](Rank rank) {
    const auto found = std::ranges::find(ranks, rank);
    if (found == ranks.end()) refuse("rank " + std::to_string(rank) + " has no part in a stage that it is needed for");
    return static_cast<Rank>(found - ranks.begin());
  };
  Shape part;
  part.rank = position(shape_.rank);
  part.size = static_cast<Rank>(ranks.size());
  part.root = position(root);
  part.count = count;
  part.commutative = shape_.commutative;
  part.least_segment = shape_.least_segment;
  part.parameters = shape_.parameters;
  return part;
}

Shape Composition::shape_here(Rank root, Count count) const {
  Shape here = shape_among(hosts_.here(), root, count);
  here.cell = shape_.cell;
  return here;
}

std::vector<Handle> Composition::stage(const plan::Plan& inner, std::span<const Rank> ranks, Slice input, Slice output,
                                       const std::vector<Handle>& after) {
  return Embedding(*this, inner, ranks, input, output).add(after);
}

void Composition::here(Kind kind, const Shape& inner, Slice input, Slice output) {
  const Algorithm* algorithm = find(kind, ring_ == board::Ring::small ? "board" : "board_pipeline");
  if (algorithm == nullptr) refuse(std::string(name_of(kind)) + " does not go through cells alone");
  stage(algorithm->build(inner), hosts_.here(), input, output);
}

void Composition::among(std::span<const Rank> ranks, Kind kind, const Shape& inner, Slice input, Slice output) {
  stage(among_leaders(kind, inner, shape_.cell.large / 4).build(inner), ranks, input, output);
}

Handle Composition::ordered(Handle step, const Slice& source, const Slice& target) {
  if (!step.exists()) return step;
  std::vector<Handle> before;
  touched_.read(source, step, before);
  touched_.write(target, step, before);
  return step.after(before);
}

Handle Composition::copy(Slice source, Slice target) {
  touched_.next_stage();
  return ordered(Writer::copy(source, target), source, target);
}

Handle Composition::reduce(Slice source, Slice target, Side side) {
  touched_.next_stage();
  return ordered(Writer::reduce(source, target, side), source, target);
}

/// A stage releases its cells as far as it takes them again itself. When the next stage takes them again, the rest is
/// released here, after all that the host's stages before did.
std::int32_t Composition::take_cells(board::Ring ring, std::int32_t cells) {
  if (cells_ > 0 && ring != ring_) refuse("the stages of one host take cells of different rings");
  ring_ = ring;
  if (cells_ + cells > board::ring_length[ring] && released_ + 1 < cells_) {
    released_ = cells_ - 1;
    unreleased_ = {release(released_).after(unreleased_)};
  }
  cells_ += cells;
  return cells_ - cells;
}

plan::Plan Composition::build() {
  use(ring_, cells_);
  return Writer::build();
}

}  // namespace tutti::collectives
