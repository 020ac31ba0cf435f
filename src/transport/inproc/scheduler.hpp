// SPDX-License-Identifier: BSD-3-Clause
// A deterministic scheduler: P ranks as fibers of one thread, interleaved by seed, with a clock of its own.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <functional>
#include <memory>
#include <stdexcept>
#include <vector>

#include "base/random.hpp"
#include "host/waiting.hpp"
#include "tutti/types.hpp"

namespace tutti::transport::inproc {

/// All ranks have waited, with nothing sent or published, longer than any time-out.
struct Deadlock : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// Runs P functions in turns. One rank runs until it calls `yield`; who is next follows from the seed: 0 = strictly in
/// turn, else each round in a new order, in which some ranks are left out and some run several times. The clock moves a
/// little each round, and ever faster while nothing happens (see `happened`), so that time-outs of seconds cost
/// nothing.
class Fibers final : public host::Scheduler {
 public:
  Fibers(int size, std::uint64_t seed, std::size_t stack_bytes = 256 * 1024);
  ~Fibers() override;

  /// Runs `body` once per rank until all have ended. The first exception of a rank is thrown again after the other
  /// ranks were unwound: they get a private exception from their next `yield`. Throws Deadlock in the same way.
  void run(const std::function<void(Rank)>& body);

  /// From a rank: lets others run. From elsewhere: only moves the clock.
  void yield() override;
  std::uint64_t now() override { return clock_; }
  void happened() override { happened_ = true; }

  /// The rank does not run again (as after SIGSTOP or SIGKILL); its stack stays in place until all others have ended.
  /// A rank that freezes itself stops at its next `yield`.
  void freeze(Rank rank);

 private:
  struct Fiber;
  struct Unwind {};
  static void enter(unsigned high, unsigned low);

  void prepare(Fiber& fiber);
  void execute(Fiber& fiber);
  void resume(Fiber& fiber);
  void suspend(Fiber& fiber, bool for_good);
  bool round();
  void tick();
  void unwind_all();
  void report_deadlock();

  std::vector<std::unique_ptr<Fiber>> fibers_;
  std::unique_ptr<Fiber> outside_;  // the caller of run
  const std::function<void(Rank)>* body_ = nullptr;
  std::exception_ptr error_;
  std::size_t stack_bytes_;
  std::uint64_t seed_;
  base::Random random_;
  std::vector<std::size_t> order_;
  Rank current_ = -1;
  bool happened_ = false;
  bool unwinding_ = false;
  std::uint64_t clock_ = 1'000'000;
  std::uint64_t step_, idle_rounds_ = 0, idle_since_ = 0;
};

}  // namespace tutti::transport::inproc
