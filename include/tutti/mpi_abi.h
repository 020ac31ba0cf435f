/* SPDX-License-Identifier: BSD-3-Clause */
/* Which ABI the program's own mpi.h is of. */
#ifndef TUTTI_MPI_ABI_H
#define TUTTI_MPI_ABI_H

#include <mpi.h>

#if defined(OPEN_MPI)
#define TUTTI_MPI_ABI "openmpi"
#elif defined(MPICH_NAME) || defined(I_MPI_NUMVERSION)
#define TUTTI_MPI_ABI "mpich"
#elif defined(MPI_ABI_VERSION)
#define TUTTI_MPI_ABI "standard"
#else
#error "tutti: this <mpi.h> is not of Open MPI, MPICH, Intel MPI or the ABI of MPI 5.0"
#endif

#endif
