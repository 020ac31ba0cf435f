// SPDX-License-Identifier: BSD-3-Clause
// Linear: gather's, whose blocks have counts and offsets of their own here. A tree would need all counts everywhere.
#include "collectives/algorithm.hpp"

namespace tutti::collectives::gatherv {

plan::Plan linear(const Shape& shape) { return gather::linear(shape); }

}  // namespace tutti::collectives::gatherv
