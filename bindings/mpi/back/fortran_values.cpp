// SPDX-License-Identifier: BSD-3-Clause
#include "fortran_values.hpp"

#include <array>
#include <cctype>
#include <cstring>
#include <string>

namespace tutti::mpi::fortran {
namespace {

/// Conversions of one kind of handles: functions in some MPIs, nothing where a handle is a number.
template <class Handle>
struct Conversion {
  inline static Handle (*to_c)(Integer) = nullptr;
  inline static Integer (*to_fortran)(Handle) = nullptr;

  static void find(Finder find, const std::string& name) {
    to_c = reinterpret_cast<decltype(to_c)>(find(("MPI_" + name + "_f2c").c_str()));
    to_fortran = reinterpret_cast<decltype(to_fortran)>(find(("MPI_" + name + "_c2f").c_str()));
  }
};

/// Fortran compilers spell the names of common blocks in these ways.
using Spellings = std::array<const void*, 5>;
Spellings in_place, bottom, status_ignore, statuses_ignore;
int (*copy_status)(const MPI_Status*, Integer*) = nullptr;

bool is(const void* address, const Spellings& spellings) {
  for (const void* one : spellings)
    if (one != nullptr && one == address) return true;
  return false;
}

/// A leading "=" asks for a name itself, in the program first. The last is MPICH's, of mpi_f08.
Spellings spellings(Finder find, const std::string& what) {
  const std::string name = "mpi_fortran_" + what;
  std::string upper = name, object = what;
  for (char& letter : upper) letter = static_cast<char>(std::toupper(letter));
  for (char& letter : object) letter = static_cast<char>(std::toupper(letter));
  return {find(("=" + name + "_").c_str()), find(("=" + name + "__").c_str()), find(("=" + name).c_str()),
          find(("=" + upper).c_str()), find(("=MPIR_F08_MPI_" + object + "_OBJ").c_str())};
}

}  // namespace

bool find(Finder find) {
  Conversion<MPI_Request>::find(find, "Request");
#ifdef OPEN_MPI
  Conversion<MPI_Comm>::find(find, "Comm");
  Conversion<MPI_Datatype>::find(find, "Type");
  Conversion<MPI_Op>::find(find, "Op");
  Conversion<MPI_Info>::find(find, "Info");
  Conversion<MPI_Message>::find(find, "Message");
  Conversion<MPI_Win>::find(find, "Win");
  copy_status = reinterpret_cast<decltype(copy_status)>(find("MPI_Status_c2f"));
#endif
  in_place = spellings(find, "in_place");
  bottom = spellings(find, "bottom");
  status_ignore = spellings(find, "status_ignore");
  statuses_ignore = spellings(find, "statuses_ignore");
#ifdef TUTTI_MPI_STANDARD_ABI
  return false;  // It has no Fortran.
#else
  return find("mpi_barrier_") != nullptr;
#endif
}

void* buffer(void* address) {
  if (is(address, in_place)) return MPI_IN_PLACE;
  return is(address, bottom) ? MPI_BOTTOM : address;
}

bool is_ignored(const Integer* status) {
  return status == nullptr || is(status, status_ignore) || is(status, statuses_ignore);
}

void copy(const MPI_Status& from, Integer* to) {
  if (copy_status != nullptr)
    copy_status(&from, to);
  else
    std::memcpy(to, &from, sizeof from);
}

template <class Handle>
Handle handle(Integer number, Handle) {
  if constexpr (std::is_integral_v<Handle>)
    return number;
  else
    return Conversion<Handle>::to_c(number);
}

template <class Handle>
Integer number(Handle handle) {
  if constexpr (std::is_integral_v<Handle>)
    return handle;
  else
    return Conversion<Handle>::to_fortran(handle);
}

template MPI_Request handle(Integer, MPI_Request);
template Integer number(MPI_Request);
#ifdef OPEN_MPI
template MPI_Comm handle(Integer, MPI_Comm);
template MPI_Datatype handle(Integer, MPI_Datatype);
template MPI_Op handle(Integer, MPI_Op);
template MPI_Info handle(Integer, MPI_Info);
template MPI_Message handle(Integer, MPI_Message);
template MPI_Win handle(Integer, MPI_Win);
template Integer number(MPI_Message);
template Integer number(MPI_Op);
template Integer number(MPI_Datatype);
#endif

}  // namespace tutti::mpi::fortran
