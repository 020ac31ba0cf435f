// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/survivors.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <iterator>
#include <memory>
#include <optional>
#include <sstream>
#include <string_view>
#include <system_error>

#include "base/proc.hpp"
#include "launch/environment.hpp"
#include "launch/system.hpp"

namespace tutti::launcher {

namespace {

constexpr std::size_t longest_read = std::size_t{4} << 20;

struct Stat {
  char state = 'Z';
  pid_t group = 0;
  int threads = 0;

  /// A process whose main thread has ended looks like a zombie, although others of its threads go on.
  bool runs() const { return state != 'X' && (state != 'Z' || threads > 1); }
};

Stat stat_of(pid_t pid) {
  std::istringstream fields(base::read_stat(pid));
  Stat stat;
  std::string other;
  fields >> stat.state >> other >> stat.group;
  for (int field = 6; field < 20; ++field) fields >> other;
  return fields >> stat.threads ? stat : Stat();
}

/// Whether a process has this entry in its environment. A main thread that has ended has none any more.
bool carries(const std::string& folder, const Stat& stat, const std::string& entry) {
  if (stat.state != 'Z') return base::read_text(folder + "/environ", longest_read).find(entry) != std::string::npos;
  std::error_code gone;
  for (std::filesystem::directory_iterator thread(folder + "/task", gone), end; !gone && thread != end;
       thread.increment(gone))
    if (base::read_text(thread->path() / "environ", longest_read).find(entry) != std::string::npos) return true;
  return false;
}

bool is_dumping(const std::string& folder) {
  return base::read_text(folder + "/status").find("\nCoreDumping:\t1") != std::string::npos;
}

std::optional<pid_t> to_pid(std::string_view name) {
  pid_t pid = 0;
  const auto [end, problem] = std::from_chars(name.data(), name.data() + name.size(), pid);
  if (problem != std::errc{} || end != name.data() + name.size()) return std::nullopt;
  return pid;
}

void signal_all(std::span<const Survivor> survivors, int number) {
  for (const Survivor& survivor : survivors)
    if (!survivor.dumping) kill(survivor.pid, number);
}

/// Asks, waits a second, kills until nobody is left.
void end_survivors(const std::string& secret) {
  constexpr int patience = 50;
  std::set<pid_t> asked;
  for (int round = 0, empty = 0; empty < empty_looks; ++round) {
    if (round > 0) poll(nullptr, 0, 20);
    const std::vector<Survivor> left = find_survivors(secret, {});
    empty = left.empty() ? empty + 1 : 0;
    ask_to_end(left, asked);
    if (round >= patience) signal_all(left, SIGKILL);
  }
}

[[noreturn]] void keep_guard(const std::string& secret, int launcher) {
  setsid();
  prctl(PR_SET_NAME, "tutti-guard");
  // Of a job inside another one: not among those whom the outer guard ends, before this one has done its work.
  if (char* const outer = std::getenv(launch::secret_variable)) std::memset(outer, '-', std::strlen(outer));
  // Nothing of the launcher's may stay open here: others wait for the end of its output, or for its folder.
  dup2(launcher, 0);
  close_range(1, ~0u, 0);
  if (chdir("/") != 0) _exit(1);
  char word = 0;
  ssize_t size = -1;
  while ((size = read(0, &word, 1)) < 0 && errno == EINTR) {
  }
  if (size == 0) end_survivors(secret);
  _exit(0);
}

}  // namespace

std::vector<Survivor> find_survivors(const std::string& secret, std::span<const pid_t> groups) {
  const std::string entry = std::string(launch::secret_variable) + "=" + secret;
  const std::unique_ptr<DIR, int (*)(DIR*)> processes(opendir("/proc"), closedir);
  std::vector<Survivor> found;
  if (!processes) return found;
  while (const dirent* item = readdir(processes.get())) {
    const std::optional<pid_t> pid = to_pid(item->d_name);
    if (!pid || *pid == getpid()) continue;
    const std::string folder = "/proc/" + std::to_string(*pid);
    const Stat stat = stat_of(*pid);
    if (!stat.runs()) continue;
    if (std::ranges::find(groups, stat.group) != groups.end() || carries(folder, stat, entry))
      found.push_back({*pid, stat.group, is_dumping(folder)});
  }
  return found;
}

void ask_to_end(std::span<const Survivor> survivors, std::set<pid_t>& asked) {
  std::vector<Survivor> found_now;
  std::ranges::copy_if(survivors, std::back_inserter(found_now),
                       [&](const Survivor& survivor) { return asked.insert(survivor.pid).second; });
  signal_all(found_now, SIGTERM);
  signal_all(found_now, SIGCONT);  // A stopped process hears nothing.
}

Guard::Guard(const std::string& secret) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw launch::system_error("cannot make a pipe");
  // It is born deaf: the guard of an outer job may ask it to end before it has run at all.
  sigset_t all, before;
  sigfillset(&all);
  sigprocmask(SIG_SETMASK, &all, &before);
  pid_ = fork();
  if (pid_ == 0) {
    close(ends[1]);
    keep_guard(secret, ends[0]);
  }
  sigprocmask(SIG_SETMASK, &before, nullptr);
  close(ends[0]);
  alive_ = base::Descriptor(ends[1]);
  if (pid_ < 0) throw launch::system_error("cannot start the job's guard");
}

Guard::~Guard() {
  if (!alive_) return;
  const char word = 'e';
  if (write(alive_.get(), &word, 1) < 0) {
    // It is gone already; there is nothing to end.
  }
  alive_.reset();
  while (waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
  }
}

}  // namespace tutti::launcher
