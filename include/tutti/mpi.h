/* SPDX-License-Identifier: BSD-3-Clause */
/* A group made from an MPI communicator, for C. Includes the program's own <mpi.h>.
 *
 *     tutti_group group;
 *     MPI_Init(&argc, &argv);
 *     if (tutti_from_mpi(MPI_COMM_WORLD, &group) != TUTTI_OK) return puts(tutti_last_error()), 1;
 *     tutti_allreduce(group, &mine, &total, 1, TUTTI_FLOAT64, TUTTI_SUM);
 *     tutti_group_free(&group);
 *     MPI_Finalize(); */
#ifndef TUTTI_MPI_H
#define TUTTI_MPI_H

#include "tutti/mpi_abi.h"
#include "tutti/tutti.h"

/* The ranks of an intracommunicator, in its order: shared memory on each host, the MPI's messages, in a communicator of
 * Tutti's own, between hosts. The communicator may be freed afterwards. Collective; what fails on one rank is reported
 * on all. Errors: TUTTI_USAGE for what is no such communicator, and before MPI_Init and after MPI_Finalize;
 * TUTTI_SYSTEM. The group ends with its last handle and request, and MPI_Finalize ends it: later calls return
 * TUTTI_BROKEN. */
static inline tutti_status tutti_from_mpi(MPI_Comm communicator, tutti_group* group) {
  return tutti_from_mpi_at(&communicator, TUTTI_MPI_ABI, group);
}

#endif
