// SPDX-License-Identifier: BSD-3-Clause
#include "job.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <filesystem>
#include <new>
#include <stdexcept>

#include "base/clock.hpp"

namespace tutti::faults {
namespace {

constexpr std::uint64_t second = 1'000'000'000;

void pause_a_little() { usleep(500); }

Shared* map_shared() {
  void* memory = mmap(nullptr, sizeof(Shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) throw std::bad_alloc();
  return new (memory) Shared;
}

}  // namespace

Group Seat::world() {
  job::Process process{segment_, rank_, board_, 2, "", options_.single_copy, options_.timeout, {}};
  member_ = job::make_process_world(process);
  return Group(member_);
}

void Seat::await_all_ready() const {
  while (shared_->ready.load(std::memory_order_relaxed) < segment_->size()) pause_a_little();
}

void Seat::strike_self(int signal) {
  shared_->struck_at.store(base::now(), std::memory_order_relaxed);
  ::raise(signal);
}

void Seat::say(const std::string& line) const {
  const std::string text = line + "\n";
  [[maybe_unused]] const auto written = ::write(words_, text.data(), text.size());
}

Job::Job(int size, const JobOptions& options, const std::function<void(Seat&)>& body)
    : segment_(host::Segment::create(size, 77)), shared_(map_shared()), processes_(static_cast<std::size_t>(size)) {
  std::fflush(nullptr);
  const host::Offset board = job::make_world_board(*segment_);
  for (Rank rank = 0; rank < size; ++rank) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
    Process& process = processes_[static_cast<std::size_t>(rank)];
    process.words = base::Descriptor(ends[0]);
    process.pid = fork();
    if (process.pid != 0) {
      close(ends[1]);
      continue;
    }
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    Seat seat;
    seat.rank_ = rank;
    seat.segment_ = segment_;
    seat.board_ = board;
    seat.options_ = options;
    seat.shared_ = shared_;
    seat.words_ = ends[1];
    try {
      segment_->enter(rank);
      body(seat);
    } catch (const std::exception& error) {
      seat.say(error.what());
    }
    if (seat.member_) seat.member_->runtime().engine().leave();
    segment_->leave(rank);
    _exit(0);
  }
}

Job::~Job() {
  for (std::size_t rank = 0; rank < processes_.size(); ++rank) {
    if (processes_[rank].ended) continue;
    kill(static_cast<Rank>(rank), SIGKILL);
    waitpid(processes_[rank].pid, nullptr, 0);
  }
  munmap(shared_, sizeof(Shared));
}

bool Job::await_ready(int seconds) {
  const std::uint64_t until = base::now() + static_cast<std::uint64_t>(seconds) * second;
  while (shared_->ready.load(std::memory_order_relaxed) < static_cast<int>(processes_.size())) {
    if (base::now() > until) return false;
    pause_a_little();
  }
  return true;
}

void Job::kill(Rank rank, int signal) { ::kill(processes_[static_cast<std::size_t>(rank)].pid, signal); }

void Job::strike(Rank rank, int signal) {
  std::uint64_t not_yet = 0;
  if (shared_->struck_at.compare_exchange_strong(not_yet, base::now(), std::memory_order_relaxed)) kill(rank, signal);
}

bool Job::blow_is_fresh(std::uint64_t nanoseconds) const {
  return base::now() < shared_->struck_at.load(std::memory_order_relaxed) + nanoseconds;
}

bool Job::await_end(Rank rank, int seconds, bool obituary) {
  Process& process = processes_[static_cast<std::size_t>(rank)];
  const std::uint64_t until = base::now() + static_cast<std::uint64_t>(seconds) * second;
  while (!process.ended) {
    process.ended = waitpid(process.pid, &process.status, WNOHANG) == process.pid;
    if (process.ended) break;
    if (base::now() > until) return false;
    pause_a_little();
  }
  const bool came = segment_->process(rank).life.load(std::memory_order_acquire) != host::Life::absent;
  if (WIFSIGNALED(process.status) && (obituary || !came)) segment_->declare_dead(rank);
  return true;
}

const std::string& Job::said(Rank rank) {
  Process& process = processes_[static_cast<std::size_t>(rank)];
  fcntl(process.words.get(), F_SETFL, O_NONBLOCK);
  std::array<char, 4096> text;
  for (ssize_t got = 1; got > 0;) {
    got = ::read(process.words.get(), text.data(), text.size());
    if (got > 0) process.said.append(text.data(), static_cast<std::size_t>(got));
  }
  return process.said;
}

std::vector<std::string> left_in_shared_memory() {
  std::vector<std::string> names;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm")) names.push_back(entry.path().filename());
  std::sort(names.begin(), names.end());
  return names;
}

bool has_children() { return waitpid(-1, nullptr, WNOHANG) != -1 || errno != ECHILD; }

void adopt_orphans() { prctl(PR_SET_CHILD_SUBREAPER, 1); }

}  // namespace tutti::faults
