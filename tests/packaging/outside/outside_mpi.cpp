// SPDX-License-Identifier: BSD-3-Clause
// A stranger's MPI program in C++ that makes a group of its communicator.
#include <cstdio>
#include <tutti/mpi.hpp>
#include <vector>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  {
    const tutti::Group group = tutti::from_mpi(MPI_COMM_WORLD);
    const std::vector<int> mine{14 * (group.rank() + 1)};
    std::vector<int> total(1);
    group.allreduce(mine, total, tutti::sum);
    if (group.rank() == 0) std::printf("the sum over %d is %d\n", group.size(), total[0]);
  }
  MPI_Finalize();
}
