// SPDX-License-Identifier: BSD-3-Clause
// The conformance suite over shm: ranks as forked processes on one segment, with and without single copy.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <new>
#include <optional>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "conformance.hpp"
#include "host/segment.hpp"
#include "host/waiting.hpp"
#include "transport/shm/shm.hpp"

namespace tutti::transport::conformance {

namespace {

class ShmEndpoint final : public Endpoint {
 public:
  ShmEndpoint(Rank rank, host::Segment& segment, Transport& transport, Shared& shared, std::uint64_t seed,
              host::Waiting& waiting)
      : Endpoint(rank, segment.size(), transport, shared, seed), segment_(segment), waiting_(waiting) {}
  /// Not sched_yield: beside other load that would cost a time slice each time.
  void yield() override {
    const timespec little{0, 1000};
    nanosleep(&little, nullptr);
  }
  void pause() override {
    if (!round_) round_.emplace(waiting_);
    round_->pause(-1, 0);
  }
  void awake() override { round_.reset(); }
  void wake_all() override {
    for (Rank other = 0; other < size(); ++other) waiting_.ring(other);
  }
  void die() override {
    for (;;) kill(getpid(), SIGKILL);
  }
  void murder(Rank other) override { kill(segment_.process(other).pid, SIGKILL); }

 private:
  host::Segment& segment_;
  host::Waiting& waiting_;
  std::optional<host::Waiting::Round> round_;
};

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

/// From now on the kernel refuses this process to read another's memory, as a container's seccomp profile does.
void forbid_reading() {
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_process_vm_readv, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  const sock_fprog program{sizeof filter / sizeof *filter, filter};
  check(prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0, "no_new_privs");
  check(prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0, "seccomp");
}

enum class Reading { allowed, switched_off, forbidden_later };

class Processes final : public Harness {
 public:
  Processes(const char* name, Reading reading, std::size_t piece) : name_(name), reading_(reading), piece_(piece) {}
  const char* name() const override { return name_; }

  void run(int size, const Body& body) override {
    const auto segment = host::Segment::create(size, 42);
    const SharedPage page;
    int ends[2];
    check(pipe(ends) == 0, "pipe");
    base::Descriptor in(ends[0]), out(ends[1]);
    std::vector<pid_t> pids;
    for (Rank rank = 0; rank < size; ++rank) {
      const pid_t pid = fork();
      check(pid >= 0, "fork");
      if (pid == 0) _exit(run_rank(segment, rank, *page, body, out.get()));
      pids.push_back(pid);
    }
    out.reset();
    const bool good = reap(pids, *segment, *page);
    char text[2000];
    const ssize_t n = read(in.get(), text, sizeof text);
    check(good && n <= 0, n > 0 ? std::string(text, static_cast<std::size_t>(n)) : "a rank ended badly");
  }

 private:
  int run_rank(const std::shared_ptr<host::Segment>& segment, Rank rank, Shared& shared, const Body& body,
               int complaints) const {
    try {
      segment->enter(rank);
      host::Waiting waiting(*segment, rank, 2, segment->size());
      shm::Options options;
      options.single_copy = reading_ != Reading::switched_off;
      options.piece = piece_;
      options.wake = [&](Peer peer) { waiting.ring(peer); };
      const auto transport = shm::connect(segment, rank, options);
      shared.connected.fetch_add(1, std::memory_order_acq_rel);  // partner: the load of the others
      while (shared.connected.load(std::memory_order_acquire) < segment->size() && !shared.failed.load()) sched_yield();
      const bool expected = reading_ != Reading::switched_off;
      check(transport->capabilities().single_copy == expected, transport->capabilities().why);
      if (reading_ == Reading::forbidden_later) forbid_reading();
      ShmEndpoint endpoint(rank, *segment, *transport, shared, 1, waiting);
      body(endpoint);
      segment->leave(rank);
      return 0;
    } catch (const std::exception& error) {
      const std::string text = "rank " + std::to_string(rank) + ": " + error.what() + "\n";
      return write(complaints, text.data(), text.size()) == static_cast<ssize_t>(text.size()) ? 1 : 2;
    }
  }

  /// Waits for all; tells of deaths. When one fails, ends the others. True when nobody failed.
  static bool reap(std::vector<pid_t>& pids, host::Segment& segment, Shared& shared) {
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
          segment.declare_dead(static_cast<Rank>(i));
        } else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0) {
          good = false;
        }
      }
      for (const pid_t other : pids)
        if (!good && other > 0) kill(other, SIGKILL);
    }
    return good;
  }

  const char* name_;
  Reading reading_;
  std::size_t piece_;
};

}  // namespace

std::vector<std::shared_ptr<Harness>> harnesses() {
  return {std::make_shared<Processes>("single_copy", Reading::allowed, 1 << 20),
          std::make_shared<Processes>("small_pieces", Reading::allowed, 50'000),
          std::make_shared<Processes>("switched_off", Reading::switched_off, 1 << 20),
          std::make_shared<Processes>("forbidden_later", Reading::forbidden_later, 1 << 20)};
}

}  // namespace tutti::transport::conformance
