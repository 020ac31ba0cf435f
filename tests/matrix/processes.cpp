// SPDX-License-Identifier: BSD-3-Clause
#include "processes.hpp"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <chrono>
#include <cstring>
#include <thread>

#include "base/descriptor.hpp"
#include "job/runtime.hpp"

namespace tutti::matrix {
namespace {

using base::Descriptor;

struct Child {
  pid_t pid;
  Descriptor words;  // what it says before it ends
};

void tell(int descriptor, const std::string& text) {
  [[maybe_unused]] const auto written = ::write(descriptor, text.data(), text.size());
}

[[noreturn]] void be_rank(Rank rank, int words, const std::shared_ptr<host::Segment>& segment, host::Offset board,
                          const ProcessOptions& options, const std::function<void(Group world)>& body) {
  int status = 0;
  try {
    segment->enter(rank);
    job::Process process{segment, rank, board, options.cores, options.algorithms, options.single_copy, 0, {}};
    const auto member = job::make_process_world(process);
    body(Group(member));
    member->runtime().engine().leave();
    segment->leave(rank);
  } catch (const std::exception& error) {
    tell(words, error.what());
    status = 1;
  }
  _exit(status);
}

std::string collect(Child& child, std::chrono::steady_clock::time_point until) {
  int status = 0;
  while (waitpid(child.pid, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > until) {
      kill(child.pid, SIGKILL);
      waitpid(child.pid, &status, 0);
      return "did not end";
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(2));
  }
  std::array<char, 4096> text;
  const ssize_t got = ::read(child.words.get(), text.data(), text.size());
  if (got > 0) return {text.data(), static_cast<std::size_t>(got)};
  if (WIFSIGNALED(status)) return "killed by signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == 0 ? "" : "exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace

std::vector<std::string> run_processes(int size, const ProcessOptions& options, int seconds,
                                       const std::function<void(Group world)>& body) {
  const auto segment = host::Segment::create(size, 77);
  const host::Offset board = job::make_world_board(*segment);
  std::vector<Child> children;
  for (Rank rank = 0; rank < size; ++rank) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
    const pid_t pid = fork();
    if (pid == 0) be_rank(rank, ends[1], segment, board, options, body);
    close(ends[1]);
    children.push_back({pid, Descriptor(ends[0])});
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::vector<std::string> said;
  for (Child& child : children) said.push_back(collect(child, until));
  return said;
}

}  // namespace tutti::matrix
