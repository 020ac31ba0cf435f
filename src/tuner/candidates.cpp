// SPDX-License-Identifier: BSD-3-Clause
#include "tuner/candidates.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "base/hash.hpp"
#include "engine/cells.hpp"
#include "tune/table.hpp"

namespace tutti::tuner {

namespace {

constexpr bool one = false, all = true;
constexpr Form measurable[] = {
    {Kind::barrier, one, one},   {Kind::bcast, one, one},
    {Kind::reduce, one, one},    {Kind::allreduce, one, one},
    {Kind::gather, one, all},    {Kind::gatherv, one, all},
    {Kind::scatter, all, one},   {Kind::scatterv, all, one},
    {Kind::allgather, one, all}, {Kind::allgatherv, one, all},
    {Kind::alltoall, all, all},  {Kind::alltoallv, all, all},
    {Kind::scan, one, one},      {Kind::reduce_scatter_block, all, one},
    {Kind::exscan, one, one},    {Kind::reduce_scatter, all, one},
};

/// 4, 32 and 256 KiB; the algorithms' own choices lie between them.
constexpr Count segments[] = {4096, 32768, 262144};
constexpr int radices[] = {3, 4, 8};

std::uint64_t mix_in(std::uint64_t hash, const plan::Slice& slice) {
  for (const auto word : {static_cast<Count>(slice.buffer), static_cast<Count>(slice.owner),
                          static_cast<Count>(slice.cell), slice.offset, slice.count})
    hash = base::combine(hash, static_cast<std::uint64_t>(word));
  return hash;
}

std::uint64_t hash_of(const plan::Plan& plan) {
  std::uint64_t hash = base::combine(static_cast<std::uint64_t>(plan.ring), static_cast<std::uint64_t>(plan.cells));
  for (const plan::Step& step : plan.steps) {
    for (const auto word : {static_cast<std::int64_t>(step.verb), static_cast<std::int64_t>(step.side),
                            static_cast<std::int64_t>(step.any), static_cast<std::int64_t>(step.open),
                            static_cast<std::int64_t>(step.peer), static_cast<std::int64_t>(step.message),
                            static_cast<std::int64_t>(step.cell)})
      hash = base::combine(hash, static_cast<std::uint64_t>(word));
    hash = mix_in(mix_in(hash, step.source), step.target);
    for (const plan::Index before : plan.after(step)) hash = base::combine(hash, before);
  }
  return hash;
}

/// Of the plans of all ranks, or of a sample of many.
std::uint64_t hash_of(const collectives::Algorithm& algorithm, const CallShape& shape, Rank ranks,
                      const tune::Parameters& parameters) {
  constexpr Rank most = 8;
  std::uint64_t hash = 0;
  for (Rank i = 0; i < std::min(ranks, most); ++i) {
    collectives::Shape one_shape = shape.of(static_cast<Rank>(std::int64_t{i} * ranks / std::min(ranks, most)));
    one_shape.parameters = parameters.of_elements(element);
    hash = base::combine(hash, hash_of(algorithm.build(one_shape)));
  }
  return hash;
}

}  // namespace

std::span<const Form> forms() { return measurable; }

const Form* form_of(Kind kind) {
  const auto* found = std::ranges::find(measurable, kind, &Form::kind);
  return found == std::end(measurable) ? nullptr : found;
}

CallShape::CallShape(Kind kind, Rank ranks, Count bytes) : kind_(kind), ranks_(ranks), count_(bytes / element) {
  if (!collectives::get(kind).varying) return;
  counts_.assign(static_cast<std::size_t>(ranks), count_);
  for (Rank rank = 0; rank < ranks; ++rank) offsets_.push_back(rank * count_);
}

collectives::Shape CallShape::of(Rank rank) const {
  collectives::Shape shape;
  shape.rank = rank;
  shape.size = ranks_;
  shape.count = counts_.empty() ? count_ : 0;
  shape.send_counts = shape.recv_counts = counts_;
  shape.send_offsets = shape.recv_offsets = offsets_;
  shape.cell = engine::cells_of(element);
  return shape;
}

Count CallShape::table_bytes() const {
  return counts_.empty() || collectives::agrees_on_counts(kind_) ? count_ * element : 0;
}

Point candidates_at(Kind kind, Rank ranks, Count bytes, bool single_copy) {
  Point point{kind, ranks, bytes, {}};
  const CallShape shape(kind, ranks, bytes);
  std::vector<std::pair<std::uint64_t, std::size_t>> known;  // hash of the plans, which candidate
  const auto add = [&](std::int32_t number, const tune::Parameters& parameters) {
    const collectives::Algorithm& algorithm = collectives::algorithms()[static_cast<std::size_t>(number)];
    const std::string name = tune::text_of({number, parameters});
    const std::uint64_t hash = hash_of(algorithm, shape, ranks, parameters);
    const auto twin = std::ranges::find(known, hash, &std::pair<std::uint64_t, std::size_t>::first);
    if (twin == known.end()) {
      known.emplace_back(hash, point.candidates.size());
      point.candidates.push_back({name, {}, {}, false});
    } else if (parameters == tune::Parameters{}) {
      point.candidates[twin->second].same.push_back(name);
    }
  };
  for (std::int32_t number = 0; number < static_cast<std::int32_t>(collectives::algorithms().size()); ++number) {
    const collectives::Algorithm& algorithm = collectives::algorithms()[static_cast<std::size_t>(number)];
    if (algorithm.kind != kind || !collectives::applies(algorithm, shape.of(0), single_copy)) continue;
    add(number, {});
    for (const Count segment : segments) add(number, {.segment = segment, .radix = 0});
    for (const int radix : radices) add(number, {.segment = 0, .radix = radix});
  }
  return point;
}

}  // namespace tutti::tuner
