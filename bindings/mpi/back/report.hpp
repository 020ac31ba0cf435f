// SPDX-License-Identifier: BSD-3-Clause
// TUTTI_MPI_REPORT=1: at the end, what was called, how often, and how long it took on either side.
#pragma once

#include "choices.hpp"

namespace tutti::mpi::report {

/// Agreed by all ranks in MPI_Init.
inline bool wanted = false;

struct Cost {
  Count bytes;               ///< Negative: not known.
  std::int64_t nanoseconds;  ///< On this rank.
  std::int64_t saved;        ///< By the trials.
};

void call(Kind kind, Form form, int size_class, Side side, const Cost& cost);
/// More time of a call that has been counted.
void more(Kind kind, Form form, int size_class, Side side, std::int64_t nanoseconds);
/// Why a communicator's collectives are the MPI's.
enum class Reason : std::uint8_t { one_rank, between_hosts, gpu, between_groups, no_memory, other_worlds };
constexpr int reasons = 6;
void passed_on(Reason reason);
/// The MPI was moved on while this rank waited in Tutti.
void visited(std::int64_t nanoseconds);

/// Collective over the world: rank 0 prints to stderr.
void print();

}  // namespace tutti::mpi::report
