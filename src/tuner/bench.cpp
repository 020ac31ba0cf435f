// SPDX-License-Identifier: BSD-3-Clause
#include "tuner/bench.hpp"

#include <algorithm>

#include "collectives/collective.hpp"
#include "tuner/candidates.hpp"

namespace tutti::tuner {

Bench::Bench(const Group& world, const std::vector<Point>& points) : world_(world) {
  std::size_t input = 1, output = 1;
  for (const Point& point : points) {
    const auto block = static_cast<std::size_t>(point.bytes / element);
    const std::size_t all = block * static_cast<std::size_t>(world.size());
    input = std::max(input, form_of(point.kind)->all_input ? all : block);
    output = std::max(output, form_of(point.kind)->all_output ? all : block);
  }
  input_.resize(input);
  output_.resize(output);
}

Persistent Bench::ready(const Part& part) {
  const CallShape shape(part.kind, world_.size(), part.bytes);
  Call call;
  call.kind = part.kind;
  call.input = input_.data();
  call.output = output_.data();
  call.type = Type::float64;
  call.element = element;
  call.count = shape.counts().empty() ? shape.count() : 0;
  call.send_counts = call.recv_counts = shape.counts();
  if (part.kind == Kind::gatherv || part.kind == Kind::allgatherv) call.send_counts = call.send_counts.first(1);
  if (part.kind == Kind::scatterv) call.recv_counts = call.recv_counts.first(1);
  if (collectives::get(part.kind).reduces) call.reduction = {Op::sum, true, nullptr, nullptr};
  call.algorithm = part.algorithm;
  return world_.init(call);
}

void Bench::choose(const std::vector<Part>& parts) {
  chosen_.clear();
  for (const Part& part : parts) chosen_.push_back(ready(part));
  for (Persistent& part : chosen_) part.run();
}

double Bench::time(std::int64_t calls) {
  world_.barrier();
  const auto start = Clock::now();
  for (std::int64_t i = 0; i < calls; ++i)
    for (Persistent& part : chosen_) part.run();
  const double took[1] = {seconds_since(start) / static_cast<double>(calls)};
  double slowest[1] = {0};
  world_.allreduce(took, slowest, max);
  return std::max(slowest[0], 1e-9);
}

}  // namespace tutti::tuner
