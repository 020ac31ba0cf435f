// SPDX-License-Identifier: BSD-3-Clause
#include "floor.hpp"

#include <fcntl.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <stdexcept>

#include "base/clock.hpp"
#include "base/copy.hpp"
#include "host/fence.hpp"
#include "host/futex.hpp"
#include "host/topology.hpp"

namespace tutti::bench {
namespace {

using base::now;
using Word = std::atomic<std::uint32_t>;
constexpr std::size_t line = 128;

void expect(bool good, const char* what) {
  if (!good) throw std::runtime_error(std::string("floor: wrong result: ") + what);
}

void pin(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  expect(sched_setaffinity(0, sizeof set, &set) == 0, "cannot pin");
}

/// Puts this process's affinity back.
class Affinity {
 public:
  Affinity() { sched_getaffinity(0, sizeof set_, &set_); }
  ~Affinity() { sched_setaffinity(0, sizeof set_, &set_); }
  Affinity(const Affinity&) = delete;
  Affinity& operator=(const Affinity&) = delete;

 private:
  cpu_set_t set_;
};

/// Zeroed memory that forked processes share.
class Shared {
 public:
  explicit Shared(std::size_t bytes) : bytes_(bytes) {
    memory_ = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    expect(memory_ != MAP_FAILED, "no memory");
  }
  ~Shared() { munmap(memory_, bytes_); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;
  std::byte* bytes() const { return static_cast<std::byte*>(memory_); }
  Word& word(std::size_t i) const { return *reinterpret_cast<Word*>(bytes() + i * line); }

 private:
  void* memory_;
  std::size_t bytes_;
};

/// A forked process; it ends with its parent.
class Process {
 public:
  template <class Body>
  explicit Process(Body body) {
    std::fflush(nullptr);
    pid_ = fork();
    expect(pid_ >= 0, "cannot fork");
    if (pid_ > 0) return;
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    body();
    _exit(0);
  }
  ~Process() {
    kill(pid_, SIGKILL);
    waitpid(pid_, nullptr, 0);
  }
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

/// `batches` samples, each the mean of `rounds` runs of `body`; one batch before them does not count. After so many
/// nanoseconds one is enough.
template <class Body>
Samples sample(int batches, int rounds, double parts, Body body, std::uint64_t patience = ~std::uint64_t{0}) {
  Samples samples;
  const std::uint64_t begun = now();
  for (int batch = -1; batch < batches; ++batch) {
    const std::uint64_t start = now();
    if (!samples.values.empty() && start - begun > patience) break;
    for (int i = 0; i < rounds; ++i) body();
    const std::uint64_t took = now() - start;
    if (batch >= 0) samples.values.push_back(static_cast<double>(took) / rounds / parts);
  }
  return samples;
}

/// Samples of what `make(shared, i)()` takes on the first of these cores, while each of the others, i, does the same
/// with things of its own.
template <class Make>
Samples side_by_side(std::span<const int> cpus, std::size_t bytes, Make make) {
  const Affinity affinity;
  const Shared begun(cpus.size() * line);
  std::vector<std::unique_ptr<Process>> others;
  for (std::size_t i = 1; i < cpus.size(); ++i)
    others.push_back(std::make_unique<Process>([&, i] {
      pin(cpus[i]);
      for (auto body = make();; body()) begun.word(i).store(1, std::memory_order_release);
    }));
  for (std::size_t i = 1; i < cpus.size(); ++i)
    while (begun.word(i).load(std::memory_order_acquire) == 0) sched_yield();
  pin(cpus.front());
  auto body = make();
  constexpr std::size_t most = 1024;  // a system call alone takes a microsecond or two
  const int rounds = static_cast<int>(std::clamp<std::size_t>((1 << 20) / bytes, 1, most));
  return sample(bytes > (8u << 20) ? 9 : 41, rounds, 1, [&] { body(); });
}

/// Copies from one place to another of this process.
class Copying {
 public:
  Copying(std::size_t bytes, const Copier& copier)
      : copier_(&copier), source_(bytes, std::byte{1}), target_(bytes, std::byte{2}) {
    (*this)();
    expect(source_ == target_, copier.name);
  }
  void operator()() {
    copier_->copy(target_.data(), source_.data(), source_.size());
    asm volatile("" : : "r"(target_.data()) : "memory");
  }

