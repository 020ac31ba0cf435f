// SPDX-License-Identifier: BSD-3-Clause
// How many cores this process may really use, from affinity, cpuset and cgroup cpu.max; sysfs only, no library.
#pragma once

#include <string>
#include <vector>

namespace tutti::host {

struct Cores {
  int usable = 1;         ///< The smallest of the three, at least 1.
  std::vector<int> list;  ///< CPUs in the affinity mask and the cpuset.
  std::string why;        ///< "affinity 4, cpuset 2, cpu.max 1.5 -> 1"
};
/// `root` lets tests point at a made-up file tree.
Cores usable_cores(const std::string& root = "/");
/// The same for a given affinity mask.
Cores usable_cores(std::vector<int> mask, const std::string& root);
/// The CPUs this thread may run on.
std::vector<int> affinity();

}  // namespace tutti::host
