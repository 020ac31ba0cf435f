// SPDX-License-Identifier: BSD-3-Clause
// The conformance suite over inproc: ranks as threads, and as fibers under many seeds.
#include <sched.h>

#include <exception>
#include <mutex>
#include <thread>

#include "base/sanitizers.hpp"
#include "conformance.hpp"
#include "transport/inproc/network.hpp"
#include "transport/inproc/scheduler.hpp"

namespace tutti::transport::conformance {

namespace {

struct Died {};

class InprocEndpoint final : public Endpoint {
 public:
  InprocEndpoint(Rank rank, int size, Transport& transport, Shared& shared, std::uint64_t seed,
                 host::Scheduler* scheduler)
      : Endpoint(rank, size, transport, shared, seed), scheduler_(scheduler) {}
  void yield() override {
    if (scheduler_ != nullptr)
      scheduler_->yield();
    else
      sched_yield();
  }
  /// A process takes its memory along. Here the stack goes, so what was announced from it is taken back first.
  void die() override {
    for (Rank other = 0; other < size(); ++other) transport().peer_lost(other);
    throw Died{};
  }
  /// Here a message is copied at once: many seeds are worth more than many bytes.
  std::size_t large() const override { return scheduler_ != nullptr ? 20'000 : 100'000; }

 private:
  host::Scheduler* scheduler_;
};

void run_rank(Rank rank, int size, inproc::Network& network, Shared& shared, std::uint64_t seed,
              host::Scheduler* scheduler, const Body& body) {
  const auto transport = network.transport(rank);
  InprocEndpoint endpoint(rank, size, *transport, shared, seed, scheduler);
  try {
    body(endpoint);
  } catch (const Died&) {
    shared.dead[rank].store(true, std::memory_order_release);
  }
}

class Threads final : public Harness {
 public:
  const char* name() const override { return "threads"; }
  void run(int size, const Body& body) override {
    Shared shared;
    inproc::Network network(size);
    std::mutex mutex;
    std::exception_ptr error;
    std::vector<std::thread> threads;
    for (Rank rank = 0; rank < size; ++rank)
      threads.emplace_back([&, rank] {
        try {
          run_rank(rank, size, network, shared, 1, nullptr, body);
        } catch (...) {
          const std::lock_guard lock(mutex);
          if (!error) error = std::current_exception();
          shared.failed.store(true, std::memory_order_relaxed);
        }
      });
    for (std::thread& thread : threads) thread.join();
    if (error) std::rethrow_exception(error);
  }
};

class Fibers final : public Harness {
 public:
  Fibers(const char* name, std::uint64_t first, std::uint64_t last, std::uint64_t delay)
      : name_(name), first_(first), last_(last), delay_(delay) {}
  const char* name() const override { return name_; }
  void run(int size, const Body& body) override {
    for (std::uint64_t seed = first_; seed <= last_; ++seed) {
      try {
        run_seed(size, body, seed);
      } catch (const std::exception& error) {
        throw Failure("seed " + std::to_string(seed) + ": " + error.what());
      }
    }
  }

 private:
  void run_seed(int size, const Body& body, std::uint64_t seed) const {
    Shared shared;
    inproc::Fibers fibers(size, seed);
    inproc::Options options;
    options.scheduler = &fibers;
    options.seed = seed;
    options.delay = delay_;
    inproc::Network network(size, options);
    fibers.run([&](Rank rank) { run_rank(rank, size, network, shared, seed, &fibers, body); });
  }

  const char* name_;
  std::uint64_t first_, last_, delay_;
};

}  // namespace

std::vector<std::shared_ptr<Harness>> harnesses() {
  constexpr std::uint64_t seeds = base::sanitized ? 3 : 20;
  return {std::make_shared<Threads>(), std::make_shared<Fibers>("fibers", 0, seeds / 4, 0),
          std::make_shared<Fibers>("fibers_chaos", 1, seeds, 3000)};
}

}  // namespace tutti::transport::conformance
