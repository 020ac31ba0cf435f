// SPDX-License-Identifier: BSD-3-Clause
// Lets `tutti why` look at all hosts of an MPI program from one of them.
#pragma once

#include <memory>
#include <vector>

#include "host/segment.hpp"
#include "launch/window.hpp"
#include "ranks.hpp"

namespace tutti::mpi {

/// Collective over the job. `hosts`: of each rank; `segment`: this host's, in which this rank has that place; may be
/// null, then nobody can look at this host. What is not possible is done without.
std::unique_ptr<launch::Window> open_window(Ranks& job, const std::vector<Rank>& hosts,
                                            const std::shared_ptr<host::Segment>& segment, Rank place);

}  // namespace tutti::mpi
