// SPDX-License-Identifier: BSD-3-Clause
#include "transport/shm/copy.hpp"

#include <fcntl.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <ctime>

#include "base/clock.hpp"
#include "base/descriptor.hpp"
#include "base/hash.hpp"
#include "transport/shm/wire.hpp"

namespace tutti::transport::shm {

namespace {

Pair& own_block(host::Segment& segment, Rank rank) {
  const host::Offset offset = segment.header().pairs + host::pair_offset(segment.size(), rank, rank);
  return *reinterpret_cast<Pair*>(segment.at(offset, sizeof(Pair)));
}

/// '0'..'3', or 0 where the kernel has no Yama.
char yama_scope() {
  const base::Descriptor file(open("/proc/sys/kernel/yama/ptrace_scope", O_RDONLY | O_CLOEXEC));
  char scope = 0;
  if (!file || read(file.get(), &scope, 1) != 1) return 0;
  return scope;
}

/// Waits for the neighbour's offer; false when it never comes.
bool await_offer(host::Segment& segment, Rank neighbour, const Pair& block, std::uint64_t patience) {
  const std::uint64_t start = base::now();
  // Acquire: partner of the store in offer_words.
  for (int polls = 1; block.probe_address.load(std::memory_order_acquire) == 0; ++polls) {
    if (base::now() - start > patience) return false;
    if (polls % 64 == 0) {
      const host::Life life = segment.probe(neighbour);
      if (life == host::Life::dead || life == host::Life::left) return false;
    }
    const timespec pause{0, 50'000};
    nanosleep(&pause, nullptr);
  }
  return true;
}

/// What others may read, and behind it what they may write: the same for all jobs that this process is in.
void offer_words(Pair& block) {
  static std::uint64_t words[2] = {base::mix(static_cast<std::uint64_t>(getpid())), 0};
  block.probe_value.store(words[0], std::memory_order_relaxed);
  block.probe_address.store(reinterpret_cast<std::uintptr_t>(&words), std::memory_order_release);
}

/// process_vm_readv or process_vm_writev, until all is moved.
int move_memory(decltype(&process_vm_readv) move, pid_t pid, std::byte* here, std::uint64_t there, std::size_t bytes) {
  std::size_t done = 0;
  while (done < bytes) {
    const iovec local{here + done, bytes - done};
    const iovec remote{reinterpret_cast<void*>(static_cast<std::uintptr_t>(there + done)), bytes - done};
    const ssize_t n = move(pid, &local, 1, &remote, 1, 0);
    if (n > 0)
      done += static_cast<std::size_t>(n);
    else if (n == 0)
      return EFAULT;
    else if (errno != EINTR)
      return errno;
  }
  return 0;
}

}  // namespace

int read_memory(pid_t pid, std::uint64_t address, std::span<std::byte> to) {
  return move_memory(process_vm_readv, pid, to.data(), address, to.size());
}

int write_memory(pid_t pid, std::uint64_t address, std::span<const std::byte> from) {
  // The system only reads what is here.
  return move_memory(process_vm_writev, pid, const_cast<std::byte*>(from.data()), address, from.size());
}

bool may_read_memory() {
  const std::uint64_t word = base::mix(static_cast<std::uint64_t>(getpid()));
  std::uint64_t found = 0, written = 0;
  const auto place = [](const std::uint64_t& one) {
    return static_cast<std::uint64_t>(reinterpret_cast<std::uintptr_t>(&one));
  };
  return (yama_scope() <= '1' || geteuid() == 0) &&
         read_memory(getpid(), place(word), std::as_writable_bytes(std::span(&found, 1))) == 0 &&
         write_memory(getpid(), place(written), std::as_bytes(std::span(&word, 1))) == 0 && found == word &&
         written == word;
}

SingleCopy probe_single_copy(host::Segment& segment, Rank self, bool allowed, std::uint64_t patience) {
  const char scope = yama_scope();
  // Yama's scope 1 lets only a process's ancestors look into it, unless it says otherwise itself.
  if (allowed && scope == '1') prctl(PR_SET_PTRACER, PR_SET_PTRACER_ANY, 0, 0, 0);
  offer_words(own_block(segment, self));
  if (!allowed) return {false, "process_vm_readv and process_vm_writev are switched off"};

  const Rank neighbour = (self + 1) % segment.size();
  const Pair& block = own_block(segment, neighbour);
  const std::string who = "rank " + std::to_string(neighbour);
  if (!await_offer(segment, neighbour, block, patience)) return {false, who + " did not come in time to be read"};
  std::uint64_t found = 0;
  const std::string yama = scope == 0 ? "" : std::string(" (kernel.yama.ptrace_scope is ") + scope + ")";
  const auto refused = [&](const char* call, int error) {
    return SingleCopy{false, call + (" " + who + ": ") + std::strerror(error) + yama};
  };
  const pid_t pid = segment.process(neighbour).pid;
  const std::uint64_t words = block.probe_address.load(std::memory_order_acquire);  // partner: offer_words
  if (const int error = read_memory(pid, words, std::as_writable_bytes(std::span(&found, 1))); error != 0)
    return refused("process_vm_readv from", error);
  if (found != block.probe_value.load(std::memory_order_relaxed))
    return {false, who + " has another process number here (a container?)"};
  if (const int error = write_memory(pid, words + sizeof found, std::as_bytes(std::span(&found, 1))); error != 0)
    return refused("process_vm_writev to", error);
  return {true, "process_vm_readv and process_vm_writev work" + yama};
}

}  // namespace tutti::transport::shm
