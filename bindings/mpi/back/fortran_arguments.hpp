// SPDX-License-Identifier: BSD-3-Clause
// Arguments as Open MPI's Fortran functions get them, made into C's.
#pragma once

#include "abi.hpp"

#ifdef OPEN_MPI

#include <tuple>
#include <utility>
#include <vector>

#include "fortran_values.hpp"
#include "lengths.hpp"

namespace tutti::mpi::fortran {

/// One argument: made of what Fortran passes, which is an address, and, in the order of the arguments, of how long the
/// next arrays of handles are; `done` writes back what the call has changed.
template <class C>
struct Argument {
  C value;
  Argument(void* address, Lengths&) {
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
  Argument(void* address, Lengths&) : value(buffer(address)) {}
  void* get() const { return value; }
  void done() {}
};
/// What is sent: nothing is read of the arrays of that side where the data are in place.
template <>
struct Argument<const void*> : Argument<void*> {
  Argument(void* address, Lengths& lengths) : Argument<void*>(address, lengths) {
    if (value == MPI_IN_PLACE) lengths.sends = 0;
  }
};
/// Arrays of numbers, which are the same in both languages.
template <class Number>
struct SameArray {
  Number* value;
  SameArray(void* address, Lengths&) : value(static_cast<Number*>(address)) {}
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
/// The datatypes of what is sent come first.
template <>
struct Argument<const MPI_Datatype*> {
  std::vector<MPI_Datatype> values;
  Argument(void* address, Lengths& lengths) {
    const int length = std::exchange(lengths.sends, lengths.receives);
    for (int i = 0; i < length; ++i) values.push_back(handle(static_cast<Integer*>(address)[i], MPI_Datatype{}));
  }
  const MPI_Datatype* get() const { return values.data(); }
  void done() {}
};
/// One handle that the call may change.
template <class Handle>
struct Changed {
  Integer* address;
  Handle value;
  Changed(void* given, Lengths&) : address(static_cast<Integer*>(given)), value(handle(*address, Handle{})) {}
  Handle* get() { return &value; }
  void done() { *address = number(value); }
};
/// One that it makes: what was there before is no handle.
template <>
struct Argument<MPI_Request*> {
  Integer* address;
  MPI_Request value = MPI_REQUEST_NULL;
  Argument(void* given, Lengths&) : address(static_cast<Integer*>(given)) {}
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
  Argument(void* given, Lengths&) : address(static_cast<Integer*>(given)) {}
  MPI_Status* get() { return is_ignored(address) ? MPI_STATUS_IGNORE : &value; }
  void done() {
    if (!is_ignored(address)) copy(value, address);
  }
};

template <class>
using Address = void*;

/// How long arrays of datatypes are, where the arguments have some: those of alltoallw and of its like along edges.
template <bool along_edges, class... Arguments>
Lengths lengths_for(Address<Arguments>... given) {
  Lengths lengths;
  const auto look = [&](MPI_Comm comm) {
    lengths = along_edges ? lengths_along_edges(comm) : lengths_of(Kind::alltoallw, comm, MPI_PROC_NULL);
  };
  if constexpr ((std::is_same_v<Arguments, const MPI_Datatype*> || ...))
    ((std::is_same_v<Arguments, MPI_Comm> ? look(handle(*static_cast<Integer*>(given), MPI_Comm{})) : void()), ...);
  return lengths;
}

/// A function of C's as Fortran calls it.
template <auto function, bool along_edges = false>
struct Called;

template <class... Arguments, int (*function)(Arguments...) noexcept, bool along_edges>
struct Called<function, along_edges> {
  static void call(Address<Arguments>... given, Integer* error) noexcept {
    [[maybe_unused]] Lengths lengths = lengths_for<along_edges, Arguments...>(given...);
    std::tuple<Argument<Arguments>...> arguments{Argument<Arguments>(given, lengths)...};
    const int code = std::apply([](auto&... each) { return function(each.get()...); }, arguments);
    if (code == MPI_SUCCESS) std::apply([](auto&... each) { (each.done(), ...); }, arguments);
    if (error != nullptr) *error = code;
  }
};

}  // namespace tutti::mpi::fortran

#endif
