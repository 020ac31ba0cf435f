// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <iterator>
#include <memory>
#include <vector>

#include "base/names.hpp"
#include "c/calls.hpp"
#include "tutti/mpi_group.hpp"

using namespace tutti;
using namespace tutti::c;

tutti_status tutti_world(tutti_group* group) {
  return give(group, [] { return world(); });
}

tutti_status tutti_from_mpi_at(const void* communicator, const char* abi, tutti_group* group) {
  return give(group, [&] {
    if (communicator == nullptr || abi == nullptr)
      refuse("tutti_from_mpi_at: pass the address of an MPI communicator and the name of its ABI");
    return detail::from_mpi(communicator, abi);
  });
}

tutti_status tutti_group_free(tutti_group* group) {
  return guarded([&] {
    if (group == nullptr) refuse("tutti_group_free: pass the address of a tutti_group");
    const std::unique_ptr<tutti_group_handle> gone(std::exchange(*group, nullptr));
  });
}

int32_t tutti_rank(tutti_group group) { return group == nullptr ? -1 : group->rank; }

int32_t tutti_size(tutti_group group) { return group == nullptr ? -1 : group->size; }

const char* tutti_name(tutti_group group) { return group == nullptr ? "" : group->name.c_str(); }

tutti_status tutti_split(tutti_group group, int colour, int key, tutti_group* part) {
  return give(part, [&, caller = TUTTI_CALLER] { return handle_of(group).group.split(colour, key, caller); });
}

tutti_status tutti_dup(tutti_group group, tutti_group* copy) {
  return give(copy, [&, caller = TUTTI_CALLER] { return handle_of(group).group.dup(caller); });
}

tutti_status tutti_subgroup(tutti_group group, const int32_t* ranks, int32_t count, tutti_group* part) {
  return give(part, [&, caller = TUTTI_CALLER] {
    if (count < 0 || (count > 0 && ranks == nullptr))
      refuse("tutti_subgroup: the list of ranks is NULL or its length negative");
    return handle_of(group).group.subgroup({ranks, static_cast<std::size_t>(count)}, caller);
  });
}

tutti_status tutti_create(tutti_group group, const int32_t* ranks, int32_t count, tutti_group* part) {
  return give(part, [&, caller = TUTTI_CALLER] {
    if (count < 0 || (count > 0 && ranks == nullptr))
      refuse("tutti_create: the list of ranks is NULL or its length negative");
    return handle_of(group).group.create({ranks, static_cast<std::size_t>(count)}, caller);
  });
}

tutti_status tutti_split_by_host(tutti_group group, int key, tutti_group* host) {
  return give(host, [&, caller = TUTTI_CALLER] { return handle_of(group).group.split_by_host(key, caller); });
}

tutti_status tutti_reproducible(tutti_group group, tutti_group* same) {
  return give(same, [&] { return handle_of(group).group.reproducible(); });
}

tutti_status tutti_agree(tutti_group group, int flag, int* all) {
  return guarded([&, caller = TUTTI_CALLER] {
    if (all == nullptr) refuse("tutti_agree: nowhere to put the answer; pass the address of an int");
    *all = handle_of(group).group.agree(flag != 0, caller) ? 1 : 0;
  });
}

tutti_status tutti_shrink(tutti_group group, tutti_group* survivors) {
  return give(survivors, [&, caller = TUTTI_CALLER] { return handle_of(group).group.shrink(caller); });
}

tutti_status tutti_lost(tutti_group group, int32_t* ranks, int32_t capacity, int32_t* count) {
  return guarded([&] {
    if (count == nullptr || capacity < 0 || (capacity > 0 && ranks == nullptr))
      refuse("tutti_lost: the list of ranks or its length is NULL, or its capacity negative");
    const std::vector<Rank> lost = handle_of(group).group.lost();
    std::ranges::copy_n(lost.begin(), std::min<std::ptrdiff_t>(capacity, std::ssize(lost)), ranks);
    *count = static_cast<int32_t>(lost.size());
  });
}

tutti_status tutti_choose(tutti_group group, const char* collective, const char* algorithm) {
  return guarded([&] {
    tutti_group_handle& handle = handle_of(group);
    const Kind kind = kind_of("tutti_choose", collective);
    handle.algorithms[static_cast<std::size_t>(kind)] = algorithm == nullptr ? "" : algorithm;
  });
}
