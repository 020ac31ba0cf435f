// SPDX-License-Identifier: BSD-3-Clause
// The conformance suite over tcp: ranks as forked processes that call each other over IPv4, IPv6 and Unix sockets.
#include <poll.h>
#include <sys/mman.h>
#include <unistd.h>

#include <csignal>
#include <cstring>
#include <new>

#include "processes.hpp"
#include "transport/tcp/tcp.hpp"

namespace tutti::transport::conformance {

namespace {

constexpr std::size_t longest_address = 200;

/// What all ranks see of each other.
struct Directory {
  std::atomic<int> listening{0}, standing{0};
  pid_t pids[most_ranks] = {};
  char addresses[most_ranks][longest_address] = {};
};

class TcpEndpoint final : public Endpoint {
 public:
  TcpEndpoint(Rank rank, int size, tcp::Tcp& transport, Shared& shared, Directory& directory)
      : Endpoint(rank, size, transport, shared, 1), transport_(transport), directory_(directory) {}
  void yield() override { usleep(1); }
  /// The transport's own descriptor tells of everything but deaths that the test's parent sees.
  void pause() override {
    pollfd entry{transport_.descriptor(), POLLIN, 0};
    poll(&entry, 1, 1);
  }
  void die() override {
    for (;;) kill(getpid(), SIGKILL);
  }
  void murder(Rank other) override { kill(directory_.pids[other], SIGKILL); }

 private:
  tcp::Tcp& transport_;
  Directory& directory_;
};

/// Who calls whom at the beginning: a death may come before a connection that is made on demand.
enum class Calls { lower, higher, both };

class Sockets final : public Processes {
 public:
  Sockets(const char* name, std::string listen, Calls calls)
      : Processes(name), listen_(std::move(listen)), calls_(calls) {}
  ~Sockets() override {
    if (directory_ != nullptr) munmap(directory_, sizeof(Directory));
  }

 private:
  void prepare(int) override {
    if (directory_ != nullptr) munmap(directory_, sizeof(Directory));
    void* const memory = mmap(nullptr, sizeof(Directory), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    check(memory != MAP_FAILED, "mmap");
    directory_ = new (memory) Directory;
  }
  void died(Rank) override {}

  void run_rank(Rank rank, int size, Shared& shared, const Body& body) override {
    tcp::Options options;
    options.identity = {.job = 77, .rank = rank, .size = size, .secret = base::Key{std::byte{5}}};
    options.listen = {listen_};
    options.find = [&](Peer peer) { return std::string(directory_->addresses[peer]); };
    const auto transport = tcp::listen(options);
    std::strncpy(directory_->addresses[rank], transport->addresses().c_str(), longest_address - 1);
    directory_->pids[rank] = getpid();
    const auto meet = [&](std::atomic<int>& count) {
      count.fetch_add(1, std::memory_order_acq_rel);  // partner: the load of the others
      while (count.load(std::memory_order_acquire) < size && !shared.failed.load()) {
        transport->progress();
        usleep(10);
      }
    };
    meet(directory_->listening);
    for (Rank other = 0; other < size; ++other)
      if (calls_ == Calls::both || (calls_ == Calls::lower) == (rank < other)) transport->call(other);
    for (Rank other = 0; other < size; ++other)
      while (!transport->connected(other) && !shared.failed.load()) transport->progress();
    meet(directory_->standing);
    TcpEndpoint endpoint(rank, size, *transport, shared, *directory_);
    body(endpoint);
    // A socket that is closed with unread words is reset: what has not arrived by then is lost.
    constexpr std::uint64_t patience = 20'000'000'000;
    check(transport->drain(patience).empty() || shared.failed.load(), "what was sent has not arrived");
  }

  std::string listen_;
  Calls calls_;
  Directory* directory_ = nullptr;
};

}  // namespace

std::vector<std::shared_ptr<Harness>> harnesses() {
  return {std::make_shared<Sockets>("ipv4", "tcp:127.0.0.1:0", Calls::both),
          std::make_shared<Sockets>("ipv6", "tcp:[::1]:0", Calls::higher),
          std::make_shared<Sockets>("unix", "unix:@", Calls::lower)};
}

}  // namespace tutti::transport::conformance
