// SPDX-License-Identifier: BSD-3-Clause
// What mpi.hpp calls; for language bindings, which have no mpi.h.
#pragma once

#include <string_view>

#include "tutti/group.hpp"

namespace tutti::detail {

/// from_mpi, without its MPI's types: of the communicator at this address in this ABI; "" for any.
TUTTI_API Group from_mpi(const void* communicator, std::string_view abi);

}  // namespace tutti::detail
