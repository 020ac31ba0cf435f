// SPDX-License-Identifier: BSD-3-Clause
// The table that comes with Tutti, measured on small hosts; TUTTI_ALGORITHMS goes before it.
#include "tune/table.hpp"

namespace tutti::tune {

namespace {

constexpr std::string_view text = R"(
# collective  bytes  ranks  algorithm
barrier       -      32     board
barrier       -      -      board_tree
barrier       -      -      dissemination
bcast         96     -      board
bcast         64K    -      board_pipeline
bcast         -      -      single_copy
bcast         -      -      board_pipeline
bcast         32K    -      binomial
bcast         -      -      scatter_allgather
reduce        96     -      board
reduce        64K    -      board_pipeline
reduce        -      -      single_copy_shared
reduce        -      -      board_pipeline
reduce        32K    -      binomial
reduce        -      -      chain
allreduce     96     32     board
allreduce     96     -      board_tree
allreduce     128K   -      board_pipeline
allreduce     -      -      single_copy
allreduce     -      -      board_pipeline
allreduce     16K    -      recursive_doubling
allreduce     -      -      ring
allreduce     -      -      rabenseifner
gather        96     -      board
gather        16K    -      board_pipeline
gather        -      -      single_copy
gather        -      -      board_pipeline
gather        4K     -      binomial
gather        -      -      linear
gatherv       -      -      board
gatherv       -      -      linear
scatter       96     -      board
scatter       16K    -      board_pipeline
scatter       -      -      single_copy
scatter       -      -      board_pipeline
scatter       4K     -      binomial
scatter       -      -      linear
scatterv      -      -      board
scatterv      -      -      linear
allgather     96     32     board
allgather     16K    -      board_pipeline
allgather     -      -      single_copy
allgather     -      -      board_pipeline
allgather     4K     -      bruck
allgather     -      -      ring
allgatherv    -      -      board
allgatherv    -      -      ring
alltoall      96     32     board
alltoall      8K     -      board_pipeline
alltoall      -      -      single_copy
alltoall      -      -      board_pipeline
alltoall      256    -      bruck
alltoall      -      -      linear
alltoallv     -      -      board
alltoallv     -      -      linear
)";

}  // namespace

const std::string& Table::standard() {
  static const std::string table(text);
  return table;
}

}  // namespace tutti::tune
