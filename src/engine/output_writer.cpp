// SPDX-License-Identifier: BSD-3-Clause
#include "engine/output_writer.hpp"

#include <algorithm>
#include <utility>

#include "base/clock.hpp"

namespace tutti::engine {
namespace {

constexpr std::size_t longest = 32;  // stretches, of the first one
/// By so much of the time before, at least, has the other way to be faster.
constexpr std::uint64_t worth = 16;

}  // namespace

void OutputWriter::copy(std::byte* to, const std::byte* from, std::size_t bytes) {
  const std::uint64_t begin = times() ? base::now() : 0;
  (past_ ? base::copy_streaming : base::copy)(to, from, bytes);
  note(bytes, times() ? base::now() - begin : 0);
}

void OutputWriter::note(std::size_t bytes, std::uint64_t nanoseconds) {
  if (!times()) {
    left_ -= std::min(left_, bytes);
    return;
  }
  times_.push_back((nanoseconds << 20) / bytes);
  if (times_.size() < timed) return;
  const auto middle = times_.begin() + timed / 2;
  std::ranges::nth_element(times_, middle);
  const std::uint64_t now = *middle;
  times_.clear();
  if (!trial_) {
    before_ = now;
    left_ = settling();
    past_ = !past_;
  } else if (now < before_ - before_ / worth) {
    left_ = stretch_ = first_stretch();
  } else {
    left_ = stretch_ = std::min(2 * stretch_, longest * first_stretch());
    past_ = !past_;
  }
  trial_ = !trial_;
}

}  // namespace tutti::engine
