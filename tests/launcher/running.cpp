// SPDX-License-Identifier: BSD-3-Clause
#include "running.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <pty.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>

#include "base/clock.hpp"

namespace tutti::test {

namespace {

constexpr std::uint64_t second = 1'000'000'000, patience = 60 * second;

std::string read_all(int descriptor) {
  std::string content;
  char buffer[65536];
  for (;;) {
    const ssize_t size = pread(descriptor, buffer, sizeof buffer, static_cast<off_t>(content.size()));
    if (size <= 0) return content;
    content.append(buffer, static_cast<std::size_t>(size));
  }
}

std::string read_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

/// Asks every 2 ms until it is so, for a minute.
template <class Condition>
bool becomes(Condition condition) {
  for (const std::uint64_t begin = base::now(); base::now() - begin < patience; poll(nullptr, 0, 2))
    if (condition()) return true;
  return condition();
}

base::Descriptor make_file(const char* name) { return base::Descriptor(memfd_create(name, MFD_CLOEXEC)); }

base::Descriptor make_input(const std::string& content) {
  base::Descriptor file = make_file("input");
  if (write(file.get(), content.data(), content.size()) < 0) std::abort();
  lseek(file.get(), 0, SEEK_SET);
  return file;
}

std::string make_mark() {
  static std::atomic<int> number = 0;
  return "TUTTI_TEST_MARK=" + std::to_string(getpid()) + "-" +
         std::to_string(number.fetch_add(1, std::memory_order_relaxed)) + "-" + std::to_string(base::now());
}

double seconds_of(const timeval& time) {
  return static_cast<double>(time.tv_sec) + static_cast<double>(time.tv_usec) * 1e-6;
}

[[noreturn]] void execute(const std::vector<std::string>& command, const std::string& mark) {
  std::vector<char*> arguments;
  for (const std::string& word : command) arguments.push_back(const_cast<char*>(word.c_str()));
  arguments.push_back(nullptr);
  // Whoever runs the tests in the background has these ignored.
  for (const int number : {SIGINT, SIGQUIT, SIGHUP, SIGPIPE}) std::signal(number, SIG_DFL);
  putenv(const_cast<char*>(mark.c_str()));
  execvp(arguments[0], arguments.data());
  _exit(126);
}

}  // namespace

Running::Running(const std::vector<std::string>& command, const std::string& input, bool terminal)
    : output_(make_file("output")), error_(make_file("error")), mark_(make_mark()) {
  const base::Descriptor source = make_input(input);
  int master = -1;
  pid_ = terminal ? forkpty(&master, nullptr, nullptr, nullptr) : fork();
  if (pid_ == 0) {
    if (!terminal) {
      dup2(source.get(), 0);
      dup2(output_.get(), 1);
      dup2(error_.get(), 2);
    }
    execute(command, mark_);
  }
  if (!terminal) return;
  terminal_ = base::Descriptor(master);
  fcntl(master, F_SETFD, FD_CLOEXEC);
  fcntl(master, F_SETFL, O_NONBLOCK);
  type(input);
}

Running::~Running() {
  if (!ended_) {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  for (const pid_t pid : descendants()) kill(pid, SIGKILL);
}

void Running::signal(int number) const { kill(pid_, number); }

void Running::type(const std::string& text) const {
  if (write(terminal_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) std::abort();
}

std::string Running::output() const {
  if (!terminal_) return read_all(output_.get());
  char buffer[4096];
  for (ssize_t size = 0; (size = read(terminal_.get(), buffer, sizeof buffer)) > 0;)
    screen_.append(buffer, static_cast<std::size_t>(size));
  return screen_;
}

std::string Running::errors() const { return terminal_ ? output() : read_all(error_.get()); }

bool Running::prints(const std::string& text) {
  return becomes([&] { return output().find(text) != std::string::npos; });
}

bool Running::complains(const std::string& text) {
  return becomes([&] { return errors().find(text) != std::string::npos; });
}

int Running::wait(double seconds) {
  const std::uint64_t until = base::now() + static_cast<std::uint64_t>(seconds * 1e9);
  while (!ended_) {
    rusage usage{};
    if (wait4(pid_, &status_, WNOHANG, &usage) == pid_) {
      ended_ = true;
      total_cpu_time_ = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
    } else if (base::now() > until) {
      return -1;
    } else {
      output();  // A terminal that nobody reads would hold the command up.
      poll(nullptr, 0, 2);
    }
  }
  return WIFEXITED(status_) ? WEXITSTATUS(status_) : 128 + WTERMSIG(status_);
}

std::vector<pid_t> Running::descendants() const {
  std::vector<pid_t> found;
  const std::unique_ptr<DIR, int (*)(DIR*)> processes(opendir("/proc"), closedir);
  while (const dirent* item = readdir(processes.get())) {
    const pid_t pid = std::atoi(item->d_name);
    if (pid <= 0 || pid == getpid() || (pid == pid_ && !ended_)) continue;
    const std::string folder = "/proc/" + std::to_string(pid);
    // A zombie's environment is empty.
    if (read_file(folder + "/environ").find(mark_) != std::string::npos) found.push_back(pid);
  }
  return found;
}

bool Running::has_descendants(std::size_t count) const {
  return becomes([&] { return descendants().size() == count; });
}

pid_t Running::descendant(const std::string& name) const {
  for (const pid_t pid : descendants())
    if (read_file("/proc/" + std::to_string(pid) + "/comm") == name + "\n") return pid;
  return 0;
}

double Running::cpu_time() const {
  const std::string stat = read_file("/proc/" + std::to_string(pid_) + "/stat");
  std::size_t at = stat.rfind(')') + 1;
  for (int field = 0; field < 11; ++field) at = stat.find(' ', at + 1);
  char* end = nullptr;
  const double user = std::strtod(stat.c_str() + at, &end), system = std::strtod(end, nullptr);
  return (user + system) / static_cast<double>(sysconf(_SC_CLK_TCK));
}

std::string tutti_command() { return TUTTI_COMMAND; }
std::string probe_command() { return PROBE_COMMAND; }

std::vector<std::string> tutti_run(const std::vector<std::string>& options, const std::vector<std::string>& command) {
  std::vector<std::string> words{tutti_command(), "run"};
  words.insert(words.end(), options.begin(), options.end());
  words.insert(words.end(), command.begin(), command.end());
  return words;
}

std::vector<std::string> probe(const std::vector<std::string>& steps) {
  std::vector<std::string> words{probe_command()};
  words.insert(words.end(), steps.begin(), steps.end());
  return words;
}

}  // namespace tutti::test
