// SPDX-License-Identifier: BSD-3-Clause
// The _c forms over an MPI that has only those with counts of int: programs call them as soon as somebody exports them.
#pragma once

#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <set>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "forms.hpp"
#include "lengths.hpp"
#include "timing.hpp"

namespace tutti::mpi {

/// Arguments made narrow, from the first to the last, and whether they could be.
class Narrow {
 public:
  /// Its arrays live as long as it and whoever shares them, or for ever where they stay with the MPI.
  Narrow(const Lengths& lengths, bool stays) : lengths_(lengths), stays_(stays) {}

  bool fits() const { return fits_; }
  /// Null where there are none.
  std::shared_ptr<const void> arrays() const { return arrays_; }

  /// The same argument as `Small`. A buffer says whose counts follow: what is sent stands in constant memory.
  template <class Small, class Wide>
  Small of(Wide wide) {
    if constexpr (std::is_same_v<Wide, const void*> || std::is_same_v<Wide, void*>) {
      length_ = std::is_same_v<Wide, void*> ? lengths_.receives : lengths_.sends;
      if (wide == MPI_IN_PLACE) length_ = Lengths::absent;
      return wide;
    } else if constexpr (std::is_same_v<Small, Wide>) {
      return wide;
    } else if constexpr (std::is_pointer_v<Wide>) {
      if (wide == nullptr || length_ == Lengths::absent) return nullptr;
      std::vector<int> copy;
      for (int i = 0; i < length_; ++i) copy.push_back(number(wide[i]));
      if (stays_) return kept(std::move(copy)).data();
      if (arrays_ == nullptr) arrays_ = std::make_shared<std::deque<std::vector<int>>>();
      return arrays_->emplace_back(std::move(copy)).data();
    } else {
      return length_ == Lengths::absent ? 0 : number(wide);
    }
  }

 private:
  template <class Wide>
  int number(Wide wide) {
    fits_ = fits_ && wide >= std::numeric_limits<int>::min() && wide <= std::numeric_limits<int>::max();
    return static_cast<int>(wide);
  }

  /// The MPI reads an array until the persistent request is freed. One copy of each is kept for ever, since a program
  /// that counts alike each time must not grow with its calls.
  static const std::vector<int>& kept(std::vector<int>&& array) {
    static std::mutex& lock = *std::make_unique<std::mutex>().release();
    static auto& all = *std::make_unique<std::set<std::vector<int>>>().release();
    const std::lock_guard guard(lock);
    return *all.insert(std::move(array)).first;
  }

  Lengths lengths_;
  bool stays_;
  int length_ = Lengths::absent;
  bool fits_ = true;
  std::shared_ptr<std::deque<std::vector<int>>> arrays_;  ///< Made with the first: most calls have none.
};

template <class C, class SmallD, class SmallDescription, class WideDescription>
class NarrowedOf;

template <class C, class SmallD, class... Small, class... Wide>
class NarrowedOf<C, SmallD, bool(Translation&, Small...), bool(Translation&, Wide...)> {
  using Plain = Forms<C, int, SmallD>;

 public:
  static int blocking(Wide... wide, MPI_Comm comm) {
    Narrow narrow(lengths(comm, wide...), false);
    const std::tuple<Small...> small{narrow.of<Small>(wide)...};
    if (!narrow.fits()) return refuse(comm);
    return std::apply([&](Small... arguments) { return Plain::real_blocking(arguments..., comm); }, small);
  }
  static int starting(Wide... wide, MPI_Comm comm, MPI_Request* request) {
    Narrow narrow(lengths(comm, wide...), false);
    const std::tuple<Small...> small{narrow.of<Small>(wide)...};
    if (!narrow.fits()) return refuse(comm);
    const int code =
        std::apply([&](Small... arguments) { return Plain::real_starting(arguments..., comm, request); }, small);
    if (code == MPI_SUCCESS && narrow.arrays() != nullptr) keep_for(*request, narrow.arrays());
    return code;
  }
  static int preparing(Wide... wide, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    Narrow narrow(lengths(comm, wide...), true);
    const std::tuple<Small...> small{narrow.of<Small>(wide)...};
    if (!narrow.fits() || Plain::real_preparing == nullptr) return refuse(comm);
    return std::apply([&](Small... arguments) { return Plain::real_preparing(arguments..., comm, info, request); },
                      small);
  }

 private:
  static Lengths lengths(MPI_Comm comm, Wide... wide) {
    if constexpr (C::along_edges) {
      return lengths_along_edges(comm);
    } else if constexpr (sizeof...(Wide) == 0) {
      return {};
    } else {
      // Of those that have a root it is the last argument.
      const auto last = std::get<sizeof...(Wide) - 1>(std::tuple(wide...));
      if constexpr (std::is_same_v<std::remove_const_t<decltype(last)>, int>)
        return lengths_of(C::kind, comm, last);
      else
        return lengths_of(C::kind, comm, MPI_PROC_NULL);
    }
  }
  static int refuse(MPI_Comm comm) {
    return fail(comm, Error(Cause::usage,
                            "this MPI has no collectives with counts beyond 2^31 - 1, nor those that it "
                            "would need for this one; use a newer MPI"));
  }
};

template <class C, class SmallD>
using Narrowed = NarrowedOf<C, SmallD, typename SignatureOf<decltype(&C::template describe<int, SmallD>)>::Type,
                            typename SignatureOf<decltype(&C::template describe<MPI_Count, MPI_Aint>)>::Type>;

}  // namespace tutti::mpi
