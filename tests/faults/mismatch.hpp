// SPDX-License-Identifier: BSD-3-Clause
// One rank calls something else than the others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>

#include "collectives/collective.hpp"
#include "tutti/call.hpp"

namespace tutti::faults {

constexpr std::size_t element = 8;  // bytes, in every call here

/// What one rank of a job calls.
struct Play {
  collectives::Problem problem;
  const collectives::Algorithm* algorithm;
  std::function<void(Call&)> change = {};
};

/// `count` elements for an algorithm, in blocks of as many where blocks may differ.
collectives::Problem problem_of(const collectives::Algorithm& algorithm, Rank size, Count count);

bool usable(const Play& play);

/// Rank `odd` plays `wrong`, the others `right`, on fibers in the order of `seed`. Fails the test unless every rank
/// gets a Mismatch that names rank `odd`, and no byte beside a buffer is touched.
void expect_both_named(const Play& right, const Play& wrong, Rank odd, std::uint64_t seed);

}  // namespace tutti::faults
