// SPDX-License-Identifier: BSD-3-Clause
#include "blocking.hpp"

#include <tuple>

#include "communicators.hpp"
#include "helper.hpp"
#include "inside.hpp"
#include "requests.hpp"

namespace tutti::mpi::blocking {
namespace {

/// The MPI's own.
struct Own {
#define BLOCKING(name, fortran) decltype(&PMPI_##name) name = nullptr;
#define CONSTRUCTOR(name, fortran) BLOCKING(name, fortran)
#define DESTRUCTOR(name, fortran) BLOCKING(name, fortran)
#include "blocking.def"
#undef DESTRUCTOR
#undef CONSTRUCTOR
#undef BLOCKING
};
Own own;

template <auto member>
struct Guarded;

template <class... Arguments, int (*Own::*member)(Arguments...)>
struct Guarded<member> {
  inline static FunctionName name{};
  static int call(Arguments... arguments) noexcept {
    const Inside inside(name, __builtin_return_address(0));
    if (resting()) return (own.*member)(arguments...);
    return with_helper([&] { return (own.*member)(arguments...); });
  }
  static int construct(Arguments... arguments) noexcept {
    const int code = call(arguments...);
    MPI_Comm* made = std::get<sizeof...(Arguments) - 1>(std::tuple(arguments...));
    if (code == MPI_SUCCESS && made != nullptr && *made != MPI_COMM_NULL) prepare(*made);
    return code;
  }
  static int destroy(MPI_Comm* comm) noexcept {
    if (comm == nullptr) return call(comm);
    Leaving leaving(*comm);
    const int code = call(comm);
    if (code == MPI_SUCCESS) leaving.is_gone();
    return code;
  }
};

}  // namespace

void find(Finder find) {
#define BLOCKING(function, fortran)                                                \
  own.function = reinterpret_cast<decltype(own.function)>(find("MPI_" #function)); \
  Guarded<& Own::function>::name = host::Inside::name_of("MPI_" #function);
#define CONSTRUCTOR(function, fortran) BLOCKING(function, fortran)
#define DESTRUCTOR(function, fortran) BLOCKING(function, fortran)
#include "blocking.def"
#undef DESTRUCTOR
#undef CONSTRUCTOR
#undef BLOCKING
}

void tell(const Teller& teller) {
#define BLOCKING(name, fortran) \
  if (own.name != nullptr) teller(#name, reinterpret_cast<void*>(&Guarded<&Own::name>::call), nullptr);
#define CONSTRUCTOR(name, fortran) \
  if (own.name != nullptr) teller(#name, reinterpret_cast<void*>(&Guarded<&Own::name>::construct), nullptr);
#define DESTRUCTOR(name, fortran) \
  if (own.name != nullptr) teller(#name, reinterpret_cast<void*>(&Guarded<&Own::name>::destroy), nullptr);
#include "blocking.def"
#undef DESTRUCTOR
#undef CONSTRUCTOR
#undef BLOCKING
}

int finish(MPI_Request& request, MPI_Status* status) {
  int code = MPI_SUCCESS, done = 0;
  wait_until([&] {
    code = real.Test(&request, &done, status);
    return code != MPI_SUCCESS || done != 0;
  });
  return code;
}

}  // namespace tutti::mpi::blocking
