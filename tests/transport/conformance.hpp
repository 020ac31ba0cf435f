// SPDX-License-Identifier: BSD-3-Clause
// What the conformance suite needs of a transport: a way to run P ranks over it (Harness), and what a rank sees.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <source_location>
#include <stdexcept>
#include <string>
#include <vector>

#include "transport/transport.hpp"

namespace tutti::transport::conformance {

struct Failure : std::runtime_error {
  using std::runtime_error::runtime_error;
};
/// Ranks may be other processes, where GoogleTest's macros do not reach: a rank fails by throwing.
void check(bool condition, const std::string& what = "", std::source_location at = std::source_location::current());

constexpr int most_ranks = 32;

/// Memory that all ranks of a run see, also when they are processes.
struct Shared {
  std::atomic<int> connected{0};  // processes: all know whether they can read each other before anyone leaves
  std::atomic<int> arrived{0};
  std::atomic<bool> dead[most_ranks] = {};
  std::atomic<bool> condemned[most_ranks] = {};
  std::atomic<bool> failed{false};  // a rank has failed: the others need not go on
};

/// One rank of a run.
class Endpoint {
 public:
  Endpoint(Rank rank, int size, Transport& transport, Shared& shared, std::uint64_t seed);
  virtual ~Endpoint() = default;

  Rank rank() const { return rank_; }
  int size() const { return size_; }
  Transport& transport() { return transport_; }
  Shared& shared() { return shared_; }
  /// What the tests take for a large message: large enough that its transfer has a middle.
  virtual std::size_t large() const { return 2'000'000; }
  std::uint64_t seed() const { return seed_; }  ///< The same on all ranks of a run.

  void send(Transfer& transfer) { transport_.send(transfer); }
  void recv(Transfer& transfer) { transport_.recv(transfer); }
  /// One round of progress, for somebody who waits: may sleep when nothing moved. Tells the transport of deaths.
  void step();
  /// One round of progress, for somebody who has other things to do.
  void glance(int times = 1);
  /// Steps until the transfer has ended.
  void wait(const Transfer& transfer);
  void wait(const std::vector<Transfer>& transfers);
  /// All ranks are here; nothing moves meanwhile.
  void barrier();
  /// As barrier, but with progress.
  void meet();
  /// Lets other ranks run.
  virtual void yield() = 0;
  /// As yield, or sleeps until one wakes this one; `awake` ends the wait.
  virtual void pause() { yield(); }
  virtual void awake() {}
  virtual void wake_all() {}
  /// This rank is no more: SIGKILL where it is a process.
  [[noreturn]] virtual void die() = 0;
  /// Another rank is no more: at once where it is a process, else as soon as it looks.
  virtual void murder(Rank other) { shared_.condemned[other].store(true, std::memory_order_release); }

 private:
  void gather(bool progress);
  void look_at_deaths();
  void look_at_verdict();
  void limit_time();

  Rank rank_;
  int size_;
  Transport& transport_;
  Shared& shared_;
  std::uint64_t seed_, started_;
  int meetings_ = 0;
  bool told_[most_ranks] = {};
};

using Body = std::function<void(Endpoint&)>;

class Harness {
 public:
  virtual ~Harness() = default;
  virtual const char* name() const = 0;
  /// Runs `body` on `size` ranks; throws Failure with what went wrong on any of them.
  virtual void run(int size, const Body& body) = 0;
};

/// The ways to run that a test program covers; each test program defines its own.
std::vector<std::shared_ptr<Harness>> harnesses();

/// A buffer between guard bytes, filled with poison.
class Guarded {
 public:
  explicit Guarded(std::size_t size);
  std::byte* data() { return bytes_.data() + guard; }
  std::size_t size() const { return bytes_.size() - 2 * guard; }
  void fill(std::uint64_t pattern);
  /// Throws Failure unless the guards are intact and the content is the pattern, or all poison.
  void expect(std::uint64_t pattern) const;
  void expect_poison() const;
  bool is_poison() const;

 private:
  static constexpr std::size_t guard = 64;
  void expect_guards() const;
  std::vector<std::byte> bytes_;
};

/// What a message is filled with, by who sends what to whom.
std::uint64_t pattern(Rank from, Rank to, std::uint64_t number);

/// Sends messages of these sizes, with one tag or with tags 0, 1, 2 ...; waits; they must be done.
void send_all(Endpoint& self, Peer to, const std::vector<std::size_t>& sizes, bool one_tag);
/// Receives them, in the order given by `order` (indexes into sizes), and checks every byte.
void receive_all(Endpoint& self, Peer from, const std::vector<std::size_t>& sizes, bool one_tag,
                 const std::vector<std::size_t>& order);
std::vector<std::size_t> in_order(std::size_t n);
std::vector<std::size_t> shuffled(std::size_t n, std::uint64_t seed);

Tag tag(std::uint32_t message, Lane lane = Lane::collective);
Transfer transfer(Peer peer, const Tag& tag, Guarded& buffer, std::uint32_t signature = 7);
/// The same message, under a tag that no other one of this run has.
void make_only(Transfer& transfer, std::uint64_t number);

}  // namespace tutti::transport::conformance
