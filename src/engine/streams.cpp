// SPDX-License-Identifier: BSD-3-Clause
// Copies past the caches. Little of what a call brings to the user is read before it is all there: where all that is
// touched meanwhile does not fit the cache, a store that first reads the line and then drives out others takes twice as
// long as one past it.
#include <algorithm>
#include <ranges>
#include <vector>

#include "base/copy.hpp"
#include "engine/bound.hpp"
#include "engine/parts.hpp"

namespace tutti::engine {

using plan::Buffer;
using plan::Verb;

namespace {

/// How much the ranks of a host, of so many in all, read and write together in a call that brings this one so much,
/// about: a rank knows its own part, and of most collectives that the others' are like it.
std::size_t touched(const Description& says, std::size_t brought, std::size_t ranks, std::size_t size) {
  switch (says.kind) {
    case Kind::gather:
    case Kind::gatherv:
      return 2 * brought;  // to the root alone
    case Kind::bcast:
      return ranks * brought;
    case Kind::reduce:
    case Kind::allgather:
    case Kind::allgatherv:
      return (ranks + 1) * brought;
    case Kind::reduce_scatter:
    case Kind::reduce_scatter_block:
      return (size + 1) * ranks * brought;  // all ranks' blocks are read, also on other hosts
    default:
      return 2 * ranks * brought;
  }
}

void add(Parts& parts, const Place& place, std::size_t bytes) {
  if (place.buffer == Buffer::output && bytes > 0) parts.add(place.offset, place.offset + bytes);
}

}  // namespace

/// What fits for sure is three eighths of the cache, for cells lie there too, and in a cloud the neighbours' data; what
/// does not is half as much again as all of it.
void Bound::find_streams(Rank ranks) {
  const auto may_stream = [](const Instruction& step) {
    return step.verb == Verb::copy && step.target.buffer == Buffer::output && step.bytes >= base::large_copy;
  };
  const std::size_t cache = base::largest_cache();
  const auto together = [&](std::size_t brought) {
    return touched(description, brought, static_cast<std::size_t>(ranks), static_cast<std::size_t>(plan.size));
  };
  // Most plans are small, also where all that is written to the output twice counts twice.
  std::size_t all = 0;
  for (const Instruction& step : instructions)
    all += step.target.buffer == Buffer::output || plan.steps[index_of(step)].open ? step.bytes : 0;
  if (together(all) < cache / 8 * 3 || std::ranges::none_of(instructions, may_stream)) return;
  Parts written, read;
  std::vector<Instruction*> brings;
  for (Instruction& step : std::views::reverse(instructions)) {
    const bool last = !read.touch(step.target.offset, step.target.offset + step.bytes);
    if (may_stream(step) && last) brings.push_back(&step);
    add(written, step.target, step.bytes);
    add(read, step.source, step.bytes);
    add(read, step.other, step.bytes);
    if (plan::reduces(step.verb) && step.other.buffer == Buffer::none) add(read, step.target, step.bytes);
    if (plan.steps[index_of(step)].open) add(written, step.source, step.bytes);  // by others
  }
  const std::size_t touch = together(written.bytes());
  if (touch < cache / 8 * 3) return;
  for (Instruction* const step : brings)
    step->streams = touch < cache / 2 * 3 ? Instruction::Streams::maybe : Instruction::Streams::yes;
}

}  // namespace tutti::engine
