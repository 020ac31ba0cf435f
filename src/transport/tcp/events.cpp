// SPDX-License-Identifier: BSD-3-Clause
#include "transport/tcp/events.hpp"

#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>

#include "tutti/error.hpp"

namespace tutti::transport::tcp {

namespace {

epoll_event event_of(std::uint32_t interest, std::uint64_t name) {
  epoll_event event{};
  event.events = interest;
  event.data.u64 = name;
  return event;
}

}  // namespace

Events::Events() : set_(epoll_create1(EPOLL_CLOEXEC)) {
  if (!set_) throw Error(Cause::system, "no epoll descriptor is left");
}

void Events::add(int descriptor, std::uint32_t interest, std::uint64_t name) const {
  epoll_event event = event_of(interest, name);
  epoll_ctl(set_.get(), EPOLL_CTL_ADD, descriptor, &event);
}

void Events::change(int descriptor, std::uint32_t interest, std::uint64_t name) const {
  epoll_event event = event_of(interest, name);
  epoll_ctl(set_.get(), EPOLL_CTL_MOD, descriptor, &event);
}

void Events::remove(int descriptor) const { epoll_ctl(set_.get(), EPOLL_CTL_DEL, descriptor, nullptr); }

std::span<const epoll_event> Events::look() {
  const int count = epoll_wait(set_.get(), events_.data(), static_cast<int>(events_.size()), 0);
  return std::span(events_).first(static_cast<std::size_t>(std::max(count, 0)));
}

Ticker::Ticker(std::uint64_t nanoseconds) : timer_(timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC)) {
  constexpr std::uint64_t second = 1'000'000'000;
  itimerspec every{};
  every.it_interval.tv_sec = static_cast<time_t>(nanoseconds / second);
  every.it_interval.tv_nsec = static_cast<long>(nanoseconds % second);
  every.it_value = every.it_interval;
  if (!timer_ || timerfd_settime(timer_.get(), 0, &every, nullptr) != 0)
    throw Error(Cause::system, "no timer descriptor is left");
}

void Ticker::take() const {
  std::uint64_t times = 0;
  // Nothing to read: it has been taken already.
  if (read(timer_.get(), &times, sizeof times) < 0) return;
}

}  // namespace tutti::transport::tcp
