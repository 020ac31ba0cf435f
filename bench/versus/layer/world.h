/* SPDX-License-Identifier: BSD-3-Clause */
/* Where layer/tutti.c has its group from: Tutti's own launcher and transports (world/own.c), or an MPI (world/mpi.c),
 * whose messages it uses between hosts. */
#ifndef VERSUS_WORLD_H
#define VERSUS_WORLD_H

#include "tutti/tutti.h"

/* Ends the program with Tutti's message unless it is TUTTI_OK. */
void check(tutti_status status);

void world_start(int* argument_count, char*** arguments, tutti_group* world);
void world_end(tutti_group* world);
/* Ends all ranks. */
void world_abort(void);

#endif
