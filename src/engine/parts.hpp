// SPDX-License-Identifier: BSD-3-Clause
// Which bytes of a buffer the steps of a plan touch.
#pragma once

#include <algorithm>
#include <cstddef>
#include <map>

namespace tutti::engine {

/// Parts of a buffer.
class Parts {
 public:
  void add(std::size_t begin, std::size_t end) {
    auto next = ends_.lower_bound(begin);
    while (next != ends_.end() && next->second <= end) {
      begin = std::min(begin, next->second);
      end = std::max(end, next->first);
      next = ends_.erase(next);
    }
    ends_.emplace(end, begin);
  }
  bool touch(std::size_t begin, std::size_t end) const {
    const auto next = ends_.upper_bound(begin);
    return next != ends_.end() && next->second < end;
  }

  /// Of all parts together.
  std::size_t bytes() const {
    std::size_t sum = 0;
    for (const auto& [end, begin] : ends_) sum += end - begin;
    return sum;
  }

 private:
  std::map<std::size_t, std::size_t> ends_;  // end -> begin, apart from each other
};

}  // namespace tutti::engine
