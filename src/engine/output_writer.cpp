// SPDX-License-Identifier: BSD-3-Clause
#include "engine/output_writer.hpp"

#include <algorithm>

#include "base/clock.hpp"

namespace tutti::engine {
namespace {

constexpr std::size_t longest = 8;  // stretches, of the first one
/// What takes longer than so many times the fastest copy was interrupted, or its core taken away. The machine may
/// become slower, so that the fastest one of a window counts as twice as slow in the next.
constexpr double interrupted = 8;
constexpr double forgets = 2;
constexpr double worth = 0.8;  // of the time through the caches

}  // namespace

void OutputWriter::copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  if (bytes < base::large_copy) return base::copy(to, from, bytes);
  const std::uint64_t begin = times() ? base::now() : 0;
  (past_ ? base::copy_streaming : base::copy)(to, from, bytes);
  note(bytes, times() ? base::now() - begin : 0);
}

void OutputWriter::note(std::size_t bytes, std::uint64_t nanoseconds) {
  if (times()) {
    const auto size = static_cast<double>(bytes);
    least_ = std::min(least_, static_cast<double>(nanoseconds) / size);
    sum_ += std::min(static_cast<double>(nanoseconds), interrupted * least_ * size);
    bytes_ += size;
  }
  left_ -= std::min(left_, bytes);
  if (left_ > 0) return;
  const double now = sum_ / bytes_;
  if (trial_) {
    const bool faster = past_ ? now < worth * before_ : before_ >= worth * now;
    stretch_ = faster ? first_stretch() : std::min(2 * stretch_, longest * first_stretch());
    if (!faster) past_ = !past_;
    left_ = stretch_;
  } else {
    past_ = !past_;
    left_ = 2 * window();
  }
  trial_ = !trial_;
  before_ = now;
  sum_ = bytes_ = 0;
  least_ *= forgets;
}

}  // namespace tutti::engine
