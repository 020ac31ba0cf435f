// SPDX-License-Identifier: BSD-3-Clause
// What a group with neighbours knows beside its ranks.
#pragma once

#include <cstdint>

#include "collectives/neighbors.hpp"

namespace tutti::job {

struct Topology {
  collectives::Neighbors neighbors;  ///< This rank's own.
  std::int32_t widest = 0;           ///< The most destinations of any rank; agreed.
  collectives::Lattice lattice;      ///< Of a grid; agreed.
  bool grid = false;
};

}  // namespace tutti::job
