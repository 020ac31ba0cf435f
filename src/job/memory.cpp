// SPDX-License-Identifier: BSD-3-Clause
#include "tutti/memory.hpp"

#include "host/loan.hpp"
#include "job/runtime.hpp"

namespace tutti {

void* allocate(const Group& group, std::size_t bytes) {
  if (!group) throw Error(Cause::usage, "allocate: the group is empty; pass one that this rank is in");
  engine::Engine& engine = group.member()->runtime().engine();
  engine.check_process();
  return host::lend(engine.setup().segment, bytes);
}

void release(void* memory) {
  if (memory == nullptr || host::take_back(static_cast<std::byte*>(memory))) return;
  throw Error(
      Cause::usage,
      "release: this memory is not from tutti::allocate, or was given back before; pass what that has returned");
}

}  // namespace tutti
