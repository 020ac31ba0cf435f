// SPDX-License-Identifier: BSD-3-Clause
// tutti-floor: prints what the machine can do at best. Medians, with the tenth and ninetieth percentile.
// tutti-floor --copies 4096,65536: only the copies of these many bytes, on all cores at a time, as JSON.
// tutti-floor --meetings 4,8: only the barest barrier of so many processes on all cores, as JSON.
// tutti-floor --line: only how many nanoseconds a cache line takes from core to core, null where there is one, as JSON.
#include <algorithm>
#include <cstdio>
#include <exception>
#include <sstream>
#include <string>
#include <vector>

#include "floor.hpp"
#include "host/topology.hpp"
#include "launcher/binding.hpp"

namespace {

using namespace tutti::bench;

void row(const char* what, const Samples& samples) {
  std::printf("%-44s %9.0f ns   (p10 %.0f, p90 %.0f, %zu samples)\n", what, samples.median(), samples.quantile(0.1),
              samples.quantile(0.9), samples.values.size());
}

double gigabytes_per_second(std::size_t bytes, const Samples& samples) {
  return static_cast<double>(bytes) / samples.median();
}

void copies(std::span<const int> cpus) {
  std::string why;
  std::printf("copies on %zu of the cores at a time\n%-12s", cpus.size(), "bytes");
  for (const Copier& copier : copiers()) std::printf(" %10s GB/s", copier.name);
  std::printf(" %20s\n", "process_vm_readv GB/s");
  for (std::size_t bytes = 4096; bytes <= 64u << 20; bytes *= 4) {
    std::printf("%-12zu", bytes);
    for (const Copier& copier : copiers())
      std::printf(" %15.2f", gigabytes_per_second(bytes, memory_copy(bytes, copier, cpus)));
    const Samples remote = remote_read(bytes, cpus, why);
    if (remote.values.empty())
      std::printf(" %20s\n", ("refused: " + why).c_str());
    else
      std::printf(" %20.2f\n", gigabytes_per_second(bytes, remote));
  }
}

/// The numbers of a list, separated by commas.
std::vector<std::size_t> numbers(const std::string& option, const std::string& list) {
  std::istringstream words(list);
  std::vector<std::size_t> found;
  for (std::string word; std::getline(words, word, ',');) found.push_back(std::stoul(word));
  if (found.empty() || std::ranges::find(found, 0u) != found.end())
    throw std::runtime_error(option + ": numbers from 1 on, separated by commas");
  return found;
}

/// An array of {"bytes", "memcpy_ns", "blocks_ns", "streaming_ns", "read_ns"}, the last null where the kernel refuses.
void copies_as_json(const std::vector<std::size_t>& sizes, std::span<const int> cpus) {
  const char* separator = "[";
  for (const std::size_t bytes : sizes) {
    std::string why;
    const Samples remote = remote_read(bytes, cpus, why);
    const std::string read = remote.values.empty() ? "null" : std::to_string(remote.median());
    std::printf("%s{\"bytes\": %zu", separator, bytes);
    for (const Copier& copier : copiers())
      std::printf(", \"%s_ns\": %f", copier.name, memory_copy(bytes, copier, cpus).median());
    std::printf(", \"read_ns\": %s}", read.c_str());
    separator = ",\n ";
  }
  std::printf("]\n");
}

std::vector<int> cores_in_order() { return tutti::launcher::binding_order(tutti::host::usable_cores().list); }

/// An array of {"processes", "meeting_ns"}.
void meetings_as_json(const std::vector<std::size_t>& counts, std::span<const int> cpus) {
  const char* separator = "[";
  for (const std::size_t count : counts) {
    std::printf("%s{\"processes\": %zu, \"meeting_ns\": %f}", separator, count,
                meeting(cpus, static_cast<int>(count)).median());
    separator = ",\n ";
  }
  std::printf("]\n");
}

void line_as_json() {
  const std::vector<int> order = cores_in_order();
  std::printf("%s\n",
              order.size() > 1 ? std::to_string(line_one_way(order[0], order[1], 20).median()).c_str() : "null");
}

int run() {
  std::printf("%s\n", machine().c_str());
  const std::vector<int> order = cores_in_order();
  const int first = order.front(), second = order.size() > 1 ? order[1] : first;
  row("clock read", clock_read());
  row("store and full fence", fence());
  if (order.size() > 1)
    row("cache line, one way between cores", line_one_way(first, second));
  else
    std::printf("cache line, one way: there is one core only\n");
  for (const int processes : {2, 4, 8})
    row(("sched_yield hand-over, " + std::to_string(processes) + " processes on a core").c_str(),
        yield_hand_over(first, processes));
  for (const std::size_t shared_by : {2, 4, 8}) {
    const int processes = static_cast<int>(shared_by * order.size());
    row(("the barest barrier, " + std::to_string(processes) + " processes").c_str(), meeting(order, processes));
  }
  row("futex wake-up, same core", futex_wake_up(first, first));
  if (order.size() > 1) row("futex wake-up, other core", futex_wake_up(first, second));
  copies(std::span(order).first(1));
  if (order.size() > 1) copies(order);
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  try {
    const std::string what = count > 1 ? arguments[1] : "";
    if (what == "--copies" && count == 3)
      copies_as_json(numbers(what, arguments[2]), cores_in_order());
    else if (what == "--meetings" && count == 3)
      meetings_as_json(numbers(what, arguments[2]), cores_in_order());
    else if (what == "--line" && count == 2)
      line_as_json();
    else if (count == 1)
      return run();
    else
      throw std::runtime_error(
          "usage: tutti-floor, tutti-floor --copies BYTES,BYTES, tutti-floor --meetings PROCESSES,PROCESSES, or "
          "tutti-floor --line");
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
