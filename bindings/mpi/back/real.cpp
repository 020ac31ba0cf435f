// SPDX-License-Identifier: BSD-3-Clause
#include "real.hpp"

namespace tutti::mpi {

Real real;

std::string find_real(Finder find) {
  std::string missing;
#define TUTTI_MPI_REAL(name)                                             \
  real.name = reinterpret_cast<decltype(real.name)>(find("MPI_" #name)); \
  if (real.name == nullptr && missing.empty()) missing = "MPI_" #name;
#include "real.def"
#undef TUTTI_MPI_REAL
  return missing;
}

}  // namespace tutti::mpi
