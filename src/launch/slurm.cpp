// SPDX-License-Identifier: BSD-3-Clause
#include "launch/slurm.hpp"

#include <cstdint>
#include <cstdlib>
#include <string>

#include "base/environment.hpp"
#include "launch/message.hpp"

namespace tutti::launch {

namespace {

constexpr char job_variable[] = "SLURM_JOB_ID", step_variable[] = "SLURM_STEP_ID", task_variable[] = "SLURM_PROCID",
               tasks_variable[] = "SLURM_STEP_NUM_TASKS", hosts_variable[] = "SLURM_STEP_NODELIST",
               order_variable[] = "SLURM_DISTRIBUTION", parts_variable[] = "SLURM_HET_SIZE";
constexpr char slurm_advice[] =
    "; start the program with srun --mpi=pmix or --mpi=pmi2 (srun --mpi=list says what there is), set TUTTI_RANK and "
    "the others by hand (docs/launch.md), or unset SLURM_STEP_ID to run it alone";
/// Above those that Linux gives to whoever asks for any.
constexpr std::uint32_t first_port = 61440, ports = 4096;

int number(const char* name) {
  const int value = number_in(name).value_or(-1);
  if (value < 0)
    throw Error(Cause::usage, std::string("this is a task of Slurm's, but ") + name + " is \"" + base::variable(name) +
                                  "\"" + slurm_advice);
  return value;
}

HostAndPort store_of(std::uint32_t job, std::uint32_t step) {
  const std::string list = base::variable(hosts_variable), host = first_host(list);
  if (host.empty())
    throw Error(Cause::usage, std::string("this is a task of Slurm's, but ") + hosts_variable + " is \"" + list + "\"" +
                                  slurm_advice);
  // Steps of one job, and jobs that follow each other, are the ones that meet on a host.
  return HostAndPort("tcp:" + host + ":" + std::to_string(first_port + (37 * job + step) % ports));
}

}  // namespace

std::string first_host(std::string_view list) {
  std::string host;
  while (!list.empty() && list.front() != ',') {
    if (list.front() == '[') {
      const std::size_t close = list.find(']');
      if (close == list.npos) return {};
      const std::string_view numbers = list.substr(1, close - 1);
      const std::string_view first = numbers.substr(0, numbers.find_first_of(",-"));
      if (first.empty() || first.find_first_not_of("0123456789") != first.npos) return {};
      host += first;
      list.remove_prefix(close + 1);
    } else {
      const char c = list.front();
      const bool plain = (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
      if (!plain && c != '-' && c != '_' && c != '.') return {};
      host += c;
      list.remove_prefix(1);
    }
  }
  return host;
}

std::optional<SlurmTask> find_slurm_task() {
  // Batch scripts and shells of an allocation have the other variables, but are no tasks.
  if (std::getenv(step_variable) == nullptr) return std::nullopt;
  const int size = number(tasks_variable), rank = number(task_variable);
  if (size == 1) return std::nullopt;
  if (!base::variable(parts_variable).empty())
    throw Error(Cause::usage,
                std::string("Slurm's variables do not say where task 0 of a heterogeneous job is") + slurm_advice);
  if (rank >= size || size > most_ranks)
    throw Error(Cause::usage, "this is task " + std::to_string(rank) + " of " + std::to_string(size) +
                                  " of Slurm's; Tutti takes up to " + std::to_string(most_ranks) + " ranks" +
                                  slurm_advice);
  if (base::variable(order_variable).starts_with("arbitrary"))
    throw Error(Cause::usage,
                std::string("Slurm's variables do not say where task 0 is when tasks are dealt to hosts in "
                            "an arbitrary order") +
                    slurm_advice);
  const int job = number(job_variable), step = number(step_variable);
  return SlurmTask{rank, size, std::to_string(job) + "." + std::to_string(step),
                   store_of(static_cast<std::uint32_t>(job), static_cast<std::uint32_t>(step))};
}

}  // namespace tutti::launch
