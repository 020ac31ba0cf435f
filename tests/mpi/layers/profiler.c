/* SPDX-License-Identifier: BSD-3-Clause */
/* Preloaded before the drop-in, a tool that counts calls, as profilers do: each goes on by its profiling name. */
#include <mpi.h>
#include <stdio.h>

static int calls;

#define COUNTED(name, parameters, arguments) \
  int MPI_##name parameters {                \
    ++calls;                                 \
    return PMPI_##name arguments;            \
  }

COUNTED(Init, (int* count, char*** words), (count, words))
COUNTED(Wait, (MPI_Request * one, MPI_Status* status), (one, status))
COUNTED(Waitall, (int n, MPI_Request* all, MPI_Status* statuses), (n, all, statuses))
COUNTED(Waitany, (int n, MPI_Request* all, int* which, MPI_Status* status), (n, all, which, status))
COUNTED(Waitsome, (int n, MPI_Request* all, int* done, int* which, MPI_Status* statuses),
        (n, all, done, which, statuses))
COUNTED(Test, (MPI_Request * one, int* flag, MPI_Status* status), (one, flag, status))
COUNTED(Testall, (int n, MPI_Request* all, int* flag, MPI_Status* statuses), (n, all, flag, statuses))
COUNTED(Request_free, (MPI_Request * one), (one))
COUNTED(Start, (MPI_Request * one), (one))
COUNTED(Recv, (void* data, int n, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Status* status),
        (data, n, type, from, tag, comm, status))
COUNTED(Send, (const void* data, int n, MPI_Datatype type, int to, int tag, MPI_Comm comm),
        (data, n, type, to, tag, comm))
COUNTED(Probe, (int from, int tag, MPI_Comm comm, MPI_Status* status), (from, tag, comm, status))
COUNTED(Barrier, (MPI_Comm comm), (comm))
COUNTED(Bcast, (void* data, int n, MPI_Datatype type, int root, MPI_Comm comm), (data, n, type, root, comm))
COUNTED(Allreduce, (const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm),
        (in, out, n, type, op, comm))
COUNTED(Comm_dup, (MPI_Comm comm, MPI_Comm* made), (comm, made))

int MPI_Finalize(void) {
  int rank;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  if (rank == 0) fprintf(stderr, "profiler: %d calls\n", calls);
  return PMPI_Finalize();
}
