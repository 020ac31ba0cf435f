// SPDX-License-Identifier: BSD-3-Clause
// A progress thread that nobody wakes, because an MPI carries the messages: it finds those of a rank that comes late.
// "late SECONDS": 200 times, and no longer than that.
#include <poll.h>
#include <time.h>

#include <cstdio>
#include <cstdlib>
#include <vector>

#include "tutti/mpi.hpp"
#include "tutti/tutti.hpp"

int main(int argc, char** argv) {
  int provided = 0;
  MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &provided);
  const double limit = argc > 1 ? std::strtod(argv[1], nullptr) : 0, start = MPI_Wtime();
  bool good = true;
  {
    const tutti::Group group = tutti::from_mpi(MPI_COMM_WORLD);
    const bool last = group.rank() == group.size() - 1;
    // Announced, asked for and sent: in steps that wait for each other.
    const std::vector<double> mine(40'001, 1);
    std::vector<double> sum(mine.size());
    for (int i = 0; i < 200; ++i) {
      MPI_Barrier(MPI_COMM_WORLD);
      const timespec late{.tv_sec = 0, .tv_nsec = last ? 5'000'000 : 0};
      nanosleep(&late, nullptr);
      tutti::Request request = group.iallreduce(mine, sum, tutti::sum);
      pollfd done{.fd = request.fileno(), .events = POLLIN, .revents = 0};
      good = poll(&done, 1, 60'000) == 1 && good;  // by the thread alone
      request.wait();
      good = sum.front() == group.size() && sum.back() == group.size() && good;
    }
  }
  const double took = MPI_Wtime() - start;
  std::printf("%s: %.2f s\n", good && took < limit ? "good" : "wrong", took);
  MPI_Finalize();
}
