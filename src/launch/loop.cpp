// SPDX-License-Identifier: BSD-3-Clause
#include "launch/loop.hpp"

#include <poll.h>
#include <sys/epoll.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <utility>

#include "base/clock.hpp"
#include "launch/system.hpp"

namespace tutti::launch {

Loop::Loop() : epoll_(epoll_create1(EPOLL_CLOEXEC)) {
  if (!epoll_) throw system_error("cannot wait for several things at once (epoll)");
}

bool Loop::watch(int descriptor, std::uint32_t events, Handler handler) {
  const auto watch = std::make_shared<Watch>(Watch{++generation_, std::move(handler)});
  epoll_event event{};
  event.events = events;
  event.data.u64 = std::uint64_t{watch->generation} << 32 | static_cast<std::uint32_t>(descriptor);
  const int change = watches_.contains(descriptor) ? EPOLL_CTL_MOD : EPOLL_CTL_ADD;
  if (epoll_ctl(epoll_.get(), change, descriptor, &event) != 0) {
    if (errno == EPERM) return false;
    throw system_error("cannot watch a descriptor");
  }
  watches_[descriptor] = watch;
  return true;
}

void Loop::unwatch(int descriptor) {
  if (watches_.erase(descriptor) != 0) epoll_ctl(epoll_.get(), EPOLL_CTL_DEL, descriptor, nullptr);
}

Loop::Timer Loop::after(std::chrono::nanoseconds delay, Action action) {
  const Timer timer{base::now() + static_cast<std::uint64_t>(std::max<std::int64_t>(delay.count(), 0)),
                    ++timer_number_};
  timers_.emplace(timer, std::move(action));
  return timer;
}

int Loop::until_next_timer() const {
  if (timers_.empty()) return -1;
  const std::uint64_t now = base::now(), due = timers_.begin()->first.first;
  if (due <= now) return 0;
  return static_cast<int>(std::min<std::uint64_t>((due - now + 999'999) / 1'000'000, 3'600'000));
}

void Loop::call_due_timers() {
  const std::uint64_t now = base::now();
  while (!timers_.empty() && timers_.begin()->first.first <= now) {
    const auto due = timers_.extract(timers_.begin());
    due.mapped()();
  }
}

void Loop::wait() const {
  pollfd entry{epoll_.get(), POLLIN, 0};
  if (poll(&entry, 1, until_next_timer()) < 0 && errno != EINTR && errno != EAGAIN)
    throw system_error("cannot wait for several things at once (epoll)");
}

void Loop::call_due() {
  std::array<epoll_event, 64> events;
  const int count = epoll_wait(epoll_.get(), events.data(), static_cast<int>(events.size()), 0);
  if (count < 0 && errno != EINTR) throw system_error("cannot wait for several things at once (epoll)");
  for (int i = 0; i < count; ++i) {
    const epoll_event& event = events[static_cast<std::size_t>(i)];
    const auto found = watches_.find(static_cast<int>(static_cast<std::uint32_t>(event.data.u64)));
    // An earlier handler of this turn may have closed the descriptor, and its number may be in use again.
    if (found == watches_.end() || found->second->generation != event.data.u64 >> 32) continue;
    const std::shared_ptr<Watch> watch = found->second;
    watch->handler(event.events);
  }
  call_due_timers();
}

}  // namespace tutti::launch
