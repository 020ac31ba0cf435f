// SPDX-License-Identifier: BSD-3-Clause
#include "transport/inproc/scheduler.hpp"

#include <cxxabi.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <csetjmp>
#include <cstring>
#include <new>
#include <numeric>
#include <string>
#include <utility>

#include "transport/inproc/sanitizers.hpp"

namespace tutti::transport::inproc {

namespace {

constexpr std::uint64_t smallest_step = 100;                    // nanoseconds a round
constexpr std::uint64_t largest_step = std::uint64_t{1} << 36;  // about a minute
constexpr std::uint64_t rounds_per_doubling = 8;
constexpr std::uint64_t longest_wait = 3'600'000'000'000;  // an hour: beyond every time-out
constexpr int unwinding_rounds = 1000;

/// Memory for a stack, with a page below it that nobody may touch.
class Stack {
 public:
  explicit Stack(std::size_t bytes) : page_(static_cast<std::size_t>(sysconf(_SC_PAGESIZE))) {
    bytes_ = (bytes + page_ - 1) / page_ * page_ + page_;
    memory_ =
        mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_STACK, -1, 0);
    if (memory_ == MAP_FAILED) throw std::bad_alloc();
    mprotect(memory_, page_, PROT_NONE);
  }
  ~Stack() { munmap(memory_, bytes_); }
  Stack(const Stack&) = delete;
  Stack& operator=(const Stack&) = delete;
  void* bottom() const { return static_cast<std::byte*>(memory_) + page_; }
  std::size_t bytes() const { return bytes_ - page_; }

 private:
  std::size_t page_, bytes_ = 0;
  void* memory_ = nullptr;
};

/// The C++ runtime's list of exceptions being handled belongs to a thread; here it must belong to a fiber. The layout
/// is fixed by the Itanium ABI.
struct Exceptions {
  void* caught = nullptr;
  unsigned int uncaught = 0;
};
void exchange_exceptions(Exceptions& save, const Exceptions& load) {
  auto* globals = reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
  save = *globals;
  *globals = load;
}

}  // namespace

struct Fibers::Fiber {
  /// Goes on where `next` left off, until somebody goes on here. A context is only entered: swapcontext asks the kernel
  /// for the signal mask each time, which took a third of the time of a test, and _setjmp and _longjmp do not.
  void go_on_in(Fiber& next) {
    if (_setjmp(left_off) != 0) return;
    if (std::exchange(next.entered, true)) _longjmp(next.left_off, 1);
    setcontext(&next.context);
  }

  Rank rank = -1;
  std::unique_ptr<Stack> stack;
  ucontext_t context{};  // where it begins
  std::jmp_buf left_off{};
  bool entered = false;
  Exceptions exceptions;
  SanitizedStack sanitized;
  bool ended = false;
  bool frozen = false;
};

Fibers::Fibers(int size, std::uint64_t seed, std::size_t stack_bytes)
    : outside_(std::make_unique<Fiber>()),
      stack_bytes_(stack_bytes),
      seed_(seed),
      random_(seed),
      order_(static_cast<std::size_t>(size)),
      step_(smallest_step) {
  std::iota(order_.begin(), order_.end(), std::size_t{0});
  for (Rank rank = 0; rank < size; ++rank) {
    fibers_.push_back(std::make_unique<Fiber>());
    fibers_.back()->rank = rank;
  }
}

Fibers::~Fibers() = default;

void Fibers::run(const std::function<void(Rank)>& body) {
  body_ = &body;
  error_ = nullptr;
  unwinding_ = false;
  step_ = smallest_step;
  idle_rounds_ = 0;
  idle_since_ = clock_;
  outside_->entered = true;
  outside_->sanitized.create(true);
  for (auto& fiber : fibers_) prepare(*fiber);
  while (!error_ && round()) tick();
  unwind_all();
  for (auto& fiber : fibers_) {
    fiber->sanitized.destroy();
    fiber->stack.reset();
  }
  if (error_) std::rethrow_exception(error_);
}

