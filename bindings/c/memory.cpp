// SPDX-License-Identifier: BSD-3-Clause
#include "tutti/memory.hpp"

#include "c/guard.hpp"

using namespace tutti;
using namespace tutti::c;

tutti_status tutti_allocate(tutti_group group, int64_t bytes, void** memory) {
  return guarded([&] {
    if (memory == nullptr) refuse("tutti_allocate: nowhere to put the memory; pass the address of a pointer");
    if (bytes < 0) refuse("tutti_allocate: " + std::to_string(bytes) + " bytes; pass 0 or more");
    *memory = allocate(handle_of(group).group, static_cast<std::size_t>(bytes));
  });
}

tutti_status tutti_release(void* memory) {
  return guarded([&] { release(memory); });
}
