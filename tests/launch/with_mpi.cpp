// SPDX-License-Identifier: BSD-3-Clause
// An MPI program that joins a job as well: argument 1 says whether before MPI_Init or after.
#include <mpi.h>

#include <cstdio>
#include <cstring>
#include <exception>

#include "launch/member.hpp"

int main(int count, char** arguments) {
  try {
    const bool first = count == 2 && std::strcmp(arguments[1], "before") == 0;
    if (!first) MPI_Init(nullptr, nullptr);
    auto member = tutti::launch::join();
    if (first) MPI_Init(nullptr, nullptr);
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    std::printf("%d of %d, %d of %d\n", member.rank(), member.size(), rank, size);
    std::fflush(stdout);
    MPI_Barrier(MPI_COMM_WORLD);
    member.leave();
    MPI_Finalize();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 5;
  }
}
