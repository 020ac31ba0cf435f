// SPDX-License-Identifier: BSD-3-Clause
// One rank calls something else than the others: every algorithm against every other.
#include <gtest/gtest.h>

#include "base/random.hpp"
#include "mismatch.hpp"

namespace {

using tutti::Count;
using tutti::Rank;
using tutti::collectives::Algorithm;
using namespace tutti::faults;

TEST(Mismatch, EveryAlgorithmAgainstEveryOther) {
  tutti::base::Random random(815);
  for (const Algorithm& one : tutti::collectives::algorithms())
    for (const Algorithm& other : tutti::collectives::algorithms()) {
      if (&one == &other || ::testing::Test::HasFailure()) continue;
      const bool four = one.needs.power_of_two || other.needs.power_of_two;
      const auto size = static_cast<Rank>(four ? 4 : 2 + random.below(3));
      const Count count = one.needs.fits_small || other.needs.fits_small || random.once_in(2) ? 3 : 3000;
      const Play right{problem_of(one, size, count), &one}, wrong{problem_of(other, size, count), &other};
      if (!usable(right) || !usable(wrong)) continue;
      expect_both_named(right, wrong, static_cast<Rank>(random.below(static_cast<std::uint64_t>(size))), random.next());
    }
}

}  // namespace
