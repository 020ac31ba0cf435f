// SPDX-License-Identifier: BSD-3-Clause
// The first of two plans: every rank tells all others where its blocks lie and how long they are.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "collectives/collective.hpp"
#include "engine/operation.hpp"

namespace tutti::job {

/// Counts and offsets of a v-form, owned while its plan is being made.
struct Counts {
  std::vector<Count> send_counts, send_offsets, recv_counts, recv_offsets;
};

class Exchange final : public engine::Continuation {
 public:
  /// `shape` points into `counts`.
  Exchange(const collectives::Algorithm& algorithm, const collectives::Shape& shape, std::unique_ptr<Counts> counts,
           const engine::Description& description, std::string group);

  engine::Buffers exchange() override;
  std::shared_ptr<const engine::Bound> next() override;

 private:
  void check(Rank sender, Count theirs, Count mine) const;

  const collectives::Algorithm& algorithm_;
  collectives::Shape shape_;
  std::unique_ptr<Counts> counts_;
  engine::Description description_;
  std::string group_;
  std::vector<Count> mine_, all_;  // per rank: offsets of all blocks, then their counts
};

}  // namespace tutti::job
