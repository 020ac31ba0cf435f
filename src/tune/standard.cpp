// SPDX-License-Identifier: BSD-3-Clause
// The table that comes with Tutti, measured on small hosts; TUTTI_ALGORITHMS goes before it. Lines behind a ~ hold
// where hosts share the cores of a machine, fewer than ranks: a message costs time of all there, so that few of them go
// before few steps. Behind ~~: where there are so many more ranks that they sleep while they wait. Lines behind <300M
// hold where links between hosts are slower than so many bits per second, behind >2G where they are faster; neither,
// where nobody knows. Behind @: where an MPI carries the messages between hosts.
#include <charconv>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/crowd.hpp"
#include "tune/table.hpp"

namespace tutti::tune {

namespace {

constexpr std::string_view text = R"(
# collective  bytes  ranks  algorithm
~~barrier     -      -      hosts:radix=4
barrier       -      -      hosts
bcast         -      -      hosts
reduce        -      -      hosts
~~allreduce   2K     -      hosts:radix=2
allreduce     256K   -      hosts
allreduce     -      -      lanes
allreduce     -      -      hosts
gather        64K    -      hosts
scatter       64K    -      hosts
allgather     32K    -      hosts
alltoall      16K    -      hosts
reduce_scatter_block 32K -  hosts
reduce_scatter 32K   -      hosts
scan          32K    -      hosts
exscan        32K    -      hosts
barrier       -      32     board
barrier       -      -      board_tree
~~barrier     -      16     tree:radix=16
~~barrier     -      -      tree:radix=4
~barrier      -      -      tree
barrier       -      -      recursive_doubling
barrier       -      -      dissemination
bcast         96     -      board
bcast         8K     2      board_pipeline
bcast         1M     2      single_copy
bcast         -      2      board_pipeline
bcast         1M     -      board_pipeline
bcast         -      -      single_copy
bcast         -      -      board_pipeline
<30M bcast    256    -      binary
~<300M bcast  16K    8      chain
<30M bcast    64K    -      two_trees
~bcast        4K     8      chain
bcast         4K     4      binomial
<300M bcast   1K     -      binary
<300M bcast   16K    -      two_trees
<300M bcast   2M     16     chain
<300M bcast   64K    -      two_trees
<300M bcast   2M     -      chain
bcast         4K     -      binary
bcast         16K    -      binomial
@>2G bcast    -      4      two_trees:segment=524288
>2G bcast     -      4      binomial
>2G bcast     -      -      two_trees:segment=524288
bcast         -      32     chain
bcast         -      -      two_trees
reduce        96     -      board
reduce        8K     2      board_pipeline
reduce        512K   2      single_copy
reduce        -      2      board_pipeline
reduce        1M     4      board_pipeline
reduce        128K   -      board_pipeline
reduce        -      -      single_copy_shared
reduce        -      -      board_pipeline
~<300M reduce 32K    4      chain
<300M reduce  2K     -      binomial
~<300M reduce 32K    16     chain
<300M reduce  32K    -      two_trees
<300M reduce  2M     -      chain
reduce        32K    -      binomial
~>2G reduce   -      -      binomial
>2G reduce    -      -      two_trees:segment=524288
reduce        -      -      chain
allreduce     96     32     board
allreduce     96     -      board_tree
allreduce     4K     2      board_large
allreduce     512K   2      single_copy_whole
allreduce     16K    8      board_large
allreduce     64K    -      board_pipeline
allreduce     -      -      single_copy
allreduce     -      -      board_pipeline
~~allreduce   256    -      reduce_bcast:radix=4
~allreduce    256    -      reduce_bcast
<300M allreduce 128K 2      recursive_doubling
<300M allreduce -    2      rabenseifner
<300M allreduce 768  4      recursive_doubling
<300M allreduce 16K  4      rabenseifner
<30M allreduce 256   -      recursive_doubling
<30M allreduce 2K    -      two_trees
~~allreduce   2K     -      reduce_bcast
<300M allreduce 2K   -      recursive_doubling
<300M allreduce 16K  -      rabenseifner
allreduce     16K    -      recursive_doubling
@>2G allreduce -     -      rabenseifner
>2G allreduce 128K   2      recursive_doubling
>2G allreduce 32K    4      recursive_doubling
>2G allreduce -      4      rabenseifner
>2G allreduce -      -      two_trees:segment=524288
allreduce     -      -      segmented_ring
allreduce     -      -      rabenseifner
gather        96     -      board
gather        4K     2      board_pipeline
gather        512K   2      single_copy
gather        -      2      board_pipeline
gather        32K    -      board_pipeline
gather        128K   -      single_copy
gather        -      8      board_pipeline
gather        -      -      single_copy
gather        -      -      board_pipeline
<300M gather  1K     -      binomial
<300M gather  -      -      linear
gather        4K     -      binomial
gather        -      -      linear
gatherv       -      -      board
gatherv       -      -      linear
scatter       96     -      board
scatter       4K     2      board_pipeline
scatter       -      2      single_copy
scatter       16K    -      board_pipeline
scatter       -      -      single_copy
scatter       -      -      board_pipeline
<300M scatter 1K     -      binomial
<300M scatter -      -      linear
scatter       4K     -      binomial
scatter       -      -      linear
scatterv      -      -      board
scatterv      -      -      linear
allgather     96     32     board
allgather     4K     2      board_pipeline
allgather     -      2      single_copy
allgather     128K   -      board_pipeline
allgather     -      -      single_copy
allgather     -      -      board_pipeline
~~allgather   64     -      gather_bcast:radix=4
~allgather    64     -      gather_bcast
~>2G allgather 2K    4      recursive_doubling
~>2G allgather 2K    -      gather_bcast
<300M allgather 1K   -      recursive_doubling
<300M allgather 1K   -      bruck
<300M allgather -    -      ring
allgather     4K     -      recursive_doubling
allgather     4K     -      bruck
>2G allgather 256K   -      recursive_doubling
>2G allgather 256K   -      bruck
allgather     -      -      ring
allgatherv    -      -      board
allgatherv    -      -      ring
alltoall      96     32     board
alltoall      4K     2      board_pipeline
alltoall      -      2      single_copy
alltoall      16K    -      board_pipeline
alltoall      -      -      single_copy
alltoall      -      -      board_pipeline
~>2G alltoall 4K     -      bruck
alltoall      256    -      bruck
<300M alltoall 4K    -      linear
<300M alltoall -     -      pairwise:radix=1
alltoall      8K     -      linear
>2G alltoall  -      16     linear
alltoall      -      4      pairwise:radix=1
alltoall      64K    -      pairwise:radix=2
alltoall      -      8      pairwise:radix=1
alltoall      -      -      pairwise:radix=2
alltoallv     -      -      board
<300M alltoallv -    -      pairwise:radix=1
alltoallv     -      -      linear
alltoallw     -      -      board
<300M alltoallw -    -      pairwise:radix=1
alltoallw     -      -      linear
reduce_scatter_block 96 32  board
reduce_scatter_block 4K 2   board_pipeline
reduce_scatter_block - 2    single_copy
reduce_scatter_block 16K -  board_pipeline
reduce_scatter_block - 4    single_copy
reduce_scatter_block 1M -   board_pipeline
reduce_scatter_block - -    single_copy
reduce_scatter_block - -    board_pipeline
reduce_scatter_block 32K 2  recursive_halving
@>2G reduce_scatter_block 2K - recursive_halving
~reduce_scatter_block 64 -  tree
reduce_scatter_block 16 -   tree
~>2G reduce_scatter_block 2K 4 recursive_halving
~>2G reduce_scatter_block 2K - tree
<300M reduce_scatter_block 1K - recursive_halving
<300M reduce_scatter_block 1K - circulant
<300M reduce_scatter_block - - ring
reduce_scatter_block 32K -  recursive_halving
reduce_scatter_block 32K -  circulant
>2G reduce_scatter_block 64K - recursive_halving
>2G reduce_scatter_block 64K - circulant
>2G reduce_scatter_block - - pairwise
reduce_scatter_block - -    ring
reduce_scatter_block - -    pairwise
reduce_scatter 96    32     board
reduce_scatter 4K 2   board_pipeline
reduce_scatter - 2    single_copy
reduce_scatter 16K -  board_pipeline
reduce_scatter - 4    single_copy
reduce_scatter 1M    -      board_pipeline
reduce_scatter -     -      single_copy
reduce_scatter -     -      board_pipeline
reduce_scatter 32K 2 recursive_halving
@>2G reduce_scatter 2K - recursive_halving
~reduce_scatter 64   -      tree
reduce_scatter 16    -      tree
~>2G reduce_scatter 2K 4 recursive_halving
~>2G reduce_scatter 2K - tree
<300M reduce_scatter 1K - recursive_halving
<300M reduce_scatter 1K - circulant
<300M reduce_scatter - - ring
reduce_scatter 32K   -      recursive_halving
reduce_scatter 32K   -      circulant
>2G reduce_scatter 64K - recursive_halving
>2G reduce_scatter 64K - circulant
>2G reduce_scatter - - pairwise
reduce_scatter -     -      ring
reduce_scatter -     -      pairwise
scan          96     -      board
scan          -      2      board_pipeline
scan          1M     4      board_pipeline
scan          512K   8      board_pipeline
scan          64K    -      board_pipeline
scan          -      -      single_copy
scan          -      -      board_pipeline
<300M scan    1K     -      recursive_doubling
<300M scan    2M     -      chain
scan          16K    -      recursive_doubling
scan          -      -      chain
exscan        96     -      board
exscan        4K     2      board_pipeline
exscan        1M     2      single_copy
exscan        -      2      board_pipeline
exscan        2M     4      board_pipeline
exscan        1M     8      board_pipeline
exscan        64K    -      board_pipeline
exscan        -      -      single_copy
exscan        -      -      board_pipeline
<300M exscan  1K     -      recursive_doubling
<300M exscan  2M     -      chain
exscan        16K    -      recursive_doubling
exscan        -      -      chain
neighbor_allgather 96 -     board
neighbor_allgather - -      single_copy
neighbor_allgather - -      linear
neighbor_allgatherv - -     board
neighbor_allgatherv - -     linear
neighbor_alltoall 96 -      board
neighbor_alltoall -  -      single_copy
neighbor_alltoall -  -      linear
neighbor_alltoallv - -      board
neighbor_alltoallv - -      linear
neighbor_alltoallw - -      board
neighbor_alltoallw - -      linear
neighbor_reduce 96 -        board
neighbor_reduce - -         single_copy
neighbor_reduce - -         linear
)";

// What one core has written another gets fastest from the cache that they share, and the kernel copies from memory to
// memory at half the speed of a plain copy: through cells, which are many enough, data comes sooner at almost all
// sizes. Lines behind a ^ hold where that cache is small: where all that the ranks give and bring would half fill it,
// the kernel's one copy is faster than two, which drive each other out of it, until there is so much that a few ranks
// write past it. So it is for a gather of 8 MiB and more in all: each rank's core moves a part, not the root's alone.
constexpr std::string_view amd = R"(
bcast                96   16 board
bcast                -    16 board_pipeline
reduce               96   16 board
reduce               -    16 board_pipeline
allreduce            96   16 board
allreduce            -     2 board_large
allreduce            16K  16 board_large
allreduce            -     4 board_pipeline:segment=65536
allreduce            2M    8 board_pipeline:segment=65536
allreduce            2M   16 board_pipeline
gather               96   16 board
gather               -     3 board_pipeline
gather               2M    4 board_pipeline
gather               -     4 single_copy_shared
gather               1M    8 board_pipeline
gather               -     8 single_copy_shared
gather               256K 16 board_pipeline
gather               -    16 single_copy_shared
gather               -    16 board_pipeline
gatherv              -     2 board:segment=65536
gatherv              -     8 single_copy_shared:segment=65536
scatter              96   16 board
scatter              -     2 board_pipeline
scatter              64K   8 board_pipeline
scatter              32K  16 board_pipeline
scatterv             -     8 board:segment=65536
allgather            96   16 board
^allgather           256K  2 board_pipeline
^allgather           2M    2 single_copy
allgather            -    16 board_pipeline
allgatherv           96   16 board
allgatherv           -    16 board_pipeline
alltoall             96   16 board
^alltoall            256K  2 board_pipeline
^alltoall            2M    2 single_copy
^alltoall            64K   4 board_pipeline
^alltoall            512K  4 single_copy
^alltoall            -     4 board_pipeline
^alltoall            16K   8 board_pipeline
^alltoall            -     8 single_copy
alltoall             -    16 board_pipeline
^alltoallv           -     2 board:segment=65536,radix=4
^alltoallv           -     4 board:segment=65536
^alltoallv           -     8 board:segment=65536,radix=1
alltoallv            -     8 board:segment=65536
reduce_scatter_block 96   16 board
^reduce_scatter_block 512K 2 board_pipeline
^reduce_scatter_block -    2 single_copy
^reduce_scatter_block 256K 4 board_pipeline
^reduce_scatter_block -    4 single_copy
^reduce_scatter_block 64K  8 board_pipeline
^reduce_scatter_block -    8 single_copy
reduce_scatter_block -    16 board_pipeline
reduce_scatter       96   16 board
^reduce_scatter      512K  2 board_pipeline
^reduce_scatter      -     2 single_copy
^reduce_scatter      256K  4 board_pipeline
^reduce_scatter      -     4 single_copy
^reduce_scatter      64K   8 board_pipeline
^reduce_scatter      -     8 single_copy
reduce_scatter       -    16 board_pipeline
scan                 96   16 board
scan                 -    16 board_pipeline
exscan               96   16 board
exscan               -    16 board_pipeline
)";
constexpr std::size_t small_cache = std::size_t{8} << 20;  // Zen and Zen+: what four cores share

