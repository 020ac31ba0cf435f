// SPDX-License-Identifier: BSD-3-Clause
// Open MPI's Fortran functions, which call the C ones by their profiling names: they have to be replaced themselves.
// (MPICH's call the C ones as a program would.)
#pragma once

#include "abi.hpp"

#ifdef OPEN_MPI

#include <functional>
#include <string>
#include <tuple>
#include <vector>

#include "real.hpp"

namespace tutti::mpi::fortran {

/// Finds the names that Fortran has for MPI_IN_PLACE and the like, and the conversions of handles. False where this MPI
/// has no Fortran, or none that has to be replaced.
bool find(Finder find);

/// A buffer as C names it: Fortran's MPI_IN_PLACE and MPI_BOTTOM are variables.
void* buffer(void* address);
bool is_ignored(const MPI_Fint* status);

MPI_Comm handle(MPI_Fint number, MPI_Comm);
MPI_Datatype handle(MPI_Fint number, MPI_Datatype);
MPI_Op handle(MPI_Fint number, MPI_Op);
MPI_Info handle(MPI_Fint number, MPI_Info);
MPI_Request handle(MPI_Fint number, MPI_Request);
MPI_Message handle(MPI_Fint number, MPI_Message);
MPI_Fint number(MPI_Request handle);
MPI_Fint number(MPI_Message handle);
MPI_Fint number(MPI_Op handle);
MPI_Fint number(MPI_Datatype handle);
void copy(const MPI_Status& from, MPI_Fint* to);

/// One argument: made of what Fortran passes, which is an address, and the number of ranks, which is how long arrays of
/// handles are; `done` writes back what the call has changed.
template <class C>
struct Argument {
  C value;
  Argument(void* address, int ranks [[maybe_unused]]) {
    if constexpr (std::is_integral_v<C> && !std::is_same_v<C, MPI_Comm>)
      value = static_cast<C>(*static_cast<MPI_Fint*>(address));
    else
      value = handle(*static_cast<MPI_Fint*>(address), C{});
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
struct Argument<const MPI_Aint*> : SameArray<const MPI_Aint> {
  using SameArray::SameArray;
};
template <>
struct Argument<const MPI_Datatype*> {
  std::vector<MPI_Datatype> values;
  Argument(void* address, int ranks [[maybe_unused]]) {
    for (int i = 0; i < ranks; ++i) values.push_back(handle(static_cast<MPI_Fint*>(address)[i], MPI_Datatype{}));
  }
  const MPI_Datatype* get() const { return values.data(); }
  void done() {}
};
/// One handle that the call may change.
template <class Handle>
struct Changed {
  MPI_Fint* address;
  Handle value;
  Changed(void* given, int) : address(static_cast<MPI_Fint*>(given)), value(handle(*address, Handle{})) {}
  Handle* get() { return &value; }
  void done() { *address = number(value); }
};
/// One that it makes: what was there before is no handle.
template <>
struct Argument<MPI_Request*> {
  MPI_Fint* address;
  MPI_Request value = MPI_REQUEST_NULL;
  Argument(void* given, int) : address(static_cast<MPI_Fint*>(given)) {}
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
  MPI_Fint* address;
  MPI_Status value;
  Argument(void* given, int) : address(static_cast<MPI_Fint*>(given)) {}
  MPI_Status* get() { return is_ignored(address) ? MPI_STATUS_IGNORE : &value; }
  void done() {
    if (!is_ignored(address)) copy(value, address);
  }
};

template <class>
using Address = void*;

int ranks_of(MPI_Comm comm);

/// The number of ranks, where the arguments have an array of datatypes.
template <class... Arguments>
int ranks_for(Address<Arguments>... given) {
  [[maybe_unused]] int ranks = 0;
  if constexpr ((std::is_same_v<Arguments, const MPI_Datatype*> || ...))
    ((std::is_same_v<Arguments, MPI_Comm> ? ranks = ranks_of(handle(*static_cast<MPI_Fint*>(given), MPI_Comm{})) : 0), ...);
  return ranks;
}

/// A function of C's as Fortran calls it.
template <auto function>
struct Called;

template <class... Arguments, int (*function)(Arguments...) noexcept>
struct Called<function> {
  static void call(Address<Arguments>... given, MPI_Fint* error) noexcept {
    [[maybe_unused]] const int ranks = ranks_for<Arguments...>(given...);
    std::tuple<Argument<Arguments>...> arguments{Argument<Arguments>(given, ranks)...};
    const int code = std::apply([](auto&... each) { return function(each.get()...); }, arguments);
    if (code == MPI_SUCCESS) std::apply([](auto&... each) { (each.done(), ...); }, arguments);
    if (error != nullptr) *error = code;
  }
};

/// Tells of a replacement: its name without mpi_ and _.
using Teller = std::function<void(const std::string& name, void* function)>;

/// The completion calls and those of blocking.def, for which conversions are not enough.
void tell(Finder find, const Teller& teller);

}  // namespace tutti::mpi::fortran

#endif
