// SPDX-License-Identifier: BSD-3-Clause
// Linear: everybody sends its block along every edge, all at once. Several edges between two ranks are several
// messages, in the order of the sender. Cost: degree (alpha + beta n), whatever the number of ranks. Hoefler, Lorenzen,
// Lumsdaine, "Sparse non-blocking collectives in quantum mechanical calculations", EuroPVM/MPI 2008.
#include "collectives/along_edges.hpp"

namespace tutti::collectives::neighbor_allgather {

plan::Plan linear(const Shape& shape) { return edges::linear(shape, edges::Gives::one); }

}  // namespace tutti::collectives::neighbor_allgather
