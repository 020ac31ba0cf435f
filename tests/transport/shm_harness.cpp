// SPDX-License-Identifier: BSD-3-Clause
// The conformance suite over shm: ranks as forked processes on one segment, with and without single copy.
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstddef>
#include <ctime>
#include <optional>

#include "host/segment.hpp"
#include "host/waiting.hpp"
#include "processes.hpp"
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

class Shm final : public Processes {
 public:
  Shm(const char* name, Reading reading, std::size_t piece) : Processes(name), reading_(reading), piece_(piece) {}

 private:
  void prepare(int size) override { segment_ = host::Segment::create(size, 42); }
  void died(Rank rank) override { segment_->declare_dead(rank); }

  void run_rank(Rank rank, int size, Shared& shared, const Body& body) override {
    segment_->enter(rank);
    host::Waiting waiting(*segment_, rank, 2, size);
    shm::Options options;
    options.single_copy = reading_ != Reading::switched_off;
    options.piece = piece_;
    options.wake = [&](Peer peer) { waiting.ring(peer); };
    const auto transport = shm::connect(segment_, rank, options);
    shared.connected.fetch_add(1, std::memory_order_acq_rel);  // partner: the load of the others
    while (shared.connected.load(std::memory_order_acquire) < size && !shared.failed.load()) sched_yield();
    const bool expected = reading_ != Reading::switched_off;
    check(transport->capabilities().single_copy == expected, transport->capabilities().why);
    if (reading_ == Reading::forbidden_later) forbid_reading();
    ShmEndpoint endpoint(rank, *segment_, *transport, shared, 1, waiting);
    body(endpoint);
    segment_->leave(rank);
  }

  Reading reading_;
  std::size_t piece_;
  std::shared_ptr<host::Segment> segment_;
};

}  // namespace

std::vector<std::shared_ptr<Harness>> harnesses() {
  return {std::make_shared<Shm>("single_copy", Reading::allowed, 1 << 20),
          std::make_shared<Shm>("small_pieces", Reading::allowed, 50'000),
          std::make_shared<Shm>("switched_off", Reading::switched_off, 1 << 20),
          std::make_shared<Shm>("forbidden_later", Reading::forbidden_later, 1 << 20)};
}

}  // namespace tutti::transport::conformance
