/* SPDX-License-Identifier: BSD-3-Clause */
#include "tutti/mpi.h"

#include <mpi.h>

#include "../world.h"

void world_start(int* argument_count, char*** arguments, tutti_group* world) {
  MPI_Init(argument_count, arguments);
  check(tutti_from_mpi(MPI_COMM_WORLD, world));
}

void world_end(tutti_group* world) {
  check(tutti_group_free(world));
  MPI_Finalize();
}

void world_abort(void) { MPI_Abort(MPI_COMM_WORLD, 1); }
