// SPDX-License-Identifier: BSD-3-Clause
// A group made from an MPI communicator. Includes the program's own <mpi.h>.
//
//     MPI_Init(&argc, &argv);
//     {
//       const tutti::Group group = tutti::from_mpi(MPI_COMM_WORLD);
//       group.allreduce(mine, total, tutti::sum);
//     }
//     MPI_Finalize();
#pragma once

#include "tutti/mpi_abi.h"
#include "tutti/mpi_group.hpp"

namespace tutti {

/// The ranks of an intracommunicator, in its order: shared memory on each host, the MPI's messages, in a communicator
/// of Tutti's own, between hosts. The communicator may be freed afterwards. Collective; what fails on one rank is
/// thrown on all. Throws Error (usage) for anything but an intracommunicator, before MPI_Init and after
/// MPI_Finalize; Error (system) when the MPI or the system fails. The group ends with its last handle and request, and
/// MPI_Finalize ends it: later calls throw Error (broken).
inline Group from_mpi(MPI_Comm communicator) { return detail::from_mpi(&communicator, TUTTI_MPI_ABI); }

}  // namespace tutti
