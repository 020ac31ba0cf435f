// SPDX-License-Identifier: BSD-3-Clause
#include "diagnose/jobs.hpp"

#include <sys/stat.h>

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

#include "diagnose/proc.hpp"
#include "diagnose/snapshot.hpp"
#include "host/holder.hpp"
#include "launch/system.hpp"
#include "transport/tcp/socket.hpp"

namespace tutti::diagnose {

namespace {

constexpr std::size_t digits = 16;  // of a job's number

std::optional<std::uint64_t> read_job(std::string_view text) {
  std::uint64_t job = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), job, 16);
  if (text.size() != digits || error != std::errc() || end != text.data() + text.size()) return std::nullopt;
  return job;
}

/// The jobs whose launchers listen, whoever they belong to.
std::vector<std::uint64_t> listening_jobs() {
  std::vector<std::uint64_t> jobs;
  const std::string table = read_text("/proc/net/unix");
  const std::string_view prefix = launch::job_address_prefix.substr(launch::Address::prefix.size() - 1);  // with the @
  for (std::size_t at = 0; (at = table.find(prefix, at)) != table.npos;) {
    at += prefix.size();
    const std::size_t end = table.find('\n', at);
    if (const auto job = read_job(std::string_view(table).substr(at, end - at))) jobs.push_back(*job);
  }
  std::ranges::sort(jobs);
  jobs.erase(std::unique(jobs.begin(), jobs.end()), jobs.end());  // connections stand there under the same name
  return jobs;
}

/// Asks the kernel who listens there; says nothing to the launcher itself, which may be stopped.
launch::Peer listener_of(std::uint64_t job) {
  const base::Descriptor socket = transport::tcp::begin_call(*transport::tcp::Address::parse(launch::job_address(job)));
  if (!socket) return {};
  return launch::peer_of(socket.get());
}

Job& entry(std::vector<Job>& jobs, std::uint64_t id) {
  const auto found = std::ranges::find(jobs, id, &Job::id);
  if (found != jobs.end()) return *found;
  jobs.emplace_back().id = id;
  return jobs.back();
}

/// Segments of jobs, and of this version; others are not for us.
void add(std::vector<Job>& jobs, base::Descriptor segment) {
  try {
    entry(jobs, job_of(segment.get())).segment = std::move(segment);
  } catch (const Error&) {
    // Somebody else calls a file like ours.
  }
}

std::string user_of(pid_t pid) {
  struct stat status {};
  if (stat(proc(pid, "").c_str(), &status) != 0) return "another user";
  return "user " + std::to_string(status.st_uid);
}

std::string foreign(const std::string& owner) {
  return "belongs to " + owner + "; only that user and root may look into it";
}

/// Why there is a launcher but no memory to be read.
std::string problem_with(const launch::Peer& launcher) {
  if (open_segments(launcher.pid, [](const base::Descriptor&) {}) == Access::denied)
    return foreign("user " + std::to_string(launcher.uid));
  return "was started by another version of Tutti; use the `tutti` that started it";
}

Job find_by_number(std::uint64_t number) {
  for (Job& job : find_jobs()) {
    if (job.id != number) continue;
    if (!job.segment) throw Error(Cause::system, "job " + name_of(number) + " " + job.problem);
    return std::move(job);
  }
  throw Error(Cause::usage, "there is no job " + name_of(number) + " on this machine; tutti why lists those there are");
}

bool has_rank(const Job& job, pid_t pid) {
  if (!job.segment) return false;
  const Snapshot snapshot = read_snapshot(job.segment.get());
  return std::ranges::find(snapshot.processes, pid, &Process::pid) != snapshot.processes.end();
}

Job find_by_process(pid_t pid) {
  std::vector<Job> held;
  const Access access = open_segments(pid, [&](base::Descriptor segment) {
    const std::uint64_t id = job_of(segment.get());
    entry(held, id).segment = std::move(segment);
  });
  if (access == Access::denied)
    throw Error(Cause::system, "process " + std::to_string(pid) + " " + foreign(user_of(pid)));
  if (!held.empty()) {
    // A rank may be a launcher of another job, or hold memory of one: its own job goes first.
    const auto own = std::ranges::find_if(held, [pid](const Job& job) { return has_rank(job, pid); });
    Job job = std::move(own != held.end() ? *own : held.front());
    job.launcher = listener_of(job.id).pid;
    return job;
  }
  for (Job& job : find_jobs())  // one that is dead holds nothing any more, but the others know it
    if (has_rank(job, pid)) return std::move(job);
  const bool there = host::state_of(pid) != '\0';
  throw Error(Cause::usage,
              there ? "process " + std::to_string(pid) + " (" + command_of(pid) +
                          ") is no rank and no launcher of a job; tutti why lists the jobs there are"
                    : "there is no process " + std::to_string(pid) + ", and no job that is still there had one");
}

}  // namespace

std::string name_of(std::uint64_t job) { return launch::job_address(job).substr(launch::job_address_prefix.size()); }

std::vector<Job> find_jobs() {
  std::vector<Job> jobs;
  // The last one found of a job is taken: where processes of several of its hosts are visible, this host's.
  std::vector<pid_t> processes = all_processes();
  const std::string network = read_link("/proc/self/ns/net");
  std::ranges::stable_partition(processes, [&](pid_t pid) { return read_link(proc(pid, "ns/net")) != network; });
  for (const pid_t pid : processes)
    open_segments(pid, [&](base::Descriptor segment) { add(jobs, std::move(segment)); });
  for (const std::uint64_t id : listening_jobs()) {
    const launch::Peer listener = listener_of(id);
    if (listener.pid == 0) continue;
    Job& job = entry(jobs, id);
    job.launcher = listener.pid;
    if (!job.segment) job.problem = problem_with(listener);
  }
  std::ranges::sort(jobs, {}, &Job::id);
  return jobs;
}

Job find_job(const std::string& which) {
  std::string_view text = which;
  for (const std::string_view prefix : {launch::job_address_prefix, std::string_view("tutti-")})
    if (text.starts_with(prefix)) text.remove_prefix(prefix.size());
  if (const auto job = read_job(text)) return find_by_number(*job);
  pid_t pid = 0;
  const auto [end, error] = std::from_chars(which.data(), which.data() + which.size(), pid);
  if (error != std::errc() || end != which.data() + which.size() || pid <= 0)
    throw Error(Cause::usage, "\"" + which +
                                  "\" is no job and no process; name a job's 16 digits as tutti why lists them, or the "
                                  "PID of its launcher or of a rank");
  return find_by_process(pid);
}

}  // namespace tutti::diagnose
