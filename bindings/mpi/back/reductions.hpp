// SPDX-License-Identifier: BSD-3-Clause
// What an MPI operation on an MPI datatype is to Tutti.
#pragma once

#include "abi.hpp"
#include "tutti/types.hpp"

namespace tutti::mpi {

/// How elements are combined, and what one is. Depends on operation and datatype alone, which all ranks have alike.
struct Combining {
  Reduction reduction;
  Type type = Type::opaque;
  std::uint32_t element = 0;  ///< Bytes; 0: the MPI has to do it (a wrong pair, or elements with gaps).
};

/// Our own arithmetic where there is one, else MPI_Reduce_local's: for users' functions, pairs, long double.
/// Valid until this thread asks again.
const Combining& combining(MPI_Op op, MPI_Datatype type);

/// An operation that the MPI carries out: what Tutti's function is given.
struct Foreign {
  MPI_Op op;
  MPI_Datatype type;
  std::size_t element;
  bool has_own_op, has_own_type;  ///< The program's, which it may free.
};
/// nullptr where the arithmetic is our own.
const Foreign* foreign_of(const Reduction& reduction);
/// Whether it calls a function of the program's.
inline bool is_programs(const Combining& combining) {
  const Foreign* foreign = foreign_of(combining.reduction);
  return foreign != nullptr && foreign->has_own_op;
}
/// Whether a call of collective C combines what Tutti can combine, which depends on what all ranks have alike; also
/// where it combines nothing.
template <class C, class... Arguments>
bool can_combine(const Arguments&... arguments) {
  if constexpr (requires { C::how(arguments...); })
    return C::how(arguments...).element != 0;
  else
    return true;
}

}  // namespace tutti::mpi