/// "300M" as a number.
std::uint64_t bits_per_second(std::string_view text) {
  std::uint64_t number = 0;
  const char* const unit = std::from_chars(text.begin(), text.end(), number).ptr;
  return number * (*unit == 'G' ? 1'000'000'000 : 1'000'000);
}

/// Takes a line's condition on links off its beginning: whether it holds.
bool holds(std::string_view& line, std::uint64_t link_rate) {
  const char relation = line.front();
  if (relation != '<' && relation != '>') return true;
  const std::size_t end = line.find(' ');
  const std::uint64_t limit = bits_per_second(line.substr(1, end - 1));
  line.remove_prefix(end);
  return link_rate != 0 && (relation == '<' ? link_rate < limit : link_rate > limit);
}

/// What is left of a table: of each line what `take` makes of it, which takes the conditions off its beginning and says
/// whether they hold.
template <class Take>
std::string lines_that_hold(std::string_view table, Take take) {
  std::string held;
  for (std::string_view rest = table; !rest.empty();) {
    std::string_view line = rest.substr(0, rest.find('\n') + 1);
    rest.remove_prefix(line.size());
    if (take(line)) held += line;
  }
  return held;
}

/// Takes marks off the beginning of a line: how many there were.
std::size_t marks(std::string_view& line, char mark) {
  const std::size_t count = line.find_first_not_of(mark);
  line.remove_prefix(count);
  return count;
}

/// Often none.
std::string of_processor(std::string_view name, std::size_t cache) {
  if (!name.starts_with("AMD")) return {};
  const std::size_t small = cache > 0 && cache <= small_cache ? 1 : 0;
  return lines_that_hold(amd, [&](std::string_view& line) { return marks(line, '^') <= small; });
}

}  // namespace

std::string Table::standard(const Conditions& conditions) {
  const int ranks = conditions.ranks_per_core;
  const std::size_t by_mpi = conditions.by_mpi ? 1 : 0;
  const std::size_t crowd = ranks >= base::sleeping_crowd ? 2 : ranks > 1 ? 1 : 0;
  return of_processor(conditions.processor, conditions.cache) + lines_that_hold(text, [&](std::string_view& line) {
           return marks(line, '@') <= by_mpi && marks(line, '~') <= crowd && holds(line, conditions.link_rate);
         });
}

}  // namespace tutti::tune
