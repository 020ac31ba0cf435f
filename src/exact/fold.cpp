// SPDX-License-Identifier: BSD-3-Clause
// The exact sum of many numbers. Four pairs of doubles run along; what a pair cannot take up exactly is put aside and
// added slowly. Data that are often put aside go by their exponents instead.
#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "exact/accumulator.hpp"
#include "exact/digits.hpp"
#include "exact/lanes.hpp"

namespace tutti::exact {

namespace {

constexpr Count block = 512;

/// sum + rest is what came so far, lane by lane.
struct Pairs {
  Lanes sum = -0.0 - Lanes{}, rest{};
};

/// Takes up a block of numbers; true when something was left over, number by number, for `aside`.
template <class T>
TUTTI_EXACT_INLINE bool take(Pairs& pairs, const std::byte* numbers, Count count, double* aside) {
  Lanes sum = pairs.sum, rest = pairs.rest;
  Bits left{};
  for (Count i = 0; i < count; i += lane_count) {
    Lanes lanes;
    load<T>(numbers + i * static_cast<Count>(sizeof(T)), lanes);
    add_exactly(sum, lanes);
    add_exactly(rest, lanes);
    left |= lanes != 0;
    std::memcpy(aside + i, &lanes, sizeof lanes);
  }
  pairs = {sum, rest};
  return any(left);
}

using Take = bool (*)(Pairs&, const std::byte*, Count, double*);

template <class T>
bool take_plainly(Pairs& pairs, const std::byte* numbers, Count count, double* aside) {
  return take<T>(pairs, numbers, count, aside);
}

#ifdef __x86_64__
template <class T>
[[gnu::target("avx2")]] bool take_avx2(Pairs& pairs, const std::byte* numbers, Count count, double* aside) {
  return take<T>(pairs, numbers, count, aside);
}
#endif

template <class T>
Take take_on_this_processor() {
#ifdef __x86_64__
  if (__builtin_cpu_supports("avx2")) return &take_avx2<T>;
#endif
  return &take_plainly<T>;
}

template <class T>
class Folding {
 public:
  Folding(int parts, Word* accumulators) : parts_(parts), accumulators_(accumulators) {
    std::fill_n(accumulators, static_cast<std::size_t>(parts) * words, Word{0});
  }

  void run(const std::byte* numbers, Count count) {
    const Count whole = count / lane_count * lane_count;
    for (Count at = 0; at < whole; at += block) one_block(numbers + at * size, std::min(block, whole - at));
    for (Count i = whole; i < count; ++i) add(part(i), number<T>(numbers + i * size));
    if (used_)
      for (int i = 0; i < lane_count; ++i) {
        add(part(i), pairs_.sum[i]);
        if (pairs_.rest[i] != 0) add(part(i), pairs_.rest[i]);
      }
    for (int i = 0; i < parts_; ++i) {
      if (!buckets_.empty()) buckets_[static_cast<std::size_t>(i)].move_to(part(i));
      normalize(part(i));
    }
  }

 private:
  static constexpr auto size = static_cast<Count>(sizeof(T));
  Word* part(Count i) { return accumulators_ + static_cast<std::size_t>(i % parts_) * words; }

  void one_block(const std::byte* numbers, Count count) {
    if (wild_ > 0) {
      --wild_;
      return by_exponent(numbers, count);
    }
    const Pairs before = pairs_;
    if (!take_(pairs_, numbers, count, aside_.data())) {
      used_ = true;
      return;
    }
    // An overflow, an infinity or a NaN leaves NaNs everywhere.
    const auto end = aside_.begin() + count;
    if (std::any_of(aside_.begin(), end, [](double left) { return !std::isfinite(left); })) {
      pairs_ = before;
      wild_ = blocks_by_exponent;
      return by_exponent(numbers, count);
    }
    used_ = true;
    Count left = 0;
    for (Count i = 0; i < count; ++i) {
      if (aside_[static_cast<std::size_t>(i)] == 0) continue;
      add(part(i), aside_[static_cast<std::size_t>(i)]);
      ++left;
    }
    if (left > count / 8) wild_ = blocks_by_exponent;
    slow_ += left;
    if (slow_ > most_slow) {
      slow_ = 0;
      for (int i = 0; i < parts_; ++i) normalize(part(i));
    }
  }

  void by_exponent(const std::byte* numbers, Count count) {
    if (buckets_.empty()) buckets_.resize(static_cast<std::size_t>(parts_));
    for (Count i = 0; i < count; i += parts_)
      for (int j = 0; j < parts_; ++j) buckets_[static_cast<std::size_t>(j)].add(number<T>(numbers + (i + j) * size));
  }

  static constexpr int blocks_by_exponent = 32;
  static constexpr Count most_slow = 1 << 28;

  int parts_;
  Word* accumulators_;
  Take take_ = take_on_this_processor<T>();
  Pairs pairs_;
  bool used_ = false;  // pairs_ have taken something up
  int wild_ = 0;       // blocks to go by exponent
  Count slow_ = 0;     // added slowly since the last carry
  std::vector<Buckets> buckets_;
  alignas(64) std::array<double, block> aside_;
};

}  // namespace

template <class T>
void fold(const std::byte* numbers, Count count, int parts, Word* accumulators) {
  Folding<T>(parts, accumulators).run(numbers, count);
}

template void fold<float>(const std::byte*, Count, int, Word*);
template void fold<double>(const std::byte*, Count, int, Word*);

}  // namespace tutti::exact
