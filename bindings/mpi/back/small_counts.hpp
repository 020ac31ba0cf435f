// SPDX-License-Identifier: BSD-3-Clause
// Functions with 64-bit counts over those with counts of int, where an MPI has no others. (Collectives, with their
// arrays of counts: narrow.hpp.)
#pragma once

#include <limits>
#include <type_traits>

#include "abi.hpp"

namespace tutti::mpi {

/// An argument as the function with counts of int takes it.
template <class Small, class Wide>
class SmallArgument {
 public:
  explicit SmallArgument(Wide wide) : wide_(wide) {}
  /// A count that it cannot have becomes one that the MPI refuses.
  Small get() const {
    if constexpr (std::is_same_v<Small, Wide>)
      return wide_;
    else
      return wide_ >= 0 && wide_ <= std::numeric_limits<Small>::max() ? static_cast<Small>(wide_) : -1;
  }

 private:
  Wide wide_;
};
/// A count that the function writes.
template <>
class SmallArgument<int*, MPI_Count*> {
 public:
  explicit SmallArgument(MPI_Count* wide) : wide_(wide) {}
  SmallArgument(const SmallArgument&) = delete;
  SmallArgument& operator=(const SmallArgument&) = delete;
  ~SmallArgument() {
    if (wide_ != nullptr) *wide_ = small_;
  }
  int* get() { return wide_ == nullptr ? nullptr : &small_; }

 private:
  MPI_Count* wide_;
  int small_ = 0;
};

/// `small` is a function, or where one's address will stand.
template <class Large, auto small, class Small = std::remove_pointer_t<decltype(small)>>
struct OverSmall : OverSmall<Large, small, std::remove_pointer_t<Small>> {};

template <class... Wide, auto small, class... Small>
struct OverSmall<int (*)(Wide...), small, int(Small...)> {
  static int call(Wide... wide) noexcept { return (*small)(SmallArgument<Small, Wide>(wide).get()...); }
};
template <class... Wide, auto small, class... Small>
struct OverSmall<int (*)(Wide...), small, int(Small...) noexcept> : OverSmall<int (*)(Wide...), small, int(Small...)> {
};

}  // namespace tutti::mpi
