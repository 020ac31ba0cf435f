// SPDX-License-Identifier: BSD-3-Clause
// Random plans for round trips: well-formed as text, without sense as collectives.
#pragma once

#include "base/random.hpp"
#include "plan/builder.hpp"

namespace tutti::plan {

class RandomPlan {
 public:
  explicit RandomPlan(std::uint64_t seed) : random_(seed) {}

  Plan build() {
    const Rank size = 2 + number(6);
    Builder plan(number(size), size);
    cells_ = 1 + number(4);
    plan.use(static_cast<Ring>(random_.below(rings)), cells_);
    plan.scratch(random_.below(1U << 20));
    std::vector<Handle> steps;
    const int count = number(40);
    for (int i = 0; i < count; ++i) {
      steps.push_back(step(plan));
      std::vector<Handle> before;
      for (int edges = number(4); edges > 0 && i > 0; --edges) before.push_back(steps[random_.below(i)]);
      if (random_.once_in(8))
        steps.back().after_any(before);
      else
        steps.back().after(before);
    }
    return plan.build();
  }

 private:
  int number(std::uint64_t bound) { return static_cast<int>(random_.below(bound)); }
  Rank peer(const Builder& plan) { return (plan.rank() + 1 + number(plan.size() - 1)) % plan.size(); }

  Slice slice(const Builder& plan, Count count) {
    const Count offset = static_cast<Count>(random_.next() >> (2 + random_.below(60)));
    const auto buffer = static_cast<Buffer>(1 + random_.below(5));
    const bool cell = buffer == Buffer::shared || buffer == Buffer::exposed;
    return {buffer, cell ? number(plan.size()) : -1, cell ? number(cells_) : -1, offset, count};
  }

  Handle step(Builder& plan) {
    const Count count = static_cast<Count>(random_.next() >> (2 + random_.below(61)));
    const Side side = random_.once_in(2) ? Side::left : Side::right;
    switch (random_.below(8)) {
      case 0:
        return plan.send(peer(plan), slice(plan, count));
      case 1:
        return plan.recv(peer(plan), slice(plan, count));
      case 2:
        return plan.recv_reduce(peer(plan), slice(plan, count), side);
      case 3:
        return plan.reduce(slice(plan, count), slice(plan, count), side);
      case 4:
        return plan.copy(slice(plan, count), slice(plan, count));
      case 5:
        return plan.publish(number(cells_), slice(plan, count));
      case 6:
        return plan.await(random_.once_in(2) ? everyone : peer(plan), number(cells_), count);
      default:
        return plan.release(number(cells_));
    }
  }

  base::Random random_;
  std::int32_t cells_ = 0;
};

}  // namespace tutti::plan
