// SPDX-License-Identifier: BSD-3-Clause
#include "launcher/process.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <memory>

#include "launch/system.hpp"
#include "launcher/launcher.hpp"

namespace tutti::launcher {

namespace {

bool executable(const std::string& path) {
  struct stat status {};
  return stat(path.c_str(), &status) == 0 && S_ISREG(status.st_mode) && access(path.c_str(), X_OK) == 0;
}

std::vector<char*> pointers(const std::vector<std::string>& texts) {
  std::vector<char*> result;
  for (const std::string& text : texts) result.push_back(const_cast<char*>(text.c_str()));
  result.push_back(nullptr);
  return result;
}

bool bind_to(int cpu) {
  const std::size_t bytes = CPU_ALLOC_SIZE(cpu + 1);
  const std::unique_ptr<cpu_set_t, void (*)(cpu_set_t*)> set(CPU_ALLOC(cpu + 1), [](cpu_set_t* p) { CPU_FREE(p); });
  CPU_ZERO_S(bytes, set.get());
  CPU_SET_S(cpu, bytes, set.get());
  return sched_setaffinity(0, bytes, set.get()) == 0;
}

[[noreturn]] void report_and_exit(int report, Rank rank, StartFailure::Step step) {
  const StartFailure failure{rank, errno, step};
  // Smaller than PIPE_BUF: written whole or not at all, also beside other ranks.
  if (write(report, &failure, sizeof failure) < 0) _exit(126);
  _exit(127);
}

void execute(const Ground& ground, const Start& start) {
  std::vector<char*> arguments = pointers(ground.arguments), environment = pointers(start.environment);
  execve(ground.program.c_str(), arguments.data(), environment.data());
  if (errno != ENOEXEC) return;
  // A script without a first line that names its interpreter: the shell's, as in execvp.
  arguments[0] = const_cast<char*>(ground.program.c_str());
  arguments.insert(arguments.begin(), const_cast<char*>("sh"));
  execve("/bin/sh", arguments.data(), environment.data());
}

[[noreturn]] void become(const Ground& ground, const Start& start, pid_t launcher, int report) {
  const auto fail = [&](StartFailure::Step step) { report_and_exit(report, start.rank, step); };
  if (setpgid(0, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0) fail(StartFailure::Step::prepare);
  if (getppid() != launcher) _exit(127);  // It died before the line above, and nobody is told.
  if (dup2(start.input, 0) < 0 || dup2(start.output, 1) < 0 || dup2(start.error, 2) < 0)
    fail(StartFailure::Step::prepare);
  if (start.cpu >= 0 && !bind_to(start.cpu)) fail(StartFailure::Step::bind);
  setrlimit(RLIMIT_NOFILE, &ground.files);
  for (const auto& [number, action] : ground.inherited) std::signal(number, action);
  sigprocmask(SIG_SETMASK, &ground.mask, nullptr);
  execute(ground, start);
  fail(StartFailure::Step::execute);
  _exit(127);
}

}  // namespace

std::string find_program(const std::string& name) {
  if (name.find('/') != std::string::npos) {
    if (executable(name)) return name;
    struct stat status {};
    const bool there = stat(name.c_str(), &status) == 0;
    if (there && S_ISDIR(status.st_mode)) throw NoProgram(Cause::usage, "\"" + name + "\" is a folder, not a program");
    throw NoProgram(Cause::usage,
                    there
                        ? "\"" + name + "\" is not a program (a file that may be executed); chmod +x helps if it is one"
                        : "there is no program \"" + name + "\": " + std::strerror(errno));
  }
  const char* variable = std::getenv("PATH");
  const std::string path = variable != nullptr ? variable : "/usr/local/bin:/usr/bin:/bin";
  for (std::size_t begin = 0; begin <= path.size();) {
    const std::size_t end = std::min(path.find(':', begin), path.size());
    const std::string folder = path.substr(begin, end - begin);
    std::string file = (folder.empty() ? "." : folder) + "/" + name;
    if (executable(file)) return file;
    begin = end + 1;
  }
  const std::string hint = executable("./" + name) ? "; did you mean ./" + name + "?" : "";
  throw NoProgram(Cause::usage, "there is no program \"" + name + "\" in any folder of PATH (" + path + ")" + hint);
}

Starter::Starter(const Ground& ground) : ground_(ground) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw launch::system_error("cannot make a pipe");
  reports_ = base::Descriptor(ends[0]);
  report_ = base::Descriptor(ends[1]);
}

pid_t Starter::start(const Start& start) {
  const pid_t launcher = getpid();
  const pid_t pid = fork();
  if (pid < 0)
    throw launch::system_error("cannot start rank " + std::to_string(start.rank) + " (is there a limit, ulimit -u?)");
  if (pid == 0) become(ground_, start, launcher, report_.get());
  // Both sides do it: whoever comes second finds it done, and signals reach the group from here on.
  setpgid(pid, pid);
  return pid;
}

std::optional<StartFailure> Starter::wait() {
  report_.reset();
  StartFailure failure;
  for (;;) {
    // Each child's copy of the writing end closes when it becomes its program.
    const ssize_t size = read(reports_.get(), &failure, sizeof failure);
    if (size == static_cast<ssize_t>(sizeof failure)) return failure;
    if (size >= 0 || errno != EINTR) return std::nullopt;
  }
}

}  // namespace tutti::launcher
