// SPDX-License-Identifier: BSD-3-Clause
// Memory that the ranks of a host share: arrays that lie in it are handed over several times as fast. See
// docs/memory.md.
#pragma once

#include <cstddef>
#include <new>
#include <type_traits>
#include <utility>

#include "tutti/export.hpp"
#include "tutti/group.hpp"

namespace tutti {

/// `bytes` bytes, zeroed, at the beginning of a page, of the memory that this rank's host shares; only this rank uses
/// it. Large arrays of collectives that lie in it are copied and combined where they are, where other memory is copied
/// through the system or through cells. Local. Throws Error: system when there is none left, usage for an empty group.
TUTTI_API void* allocate(const Group& group, std::size_t bytes);
/// Gives it back; null is allowed. No operation may be in flight with it. It outlives the group and the job. Throws
/// Error (usage) for other memory.
TUTTI_API void release(void* memory);

/// For containers; throws what `allocate` throws, never std::bad_alloc:
///
///     std::vector<double, tutti::Allocator<double>> field(n, tutti::Allocator<double>(world));
template <class T>
class Allocator {
 public:
  using value_type = T;
  using is_always_equal = std::true_type;  // any gives back what another has given
  using propagate_on_container_move_assignment = std::true_type;
  using propagate_on_container_swap = std::true_type;

  explicit Allocator(Group group) : group_(std::move(group)) {}
  // Of a container that has been moved away the allocator stays: it may be filled again.
  Allocator(const Allocator& other) = default;
  Allocator& operator=(const Allocator& other) = default;
  template <class Other>
  Allocator(const Allocator<Other>& other) : group_(other.group()) {}

  T* allocate(std::size_t n) {
    if (n > static_cast<std::size_t>(-1) / sizeof(T)) throw std::bad_array_new_length();
    return static_cast<T*>(tutti::allocate(group_, n * sizeof(T)));
  }
  void deallocate(T* memory, std::size_t) { release(memory); }

  const Group& group() const { return group_; }
  template <class Other>
  bool operator==(const Allocator<Other>&) const {
    return true;
  }

 private:
  Group group_;
};

}  // namespace tutti
