// SPDX-License-Identifier: BSD-3-Clause
// Calls in which every pair of ranks, or every edge, has layouts of its own.
#pragma once

#include <cstddef>
#include <ranges>
#include <span>
#include <string_view>
#include <vector>

#include "tutti/call.hpp"
#include "tutti/export.hpp"
#include "tutti/layout.hpp"

namespace tutti {

/// What a call of alltoallw or neighbor_alltoallw points to: send[j] lies in `in` and goes to the j-th partner, recv[i]
/// lies in `out` and comes from the i-th. alltoallw with an empty `send`, and parts to receive: in place, what recv
/// names is also what is sent.
/// Throws Error (usage) for layouts that are none.
class TUTTI_API PartsCall {
 public:
  PartsCall(Kind kind, const void* in, std::span<const Part> send, void* out, std::span<const Part> recv);
  /// The same of memory whose end is known. Throws Error (usage) for parts that do not lie in it.
  template <std::ranges::contiguous_range In, std::ranges::contiguous_range Out>
  PartsCall(Kind kind, const In& in, std::span<const Part> send, Out& out, std::span<const Part> recv)
      : PartsCall(kind, static_cast<const void*>(std::ranges::data(in)), send,
                  static_cast<void*>(std::ranges::data(out)), recv) {
    expect_inside("in", send, std::as_bytes(std::span(in)).size());
    expect_inside("out", recv, std::as_writable_bytes(std::span(out)).size());
  }
  PartsCall(const PartsCall&) = delete;
  PartsCall& operator=(const PartsCall&) = delete;

  const Call& call(std::string_view algorithm, const void* site) {
    call_.algorithm = algorithm;
    call_.site = site;
    return call_;
  }

 private:
  void expect_inside(const char* which, std::span<const Part> parts, std::size_t bytes) const;

  Layout input_, output_;
  std::vector<Count> send_counts_, recv_counts_;
  Call call_;
};

}  // namespace tutti
