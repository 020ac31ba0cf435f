// SPDX-License-Identifier: BSD-3-Clause
#include "processes.hpp"

#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <new>

#include "base/descriptor.hpp"

namespace tutti::transport::conformance {

namespace {

/// Memory that forked processes share.
class SharedPage {
 public:
  SharedPage()
      : memory_(mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        shared_(new(memory_) Shared) {}
  ~SharedPage() { munmap(memory_, sizeof(Shared)); }
  SharedPage(const SharedPage&) = delete;
  SharedPage& operator=(const SharedPage&) = delete;
  Shared& operator*() const { return *shared_; }

 private:
  void* memory_;
  Shared* shared_;
};

}  // namespace

void Processes::run(int size, const Body& body) {
  prepare(size);
  const SharedPage page;
  int ends[2];
  check(pipe(ends) == 0, "pipe");
  base::Descriptor in(ends[0]), out(ends[1]);
  std::vector<int> pids;
  for (Rank rank = 0; rank < size; ++rank) {
    const pid_t pid = fork();
    check(pid >= 0, "fork");
    if (pid == 0) {
      try {
        run_rank(rank, size, *page, body);
        _exit(0);
      } catch (const std::exception& error) {
        const std::string text = "rank " + std::to_string(rank) + ": " + error.what() + "\n";
        _exit(write(out.get(), text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 1 : 2);
      }
    }
    pids.push_back(pid);
  }
  out.reset();
  const bool good = reap(pids, *page);
  char text[2000];
  const ssize_t n = read(in.get(), text, sizeof text);
  check(good && n <= 0, n > 0 ? std::string(text, static_cast<std::size_t>(n)) : "a rank ended badly");
}

/// Waits for all; tells of deaths. When one fails, ends the others. True when nobody failed.
bool Processes::reap(std::vector<int>& pids, Shared& shared) {
  bool good = true;
  for (std::size_t left = pids.size(); left != 0; --left) {
    int status = 0;
    pid_t pid = -1;
    while ((pid = wait(&status)) < 0 && errno == EINTR) {
    }
    check(pid > 0, "wait");
    for (std::size_t i = 0; i < pids.size(); ++i) {
      if (pids[i] != pid) continue;
      pids[i] = -1;
      if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL) {
        shared.dead[i].store(true, std::memory_order_release);
        died(static_cast<Rank>(i));
      } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
        good = false;
      }
    }
    for (const pid_t other : pids)
      if (!good && other > 0) kill(other, SIGKILL);
  }
  return good;
}

}  // namespace tutti::transport::conformance
