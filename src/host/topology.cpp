// SPDX-License-Identifier: BSD-3-Clause
#include "host/topology.hpp"

#include <sched.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <cstdlib>
#include <optional>
#include <string_view>
#include <thread>
#include <utility>

#include "base/proc.hpp"

namespace tutti::host {
namespace {

/// "0-2,5" -> 0 1 2 5. What is not a list of CPUs gives an empty one.
std::vector<int> parse_list(const std::string& text) {
  constexpr long most = 1 << 20;
  std::vector<int> list;
  const char* place = text.c_str();
  while (*place >= '0' && *place <= '9') {
    char* end = nullptr;
    const long first = std::strtol(place, &end, 10);
    const long last = *end == '-' ? std::strtol(end + 1, &end, 10) : first;
    if (first > last || last > most) return {};
    for (long cpu = first; cpu <= last; ++cpu) list.push_back(static_cast<int>(cpu));
    place = *end == ',' ? end + 1 : end;
  }
  return list;
}

/// Where this process stands in one hierarchy of control groups.
struct Place {
  std::string directory;  ///< Mount point, below root.
  std::string path;       ///< "/a/b"; walked up to "/". Parts that are not visible here (containers) are passed over.

  /// The values of `read` (a directory -> optional value) from here up to the root.
  template <class Read>
  auto upwards(const std::string& root, Read read) const {
    std::vector<typename decltype(read(std::string()))::value_type> found;
    const std::string base = root + directory;
    for (std::string rest = path;;) {
      if (const auto value = read(base + rest)) found.push_back(*value);
      if (rest.empty()) return found;
      rest.resize(rest.find_last_of('/') == std::string::npos ? 0 : rest.find_last_of('/'));
    }
  }
};

bool names(std::string_view controllers, std::string_view wanted) {
  while (!controllers.empty()) {
    const std::size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == wanted) return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

/// All places that may hold the limits of `controller`: lines of /proc/self/cgroup are "number:controllers:path".
std::vector<Place> places(const std::string& root, const std::string& controller) {
  std::vector<Place> result;
  std::string text = base::read_text(root + "/proc/self/cgroup");
  if (text.empty()) text = "0::/\n";
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view row = std::string_view(text).substr(begin, end - begin);
    begin = end + 1;
    const std::size_t one = row.find(':');
    const std::size_t two = one == std::string_view::npos ? one : row.find(':', one + 1);
    if (two == std::string_view::npos) continue;
    const std::string controllers(row.substr(one + 1, two - one - 1));
    std::string path(row.substr(two + 1));
    if (path == "/") path.clear();
    if (controllers.empty()) {
      result.push_back({"/sys/fs/cgroup", path});
      result.push_back({"/sys/fs/cgroup/unified", path});
    } else if (names(controllers, controller)) {
      result.push_back({"/sys/fs/cgroup/" + controllers, path});
      if (controllers != controller) result.push_back({"/sys/fs/cgroup/" + controller, path});
    }
  }
  return result;
}

/// The nearest cpuset that can be read. cgroup v2 and v1 name the file differently.
std::vector<int> cpuset(const std::string& root) {
  for (const Place& place : places(root, "cpuset")) {
    const auto found = place.upwards(root, [](const std::string& directory) -> std::optional<std::vector<int>> {
      for (const char* name : {"/cpuset.cpus.effective", "/cpuset.effective_cpus", "/cpuset.cpus"}) {
        std::vector<int> list = parse_list(base::read_text(directory + name));
        if (!list.empty()) return list;
      }
      return std::nullopt;
    });
    if (!found.empty()) return found.front();
  }
  return {};
}

/// CPUs per unit of time from "quota period"; nothing for "max", -1 or what is no number.
std::optional<double> ratio(const std::string& quota, const std::string& period) {
  const double top = std::strtod(quota.c_str(), nullptr), bottom = std::strtod(period.c_str(), nullptr);
  if (!(top > 0) || !(bottom > 0)) return std::nullopt;
  return top / bottom;
}

std::optional<double> quota_of(const std::string& directory) {
  const std::string text = base::read_text(directory + "/cpu.max");
  const std::size_t space = text.find(' ');
  if (space != std::string::npos) return ratio(text.substr(0, space), text.substr(space + 1));
  return ratio(base::read_text(directory + "/cpu.cfs_quota_us"), base::read_text(directory + "/cpu.cfs_period_us"));
}

/// The smallest of all limits on the way up: each of them holds.
std::optional<double> cpu_max(const std::string& root) {
  std::optional<double> least;
  for (const Place& place : places(root, "cpu"))
    for (const double value : place.upwards(root, quota_of))
      if (!least || value < *least) least = value;
  return least;
}

/// "1.5", "2", "0.25": two digits are enough to read.
std::string short_number(double value) {
  const auto hundredths = std::llround(value * 100);
  std::string text = std::to_string(hundredths / 100);
  const int rest = static_cast<int>(hundredths % 100);
  if (rest == 0) return text;
  text += '.';
  text += static_cast<char>('0' + rest / 10);
  if (rest % 10 != 0) text += static_cast<char>('0' + rest % 10);
  return text;
}

}  // namespace

std::vector<int> affinity() {
  std::vector<int> list;
  for (std::size_t cpus = 1024; cpus <= (1u << 20); cpus *= 2) {
    std::vector<unsigned long> mask(cpus / (8 * sizeof(unsigned long)));
    const std::size_t bytes = mask.size() * sizeof(unsigned long);
    auto* set = reinterpret_cast<cpu_set_t*>(mask.data());
    if (sched_getaffinity(0, bytes, set) == 0) {
      for (std::size_t cpu = 0; cpu < cpus; ++cpu)
        if (CPU_ISSET_S(cpu, bytes, set)) list.push_back(static_cast<int>(cpu));
      return list;
    }
    if (errno != EINVAL) break;  // EINVAL: the kernel's mask is larger than ours.
  }
  for (unsigned cpu = 0; cpu < std::max(1u, std::thread::hardware_concurrency()); ++cpu)
    list.push_back(static_cast<int>(cpu));
  return list;
}

Cores usable_cores(std::vector<int> mask, const std::string& root) {
  Cores cores;
  const std::vector<int> set = cpuset(root);
  const std::optional<double> limit = cpu_max(root);
  cores.why = "affinity " + std::to_string(mask.size()) + ", cpuset " +
              (set.empty() ? "none" : std::to_string(set.size())) + ", cpu.max " +
              (limit ? short_number(*limit) : "none");
  cores.list = std::move(mask);
  if (!set.empty()) {
    std::vector<int> both;
    for (const int cpu : cores.list)
      if (std::find(set.begin(), set.end(), cpu) != set.end()) both.push_back(cpu);
    if (!both.empty()) cores.list = std::move(both);
  }
  double usable = static_cast<double>(cores.list.size());
  if (limit) usable = std::min(usable, *limit);
  cores.usable = std::max(1, static_cast<int>(usable));
  cores.why += " -> " + std::to_string(cores.usable);
  return cores;
}

Cores usable_cores(const std::string& root) { return usable_cores(affinity(), root); }

}  // namespace tutti::host
