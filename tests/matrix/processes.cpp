// SPDX-License-Identifier: BSD-3-Clause
#include "processes.hpp"

#include <signal.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>

#include "base/descriptor.hpp"
#include "job/runtime.hpp"
#include "transport/tcp/tcp.hpp"

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

/// What the processes see of each other.
struct Directory {
  static constexpr std::size_t most = 64;
  char addresses[most][200];
  std::atomic<int> listening;
};

struct Host {
  std::shared_ptr<host::Segment> segment;
  host::Offset board;
};

std::vector<Host> make_hosts(int size, const std::vector<Rank>& hosts) {
  std::vector<Host> made;
  const Rank last = hosts.empty() ? 0 : std::ranges::max(hosts);
  for (Rank number = 0; number <= last; ++number) {
    const auto ranks = hosts.empty() ? size : static_cast<int>(std::ranges::count(hosts, number));
    auto segment = host::Segment::create(ranks, 77);
    const host::Offset board = job::make_world_board(*segment);
    made.push_back({std::move(segment), board});
  }
  return made;
}

job::Far connect(Rank rank, int size, Directory& directory) {
  namespace tcp = transport::tcp;
  tcp::Options options;
  options.identity = {.job = 77, .rank = rank, .size = size, .secret = base::Key{std::byte{5}}};
  options.listen = {"tcp:127.0.0.1:0"};
  options.find = [&](Rank peer) { return std::string(directory.addresses[peer]); };
  auto transport = tcp::listen(std::move(options));
  transport->addresses().copy(directory.addresses[rank], sizeof directory.addresses[rank] - 1);
  directory.listening.fetch_add(1, std::memory_order_acq_rel);  // partner: the load of the others
  while (directory.listening.load(std::memory_order_acquire) < size) usleep(100);
  const int descriptor = transport->descriptor();
  return {std::move(transport), descriptor};
}

[[noreturn]] void be_rank(Rank rank, int words, const Host& host, Directory& directory, int size,
                          const ProcessOptions& options, const std::function<void(Group world)>& body) {
  int status = 0;
  try {
    job::Process process{host.segment, rank, host.board, options.cores, options.algorithms, options.single_copy, 0, {}};
    process.hosts = options.hosts;
    const Rank place = options.hosts.empty() ? rank : job::places(options.hosts, rank)[static_cast<std::size_t>(rank)];
    host.segment->enter(place);
    const auto member =
        job::make_process_world(process, options.hosts.empty() ? job::Far() : connect(rank, size, directory));
    body(Group(member));
    member->runtime().engine().leave();
    host.segment->leave(place);
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
  const std::vector<Host> hosts = make_hosts(size, options.hosts);
  void* const shared = mmap(nullptr, sizeof(Directory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED || size > static_cast<int>(Directory::most)) throw std::runtime_error("no directory");
  auto& directory = *new (shared) Directory{};
  std::vector<Child> children;
  for (Rank rank = 0; rank < size; ++rank) {
    int ends[2];
    if (pipe(ends) != 0) throw std::runtime_error("pipe failed");
    const pid_t pid = fork();
    const Rank host = options.hosts.empty() ? 0 : options.hosts[static_cast<std::size_t>(rank)];
    if (pid == 0) be_rank(rank, ends[1], hosts[static_cast<std::size_t>(host)], directory, size, options, body);
    close(ends[1]);
    children.push_back({pid, Descriptor(ends[0])});
  }
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::vector<std::string> said;
  for (Child& child : children) said.push_back(collect(child, until));
  munmap(shared, sizeof(Directory));
  return said;
}

}  // namespace tutti::matrix
