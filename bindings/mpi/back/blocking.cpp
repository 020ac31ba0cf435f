// SPDX-License-Identifier: BSD-3-Clause
#include "blocking.hpp"

#include <tuple>
#include <type_traits>

#include "blocked.hpp"
#include "communicators.hpp"
#include "inside.hpp"
#include "requests.hpp"
#include "small_counts.hpp"

namespace tutti::mpi::blocking {
namespace {

#ifdef OPEN_MPI
/// The form with 64-bit counts of a function, of which its mpi.h has only the plain one.
template <class>
struct LargeOf;
template <class... Arguments>
struct LargeOf<int (*)(Arguments...)> {
  template <class A>
  using Wide =
      std::conditional_t<std::is_same_v<A, int>, MPI_Count, std::conditional_t<std::is_same_v<A, int*>, MPI_Count*, A>>;
  using Type = int (*)(Wide<Arguments>...);
};
#define LARGE(name) LargeOf<decltype(&PMPI_##name)>::Type
#else
#define LARGE(name) decltype(&PMPI_##name##_c)
#endif

/// The MPI's own.
struct Own {
#define BLOCKING(name) decltype(&PMPI_##name) name = nullptr;
#define BLOCKING_C(name) LARGE(name) name##_c = nullptr;
#include "blocking.def"
};
Own own;

template <auto member>
struct Guarded;

template <class... Arguments, int (*Own::*member)(Arguments...)>
struct Guarded<member> {
  inline static FunctionName name{};
  static int call(Arguments... arguments) noexcept {
    const Inside inside(name, __builtin_return_address(0));
    if constexpr (is<&Own::Comm_create_from_group> || is<&Own::Intercomm_create_from_groups>)
      has_session_communicators.store(true, std::memory_order_relaxed);
    return guarded([&] { return (own.*member)(arguments...); });
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

 private:
  template <auto other>
  static constexpr bool is = std::is_same_v<Guarded, Guarded<other>>;
};

}  // namespace

void find(Finder find) {
#define BLOCKING(function)                                                         \
  own.function = reinterpret_cast<decltype(own.function)>(find("MPI_" #function)); \
  Guarded<& Own::function>::name = host::Inside::name_of("MPI_" #function);
#define BLOCKING_C(function) BLOCKING(function##_c)
#include "blocking.def"
}

void tell(const Teller& teller) {
#define BLOCKING(name) \
  if (own.name != nullptr) teller(#name, reinterpret_cast<void*>(&Guarded<&Own::name>::call));
#define BLOCKING_C(name)                                                         \
  if (own.name##_c != nullptr)                                                   \
    teller(#name "_c", reinterpret_cast<void*>(&Guarded<&Own::name##_c>::call)); \
  else if (own.name != nullptr)                                                  \
    teller(#name "_c", reinterpret_cast<void*>(&OverSmall<LARGE(name), &Guarded<&Own::name>::call>::call));
#define CONSTRUCTOR(name) \
  if (own.name != nullptr) teller(#name, reinterpret_cast<void*>(&Guarded<&Own::name>::construct));
#define DESTRUCTOR(name) \
  if (own.name != nullptr) teller(#name, reinterpret_cast<void*>(&Guarded<&Own::name>::destroy));
#include "blocking.def"
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
