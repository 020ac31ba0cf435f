// SPDX-License-Identifier: BSD-3-Clause
// What Tutti's own library finds here: the MPI as its groups need it.
#include <dlfcn.h>
#include <cctype>

#include <algorithm>
#include <array>
#include <exception>
#include <mutex>

#include "awaited.hpp"
#include "finalize.hpp"
#include "host.hpp"
#include "ranks.hpp"
#include "real.hpp"
#include "requests.hpp"
#include "tutti/version.h"

namespace tutti::mpi {
namespace {

/// The MPI, and the drop-in's operations where it is preloaded.
template <class Base>
struct Visits final : Base {
  void visit() noexcept override {
    Host::poll();
    if (!idle()) progress();
  }
};
using Near = Visits<host::Companion>;
using Far = Visits<awaited::Companion>;

class Library final : public launch::MpiLibrary {
 public:
  std::string name() noexcept override { return library_name(); }
  bool has_threads() noexcept override {
    int provided = MPI_THREAD_SINGLE;
    return real.Query_thread(&provided) == MPI_SUCCESS && provided == MPI_THREAD_MULTIPLE;
  }
  std::unique_ptr<launch::Communicator> communicator(const void* address, std::string& why) noexcept override;
  host::Companion& companion(bool far) noexcept override { return far ? static_cast<host::Companion&>(far_) : near_; }
  std::uint64_t at_finalize(std::function<void()> end) noexcept override { return mpi::at_finalize(std::move(end)); }
  void forget(std::uint64_t end) noexcept override { no_longer_at_finalize(end); }

 private:
  Near near_;
  Far far_;
  std::once_flag begun_;
};

/// Why a communicator can have no group; nullptr where it can.
const char* refused(MPI_Comm comm) {
  int is_initialized = 0, is_finalized = 0, between = 0;
  real.Initialized(&is_initialized);
  if (is_initialized == 0) return "the MPI is not initialised; call MPI_Init before";
  real.Finalized(&is_finalized);
  if (is_finalized != 0) return "MPI_Finalize has been called; make groups, and use them, before";
  if (comm == MPI_COMM_NULL) return "it is MPI_COMM_NULL; ranks that are in none do without this call";
  if (real.Comm_test_inter(comm, &between) != MPI_SUCCESS) return "the MPI does not know it";
  if (between != 0) return "it is an intercommunicator; merge it (MPI_Intercomm_merge), or pass each side's own";
  return nullptr;
}

std::unique_ptr<launch::Communicator> Library::communicator(const void* address, std::string& why) noexcept {
  try {
    const MPI_Comm comm = *static_cast<const MPI_Comm*>(address);
    if (const char* reason = refused(comm)) {
      why = reason;
      return nullptr;
    }
    std::call_once(begun_, [] {
      awaited::begin();
      mpi::at_finalize(&awaited::end);
    });
    return std::make_unique<Ranks>(comm);
  } catch (const std::exception& error) {
    why = error.what();
    return nullptr;
  }
}

void* handle = nullptr;

void* find(const char* name) { return dlsym(handle, (std::string("P") + name).c_str()); }

}  // namespace
}  // namespace tutti::mpi

extern "C" {

__attribute__((visibility("default"))) extern const char tutti_mpi_version[];
const char tutti_mpi_version[] = TUTTI_VERSION;

__attribute__((visibility("default"))) tutti::launch::MpiLibrary* tutti_mpi_open(void* handle,
                                                                                 std::string& why) noexcept {
  using namespace tutti::mpi;
  static Library library;
  tutti::mpi::handle = handle;
  const std::string& missing = find_real(&find);
  if (missing.empty()) return &library;
  why = "it has no " + missing;
  return nullptr;
}
}
