// SPDX-License-Identifier: BSD-3-Clause
// What this machine can do at best: the floors that Tutti's own times are given against, measured in the same run.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace tutti::bench {

/// Samples of one quantity. Every measurement checks its own result and throws std::runtime_error when it is wrong.
struct Samples {
  std::vector<double> values;
  double quantile(double q) const;
  double median() const { return quantile(0.5); }
};

/// The machine, in one line: processor, cores that may be used and why, kernel.
std::string machine();

/// Nanoseconds for one changed cache line to be seen by a process on another core (half a round trip): the mean of a
/// thousand is a sample.
Samples line_one_way(int cpu, int other_cpu, int samples = 200);
/// Nanoseconds from one process's sched_yield to the next process, while `processes` of them go round on one core in
/// whatever order the system chooses.
Samples yield_hand_over(int cpu, int processes);
/// Nanoseconds of a barrier of so many processes, dealt over these cores, that does nothing but what every barrier
/// must: each writes a word and looks for the others', and whoever misses one gives its core away.
Samples meeting(std::span<const int> cpus, int processes);
/// Nanoseconds from before FUTEX_WAKE to the sleeper running again.
Samples futex_wake_up(int cpu, int other_cpu);
/// A way to copy inside a process.
struct Copier {
  const char* name;
  void (*copy)(std::byte* to, const std::byte* from, std::size_t bytes);
};
/// The C library's, and the library's own: through the caches and past them.
std::span<const Copier> copiers();
/// Nanoseconds of one copy of so many bytes on the first of these cores while each of the others copies as much, too;
/// source and target touched before.
Samples memory_copy(std::size_t bytes, const Copier& copier, std::span<const int> cpus);
/// Nanoseconds of one process_vm_readv of so many bytes from another process, the other cores as above. Empty where the
/// kernel refuses; then `why` says so.
Samples remote_read(std::size_t bytes, std::span<const int> cpus, std::string& why);
/// Nanoseconds of reading the clock, and of a full fence after a store.
Samples clock_read();
Samples fence();

}  // namespace tutti::bench
