// SPDX-License-Identifier: BSD-3-Clause
// Measurements that nobody made: what they say is known.
#pragma once

#include <stdlib.h>

#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tune/source.hpp"
#include "tuner/candidates.hpp"
#include "tuner/measurements.hpp"

namespace tutti::tuner {

inline const tune::Machine imaginary{"Imaginary", 4, true};
inline const std::vector<Count> sizes{8, 32, 128, 512, 2048, 8192};

/// Every collective on 2 and 4 ranks by one algorithm, in times that break no guideline: so much for a call, and for
/// each byte that a rank sends or receives.
Measurements lawful();

/// The same times again and again: no noise.
Candidate steady(const std::string& algorithm, double time);

/// The only one there; fails the test where there is none.
Point& point_of(Measurements& measurements, Kind kind, Rank ranks, Count bytes);

/// A folder for one test, gone with it, in which XDG_CACHE_HOME is.
class Folder {
 public:
  Folder();
  ~Folder();
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tutti::tuner
