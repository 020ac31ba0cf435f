// SPDX-License-Identifier: BSD-3-Clause
// Names for unfinished things that a peer may send back late, twice or made up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "transport/transport.hpp"

namespace tutti::transport {

/// A name as a transport keeps it in Transfer::link, and back.
inline void* as_link(std::uint64_t name) { return reinterpret_cast<void*>(static_cast<std::uintptr_t>(name)); }
inline std::uint64_t as_name(const Transfer& transfer) { return reinterpret_cast<std::uintptr_t>(transfer.link); }

/// A table of values with names that are not used again for a long time (2^32 uses of a slot). Allocates only when it
/// grows. No name is 0.
template <class T>
class Names {
 public:
  std::uint64_t add(T value) {
    if (free_.empty()) {
      free_.push_back(static_cast<std::uint32_t>(slots_.size()));
      slots_.emplace_back();
    }
    const std::uint32_t slot = free_.back();
    free_.pop_back();
    slots_[slot].value = value;
    slots_[slot].used = true;
    return name(slot);
  }
  /// nullptr when the name is not (or no longer) one of ours. Valid until the next `add`.
  T* find(std::uint64_t handle) {
    const std::size_t slot = handle & 0xffffffffu;
    if (slot >= slots_.size() || !slots_[slot].used || slots_[slot].generation != handle >> 32) return nullptr;
    return &slots_[slot].value;
  }
  void remove(std::uint64_t handle) {
    if (find(handle) == nullptr) return;
    Slot& slot = slots_[handle & 0xffffffffu];
    slot.used = false;
    if (++slot.generation == 0) slot.generation = 1;
    free_.push_back(static_cast<std::uint32_t>(handle));
  }
  /// Calls `visit(name, value)` for each; `visit` may remove what it is shown.
  template <class Visit>
  void for_each(Visit visit) {
    for (std::size_t i = 0; i < slots_.size(); ++i)
      if (slots_[i].used) visit(name(i), slots_[i].value);
  }

 private:
  struct Slot {
    T value{};
    std::uint32_t generation = 1;
    bool used = false;
  };
  std::uint64_t name(std::size_t slot) const {
    return static_cast<std::uint64_t>(slots_[slot].generation) << 32 | slot;
  }

  std::vector<Slot> slots_;
  std::vector<std::uint32_t> free_;
};

}  // namespace tutti::transport
