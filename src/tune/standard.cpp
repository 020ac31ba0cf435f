// SPDX-License-Identifier: BSD-3-Clause
// The table that comes with Tutti, measured on small hosts; TUTTI_ALGORITHMS goes before it.
#include "tune/table.hpp"

namespace tutti::tune {

const std::string& Table::standard() {
  static const std::string text = R"(
# collective  bytes  ranks  algorithm
barrier       -      -      dissemination
bcast         32K    -      binomial
bcast         -      2      binomial
bcast         -      -      scatter_allgather
reduce        32K    -      binomial
reduce        -      -      chain
allreduce     16K    -      recursive_doubling
allreduce     -      -      ring
allreduce     -      -      rabenseifner
gather        4K     -      binomial
gather        -      -      linear
gatherv       -      -      linear
scatter       4K     -      binomial
scatter       -      -      linear
scatterv      -      -      linear
allgather     4K     -      bruck
allgather     -      -      ring
allgatherv    -      -      ring
alltoall      256    -      bruck
alltoall      -      -      linear
alltoallv     -      -      linear
)";
  return text;
}

}  // namespace tutti::tune