 private:
  const Copier* copier_;
  std::vector<std::byte> source_, target_;
};

/// Reads from another process.
class Reading {
 public:
  explicit Reading(std::size_t bytes)
      : ready_(line), source_(bytes, std::byte{1}), target_(bytes, std::byte{2}), owner_([&] {
          std::fill(source_.begin(), source_.end(), std::byte{3});
          ready_.word(0).store(1, std::memory_order_release);
          for (;;) pause();
        }) {
    while (ready_.word(0).load(std::memory_order_acquire) == 0) sched_yield();
    (*this)();
    expect(std::ranges::all_of(target_, [](std::byte b) { return b == std::byte{3}; }), "bytes read");
  }
  void operator()() {
    const iovec to{target_.data(), target_.size()}, from{source_.data(), source_.size()};
    const ssize_t read = process_vm_readv(owner_.pid(), &to, 1, &from, 1, 0);
    if (read < 0) throw Refused{std::strerror(errno)};
    expect(read == static_cast<ssize_t>(source_.size()), "short read");
  }
  struct Refused {
    std::string why;
  };

 private:
  Shared ready_;
  std::vector<std::byte> source_, target_;
  Process owner_;
};

}  // namespace

double Samples::quantile(double q) const {
  if (values.empty()) return 0;
  std::vector<double> sorted = values;
  std::sort(sorted.begin(), sorted.end());
  return sorted[static_cast<std::size_t>(q * static_cast<double>(sorted.size() - 1) + 0.5)];
}

std::string machine() {
  std::string model = "unknown processor", row;
  std::ifstream cpus("/proc/cpuinfo");
  while (std::getline(cpus, row))
    if (row.rfind("model name", 0) == 0 && row.find(':') != std::string::npos) {
      model = row.substr(row.find(':') + 2);
      break;
    }
  utsname system{};
  uname(&system);
  return model + "; cores: " + host::usable_cores().why + "; " + system.sysname + " " + system.release;
}

Samples line_one_way(int cpu, int other_cpu, int samples) {
  const Affinity affinity;
  const Shared shared(2 * line);
  Word &ping = shared.word(0), &pong = shared.word(1);
  const Process other([&] {
    pin(other_cpu);
    for (std::uint32_t turn = 1;; ++turn) {
      while (ping.load(std::memory_order_acquire) != turn) {
      }
      pong.store(turn, std::memory_order_release);
    }
  });
  pin(cpu);
  std::uint32_t turn = 0;
  Samples times = sample(samples, 1000, 2, [&] {
    ping.store(++turn, std::memory_order_release);
    while (pong.load(std::memory_order_acquire) != turn) {
    }
  });
  expect(turn == (static_cast<std::uint32_t>(samples) + 1) * 1000 && pong.load() == turn, "ping-pong");
  return times;
}

Samples yield_hand_over(int cpu, int processes) {
  const Affinity affinity;
  const Shared shared(2 * line);
  Word &round = shared.word(0), &count = shared.word(1);
  const auto others_count = static_cast<std::uint32_t>(processes - 1);
  std::vector<std::unique_ptr<Process>> others;
  for (std::uint32_t i = 0; i < others_count; ++i)
    others.push_back(std::make_unique<Process>([&] {
      pin(cpu);
      for (std::uint32_t seen = 0;; ++seen) {
        while (round.load(std::memory_order_acquire) == seen) sched_yield();
        count.fetch_add(1, std::memory_order_release);
      }
    }));
  pin(cpu);
  std::uint32_t turn = 0;
  Samples samples = sample(60, 200, processes, [&] {
    round.store(++turn, std::memory_order_release);
    while (count.load(std::memory_order_acquire) != turn * others_count) sched_yield();
  });
  expect(turn == 61 * 200 && count.load() == turn * others_count, "rounds");
  return samples;
}

Samples meeting(std::span<const int> cpus, int processes) {
  const Affinity affinity;
  const auto size = static_cast<std::size_t>(processes);
  const Shared shared(size * line);
  const auto pin_to_its_core = [&](std::size_t i) { pin(cpus[i % cpus.size()]); };
  const auto meet = [&](std::size_t i, std::uint32_t turn) {
    shared.word(i).store(turn, std::memory_order_release);
    for (std::size_t k = 1; k < size; ++k)
      while (shared.word((i + k) % size).load(std::memory_order_acquire) < turn) sched_yield();
  };
  std::vector<std::unique_ptr<Process>> others;
  for (std::size_t i = 1; i < size; ++i)
    others.push_back(std::make_unique<Process>([&, i] {
      pin_to_its_core(i);
      for (std::uint32_t turn = 1;; ++turn) meet(i, turn);
    }));
  pin_to_its_core(0);
  std::uint32_t turn = 0;
  const auto body = [&] {
    meet(0, ++turn);
    // Nobody is more than one meeting ahead, for that one lacks this process.
    for (std::size_t i = 1; i < size; ++i)
      expect(shared.word(i).load(std::memory_order_relaxed) - turn <= 1, "they have not met");
  };
  constexpr std::uint64_t patience = 2'000'000'000;  // beside a busy process a turn takes milliseconds
  return sample(40, 500, 1, body, patience);
}

Samples futex_wake_up(int cpu, int other_cpu) {
  const Affinity affinity;
  const Shared shared(4 * line);
  Word &bell = shared.word(0), &awake = shared.word(1);
  auto& time = *reinterpret_cast<std::atomic<std::uint64_t>*>(&shared.word(2));
  const Process sleeper([&] {
    pin(other_cpu);
    for (std::uint32_t heard = 0;; ++heard) {
      while (bell.load(std::memory_order_acquire) == heard) host::futex_wait(bell, heard, 1'000'000'000);
      time.store(now(), std::memory_order_relaxed);
      awake.store(heard + 1, std::memory_order_release);
    }
  });
  pin(cpu);
  Samples samples;
  for (std::uint32_t i = 1; i <= 2000; ++i) {
    const timespec while_it_falls_asleep{0, 100'000};
    nanosleep(&while_it_falls_asleep, nullptr);
    const std::uint64_t start = now();
    bell.store(i, std::memory_order_release);
    host::futex_wake_all(bell);
    while (awake.load(std::memory_order_acquire) != i) sched_yield();
    const std::uint64_t woken = time.load(std::memory_order_relaxed);
    expect(woken >= start, "woken before the bell");
    samples.values.push_back(static_cast<double>(woken - start));
  }
  return samples;
}

std::span<const Copier> copiers() {
  static constexpr Copier known[] = {
      {"memcpy", [](std::byte* to, const std::byte* from, std::size_t bytes) { std::memcpy(to, from, bytes); }},
      {"blocks", base::copy},
      {"streaming", base::copy_streaming},
  };
  return known;
}

Samples memory_copy(std::size_t bytes, const Copier& copier, std::span<const int> cpus) {
  return side_by_side(cpus, bytes, [&] { return Copying(bytes, copier); });
}

Samples remote_read(std::size_t bytes, std::span<const int> cpus, std::string& why) {
  try {
    Reading{bytes};
  } catch (const Reading::Refused& refused) {
    why = refused.why;
    return {};
  }
  return side_by_side(cpus, bytes, [&] { return Reading(bytes); });
}

Samples clock_read() {
  std::uint64_t last = now();
  return sample(50, 10000, 1, [&] {
    const std::uint64_t time = now();
    expect(time >= last, "the clock went back");
    last = time;
  });
}

Samples fence() {
  Word word{0};
  return sample(50, 10000, 1, [&] {
    word.store(1, std::memory_order_release);
    host::full_fence();
  });
}

}  // namespace tutti::bench
