// SPDX-License-Identifier: BSD-3-Clause
// The two tables: collectives, and (from registry.def) algorithms.
#include <algorithm>
#include <bit>
#include <numeric>

#include "collectives/algorithm.hpp"
#include "collectives/hosts.hpp"
#include "collectives/specification.hpp"

namespace tutti::collectives {

namespace {

constexpr bool rooted = true, reduces = true, varying = true, no = false;

constexpr Collective collectives[kinds] = {
    {Kind::barrier, "Nobody leaves before everybody has come.", no, no, no, &barrier::contract},
    {Kind::bcast, "The root's data reaches everybody.", rooted, no, no, &bcast::contract},
    {Kind::reduce, "Everybody's data is combined at the root.", rooted, reduces, no, &reduce::contract},
    {Kind::allreduce, "Everybody's data is combined everywhere.", no, reduces, no, &allreduce::contract},
    {Kind::gather, "Blocks of one size are collected at the root.", rooted, no, no, &gather::contract},
    {Kind::gatherv, "Blocks of any size are collected at the root.", rooted, no, varying, &gatherv::contract},
    {Kind::scatter, "The root hands everybody a block of one size.", rooted, no, no, &scatter::contract},
    {Kind::scatterv, "The root hands everybody a block of any size.", rooted, no, varying, &scatterv::contract},
    {Kind::allgather, "Blocks of one size are collected everywhere.", no, no, no, &allgather::contract},
    {Kind::allgatherv, "Blocks of any size are collected everywhere.", no, no, varying, &allgatherv::contract},
    {Kind::alltoall, "Everybody hands everybody a block of one size.", no, no, no, &alltoall::contract},
    {Kind::alltoallv, "Everybody hands everybody a block of any size.", no, no, varying, &alltoallv::contract},
    {Kind::reduce_scatter_block, "Everybody's data is combined; everybody gets a block of one size.", no, reduces, no,
     &reduce_scatter_block::contract},
    {Kind::reduce_scatter, "Everybody's data is combined; everybody gets a block of any size.", no, reduces, varying,
     &reduce_scatter::contract},
    {Kind::scan, "Everybody gets the data combined of all ranks up to itself.", no, reduces, no, &scan::contract},
    {Kind::exscan, "Everybody gets the data combined of all ranks before itself.", no, reduces, no, &exscan::contract},
    {Kind::alltoallw, "Everybody hands everybody a block of any size, type and layout.", no, no, varying,
     &alltoallw::contract},
    {Kind::neighbor_allgather, "Blocks of one size are collected from all neighbours.", no, no, no,
     &neighbor_allgather::contract},
    {Kind::neighbor_allgatherv, "Blocks of any size are collected from all neighbours.", no, no, varying,
     &neighbor_allgatherv::contract},
    {Kind::neighbor_alltoall, "Everybody hands each neighbour a block of one size.", no, no, no,
     &neighbor_alltoall::contract},
    {Kind::neighbor_alltoallv, "Everybody hands each neighbour a block of any size.", no, no, varying,
     &neighbor_alltoallv::contract},
    {Kind::neighbor_alltoallw, "Everybody hands each neighbour a block of any size, type and layout.", no, no, varying,
     &neighbor_alltoallw::contract},
    {Kind::neighbor_reduce, "The data of all neighbours are combined.", no, reduces, no, &neighbor_reduce::contract},
};

constexpr Algorithm registered[] = {
#define ALGORITHM(kind, name, sentence, ...) {Kind::kind, #name, sentence, Needs{__VA_ARGS__}, &kind::name},
#include "collectives/registry.def"
#undef ALGORITHM
};

/// What one rank publishes fits a cell, and all ranks know it: never when counts are each rank's own.
bool fits(const Shape& shape, Kind kind, Count cell) {
  if (kind == Kind::allgatherv)
    return !shape.recv_counts.empty() &&
           std::ranges::all_of(shape.recv_counts, [cell](Count count) { return count <= cell; });
  if (kind == Kind::reduce_scatter)
    return !shape.recv_counts.empty() &&
           std::accumulate(shape.recv_counts.begin(), shape.recv_counts.end(), Count{0}) <= cell;
  if (kind == Kind::reduce_scatter_block) return shape.size * shape.count <= cell;
  if (kind == Kind::neighbor_alltoall) return shape.widest * shape.count <= cell;
  return !get(kind).varying && shape.count <= cell;
}

/// The ranks lie on hosts as an algorithm for several needs it.
bool fits(const Needs& needs, const Shape& shape) {
  const Hosts hosts(shape);
  if (hosts.count() == 1 || hosts.count() == shape.size) return false;
  if (needs.even_hosts && !hosts.even()) return false;
  return !(needs.contiguous || (needs.contiguous_or_commutative && !shape.commutative)) || hosts.contiguous();
}

}  // namespace

std::span<const Collective> all() { return collectives; }

const Collective& get(Kind kind) { return collectives[static_cast<std::size_t>(kind)]; }

std::span<const Algorithm> algorithms() { return registered; }

const Algorithm* find(Kind kind, std::string_view name) {
  const auto* found = std::ranges::find_if(registered, [&](const auto& a) { return a.kind == kind && a.name == name; });
  return found == std::end(registered) ? nullptr : found;
}

const Collective* find(std::string_view name) {
  const auto* found = std::ranges::find(collectives, name, [](const Collective& one) { return name_of(one.kind); });
  return found == std::end(collectives) ? nullptr : found;
}

bool applies(const Algorithm& algorithm, const Shape& shape, bool single_copy) {
  const Needs& needs = algorithm.needs;
  if ((needs.board || needs.hosts) && shape.cell.small <= 0) return false;
  if (needs.board && spans_hosts(shape)) return false;
  if (needs.hosts && !fits(needs, shape)) return false;
  if (needs.single_copy && !single_copy) return false;
  if (needs.commutative && !shape.commutative) return false;
  if (needs.power_of_two && !std::has_single_bit(static_cast<std::uint32_t>(shape.size))) return false;
  return !needs.fits_small || fits(shape, algorithm.kind, shape.cell.small);
}

}  // namespace tutti::collectives
