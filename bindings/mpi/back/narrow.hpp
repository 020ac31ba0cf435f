// SPDX-License-Identifier: BSD-3-Clause
// The _c forms over an MPI that has only those with counts of int: programs call them as soon as somebody exports them.
#pragma once

#include <deque>
#include <limits>
#include <memory>
#include <mutex>
#include <tuple>
#include <type_traits>
#include <vector>

#include "edges.hpp"
#include "forms.hpp"
#include "real.hpp"

namespace tutti::mpi {

struct Lengths {
  int sends = 0, receives = 0;
};

/// Arguments made narrow, and whether they could be.
class Narrow {
 public:
  /// How long arrays of what is sent and of what is received are; the first two are of what is sent, or none.
  Narrow(const Lengths& lengths, bool sends_arrays) : lengths_(lengths), sends_arrays_(sends_arrays) {}

  bool fits() const { return fits_; }
  /// The same argument as `Small`.
  template <class Small, class Wide>
  Small of(Wide wide) {
    if constexpr (std::is_same_v<Small, Wide>) {
      return wide;
    } else if constexpr (std::is_pointer_v<Wide>) {
      if (wide == nullptr) return nullptr;
      const int length = sends_arrays_ && arrays_.size() < 2 ? lengths_.sends : lengths_.receives;
      auto& copy = arrays_.emplace_back();
      for (int i = 0; i < length; ++i) copy.push_back(of<int>(wide[i]));
      return copy.data();
    } else {
      fits_ = fits_ && wide >= std::numeric_limits<int>::min() && wide <= std::numeric_limits<int>::max();
      return static_cast<Small>(wide);
    }
  }

 private:
  Lengths lengths_;
  bool sends_arrays_;
  bool fits_ = true;
  std::deque<std::vector<int>> arrays_;
};

template <class C, class SmallD, class SmallDescription, class WideDescription>
class NarrowedOf;

template <class C, class SmallD, class... Small, class... Wide>
class NarrowedOf<C, SmallD, bool(Translation&, Small...), bool(Translation&, Wide...)> {
  using Plain = Forms<C, int, SmallD>;

 public:
  static int blocking(Wide... wide, MPI_Comm comm) {
    Narrow narrow(lengths(comm), C::sends_arrays);
    const std::tuple<Small...> small{narrow.of<Small>(wide)...};
    if (!narrow.fits()) return refuse(comm);
    return std::apply([&](Small... arguments) { return Plain::real_blocking(arguments..., comm); }, small);
  }
  static int starting(Wide... wide, MPI_Comm comm, MPI_Request* request) {
    Narrow& narrow = keep(comm);
    const std::tuple<Small...> small{narrow.of<Small>(wide)...};
    if (!narrow.fits()) return refuse(comm);
    return std::apply([&](Small... arguments) { return Plain::real_starting(arguments..., comm, request); }, small);
  }
  static int preparing(Wide... wide, MPI_Comm comm, MPI_Info info, MPI_Request* request) {
    Narrow& narrow = keep(comm);
    const std::tuple<Small...> small{narrow.of<Small>(wide)...};
    if (!narrow.fits() || Plain::real_preparing == nullptr) return refuse(comm);
    return std::apply([&](Small... arguments) { return Plain::real_preparing(arguments..., comm, info, request); },
                      small);
  }

 private:
  static Lengths lengths(MPI_Comm comm) {
    if constexpr (C::along_edges) {
      const Edges edges = edges_of(comm);
      return {static_cast<int>(edges.destinations.size()), static_cast<int>(edges.sources.size())};
    } else {
      int size = 0;
      real.Comm_size(comm, &size);
      return {size, size};
    }
  }
  /// The MPI reads the arrays until the request is complete, of which nobody tells us: they are kept.
  static Narrow& keep(MPI_Comm comm) {
    static std::mutex& lock = *std::make_unique<std::mutex>().release();
    static auto& all = *std::make_unique<std::deque<Narrow>>().release();
    const std::lock_guard guard(lock);
    return all.emplace_back(lengths(comm), C::sends_arrays);
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
