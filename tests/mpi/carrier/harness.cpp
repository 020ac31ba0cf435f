// SPDX-License-Identifier: BSD-3-Clause
// The transports' conformance suite over an MPI's messages: every rank of the MPI's job runs the whole program, and
// those that a test does not need wait for the others.
#include <dlfcn.h>
#include <gtest/gtest.h>
#include <sched.h>

#include <cstdio>
#include <memory>
#include <new>

#include "../../transport/conformance.hpp"
#include "carrier.hpp"
#include "real.hpp"

namespace tutti::transport::conformance {

namespace {

class MpiEndpoint final : public Endpoint {
 public:
  using Endpoint::Endpoint;
  void yield() override { sched_yield(); }
  void die() override { throw Failure("an MPI's job does not outlive its ranks"); }
};

/// Memory that all ranks of the job see.
class Window {
 public:
  Window() {
    int rank = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    void* mine = nullptr;
    MPI_Win_allocate_shared(rank == 0 ? sizeof(Shared) : 0, 1, MPI_INFO_NULL, MPI_COMM_WORLD, &mine, &window_);
    MPI_Aint bytes = 0;
    int unit = 0;
    MPI_Win_shared_query(window_, 0, &bytes, &unit, &memory_);
    if (rank == 0) new (memory_) Shared;
    MPI_Barrier(MPI_COMM_WORLD);
  }
  ~Window() { MPI_Win_free(&window_); }
  Window(const Window&) = delete;
  Window& operator=(const Window&) = delete;
  Shared& shared() const { return *static_cast<Shared*>(memory_); }

 private:
  MPI_Win window_ = MPI_WIN_NULL;
  void* memory_ = nullptr;
};

class Job final : public Harness {
 public:
  const char* name() const override { return "mpi"; }

  void run(int size, const Body& body) override {
    int rank = 0, ranks = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    check(size <= ranks, "start it with " + std::to_string(size) + " ranks");
    const Window window;
    MPI_Comm some = MPI_COMM_NULL;
    MPI_Comm_split(MPI_COMM_WORLD, rank < size ? 0 : MPI_UNDEFINED, rank, &some);
    if (some != MPI_COMM_NULL) take_part(rank, size, some, window.shared(), body);
    MPI_Barrier(MPI_COMM_WORLD);
  }

 private:
  /// A rank that fails ends the job: the others would wait for it.
  static void take_part(Rank rank, int size, MPI_Comm some, Shared& shared, const Body& body) {
    try {
      mpi::Carrier carrier(some);
      MpiEndpoint endpoint(rank, size, carrier, shared, 1);
      body(endpoint);
      carrier.close();
      MPI_Comm_free(&some);
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rank %d: %s\n", rank, error.what());
      MPI_Abort(MPI_COMM_WORLD, 1);
    }
  }
};

}  // namespace

std::vector<std::shared_ptr<Harness>> harnesses() { return {std::make_shared<Job>()}; }

}  // namespace tutti::transport::conformance

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const std::string missing = tutti::mpi::find_real([](const char* name) { return dlsym(RTLD_DEFAULT, name); });
  if (!missing.empty()) std::fprintf(stderr, "no %s\n", missing.c_str());
  testing::InitGoogleTest(&argc, argv);
  const int status = missing.empty() ? RUN_ALL_TESTS() : 1;
  MPI_Finalize();
  return status;
}
