// SPDX-License-Identifier: BSD-3-Clause
#include "memory.hpp"

#include <atomic>
#include <string>

#include "base/log.hpp"
#include "engine/bound.hpp"
#include "host.hpp"
#include "host/loan.hpp"
#include "real.hpp"

namespace tutti::mpi::memory {

/// Smaller arrays are copied wherever they lie, and each would take a page.
static constexpr MPI_Aint least = engine::Bound::least_lent;

int alloc_mem(MPI_Aint size, MPI_Info info, void* base) noexcept {
  const Host* const here = Host::get();
  if (here == nullptr || here->memory() == nullptr || size < least || base == nullptr || info != MPI_INFO_NULL)
    return real.Alloc_mem(size, info, base);
  try {
    *static_cast<void**>(base) = host::lend(here->memory(), static_cast<std::size_t>(size));
    return MPI_SUCCESS;
  } catch (const std::exception& error) {
    static std::atomic<bool> said{false};
    if (!said.exchange(true, std::memory_order_relaxed))  // relaxed: about nothing else
      base::log(std::string("MPI_Alloc_mem gives memory of the MPI's: ") + error.what());
    return real.Alloc_mem(size, info, base);
  }
}

int free_mem(void* base) noexcept {
  return host::take_back(static_cast<std::byte*>(base)) ? MPI_SUCCESS : real.Free_mem(base);
}

}  // namespace tutti::mpi::memory