void Fibers::prepare(Fiber& fiber) {
  fiber.stack = std::make_unique<Stack>(stack_bytes_);
  fiber.entered = fiber.ended = fiber.frozen = false;
  fiber.exceptions = {};
  fiber.sanitized = {fiber.stack->bottom(), fiber.stack->bytes(), nullptr, nullptr};
  fiber.sanitized.create(false);
  getcontext(&fiber.context);
  fiber.context.uc_stack.ss_sp = fiber.stack->bottom();
  fiber.context.uc_stack.ss_size = fiber.stack->bytes();
  fiber.context.uc_link = nullptr;
  // makecontext hands over ints only, so the pointer goes in two halves.
  const auto self = reinterpret_cast<std::uintptr_t>(this);
  makecontext(&fiber.context, reinterpret_cast<void (*)()>(&Fibers::enter), 2, static_cast<unsigned>(self >> 32),
              static_cast<unsigned>(self));
}

void Fibers::enter(unsigned high, unsigned low) {
  auto* self = reinterpret_cast<Fibers*>(static_cast<std::uintptr_t>(high) << 32 | low);
  Fiber& fiber = *self->fibers_[static_cast<std::size_t>(self->current_)];
  fiber.sanitized.arrived(self->outside_->sanitized);
  self->execute(fiber);
  self->suspend(fiber, true);
}

void Fibers::execute(Fiber& fiber) {
  try {
    if (!unwinding_) (*body_)(fiber.rank);
  } catch (const Unwind&) {
    // Nothing: this rank was only asked to go.
  } catch (...) {
    if (!error_) error_ = std::current_exception();
  }
  fiber.ended = true;
  happened_ = true;
}

void Fibers::resume(Fiber& fiber) {
  current_ = fiber.rank;
  exchange_exceptions(outside_->exceptions, fiber.exceptions);
  outside_->sanitized.leave(fiber.sanitized, false);
  outside_->go_on_in(fiber);
  outside_->sanitized.arrived(fiber.sanitized);
  current_ = -1;
}

void Fibers::suspend(Fiber& fiber, bool for_good) {
  exchange_exceptions(fiber.exceptions, outside_->exceptions);
  fiber.sanitized.leave(outside_->sanitized, for_good);
  fiber.go_on_in(*outside_);
  fiber.sanitized.arrived(outside_->sanitized);
}

void Fibers::yield() {
  if (current_ < 0) {
    clock_ += smallest_step;
    return;
  }
  suspend(*fibers_[static_cast<std::size_t>(current_)], false);
  // Destructors that run for an exception may yield too; a second exception there would end the process.
  if (unwinding_ && std::uncaught_exceptions() == 0) throw Unwind{};
}

void Fibers::freeze(Rank rank) { fibers_[static_cast<std::size_t>(rank)]->frozen = true; }

/// Lets each rank run, more or less once; false when none is left.
bool Fibers::round() {
  bool any = false;
  if (seed_ != 0)
    for (std::size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random_.below(i)]);
  for (const std::size_t i : order_) {
    Fiber& fiber = *fibers_[i];
    if (fiber.ended || (fiber.frozen && !unwinding_)) continue;
    any = true;
    if (seed_ != 0 && random_.once_in(4)) continue;
    do resume(fiber);
    while (seed_ != 0 && !fiber.ended && !fiber.frozen && random_.once_in(8));
    if (error_ && !unwinding_) return true;
  }
  return any;
}

/// Moves the clock after a round.
void Fibers::tick() {
  if (happened_) {
    happened_ = false;
    step_ = smallest_step;
    idle_rounds_ = 0;
    idle_since_ = clock_;
  } else if (++idle_rounds_ % rounds_per_doubling == 0) {
    step_ = std::min(step_ * 2, largest_step);
    if (clock_ - idle_since_ > longest_wait && !error_) report_deadlock();
  }
  clock_ += step_;
}

void Fibers::report_deadlock() {
  std::string text = "deadlock under seed " + std::to_string(seed_) + ": waiting for ever:";
  int named = 0;
  for (const auto& fiber : fibers_)
    if (!fiber->ended && !fiber->frozen && ++named <= 16) text.append(" ").append(std::to_string(fiber->rank));
  if (named > 16) text.append(" and ").append(std::to_string(named - 16)).append(" more");
  error_ = std::make_exception_ptr(Deadlock(text));
}

/// Lets what still lives on the stacks be destroyed. A rank that does not end even so is left behind.
void Fibers::unwind_all() {
  unwinding_ = true;
  for (int i = 0; i < unwinding_rounds && round(); ++i) tick();
  unwinding_ = false;
}

}  // namespace tutti::transport::inproc
