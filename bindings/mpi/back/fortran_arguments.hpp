// SPDX-License-Identifier: BSD-3-Clause
// Arguments as Open MPI's Fortran functions get them, made into C's.
#pragma once

#include "abi.hpp"

#ifdef OPEN_MPI

#include <tuple>
#include <vector>

#include "fortran_values.hpp"

namespace tutti::mpi::fortran {

/// One argument: made of what Fortran passes, which is an address, and the number of ranks, which is how long arrays of
/// handles are; `done` writes back what the call has changed.
template <class C>
struct Argument {
  C value;
  Argument(void* address, int ranks [[maybe_unused]]) {
    if constexpr (std::is_integral_v<C> && !std::is_same_v<C, MPI_Comm>)
      value = static_cast<C>(*static_cast<Integer*>(address));
    else
      value = handle(*static_cast<Integer*>(address), C{});
  }
  C get() const { return value; }
  void done() {}
};
template <>
struct Argument<void*> {
  void* value;
  Argument(void* address, int ranks [[maybe_unused]]) : value(buffer(address)) {}
  void* get() const { return value; }
  void done() {}
};
template <>
struct Argument<const void*> : Argument<void*> {
  using Argument<void*>::Argument;
};
/// Arrays of numbers, which are the same in both languages.
template <class Number>
struct SameArray {
  Number* value;
  SameArray(void* address, int) : value(static_cast<Number*>(address)) {}
  Number* get() const { return value; }
  void done() {}
};
template <>
struct Argument<const int*> : SameArray<const int> {
  using SameArray::SameArray;
};
template <>
struct Argument<int*> : SameArray<int> {
  using SameArray::SameArray;
};
template <>
struct Argument<const MPI_Aint*> : SameArray<const MPI_Aint> {
  using SameArray::SameArray;
};
template <>
struct Argument<const MPI_Datatype*> {
  std::vector<MPI_Datatype> values;
  Argument(void* address, int ranks [[maybe_unused]]) {
    for (int i = 0; i < ranks; ++i) values.push_back(handle(static_cast<Integer*>(address)[i], MPI_Datatype{}));
  }
  const MPI_Datatype* get() const { return values.data(); }
  void done() {}
};
/// One handle that the call may change.
template <class Handle>
struct Changed {
  Integer* address;
  Handle value;
  Changed(void* given, int) : address(static_cast<Integer*>(given)), value(handle(*address, Handle{})) {}
  Handle* get() { return &value; }
  void done() { *address = number(value); }
};
/// One that it makes: what was there before is no handle.
template <>
struct Argument<MPI_Request*> {
  Integer* address;
  MPI_Request value = MPI_REQUEST_NULL;
  Argument(void* given, int) : address(static_cast<Integer*>(given)) {}
  MPI_Request* get() { return &value; }
  void done() { *address = number(value); }
};
template <>
struct Argument<MPI_Message*> : Changed<MPI_Message> {
  using Changed::Changed;
};
template <>
struct Argument<MPI_Op*> : Changed<MPI_Op> {
  using Changed::Changed;
};
template <>
struct Argument<MPI_Datatype*> : Changed<MPI_Datatype> {
  using Changed::Changed;
};
template <>
struct Argument<MPI_Status*> {
  Integer* address;
  MPI_Status value;
  Argument(void* given, int) : address(static_cast<Integer*>(given)) {}
  MPI_Status* get() { return is_ignored(address) ? MPI_STATUS_IGNORE : &value; }
  void done() {
    if (!is_ignored(address)) copy(value, address);
  }
};

template <class>
using Address = void*;

inline int ranks_of(MPI_Comm comm) {
  int ranks = 0;
  return real.Comm_size(comm, &ranks) == MPI_SUCCESS ? ranks : 0;
}

/// The number of ranks, where the arguments have an array of datatypes.
template <class... Arguments>
int ranks_for(Address<Arguments>... given) {
  [[maybe_unused]] int ranks = 0;
  if constexpr ((std::is_same_v<Arguments, const MPI_Datatype*> || ...))
    ((std::is_same_v<Arguments, MPI_Comm> ? ranks = ranks_of(handle(*static_cast<Integer*>(given), MPI_Comm{})) : 0),
     ...);
  return ranks;
}

/// A function of C's as Fortran calls it.
template <auto function>
struct Called;

template <class... Arguments, int (*function)(Arguments...) noexcept>
struct Called<function> {
  static void call(Address<Arguments>... given, Integer* error) noexcept {
    [[maybe_unused]] const int ranks = ranks_for<Arguments...>(given...);
    std::tuple<Argument<Arguments>...> arguments{Argument<Arguments>(given, ranks)...};
    const int code = std::apply([](auto&... each) { return function(each.get()...); }, arguments);
    if (code == MPI_SUCCESS) std::apply([](auto&... each) { (each.done(), ...); }, arguments);
    if (error != nullptr) *error = code;
  }
};

}  // namespace tutti::mpi::fortran

#endif
