// SPDX-License-Identifier: BSD-3-Clause
// Linear: scatter's, whose blocks have counts and offsets of their own here. A tree would need all counts everywhere.
#include "collectives/algorithm.hpp"

namespace tutti::collectives::scatterv {

plan::Plan linear(const Shape& shape) { return scatter::linear(shape); }

}  // namespace tutti::collectives::scatterv
